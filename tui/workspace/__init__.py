"""The opened root and the work on it, shared by screens and commands. No module here imports Textual."""
