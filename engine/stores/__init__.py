"""Where memories live: a module per format, the registry of formats, and safe reading of files."""
