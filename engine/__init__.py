"""Prompt -> memories: stores, search, judge and the pipeline. Knows no screen and no label."""
