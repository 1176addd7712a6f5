"""Widgets of the report."""
