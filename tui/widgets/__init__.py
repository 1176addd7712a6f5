"""Widgets: they draw records and post messages. They decide nothing and open no file."""
