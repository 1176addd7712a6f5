"""Prompt -> memories: stores, search, judge and the pipeline. Knows no screen and no label."""

__version__ = "0.1.0"
