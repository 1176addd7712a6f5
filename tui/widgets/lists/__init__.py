"""Lists of records, each with its rows and columns. `rows` has the list that all others are."""
