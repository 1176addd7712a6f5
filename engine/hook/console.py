"""The hook as the console script `memsift-hook`."""


def main() -> None:
    """Answer the prompt on stdin. It does not return: see `engine.hook.launch`."""
    from engine.hook import launch  # noqa: F401 - runs it
