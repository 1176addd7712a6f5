"""Screens: each composes widgets and routes their messages."""
