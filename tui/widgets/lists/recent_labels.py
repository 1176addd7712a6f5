"""The latest labels in a list of its own, in which each can be changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tui.key_names import keyed
from tui.plain import cells, plain
from tui.widgets.label_text import TONES
from tui.widgets.lists.rows import RecordList
from tui.widgets.signs import signs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from engine.memory import Memory
    from labels.records import Label
    from tui.widgets.lists.rows import Cell

TITLE, EMPTY, CHANGING = "Latest · {label.latest}", "Latest · nothing yet", "Change it · {label.back} leaves"


class RecentLabels(RecordList["Label"]):
    """A row for each label: the sign of its verdict, its grade, its reason or "note", and the title of the memory."""

    NOUN = "label"

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._titles: dict[str, str] = {}

    def show_labels(self, labels: Sequence[Label], memory_of: Callable[[str], Memory | None]) -> None:
        found = {label.memory_id: memory_of(label.memory_id) for label in labels}
        self._titles = {memory_id: memory.summary.title if memory else memory_id for memory_id, memory in found.items()}
        self.show(labels)
        self.tell_key()

    def tell_key(self) -> None:
        """Name the key that leads here, or the keys that act here."""
        title = CHANGING if self.has_focus else TITLE if self.count else EMPTY
        self.border_title = plain(keyed(self.app, title))

    def id_of(self, record: Label) -> str:
        return str((record.prompt_id, record.pair, record.repeat))

    def row_cells(self, index: int, width: int) -> list[Cell]:
        label = self.records[index]
        grade = "" if label.grade is None else str(label.grade)
        why = label.reason or ("note" if label.note else "")
        head = f" {signs(self).verdicts[label.verdict]}{grade} "
        return [
            (head, TONES[label.verdict]),
            (cells(f"{f'{why}: ' if why else ''}{self._titles[label.memory_id]}", width - len(head)), ""),
        ]
