"""How memsift was installed, and the command that installs it again, with an extra, in the same way."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from shlex import join
from urllib.parse import unquote, urlsplit


def install_command(extra: str = "", prefix: str = sys.prefix) -> str:
    """The command that installs memsift again, with an extra, in its environment: with pip, pipx or uv, as it was made.

    *prefix* is the folder of the environment.
    """
    try:
        record = distribution("memsift").read_text("direct_url.json")
    except PackageNotFoundError:
        record = None
    wanted = requirement(extra, record)
    if os.path.exists(os.path.join(prefix, "pipx_metadata.json")):
        return join(["pipx", "install", "--force", *wanted])
    if os.path.exists(os.path.join(prefix, "uv-receipt.toml")):
        return join(["uv", "tool", "install", "--reinstall", *wanted])
    is_active = os.environ.get("VIRTUAL_ENV") == prefix  # else the command names the interpreter
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8") as file:
            is_of_uv = any(line.startswith("uv =") for line in file)
    except OSError:
        is_of_uv = False
    if is_of_uv:
        return join(["uv", "pip", "install", *([] if is_active else ["--python", sys.executable]), *wanted])
    return join([*(["pip"] if is_active else [sys.executable, "-m", "pip"]), "install", *wanted])


def requirement(extra: str, record: str | None) -> list[str]:
    """memsift with *extra*, from where it was installed: by its name, or from a folder, a repository or a file.

    *record*: the file direct_url.json of an installed package (PEP 610); None if it came by its name.
    """
    brackets = f"[{extra}]" if extra else ""
    name = f"memsift{brackets}"
    if not record:
        return [name]
    origin = json.loads(record)
    url, folder, vcs = origin["url"], origin.get("dir_info"), origin.get("vcs_info")
    if folder is not None:
        return [*(["-e"] if folder.get("editable") else []), unquote(urlsplit(url).path) + brackets]
    if vcs:
        revision = vcs.get("requested_revision")
        return [f"{name} @ {vcs['vcs']}+{url}{f'@{revision}' if revision else ''}"]
    return [f"{name} @ {url}"]
