"""Memories in Markdown files: notes, Claude Code's auto memory, rules of clients, Codex's memories."""
