"""Writing Claude Code's auto memory: a Markdown file per memory, and a MEMORY.md with a line for each active one.

Front matter stays as written except for the value that changes. The format has no status. So a retired memory gets the
words of claude-memory in its front matter, and loses its line in MEMORY.md: the client loads only listed memories.
"""

from __future__ import annotations

import os
import re
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.errors import InvalidMemoryError
from engine.lean.json_text import without_lone_surrogates
from engine.lean.record import Record, replace
from engine.stores.markdown.auto_memory import cut as left_out
from engine.stores.markdown.auto_memory import type_of
from engine.stores.markdown.front_matter import (
    FENCE,
    TOML_FENCE,
    Entry,
    NotPlainYamlError,
    first,
    front_matter,
    keys_of,
)
from engine.stores.markdown.memory_md import ENTRY, entries, indent_of, is_below, links, relinked, without
from engine.stores.markdown.parts import TYPES
from engine.stores.markdown.text import first_words, heading_level
from engine.stores.registry import NOTES_LIST
from engine.stores.writing import (
    ACTIVE,
    BODY,
    Changes,
    FormField,
    names_only,
    one_line,
    refuse,
    slug,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from engine.stores.writing import Draft

__all__ = ["entries", "left_out", "links", "relinked", "without"]
"""What `engine.stores.writing.Writing` asks of a format and MEMORY.md answers."""

CATEGORIES, INDEX_FILE, IS_SORTED = TYPES, NOTES_LIST, False
LOCK_FOLDER = ""
MOST_DESCRIPTION = 1_000
STATUS = "record_status"
STATUS_KEYS = (STATUS, "retired_at", "retired_reason", "archived_at", "archived_reason")
FIELDS = ("name", "description", "type")
PLAIN = re.compile(r"[A-Za-z][\w ,.()/+-]*")
"""Values of front matter that need no quotes, if they are not among RESERVED."""

RESERVED = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")


class Note(Record):
    """A file, cut up: the text between the fences of its front matter, None without it, the text behind, a line end.

    `fences` are the lines of the two fences. All line ends are kept.
    """

    front: str | None
    body: str
    end: str
    fences: tuple[str, str]

    @property
    def text(self) -> str:
        return self.body if self.front is None else self.fences[0] + self.front + self.fences[1] + self.body


def form(text: str) -> tuple[FormField, ...]:
    """As `engine.stores.writing.Writing.form`: the front matter that can be changed, and the text below it."""
    note = _note(text)
    hints = ("the name, on one line", "the description, which is the title", f"one of {', '.join(TYPES)}")
    heads = [FormField(name, _value(note, name), hint) for name, hint in zip(FIELDS, hints, strict=True)]
    body = note.body.replace("\r\n", "\n").strip("\n")
    return (*heads, FormField(BODY, body, "the text", is_long=True))


def broken_rules(text: str) -> list[str]:
    """As `engine.stores.writing.Writing.broken_rules`. Notes without front matter are allowed."""
    note = _note(text)
    return _problems({key: value for key in FIELDS if (value := _value(note, key))})


def related(text: str) -> tuple[str, ...]:  # noqa: ARG001
    """The format names no files."""
    return ()


def edited(text: str, changes: Changes, now: str) -> str:
    """The memory with *changes*. Its title is the `description`."""
    fields = {name: values[-1] for name, values in changes.fields if values}
    if changes.title is not None:
        fields["description"] = changes.title
    unknown = [name for name in fields if name not in FIELDS]
    refuse([f"{name} is no field that can be set here; there are {', '.join(FIELDS)}" for name in unknown])
    refuse(_problems(fields))
    note = _note(text)
    for name, value in fields.items():
        note = _with_key(note, name, one_line(value))
    if changes.body is not None:
        note = replace(note, body=_body(note, changes.body))
    return _dated(text, note, now)


def retagged(text: str, add: Sequence[str], remove: Sequence[str], now: str) -> str:  # noqa: ARG001
    """Raises InvalidMemoryError: the format has no tags."""
    fix = "Change its name in the app's form, or with memsift edit --set name=NAME."
    raise InvalidMemoryError(f"Claude Code's auto memory has no tags. {fix}")


def rewritten(text: str, new: str, now: str) -> str:
    """As `engine.stores.writing.Writing.rewritten`."""
    before, after = _note(text), _note(new)
    wrong = [key for key in STATUS_KEYS if _value(before, key) != _value(after, key)]
    refuse([f"{key} may not be changed in an editor" for key in wrong])
    refuse(_problems({key: value for key in FIELDS if (value := _value(after, key)) and value != _value(before, key)}))
    return text if text == new else _dated(text, after, now)


def with_status(text: str, status: str, reason: str, now: str) -> str:
    """As `engine.stores.writing.Writing.with_status`."""
    note = _note(text)
    for key in STATUS_KEYS:
        note = _without_key(note, key)
    if status != ACTIVE:
        note = _with_key(note, STATUS, status)
        note = _with_key(note, f"{status}_at", now)
        note = _with_key(note, f"{status}_reason", one_line(reason) or "No reason provided")
    elif not note.front:
        return note.body
    elif _value(note, STATUS):  # in braces, where no line can be taken out
        note = _with_key(note, STATUS, ACTIVE)
    return note.text


def reason(text: str) -> str:
    """As `engine.stores.writing.Writing.reason`."""
    note = _note(text)
    return _value(note, f"{_value(note, STATUS)}_reason")


def merged(text: str, others: Mapping[str, str], note: str, now: str) -> str:
    """The memory with links to *others* and the note at its end."""
    links = " ".join(f"[[{other}]]" for other in others)
    old = _note(text)
    last = f"Merged with {links}" + (f": {one_line(note)}" if note else ".")
    return _dated(text, replace(old, body=f"{old.body.rstrip()}{old.end}{old.end}{last}{old.end}"), now)


def created(draft: Draft, now: str) -> tuple[str, str]:
    """A new file, with the front matter that the client writes."""
    stem = slug(draft.memory_id or draft.title)
    wrong = _problems({"description": draft.title, "type": draft.category})
    refuse([*wrong, *(["the title gives no file name; name one with --id"] if not stem else [])])
    lines = (
        *(FENCE, f"name: {stem}", f"description: {_quoted(one_line(draft.title), chr(34))}"),
        *("metadata:", "  node_type: memory", f"  type: {draft.category}", f"  modified: {_like(now, '.000Z')}", FENCE),
    )
    head = "".join(f"{line}\n" for line in lines)
    extra = Changes(fields=draft.changes.fields)
    return f"{stem}.md", edited(f"{head}\n{(draft.changes.body or draft.title).strip()}\n", extra, now)


def renamed(text: str, old: str, new: str, *, is_own: bool) -> str:
    """As `engine.stores.writing.Writing.renamed`: `[[wiki links]]`, links to its file, and its own name."""
    text = re.sub(rf"\[\[{re.escape(old)}(?=[\]|#])", lambda _: f"[[{new}", text)
    text = "".join(relinked(line, f"{old}.md", f"{new}.md") for line in text.splitlines(keepends=True))
    note = _note(text)
    return _with_key(note, "name", new).text if is_own and _value(note, "name") == old else text


def entry_line(name: str, text: str, old: str = "", before: str = "") -> str:
    """As `engine.stores.writing.Writing.entry_line`. A hint stays if it is not the old description."""
    note = _note(text)
    if (_value(note, STATUS) or ACTIVE).lower() != ACTIVE:
        return ""
    hint = _hint(note)
    match = ENTRY.match(old)
    if not match:
        title = os.path.basename(name).removesuffix(".md").replace("-", " ").replace("_", " ").capitalize()
        target = f"<{name}>" if " " in name else name
        line = f"- [{title}]({target})" + (f" — {hint}" if hint else "")
        return line if names_only(links, line, name) else ""
    was = _hint(_note(before))
    return f"{old[: match.start(6)]}{hint}" if was != hint and one_line(match[6]) == was else old


def place(lines: Sequence[str], line: str, text: str, text_of: Callable[[str], str]) -> int:
    """In the section of its type: by the heading, else by the type of the notes in it. Else behind the last entry."""
    name = next(iter(links(line)), "")
    kind = _kind(name, text)
    found = list(entries(lines))
    headings = [number for number, other in enumerate(lines) if heading_level(other)]
    for number in headings:
        if kind in lines[number].lower():
            end = next((other for other in headings if other > number), len(lines))
            inside = [entry.end for entry in found if number < entry.start < end]
            while end > number + 1 and not lines[end - 1].strip():
                end -= 1
            return inside[-1] if inside else end
    like = [entry for entry in found if headings and _kind(entry.name, text_of(entry.name)) == kind]
    return like[-1].end if like else found[-1].end if found else len(lines)


def new_index(names: Sequence[str]) -> str | None:  # noqa: ARG001
    """An empty file: a memory without a line in MEMORY.md is not loaded by the client."""
    return ""


def _note(text: str) -> Note:
    """A file, cut up. Without a closing fence all of it is the body."""
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    fences = [number for number, line in enumerate(lines) if line.strip() == FENCE][:2]
    if fences[:1] != [0] or len(fences) < len((FENCE, FENCE)):
        return Note(None, text, end, (FENCE + end, FENCE + end))
    close = fences[1]
    return Note("".join(lines[1:close]), "".join(lines[close + 1 :]), end, (lines[0], lines[close]))


def _keys(note: Note) -> list[Entry]:
    """The keys in the front matter and the places of their values. What is no valid YAML is taken apart by line."""
    front = note.front or ""
    try:
        return keys_of(front)
    except NotPlainYamlError:
        lines = front.splitlines(keepends=True)
    found, at = [], 0
    for number, line in enumerate(lines):
        key, colon, value = line.partition(":")
        indent = indent_of(line)
        end = next((n for n in range(number + 1, len(lines)) if not is_below(lines[n], indent)), len(lines))
        below = lines[number + 1 : end]
        if colon:
            start, length = at + len(line) - len(value.lstrip(" \t")), sum(map(len, (line, *below)))
            is_map = not value.strip() and ":" in "".join(below[:1])
            found.append(Entry(key.strip(), (), at + indent, start, at + length, is_map, False))
        at += len(line)
    return found


def _is_yaml(front: str) -> bool:
    try:
        return bool(keys_of(front))
    except NotPlainYamlError:
        return False


def _value(note: Note, key: str) -> str:
    return first(front_matter(note.text.splitlines()).values, key)


def _with_key(note: Note, key: str, value: str) -> Note:
    """*note* with a value in its front matter, where the key is, or where the client would put it.

    Raises InvalidMemoryError where it would be read otherwise.
    """
    front, found = note.front or "", _keys(note)
    old = next((entry for entry in reversed(found) if entry.key == key), None)
    block = next((number for number, entry in enumerate(found) if entry.key == "metadata" and entry.is_map), None)
    if old:
        given = front[old.start : old.end]
        spelled = _quoted(value, '"' if old.is_inline and "," in value else given[:1])
        space = "" if given.strip() or front[old.start - 1 : old.start] == " " else " "
        front = front[: old.start] + space + spelled + given[len(given.rstrip()) :] + front[old.end :]
    else:
        line, at = f"{key}: {_quoted(value, '')}{note.end}", len(front)
        if key in ("name", "description"):
            at = 0
        elif block is not None:
            inside = found[block + 1].at
            at = front.rfind("\n", 0, found[block].end) + 1
            line = front[front.rfind("\n", 0, inside) + 1 : inside] + line
        front = front[:at] + line + front[at:]
    new = replace(note, front=front)
    is_broken = _is_yaml(note.front or "") and not _is_yaml(front)
    if is_broken or _value(new, key) != value or (note.front is None and note.body.startswith(TOML_FENCE)):
        raise InvalidMemoryError(f"Nothing was changed, because memsift cannot write {key} into this front matter.")
    return new


def _without_key(note: Note, key: str) -> Note:
    """*note* without the lines of *key*. A key in braces stays."""
    front = note.front or ""
    for old in reversed([entry for entry in _keys(note) if entry.key == key and not entry.is_inline]):
        start = front.rfind("\n", 0, old.at) + 1
        end = front.find("\n", max(old.start, old.end - 1)) + 1
        front = front[:start] + front[end or len(front) :]
    return note if note.front is None else replace(note, front=front)


def _dated(before: str, note: Note, now: str) -> str:
    """The text of *note*, with the time of the change if the front matter has a time and the text differs."""
    if note.text == before or not _value(note, "modified"):
        return note.text
    return _with_key(note, "modified", _like(now, _value(note, "modified"))).text


def _like(now: str, old: str) -> str:
    """*now* with milliseconds if *old* has them."""
    return now.replace("Z", ".000Z") if "." in old else now


def _quoted(value: str, quote: str) -> str:
    """*value* as front matter: plain where that is safe and *quote*, the old first character, is no quote."""
    is_plain = PLAIN.fullmatch(value) and value.lower() not in RESERVED and not value.endswith(" ")
    if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", value) or (is_plain and quote not in ("'", '"')):
        return value
    if "\\" in value and "'" not in value:
        return f"'{value}'"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _body(note: Note, body: str) -> str:
    """*body* in place of the old body, below the same empty lines."""
    above = "".join(takewhile(lambda line: not line.strip(), note.body.splitlines(keepends=True)))
    lines = without_lone_surrogates(body).strip("\r\n").splitlines()
    if note.front is None and not above and lines and lines[0].strip() in (FENCE, TOML_FENCE):
        above = note.end
    return above + "".join(f"{line}{note.end}" for line in lines)


def _problems(fields: Mapping[str, str]) -> list[str]:
    """A sentence for each rule that the values of *fields* break."""
    found = [f"{name} must not be empty" for name, value in fields.items() if not value.strip()]
    if len(fields.get("description", "")) > MOST_DESCRIPTION:
        found.append(f"the title has {len(fields['description']):,} characters, {MOST_DESCRIPTION:,} are allowed")
    if fields.get("type", TYPES[0]) not in TYPES:
        found.append(f"type must be one of {', '.join(TYPES)}")
    return found


def _hint(note: Note) -> str:
    return one_line(_value(note, "description") or first_words(note.body.splitlines()))


def _kind(name: str, text: str) -> str:
    """The type of a note."""
    return type_of(front_matter(text.splitlines()).values, os.path.basename(name))
