"""`memsift config`."""

from __future__ import annotations

import os
from shlex import quote
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import click

from engine.config import BALANCED, OFF, SHARED_CUTOFF_FILE, TUNED
from engine.errors import MemsiftError
from engine.lean.json_text import printed_json
from engine.lean.record import fields, replace
from engine.roots import together
from engine.settings.keys import SECTION
from engine.settings.roots import KEY as ROOTS
from engine.settings.roots import find_roots, offered_roots, user_roots
from engine.settings.sources import read_config
from engine.settings.trust import keeping_trust, trust_of
from engine.settings.values import (
    DEFAULT,
    ROOT,
    USER,
    Setting,
    keys_of,
    settings,
    threshold_text,
    value_of,
    write_settings,
    write_user_settings,
)
from engine.wording import aligned
from tui.cli.declaring import argument, declared, option
from tui.cli.options import ListForm, OneRoot, told_cutoff
from tui.cli.output import output, text_width
from tui.cli.setup.install import root_here
from tui.workspace.app_settings import KEYS, OWN, own_path, own_settings, own_value, read_app_settings
from tui.workspace.stderr import tell, uninterrupted, visible

if TYPE_CHECKING:
    from engine.config import Config
    from engine.cutoff import Cutoff

MODEL = "cutoff_model"
"""Shown beside the settings. memsift tune decides it."""

COST = "judge.enabled: about $2 a month with claude-haiku-4-5, for 2,250 questions at 100 prompts a day."
"""With the default model: `default_model.DOUBT`. A question has 650 tokens, an answer about 30."""

MOST_SHOWN = 24
"""Characters of a value in the table; memsift config get prints it whole."""

TO_USER, TO_ROOT = (
    "In your config.toml, for all roots. The default.",
    "In the memory-config.json of this folder of memories.",
)
Key = Annotated[str, argument()]
ForUser = Annotated[bool, option("--user", about=TO_USER)]
InRoot = Annotated[str | None, option("--root", metavar="PATH", about=TO_ROOT)]


@click.group(invoke_without_command=True)
@declared
@click.pass_context
def config(ctx: click.Context, root: OneRoot, form: ListForm) -> None:
    """Show every setting: its value, and where the value comes from.

    A later source is stronger: default, user (config.toml), root (memory-config.json), variable (MEMSIFT_...). A root
    without your trust may only make the hook stricter or quieter; its ignored values are shown, too.

    `cutoff_model` is the model of the cutoff: tuned (your own), shared (by a root that you trust), default or off.
    memsift tune decides it. The last lines explain the cost of a judge and the number behind `cutoff_threshold`.

    `roots`, `label.grades`, `app.plain` and the keys of the app (`keys.ID`, as in tui/KEYS.md) can stand only in your
    config.toml.

    Output: a line for each setting; or as JSON [{key, value, source, place, means, trusted, ignored}].

    \b
    Examples:
      memsift config
      memsift config set max_inject 5
    """
    if ctx.invoked_subcommand is None:
        found, place = effective(root)
        rows = (*found, *own_settings(os.environ))
        for line in (*user_roots(os.environ).mistakes, *read_app_settings(os.environ).mistakes):
            tell(line)
        for offered in offered_roots(".", os.environ):
            tell(f"{offered} holds memories and is not used. To use it: memsift config set roots {quote(offered)}")
        is_trusted = trust_of(place, os.environ)
        objects = []
        for row in rows:
            shown = {name: value for name, value in fields(row).items() if name != "wanted"}
            objects.append({**shown, "trusted": is_trusted if row.source == ROOT else None, "ignored": row.wanted})
        click.echo(output(form, objects, table(rows, is_trusted=is_trusted)), nl=False)


@config.command("get")
@declared
def get(key: Key, root: OneRoot) -> None:
    """Print the value of KEY, such as judge.enabled, as JSON.

    \b
    Example:
      memsift config get max_inject
    """
    if own_path(key):
        value = next((setting.value for setting in own_settings(os.environ) if setting.key == key), None)
        if value is None:
            from tui.keys import usual_keys  # loads Textual

            value = usual_keys(own_path(key)[-1])
        click.echo(printed_json(value))
        return
    wanted = key if key == MODEL else ".".join(keys_of(key, OWN))
    found, _ = effective(root)
    click.echo(printed_json(next(setting.value for setting in found if setting.key == wanted)))


@config.command("set")
@declared
def set_(
    key: Key,
    values: Annotated[tuple[str, ...], argument(metavar="VALUE...", nargs=-1, required=True)],
    is_user: ForUser,
    root: InRoot,
) -> None:
    """Set KEY, such as judge.enabled, to VALUE. Everything else in the file stays as it was written.

    Only `roots` takes more than one VALUE: the paths of your folders of memories.

    Output: the path of the changed file.

    \b
    Examples:
      memsift config set cutoff_threshold strict
      memsift config set judge.enabled true --root .claude/memory
    """
    if len(values) > 1 and key != ROOTS:
        raise click.UsageError(f"{key} has one value, but {len(values)} were given. Put quotes around a text.")
    if own_path(key):
        change_own(key, values, root)
    else:
        keys = keys_of(key, OWN)
        change(keys, value_of(keys, values[0]), is_user, root)


@config.command("unset")
@declared
def unset(key: Key, is_user: ForUser, root: InRoot) -> None:
    """Take KEY out of the file, so that a weaker source decides.

    Output: the path of the changed file.

    \b
    Example:
      memsift config unset cutoff_threshold
    """
    if own_path(key):
        change_own(key, (), root)
    else:
        change(keys_of(key, OWN), None, is_user, root)


def change_own(key: str, values: tuple[str, ...], root: str | None) -> None:
    """Write a setting that only the user's file has, or take it out where there are no *values*."""
    if root:
        raise click.UsageError(f"{key} can stand only in your config.toml: leave --root out.")
    settings, action = read_app_settings(os.environ), own_path(key)[-1]
    if key.startswith(f"{KEYS}.") and (values or action not in settings.keys):
        from tui.keys import refuse_wrong_keys

        refuse_wrong_keys(settings, action, " ".join(values))
    value = own_value(key, values, os.environ) if values else None
    click.echo(visible(write_user_settings({own_path(key): value}, os.environ)))


def effective(root: str | None) -> tuple[tuple[Setting, ...], str]:
    """The settings of *root*, or those that count for all roots here, and the root that decides them.

    A value that is not set is the one that holds. stderr tells mistakes in the sources, and which of several roots
    decides.
    """
    here = find_roots(os.getcwd(), os.environ).roots or (root_here(),)  # noqa: PTH109
    roots = [os.path.abspath(root)] if root else here  # noqa: PTH100 - the engine speaks in strings
    readings = [read_config(place, os.environ) for place in roots]
    joint = together(readings, os.environ)
    reading = next(reading for reading in readings if reading.root == joint.main)
    for line in dict.fromkeys(line for reading in readings for line in reading.lines):
        tell(line)
    if len(roots) > 1:
        tell(f"{len(roots)} roots are open together here. The settings are those of {joint.main}.")
    cutoff = told_cutoff(joint)
    tuned = cutoff.threshold if cutoff and cutoff.kind == TUNED else BALANCED
    unset = {"noise_floor": reading.config.floor, "cutoff_threshold": tuned}
    rows = []
    for row in settings(reading, os.environ):
        value = unset.get(row.key) if row.value is None else row.value
        rows.append(replace(row, means=COST if row.key == "judge.enabled" else "", value=value))
    return (*rows, model_in_use(cutoff, reading.config)), joint.main


def model_in_use(cutoff: Cutoff | None, config: Config) -> Setting:
    """Which model of the cutoff holds: your own, the one that the root shares, the default one, or none."""
    place = cutoff.place if cutoff else ""
    means = ""
    if cutoff:
        number = f"{config.cutoff_threshold or 'cutoff_threshold'} is P(relevant) >= {cutoff.threshold:.3g}."
        means = f"{number} {threshold_text(config.cutoff_threshold, cutoff)}".rstrip()
    if os.path.basename(place) == SHARED_CUTOFF_FILE:  # noqa: PTH119
        return Setting(MODEL, "shared", ROOT, place, means=means)
    return Setting(MODEL, cutoff.kind if cutoff else OFF, USER if place else DEFAULT, place, means=means)


def change(keys: tuple[str, ...], value: object, is_user: bool, root: str | None) -> None:
    """Write a setting, print the path of the file, and tell if the value does not count in the end."""
    if is_user and root:
        raise click.UsageError("--user and --root name different files: leave one out.")
    if root and not os.path.isdir(root):  # noqa: PTH112
        raise MemsiftError(f"{root} is not a folder of memories. Name one with --root.")
    with uninterrupted():
        if root:
            folder = os.path.abspath(root)  # noqa: PTH100
            path = keeping_trust(folder, os.environ, lambda: write_settings(folder, {keys: value}))
        else:
            path = write_user_settings({(SECTION, *keys): value}, os.environ)
        click.echo(visible(path))
    (found, place), key = effective(root), ".".join(keys)
    now = next(setting for setting in found if setting.key == key)
    if now.wanted is not None:
        tell(read_config(place, os.environ).notice)
    elif value is not None and now.place != path:
        tell(f"{key} stays {printed_json(now.value)}: {now.place or 'the default'} is stronger.")


def table(rows: tuple[Setting, ...], *, is_trusted: bool) -> list[str]:
    """A line for each setting: key, value and source. Values that are ignored stand below it, meanings at the end."""
    of_root = "root file, trusted" if is_trusted else "root file, not trusted"
    lines = []
    for row in rows:
        of_user = row.place if row.key == MODEL else "config.toml"
        source = {DEFAULT: DEFAULT, USER: of_user, ROOT: of_root}.get(row.source, row.place)
        lines.append((row.key, short(printed_json(row.value)), source))
        if row.wanted is not None:
            lines.append(("", short(printed_json(row.wanted)), f"ignored: {of_root}"))
    meanings = [line for row in rows for line in wrap(row.means, text_width())]
    return [*aligned(lines), *meanings]


def short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"
