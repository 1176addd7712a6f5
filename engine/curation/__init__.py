"""Changing memories safely: operations, the files that they change, the lock, the journal and undo."""
