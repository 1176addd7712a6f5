"""Writing a report to a file that a person names; its ending decides the form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import MemsiftError
from engine.stores.files import open_named, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from labels.measure.report import Report

ENDINGS = (".html", ".md", ".json", ".txt")


def write_report(report: Report, name: str) -> Path:
    """Write *report* to the file *name*. `~` is the home folder. A new file is for its owner alone.

    Raises MemsiftError for another ending, and if it cannot be written.
    """
    path = Path(name.strip()).expanduser()
    if path.suffix.lower() not in ENDINGS:
        raise MemsiftError(
            f"{path}: end the name with {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}. Nothing was written."
        )
    text = _form(path.suffix.lower())(report)
    try:
        write_whole(str(path), text.encode("utf-8"), open_named)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise MemsiftError(f"{path} cannot be written ({reason}). Name a file in a folder that exists.") from None
    return path.absolute()


def _form(ending: str) -> Callable[[Report], str]:
    """The function that writes a report in the form of an ending."""
    if ending == ".html":
        from labels.report.html_page.page import report_html

        return report_html
    if ending == ".json":
        from labels.report.json_form import report_json

        return report_json
    if ending == ".md":
        from labels.report.markdown import report_markdown

        return report_markdown
    from labels.report.text import report_text

    return lambda report: report_text(report, is_full=True)
