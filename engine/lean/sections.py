"""Text files that stand beside the modules that read them, also those with lines under headings in brackets.

The latter look as those of `configparser`, which loads `re` and half of `collections`.
"""

from __future__ import annotations

import os


def read_sections(module: str, name: str) -> list[tuple[str, list[str]]]:
    """Each heading of the file *name* with the lines below it. *module* is the `__file__` of the module beside it.

    Empty lines and comments are left out: these begin with #, or in SQL with --, where a heading is a comment as well.
    """
    found: list[tuple[str, list[str]]] = []
    for line in text_beside(module, name).splitlines():
        if line.startswith(("[", "-- [")):
            found.append((line.removeprefix("-- ")[1:-1], []))
        elif line and not line.startswith(("#", "--")):
            found[-1][1].append(line)
    return found


def text_beside(module: str, name: str) -> str:
    """The text of the file *name* in the folder of a module."""
    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:
        return file.read()
