"""The memories: which roots the hook finds, their index, trust, settings, and the transcripts of the project."""

from __future__ import annotations

import os
import time
from contextlib import closing
from shlex import quote
from typing import TYPE_CHECKING

from engine.cutoff import chosen_cutoff
from engine.doctor import note, ok, problem
from engine.errors import DecisionsError, RootError
from engine.moved import describe_moves
from engine.opening import open_index
from engine.paths import config_file, state_dir, transcripts_dir
from engine.phrases.file import phrases_files, read_phrases
from engine.phrases.measuring import fit_difference
from engine.phrases.writing import count_with_phrases
from engine.quality.checks.memories import spoken
from engine.quality.decisions import find_undecided
from engine.roots import together
from engine.settings.muting import muted_session
from engine.settings.roots import is_own_root, trust_in
from engine.settings.sources import read_config, trust_command
from engine.settings.trust import trust_of
from engine.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from engine.doctor import DoctorFinding
    from engine.search.index import Index
    from engine.settings.roots import RootSearch

NO_ROOTS = "Go to a project with .claude/memory, or name folders with `roots` in config.toml."
MUTE_OFF, TUNE_AGAIN = "memsift mute --off", "memsift tune --target-precision 0.8"


def findings(folder: str, search: RootSearch, environ: Mapping[str, str]) -> list[DoctorFinding]:
    """*search*: the roots that the hook uses for a client in *folder*."""
    found = [note("roots", refused.text.rstrip("."), refused.remedy) for refused in search.refused]
    mend = f"Mend roots in {config_file(environ)}."
    found += [problem("roots", mistake.rstrip("."), mend) for mistake in search.mistakes]
    if auto := search.auto_memory.said_by:
        place = search.auto_memory.folder
        found.append(ok("auto memory", f"{f'in {place}' if place else 'off'}, as {auto} says"))
    if not search.roots:
        found.append(
            problem("roots", f"there are no memories for {folder}", f"{NO_ROOTS} memsift demo shows examples.")
        )
    found += [note("mute", said, MUTE_OFF) for said in muted(search.roots[:1], environ)]
    for root in search.roots:
        try:
            with closing(open_index(root, environ)) as index:
                found += [_index(index), *_phrases(index, environ), *signs(index, environ)]
                found += [_trust(root, environ), *_cutoff(index, environ)]
        except RootError as error:
            found.append(problem("index", str(error), f"Look at {root}: memsift list --root {root}"))
            found.append(_trust(root, environ))
        found += [note("moved", f"{root}: {said}", "") for said in describe_moves(root, environ)]
    readings = [read_config(root, environ) for root in search.roots]
    if readings[1:] and (said := together(readings, environ).notice):
        found.append(ok("cutoff", said))
    return [*found, *_settings(search.roots, environ), _transcripts(folder, environ)]


def muted(roots: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """A sentence on each of *roots* whose hook is muted now."""
    found = [(root, muted_session(state_dir(root, environ), time.time())) for root in roots]
    return [
        f"The hook is muted in {f'the session {session}' if session else 'every session'} of {root}"
        for root, session in found
        if session is not None
    ]


def _index(index: Index) -> DoctorFinding:
    root, skipped, count = index.root, index.skipped, len(index)
    text = f"{root}: {counted(count, 'memory')}"
    if index.is_in_memory:
        fix = "The cache folder cannot be written, so each prompt reads all files."
        return note("index", f"{text}, kept in memory only", fix)
    if copies := [file for file in skipped if file.double_of]:
        first = f"{copies[0].where} {copies[0].reason}"
        more = f", and {len(copies) - 1:,} more" if copies[1:] else ""
        return note("index", f"{text}; {first}{more}", f"memsift quality check --check drift --root {quote(root)}")
    if skipped and not count:
        return note("index", f"{text}: {skipped[0].where} {skipped[0].reason}", f"memsift list --root {quote(root)}")
    if skipped:
        return note("index", f"{text}, {counted(len(skipped), 'file')} skipped", "To see the reasons: memsift, then s")
    return ok("index", text)


def signs(index: Index, environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """Memories of a root with signs of an attack that nobody decided on. All memories are scanned once for it."""
    root, most = index.root, read_config(index.root, environ).config.max_risk
    try:
        found = [memory for memory, verdict in find_undecided(index, most, environ) if not verdict]
    except DecisionsError:
        return
    if found:
        held = [memory for memory in found if not index.is_accepted(memory)]
        kept = f"; {counted(len(held), 'is', 'are')} not injected until you decide" if held else ""
        place = f"--root {quote(root)}"
        accept = f"memsift quality list {place} --format ids | memsift quality accept {place} -"
        yield note("safety", f"{root}: {spoken(len(found))}{kept}", f"memsift quality list {place}. All fine: {accept}")


def _phrases(index: Index, environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """How many memories have phrases, and what is wrong with their file."""
    root = index.root
    said = f"{root}: {count_with_phrases(root, environ, index.summaries())}"
    file, *own = phrases_files(root, environ)
    if own and os.path.exists(file) and not is_own_root(os.path.realpath(root), environ):
        yield note("phrases", f"{said}; {file} does not count, because {root} is not trusted", trust_command(root))
    elif problems := read_phrases(root, environ).problems:
        more = f", and {len(problems) - 1:,} more" if problems[1:] else ""
        fix = f"memsift phrases list --root {quote(root)} names them; the other phrases count."
        yield note("phrases", f"{said}; {problems[0].text}{more}", fix)
    else:
        yield ok("phrases", said)


def _trust(root: str, environ: Mapping[str, str]) -> DoctorFinding:
    reading = read_config(root, environ)
    if reading.untrusted:
        keys = ", ".join(key.removeprefix("retrieval.") for key, _ in reading.untrusted)
        state = f"not trusted any more ({reading.change})" if reading.change else "not trusted"
        text = f"{root} is {state}, so these settings do not count: {keys}"
        return note("trust", text, f"To allow: {trust_command(root)}")
    state = "trusted" if trust_of(root, environ) else "not trusted; its settings need no trust"
    return ok("trust", f"{root}: {state}")


def _cutoff(index: Index, environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """The tuned model of the cutoff, if there is one: which one holds, or why it does not count."""
    root, config = index.root, read_config(index.root, environ).config
    cutoff, reason = chosen_cutoff([(state_dir(root, environ), root)], config, trust_in(environ))
    if reason:
        text = f"{root}: the tuned model does not count: it {reason}"
        yield note("cutoff", text, "To see what holds: memsift config")
    elif cutoff and cutoff.place:
        has_phrases = config.phrases and index.look(lambda postings: postings.has_phrases)
        if said := fit_difference(cutoff.model, has_phrases=has_phrases):
            yield note("cutoff", f"{root}: the model in {cutoff.place} {said}", TUNE_AGAIN)
        else:
            yield ok("cutoff", f"{root}: the model in {cutoff.place}")


def _settings(roots: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[DoctorFinding]:
    """The mistakes in config.toml, memory-config.json and the variables."""
    lines = dict.fromkeys(mistake.text for root in roots or ("",) for mistake in read_config(root, environ).mistakes)
    for line in lines:
        yield problem("settings", line.rstrip("."), "To see what counts: memsift config")
    if not lines:
        yield ok("settings", "no mistakes")


def _transcripts(folder: str, environ: Mapping[str, str]) -> DoctorFinding:
    place = transcripts_dir(folder, environ)
    count = sum(name.endswith(".jsonl") for name in os.listdir(place)) if os.path.isdir(place) else 0
    if count:
        return ok("transcripts", f"{counted(count, 'transcript')} in {place}")
    fix = "Claude Code was not used in this folder. Prompts come from SpecStory or aider here, or from --prompts."
    return note("transcripts", f"none in {place}", fix)
