"""What people said of retrieved memories, and what follows from it."""
