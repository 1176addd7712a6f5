"""Every regular expression of the package, and hostile texts made from the pieces of each.

    python -m tests.patterns

Runs each pattern over its hostile texts in a child process of its own with a limit of CPU, and prints the patterns that
did not end. None is listed by hand: patterns are found in the values of modules and classes, and in calls of `re` by
the syntax tree.
"""

from __future__ import annotations

import ast
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from itertools import chain, product
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any, NamedTuple

from re import _compiler as compiler  # type: ignore[attr-defined]  # isort: skip
from re import _constants as kinds  # type: ignore[attr-defined]  # isort: skip
from re import _parser as parser  # type: ignore[attr-defined]  # isort: skip

PROJECT = Path(__file__).resolve().parent.parent
ROOMS = ("engine", "labels", "tui")
STARTS = "tui.start."
"""Modules that build the wheel or start it, and need what a checkout may lack. They see no text of a person."""

SHORT, SIZE = 1_000, 64_000
"""Characters of the texts by which the worst are chosen, and of those that a pattern has to end on."""

WORST, CPU_SECONDS = 3, 5
ENDS = ("", "\0", "aa")
"""What stands behind the repeated piece: a match fails there, at the last."""

SEARCHING = {"search", "finditer", "findall", "sub", "subn", "split", "pattern"}


class FoundPattern(NamedTuple):
    """A pattern, the module where it is, and whether it is tried only at the beginning of a text."""

    name: str
    pattern: re.Pattern[str]
    is_anchored: bool

    def run(self, text: str) -> None:
        """Look for the pattern as the package does: at the beginning, or everywhere."""
        if self.is_anchored:
            self.pattern.match(text)
            self.pattern.fullmatch(text)
        else:
            for _ in self.pattern.finditer(text):
                pass

    def seconds(self, text: str) -> float:
        begun = perf_counter()
        self.run(text)
        return perf_counter() - begun


def find_patterns() -> list[FoundPattern]:
    """All patterns of the package, each once."""
    trees = {}
    for path in (path for room in ROOMS for path in (PROJECT / room).rglob("*.py")):
        name = ".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__")
        trees[name] = ast.parse(path.read_text("utf-8"))
    used = _methods_used(trees)
    found: dict[tuple[str, int], FoundPattern] = {}
    for name, tree in trees.items():
        if name.startswith(STARTS):
            continue
        module = import_module(name)
        imported = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        named = [
            (value, pattern)
            for value in vars(module)
            if value not in imported
            for pattern in _patterns_in(vars(module)[value], module)
        ]
        for value, pattern in chain(named, _called(tree, module)):
            methods = used.get((name, value), set()) & {"match", "fullmatch", *SEARCHING}
            is_anchored = bool(methods) and methods.isdisjoint(SEARCHING)
            key = (pattern.pattern, pattern.flags)
            if key not in found or (found[key].is_anchored and not is_anchored):
                found[key] = FoundPattern(f"{name}.{value}", pattern, is_anchored)
    return sorted(found.values(), key=lambda found: found.name)


def _methods_used(trees: dict[str, ast.Module]) -> dict[tuple[str, str], set[str]]:
    """The methods that are called on each name of a module, there and where it is imported."""
    used: dict[tuple[str, str], set[str]] = {}
    for name, tree in trees.items():
        nodes = [*ast.walk(tree)]
        homes = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                home = homes.get(node.value.id, (name, node.value.id))
                used.setdefault(home, set()).add(node.attr)
    return used


def _patterns_in(value: object, module: ModuleType, depth: int = 3) -> Iterator[re.Pattern[str]]:
    """The patterns in a value of a module: itself, or in its items, or in the attributes of a class made there."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        yield from chain.from_iterable(_patterns_in(item, module, depth - 1) for item in value.values())
    elif depth and isinstance(value, list | tuple | frozenset | set):
        yield from chain.from_iterable(_patterns_in(item, module, depth - 1) for item in value)
    elif depth and isinstance(value, type) and value.__module__ == module.__name__:
        yield from chain.from_iterable(_patterns_in(item, module, depth - 1) for item in vars(value).values())


def _called(tree: ast.AST, module: ModuleType) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns in calls such as `re.sub(r"...", ...)`. A part that is known at run time only becomes a word."""
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and bool(node.args)
        if not is_call or getattr(node.func.value, "id", "") != "re" or node.func.attr in ("escape", "compile"):
            continue
        source = _source(node.args[0], module)
        if source is None and "re.escape" not in ast.unparse(node):
            raise ValueError(
                f"{module.__name__}:{node.lineno}: no pattern can be found; compile it in a value of the module"
            )
        if source is not None:
            given = map(ast.unparse, (*node.args, *(keyword.value for keyword in node.keywords)))
            flags = [eval(argument) for argument in given if argument.startswith("re.")]
            yield f"line {node.lineno}", re.compile(source, sum(flags))


def _source(node: ast.expr, module: ModuleType) -> str | None:
    """The pattern that an expression makes; None for one that is made at run time."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_source(part, module) or "word" for part in node.values)
    if isinstance(node, ast.FormattedValue):
        return _source(node.value, module)
    if isinstance(node, ast.Name | ast.Attribute):
        with suppress(NameError, AttributeError):
            value = eval(ast.unparse(node), vars(module))
            return value if isinstance(value, str) else None
    return None


def hostile_texts(pattern: re.Pattern[str], size: int) -> Iterator[str]:
    """Texts of *size* characters: each piece of the pattern, over and over, behind a beginning that fits."""
    pieces, heads = _pieces(pattern)
    for head, piece, end in product(heads, pieces, ENDS):
        yield (head + piece * (size // len(piece)))[: size - len(end)] + end


def _pieces(pattern: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """The parts of samples of a pattern, to be repeated; and the beginnings of a sample, to stand before them."""
    samples = [_samples(parser.parse(pattern.pattern, pattern.flags), pick) for pick in (0, 1)]
    atoms = list(dict.fromkeys(atom for atoms, _ in samples for atom in atoms if atom))
    wholes = list(dict.fromkeys(text for _, texts in samples for text in texts if text))
    singles = sorted({character for atom in atoms for character in atom} | {" ", "\n"})[:24]
    pairs = [left + right for left, right in zip(singles, [*singles[1:], *singles[:1]], strict=True)]
    pieces = list(dict.fromkeys([*atoms, *wholes, *singles, *pairs]))[:40]
    return pieces, ["", *sorted(wholes, key=len)[-1:]]


def _samples(tree: Any, pick: int) -> tuple[list[str], list[str]]:
    """The samples of all nodes of a parsed pattern, and the beginnings of samples of the whole."""
    atoms: list[str] = []
    whole = ""
    beginnings: list[str] = []
    for node in tree:
        text, inner = _sample(node, pick)
        atoms += [*inner, text]
        whole += text
        beginnings.append(whole)
    return atoms, beginnings[-6:]


def _sample(node: Any, pick: int) -> tuple[str, list[str]]:
    """A text that a node matches, and the samples of the nodes in it."""
    kind, value = node
    if kind is kinds.LITERAL:
        return chr(value), []
    if kind is kinds.NOT_LITERAL:
        return next(letter for letter in "ab" if ord(letter) != value), []
    if kind is kinds.ANY:
        return "a", []
    if kind is kinds.IN:
        return _of_class(value, pick), [_of_class(value, 1 - pick)]
    if kind in (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT):
        least, most, inner = value
        atoms, beginnings = _samples(inner, pick)
        text = beginnings[-1] if beginnings else ""
        return text * max(min(most, 1), min(least, 40)), [*atoms, text]
    if kind is kinds.BRANCH:
        branches = [_samples(branch, pick) for branch in value[1]]
        texts = [beginnings[-1] if beginnings else "" for _, beginnings in branches]
        return texts[pick % len(texts)], [*chain.from_iterable(atoms for atoms, _ in branches), *texts]
    if kind in (kinds.SUBPATTERN, kinds.ATOMIC_GROUP):
        atoms, beginnings = _samples(value[-1] if kind is kinds.SUBPATTERN else value, pick)
        return beginnings[-1] if beginnings else "", atoms
    if kind in (kinds.ASSERT, kinds.ASSERT_NOT):
        atoms, beginnings = _samples(value[1], pick)
        return "", [*atoms, *beginnings[-1:]]
    return "", []


def _of_class(items: Any, pick: int) -> str:
    """A character of a class. *pick* 1 gives a rarer one, so that two classes that overlap share a character."""
    tried = "a_1 -.:/\n\"'`A|<>=*#é"
    inside = compiler.compile(parser.SubPattern(parser.State(), [(kinds.IN, items)]), re.UNICODE)
    fitting = [character for character in tried if inside.match(character)]
    if not fitting:
        fitting = [
            chr(value if kind is kinds.LITERAL else value[0]) for kind, value in items if kind is not kinds.NEGATE
        ]
    return fitting[min(pick, len(fitting) - 1)]


def worst_texts(found: FoundPattern, size: int) -> list[str]:
    """The hostile texts of *size* characters whose short forms took longest."""
    timed = [(found.seconds(text), number) for number, text in enumerate(hostile_texts(found.pattern, SHORT))]
    chosen = {number for _, number in sorted(timed)[-WORST:]}
    return [text for number, text in enumerate(hostile_texts(found.pattern, size)) if number in chosen]


def in_child(work: Callable[[], None], seconds: int = CPU_SECONDS) -> bool:
    """Whether *work* ends in a child process within so many seconds of CPU."""
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def endless(patterns: Iterable[FoundPattern], seconds: int = CPU_SECONDS) -> list[FoundPattern]:
    """The patterns that do not end on one of their worst texts."""

    def work(found: FoundPattern) -> None:
        for text in worst_texts(found, SIZE):
            found.run(text)

    return [found for found in patterns if not in_child(lambda found=found: work(found), seconds)]


if __name__ == "__main__":
    chosen = find_patterns()
    endless_ones = [f"{found.name} {found.pattern.pattern[:100]}\n" for found in endless(chosen)]
    sys.stdout.write("".join([f"{len(chosen)} patterns\n", *endless_ones]))
