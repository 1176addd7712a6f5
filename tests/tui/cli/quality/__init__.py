"""`memsift quality`."""
