"""`memsift install` prints a command that a shell can run unchanged."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from click.testing import CliRunner

from tests.engine.hook.world import World, context_of
from tui.cli import main
from tui.cli.install import bare_interpreter, hook_command

if TYPE_CHECKING:
    from pathlib import Path


def test_the_printed_command_is_the_hook(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["install", "--print"])
    assert done.exit_code == 0
    (group,) = json.loads(done.stdout)["hooks"]["UserPromptSubmit"]
    (entry,) = group["hooks"]
    assert (entry["type"], entry["timeout"]) == ("command", 5)
    world = World(tmp_path)
    payload = json.dumps(world.payload()).encode()
    answer = subprocess.run(["/bin/sh", "-c", entry["command"]], input=payload, capture_output=True, check=True)
    assert context_of(answer.stdout.decode()).count("<result ") == 3


def test_a_path_with_spaces_and_quotes_is_quoted(tmp_path: Path) -> None:
    python = tmp_path / "a 'quoted' $folder" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    done = subprocess.run(
        ["/bin/sh", "-c", f'set -- {hook_command(str(python))}; echo "$1"'], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == str(python)


def test_the_interpreter_is_this_one_without_its_environment() -> None:
    code = "import sys; print(sys.version_info[:3], sys.prefix == sys.base_prefix)"
    done = subprocess.run([bare_interpreter(), "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{sys.version_info[:3]} True"


def test_there_is_no_other_way_to_install_yet() -> None:
    done = CliRunner().invoke(main, ["install"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--print" in done.stderr
