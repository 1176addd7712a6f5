"""Labels of people on retrieved memories: kept in a store, measured, reported, exchanged and learned from."""
