"""Passwords, keys and tokens in memories, found by detect-secrets. A finding never holds the secret itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.quality.registry import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.memory import Memory
    from engine.quality.registry import Subject

TOO_LOUD = ("Base64HighEntropyString", "HexHighEntropyString", "IPPublicDetector")
"""Plugins that take hashes, commits and addresses for secrets: notes are full of these."""

FILTERS = (
    "is_sequential_string",
    "is_potential_uuid",
    "is_likely_id_string",
    "is_templated_secret",
    "is_prefixed_with_dollar_sign",
)
SEVERITY = 0.9


def find(subject: Subject) -> Iterator[Finding]:
    """A finding for each line with a secret, and each kind of secret in it."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.settings import transient_settings

    kinds: dict[str, type] = get_mapping_from_secret_type_to_class()
    names = [kind.__name__ for kind in kinds.values()]
    plugins = [{"name": name} for name in sorted(set(names)) if name not in TOO_LOUD]
    filters = [{"path": f"detect_secrets.filters.heuristic.{name}"} for name in FILTERS]
    with transient_settings({"plugins_used": plugins, "filters_used": filters}):
        for memory in subject.memories:
            yield from _in_memory(memory)


def _in_memory(memory: Memory) -> Iterator[Finding]:
    from detect_secrets.core.scan import scan_line

    one = memory.summary
    lines = [("title", one.title), ("tags", ", ".join(one.tags))]
    lines += [(f"line {number}", line) for number, line in enumerate(memory.body.splitlines(), 1)]
    for where, line in lines:
        for kind in sorted({secret.type for secret in scan_line(line)}):
            yield Finding(
                check="secrets",
                memory_id=one.id,
                severity=SEVERITY,
                reason=f"looks like a secret: {kind}",
                action=f"Take it out with memsift edit {one.id}, and replace the secret where it is used",
                where=where,
            )
