"""Widgets of What-if."""
