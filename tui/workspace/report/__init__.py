"""The report of a workspace for its screen: the gate, what each row counts, and files."""
