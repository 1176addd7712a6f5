"""The checks: a module for each, found by `engine.quality.registry`."""
