"""Commands that connect memsift with Claude Code, read and change settings, and find faults."""
