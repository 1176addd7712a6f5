"""The wheel's files: `memsift` alone, because `labels` and `tui` are other people's packages.

It is a hook of the build, because `force-include` in pyproject.toml would also copy the files at `pip install -e`.
"""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {"tui/start/memsift": "memsift", **{name: f"memsift/{name}" for name in ("engine", "labels", "tui")}}


class Wheel(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say where the wheel's files lie. *version*: "editable" for a checkout, whose files stay where they are."""
        if version == "standard":
            build_data["force_include"] |= PLACES
