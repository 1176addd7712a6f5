"""The report as an HTML page with charts."""
