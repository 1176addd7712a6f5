"""Widgets: they draw records and post messages; they decide nothing and open no file."""
