"""Dialogs: they lie over a screen, read or ask one thing, and give the answer back to the screen."""
