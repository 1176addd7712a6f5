"""`memsift quality`: its commands, a module for each, and their output."""
