"""Prompt -> memories: stores, search, judge and the pipeline. Knows no screen and no label."""

__version__ = "1.0.0"
