"""Large runs in parts, on several processors or machines: who does the work, what is done, and the files of a run."""
