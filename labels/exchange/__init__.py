"""Labels in and out: files of several formats, run files, and the label stores of other people."""
