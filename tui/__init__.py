"""Screens and the command line. Decides nothing: it asks the engine and the label store."""
