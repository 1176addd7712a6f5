"""Replays without a screen: prompts, systems, and runs in the background."""
