import sys
from pathlib import Path
from shlex import quote

import pytest

from engine.installation import install_command, requirement

PYTHON = quote(sys.executable)


@pytest.mark.parametrize(
    ("file", "text", "command"),
    [
        ("pipx_metadata.json", "{}", "pipx install --force"),
        ("uv-receipt.toml", "[tool]", "uv tool install --reinstall"),
        ("pyvenv.cfg", "home = /usr/bin\nuv = 0.13.9\n", f"uv pip install --python {PYTHON}"),
        ("pyvenv.cfg", "home = /usr/bin\n", f"{PYTHON} -m pip install"),
    ],
)
def test_the_command_is_that_of_the_tool_that_made_the_environment(
    tmp_path: Path, file: str, text: str, command: str
) -> None:
    (tmp_path / file).write_text(text, "utf-8")
    assert install_command("stats", str(tmp_path)).startswith(f"{command} ")


def test_an_extra_comes_from_where_memsift_came_and_an_active_environment_needs_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path))
    assert install_command("stats", str(tmp_path)).startswith("pip install ")
    for record, wanted in [
        (None, ["memsift[stats]"]),
        ('{"url": "file:///a%20b/memsift", "dir_info": {}}', ["/a b/memsift[stats]"]),
        ('{"url": "file:///src", "dir_info": {"editable": true}}', ["-e", "/src[stats]"]),
        (
            '{"url": "https://example.org/m.git", "vcs_info": {"vcs": "git", "requested_revision": "v1"}}',
            ["memsift[stats] @ git+https://example.org/m.git@v1"],
        ),
        ('{"url": "file:///w/memsift-1.whl", "archive_info": {}}', ["memsift[stats] @ file:///w/memsift-1.whl"]),
    ]:
        assert requirement("stats", record) == wanted, record
