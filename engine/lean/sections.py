"""Text files with paragraphs under headings in brackets, which stand beside the modules that read them.

They look as those of `configparser`, which loads `re` and half of `collections`.
"""

from __future__ import annotations

import os


def read_sections(module: str, name: str) -> list[tuple[str, list[str]]]:
    """Each heading of the file *name* with the lines below it. *module* is the `__file__` of the module beside it.

    Empty lines and lines that begin with # are left out.
    """
    found: list[tuple[str, list[str]]] = []
    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("["):
                found.append((line[1:-1], []))
            elif line and not line.startswith("#"):
                found[-1][1].append(line)
    return found
