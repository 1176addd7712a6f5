"""Front matter: the keys and values above a note, in YAML between lines of `---`, or in TOML between lines of `+++`.

Values are texts: `no`, `1.10` and dates stay as they are written. A key counts at any depth, but not inside a list; of
equal keys the last counts. Most front matter is plain: a line holds a key and its value, and is read without PyYAML.
So is front matter that is no valid YAML, and front matter with aliases or tags.

The hook never imports PyYAML: it would cost more than the search. There, all front matter is read by line, and
`is_by_line` says that a value may be wrong. Then the index takes the note for changed, so that the next update outside
the hook reads it again.
"""

from __future__ import annotations

from engine.lean.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    FrontMatter = dict[str, tuple[str, ...]]
    """Key -> its values; one for a plain value."""

FENCE, TOML_FENCE = "---", "+++"
BLOCK_SCALARS = ("|", "|-", "|+", ">", ">-", ">+")
NULLS = ("", "~", "null", "Null", "NULL")
"""Values that YAML takes for no value."""

MOST_CHARACTERS, MOST_TOML, MOST_DEPTH = 50_000, 5_000, 20
"""Longer or deeper front matter is not parsed: it takes too long. `tomllib` needs seconds for a key of many dots."""

INDICATORS = "!&*{}[]|>@`\"'%#,?:-"
"""No plain value begins with these characters of YAML."""


class NotPlainYamlError(Exception):
    """The text is no YAML that is read: invalid, too deep, with aliases or tags, or no mapping."""


class Front(Record):
    """What stands above a note: its keys and values, and the number of lines that it takes with both fences."""

    values: FrontMatter
    lines: int
    is_by_line: bool = False


class Entry(Record):
    """A key in YAML, with its values; none for a mapping, or where no value is written.

    Places are numbers of characters from 0: `at` begins the key, `start` to `end` is the value. `is_map`: the value is
    a mapping in lines of its own. `is_inline`: the key stands in a mapping in braces.
    """

    key: str
    values: tuple[str, ...]
    at: int
    start: int
    end: int
    is_map: bool
    is_inline: bool


def front_matter(lines: list[str], *, by_line: bool = False) -> Front:
    """The front matter of a note. Without a closing fence there is none.

    *by_line*: read it as version 1.0.0 did, whose readings are part of what labels and decisions are about.
    """
    fence = lines[0].strip() if lines else ""
    if fence not in (FENCE, TOML_FENCE):
        return Front({}, 0)
    end = next((number for number, line in enumerate(lines[1:], start=1) if line.strip() == fence), 0)
    inside = lines[1:end]
    if not end or (fence == TOML_FENCE and by_line):
        return Front({}, 0)
    if fence == TOML_FENCE:
        values = _toml("\n".join(inside))
        return Front({}, 0) if values is None else Front(values, end + 1)
    if by_line or is_plain(inside):
        return Front(pairs(inside), end + 1)
    try:
        found = keys_of("\n".join(inside))
    except ImportError:
        return Front(pairs(inside), end + 1, is_by_line=True)
    except NotPlainYamlError:
        return Front(pairs(inside), end + 1)
    return Front({entry.key: entry.values for entry in found if entry.values}, end + 1)


def pairs(lines: list[str]) -> FrontMatter:
    """`key: value`, `key: [a, b]`, and a key with a `- value` on each line below it. Later keys win."""
    found: FrontMatter = {}
    key = ""
    for line in lines:
        text = line.strip()
        if text.startswith("- ") and key:
            found[key] = (*found.get(key, ()), _unquoted(text[2:]))
            continue
        name, colon, value = text.partition(":")
        if not colon or text.startswith("#"):
            continue
        key, value = name.strip(), value.strip()
        if value and value not in BLOCK_SCALARS:
            is_list = value.startswith("[") and value.find("]") == len(value) - 1
            found[key] = tuple(filter(None, map(_unquoted, value[1:-1].split(",")))) if is_list else (_unquoted(value),)
        if value:
            key = ""
    return found


def first(front: FrontMatter, *keys: str) -> str:
    """The first value of the first of *keys* that has any, else an empty text."""
    return next((value for key in keys for value in front.get(key, ()) if value), "")


def is_plain(lines: list[str]) -> bool:
    """Whether `pairs` reads the lines as YAML does: each is a key with or without a value, or an item of a list."""
    keys: set[str] = set()
    indents, is_open, list_indent = [0], False, None
    for line in lines:
        text = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        if not text.isprintable():
            return False
        if text.startswith("- "):
            is_at_its_place = indent >= indents[-1] if is_open else indent == list_indent
            if not (is_at_its_place and _is_plain(text[2:].strip())):
                return False
            is_open, list_indent = False, indent
            continue
        if is_open and indent > indents[-1]:
            indents.append(indent)
        while indent < indents[-1]:
            indents.pop()
        name, colon, value = text.partition(":")
        is_key = colon and name.replace("_", "").replace("-", "").isalnum() and name[0].isalpha()
        values = [value.strip()]
        if values[0][:1] == "[" and values[0][-1:] == "]":
            values = [item.strip() for item in values[0][1:-1].split(",")]
            is_key = is_key and not any({*"[]{}"} & {*item} for item in values)
        if not is_key or name in keys or indent != indents[-1]:
            return False
        if value and not (value[0] == " " and all(map(_is_plain, values))):
            return False
        keys.add(name)
        is_open, list_indent = not value, None
    return True


def _is_plain(value: str) -> bool:
    """Whether a value on one line stands for itself, but for its quotes."""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return "\\" not in value and value[0] not in value[1:-1]
    is_text = value not in NULLS and value[0] not in INDICATORS and value[-1] != ":"
    return is_text and " #" not in value and ": " not in value


def keys_of(text: str) -> list[Entry]:
    """The keys in YAML, in their order. Raises NotPlainYamlError, and ImportError in the hook and without PyYAML."""
    import yaml

    if len(text) > MOST_CHARACTERS:
        raise NotPlainYamlError
    found: list[Entry] = []
    try:
        events = _checked(yaml.parse(text, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader)))
        outside = []
        for kind, event in events:
            outside.append(kind)
            if kind == "MappingStart":
                _add_mapping(found, events, is_inline=event.flow_style)
        if outside != ["StreamStart", "DocumentStart", "MappingStart", "DocumentEnd", "StreamEnd"]:
            raise NotPlainYamlError
        "".join(value for entry in found for value in entry.values).encode()  # half a surrogate pair fits into no file
    except (yaml.YAMLError, ValueError):
        raise NotPlainYamlError from None
    return found


def _checked(events: Iterator[Any]) -> Iterator[tuple[str, Any]]:
    """The kind of each event and the event. Raises NotPlainYamlError for deep texts, aliases and tags."""
    depth = 0
    for event in events:
        kind = type(event).__name__.removesuffix("Event")
        depth += kind.endswith("Start") - kind.endswith("End")
        if kind == "Alias" or depth > MOST_DEPTH or getattr(event, "anchor", None) or getattr(event, "tag", None):
            raise NotPlainYamlError
        yield kind, event


def _add_mapping(found: list[Entry], events: Iterator[tuple[str, Any]], *, is_inline: bool) -> int:
    """Add the keys of the mapping that has begun, and of mappings in it, to *found*. The place of its end."""
    kind, key = next(events)
    while kind == "Scalar":
        kind, value = next(events)
        values: tuple[str, ...] = ()
        place = len(found)
        if kind == "MappingStart":
            end = _add_mapping(found, events, is_inline=value.flow_style)
        elif kind == "SequenceStart":
            values, end = _list(events)
        else:
            end = value.end_mark.index
            is_null = value.implicit[0] and value.value in NULLS
            values = () if is_null else (_on_one_line(value.value),)
        is_map = kind == "MappingStart" and not value.flow_style
        entry = Entry(key.value, values, key.start_mark.index, value.start_mark.index, end, is_map, is_inline)
        found.insert(place, entry)
        kind, key = next(events)
    if kind != "MappingEnd":
        raise NotPlainYamlError
    return int(key.end_mark.index)


def _list(events: Iterator[tuple[str, Any]]) -> tuple[tuple[str, ...], int]:
    """The texts of the list that has begun and of lists in it, without mappings, and the place of its end."""
    values, depth, maps = [], 1, 0
    for kind, event in events:
        maps += (kind == "MappingStart") - (kind == "MappingEnd")
        depth += (kind == "SequenceStart") - (kind == "SequenceEnd")
        if kind == "Scalar" and not maps:
            values.append(_on_one_line(event.value))
        if not depth:
            return tuple(filter(None, values)), int(event.end_mark.index)
    raise NotPlainYamlError


def _on_one_line(value: str) -> str:
    return " ".join(value.splitlines())


def _toml(text: str) -> FrontMatter | None:
    """The keys and values in TOML; None if it is not valid."""
    import tomllib

    found: FrontMatter = {}

    def add(table: dict[str, Any]) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                add(value)
            else:
                listed = value if isinstance(value, list) else [value]
                texts = (_on_one_line(_spelled(item)) for item in listed if not isinstance(item, (list, dict)))
                found[key] = tuple(filter(None, texts))

    try:
        add(tomllib.loads(text if len(text) <= MOST_TOML else "[", parse_float=str))
    except (ValueError, RecursionError):
        return None
    return found


def _spelled(value: Any) -> str:
    """A value of TOML as text, in its form for dates and truth."""
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    return str(value).lower() if isinstance(value, bool) else str(value)


def _unquoted(value: str) -> str:
    """A value without its quotes, and as YAML says without the escapes inside them."""
    text = value.strip()
    if len(text) < 2 or text[0] != text[-1] or text[0] not in "\"'":
        return text
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    return "\\".join(part.replace('\\"', '"') for part in text[1:-1].split("\\\\"))
