"""Every key of the app in one table, with its action and its help; and the names of keys in sentences."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.actions import parse
from textual.binding import Binding, BindingType
from textual.keys import format_key

if TYPE_CHECKING:
    from collections.abc import Collection

    from textual.app import App
    from textual.binding import ActiveBinding
    from textual.screen import Screen


class Key(NamedTuple):
    """*keys*: Textual's key names, separated by commas. *action*: as Textual writes it. *name*: for the footer.

    *sentence*: `group: Verb phrase`, shown in the command palette; the help shows it without the group.
    """

    keys: str
    action: str
    name: str
    sentence: str

    @property
    def phrase(self) -> str:
        return self.sentence.split(": ", 1)[-1]


KEYS = {
    "go.browse": Key("B,f2", "app.switch_mode('browse')", "Browse", "go: Browse the memories"),
    "go.replay": Key("P,f3", "app.switch_mode('replay')", "Replay", "go: Replay prompts"),
    "go.label": Key("L,f4", "app.switch_mode('label')", "Label", "go: Label retrieved memories"),
    "go.report": Key("T,f5", "app.switch_mode('report')", "Report", "go: Read the report"),
    "go.whatif": Key("W,f6", "app.switch_mode('whatif')", "What-if", "go: Try other settings on the labelled prompts"),
    "go.inbox": Key("I,f7", "app.switch_mode('inbox')", "Inbox", "go: Settle what the checks found"),
    "go.activity": Key("A,f8", "app.switch_mode('activity')", "Activity", "go: See what the hook did"),
    "go.back": Key("escape", "back", "Back", "go: Go back, by one step on a screen, then to the screen before"),
    # Textual itself binds ctrl+q, before every other key: it quits from a dialog and from an input too
    "app.quit": Key("q", "app.quit", "Quit", "app: Quit"),
    "app.suspend": Key("ctrl+z", "app.suspend_process", "Suspend", "app: Go back to the shell; its fg comes back here"),
    "app.help": Key("question_mark,f1", "app.toggle_help", "Help", "app: Show the keys of this screen"),
    "app.reload": Key("ctrl+r", "app.reload", "Reload", "app: Read the memories from disk again"),
    "app.skipped": Key("S", "app.show_skipped", "Skipped", "app: Show the skipped files and the reasons"),
    "app.cancel": Key("ctrl+x", "app.cancel_run", "Cancel", "app: Cancel the replay, and keep its finished prompts"),
    "app.judge": Key("dollar_sign", "app.agree", "Judge", "app: Let the judge be asked, up to a limit in US dollars"),
    "app.mute": Key("Z", "app.mute", "Mute", "app: Let the hook inject nothing, today or in a session, or end that"),
    "app.jump": Key("grave_accent", "app.jump", "Jump", "app: Jump to a list or panel by its letter"),
    "app.theme": Key("ctrl+t", "app.change_theme", "Theme", "app: Choose a theme"),
    "pane.larger": Key("plus", "enlarge(1)", "Larger", "pane: Give the list or text with the cursor more room"),
    "pane.smaller": Key("underscore", "enlarge(-1)", "Smaller", "pane: Take its room back"),
    "copy.text": Key("y", "copy", "Copy", "app: Copy the text under the cursor"),
    "copy.path": Key("Y", "copy_path", "Path", "app: Copy the path of the memory"),
    "prompt.read": Key("i", "read_prompt", "Prompt", "prompt: Read the whole prompt and the turns before it"),
    "list.filter": Key("slash", "filter", "Filter", "list: Show the rows with some words"),
    "list.select": Key("space", "select", "Select", "list: Select the row, or take it out of the selection"),
    "list.all": Key("asterisk,ctrl+a", "select_all", "All", "list: Select all rows, or none"),
    "list.order": Key("o", "order", "Sort", "list: Sort by a column"),
    "list.turn": Key("O", "turn", "Turn", "list: Sort the other way round"),
    "browse.open": Key("enter,l", "open", "Read", "browse: Read the whole memory"),
    "browse.category": Key("c", "category", "Category", "browse: Show the memories of a category"),
    "browse.status": Key("v", "status", "Status", "browse: Show the memories of a status"),
    "browse.finding": Key("f", "finding", "Finding", "browse: Show the memories with a finding"),
    "browse.prompts": Key("w", "prompts", "Why", "browse: Show why a prompt pulled the memory in"),
    "change.retire": Key("x", "retire", "Retire", "change: Retire the memory, for a reason, or archive it"),
    "change.restore": Key("r", "restore", "Restore", "change: Make the memory active again"),
    "change.tags": Key("t", "retag", "Tags", "change: Change the tags"),
    "change.edit": Key("e", "edit", "Edit", "change: Edit the memory in a form"),
    "change.file": Key("E", "edit_file", "Editor", "change: Edit the file in your editor (VISUAL or EDITOR)"),
    "change.undo": Key("u", "undo", "Undo", "change: Take the last change of memories back"),
    "change.redo": Key("U", "redo", "Redo", "change: Do again what was taken back last"),
    "change.merge": Key("m", "merge", "Merge", "change: Merge the memory with others"),
    "change.move": Key("M", "move", "Move", "change: Move the memory to another folder of memories"),
    "merge.merge": Key("enter", "merge", "Merge", "merge: Keep this memory and retire the others"),
    "merge.swap": Key("s", "swap", "Swap", "merge: Keep another of these memories"),
    "form.save": Key("ctrl+s", "save", "Save", "form: Save the changes"),
    "replay.memories": Key("right,l", "memories", "Memories", "replay: Go to the memories, and on to their text"),
    "replay.prompts": Key("left,h", "prompts", "Prompts", "replay: Go back to the prompts"),
    "replay.type": Key("n", "type", "Type", "replay: Type a prompt and replay it"),
    "replay.search": Key("slash", "search", "Search", "replay: Search the prompts by words"),
    "replay.filter": Key("v", "filter", "Filter", "replay: Show some prompts, such as those with a difference"),
    "replay.order": Key("o", "order", "Sort", "replay: Sort the prompts"),
    "replay.turn": Key("O", "turn", "Turn", "replay: Sort the prompts the other way round"),
    "replay.all": Key("R", "replay_all", "Replay all", "replay: Replay every prompt through every system"),
    "replay.choose": Key("t", "choose", "Sample", "replay: Take this prompt into the labelled sample, or out again"),
    "replay.remove": Key("delete,backspace", "remove", "Remove", "replay: Remove this typed prompt from the list"),
    "replay.next": Key("right_square_bracket", "move(1)", "Next prompt", "replay: Go to the next prompt"),
    "replay.previous": Key("left_square_bracket", "move(-1)", "Previous prompt", "replay: Go to the previous prompt"),
    "replay.again": Key("r", "again", "Again", "replay: Run this prompt again"),
    "replay.columns": Key("c", "columns", "Columns", "replay: Choose the systems that stand side by side"),
    "replay.view": Key("V", "view", "View", "replay: Show why, the whole memory, or the text that the model would see"),
    "replay.open": Key("enter,space", "open", "Read", "replay: Read the whole memory"),
    "replay.explain": Key("w", "explain", "Why", "replay: Explain the place of this memory"),
    "replay.pick": Key("f", "pick", "Why not", "replay: Pick any memory and explain why it is not in the list"),
    "replay.diff": Key("d", "app.switch_mode('diff')", "Diff", "replay: Compare two saved runs, prompt by prompt"),
    "diff.runs": Key("c", "runs", "Runs", "diff: Choose the two runs"),
    "diff.kind": Key("v", "kind", "Show", "diff: Show only some prompts, such as those that lost a memory"),
    "diff.open": Key("enter,l", "open", "Replay", "diff: Go to the prompt in Replay"),
    "type.send": Key("ctrl+s", "send", "Replay", "prompt: Replay the text as a prompt"),
    "columns.agree": Key("enter", "agree", "Agree", "columns: Show the selected systems side by side"),
    "agree.yes": Key("enter", "agree", "Agree", "judge: Agree, and let the judge be asked"),
    "start.install": Key("i", "install", "Install", "start: Put the hook into the coding agents on this machine"),
    "start.demo": Key("d", "demo", "Demo", "start: Try the example data"),
    "help.change": Key("ctrl+n", "change", "New key", "help: Give the action of this line another key"),
    "pick.leave": Key("escape", "leave", "Close", "dialog: Close without an answer"),
    "mark.relevant": Key("a,1", "label('relevant')", "Relevant", "label: Relevant to this prompt"),
    "mark.not": Key("x,0", "label('not')", "Not", "label: Not relevant to this prompt"),
    "mark.unsure": Key("s", "label('unsure')", "Unsure", "label: Unsure (counted, but left out of precision)"),
    "mark.undo": Key("u,z,backspace", "undo", "Undo", "label: Take the last label back"),
    "mark.unrateable": Key("exclamation_mark", "label('unrateable')", "No rating", "label: It cannot be rated"),
    "label.grade0": Key("0", "grade(0)", "Grade 0", "label: Grade 0, not relevant (where grades are on)"),
    "label.grade1": Key("1", "grade(1)", "Grade 1", "label: Grade 1, helps a little (where grades are on)"),
    "label.grade2": Key("2", "grade(2)", "Grade 2", "label: Grade 2, helps (where grades are on)"),
    "label.grade3": Key("3", "grade(3)", "Grade 3", "label: Grade 3, needed for a right answer (where grades are on)"),
    "label.guideline": Key("c", "guideline", "Guideline", "label: Read when a memory counts as relevant"),
    "label.latest": Key("h", "latest", "Latest", "label: Go to the latest labels, to change one"),
    "label.follow": Key(
        "f", "follow", "Follow", "label: Retire, merge or edit a memory, as the reason of its label asks"
    ),
    "label.note": Key("e", "note", "Note", "label: Write a note for the next label"),
    "label.reason": Key("w", "reason", "Reason", "label: Choose a reason for the next label"),
    "label.skip": Key("space", "skip", "Skip", "label: Skip this card; it comes back at the end of its prompt"),
    "label.open": Key("enter", "open", "Read", "label: Read the whole memory"),
    "label.order": Key("o", "order", "Order", "label: Choose which prompts come first"),
    "label.settle": Key("d", "app.switch_mode('settle')", "Settle", "label: Settle the disputes between people"),
    "label.reveals": Key(
        "v", "reveals", "Reveals", "label: Show ranks and verdicts after each prompt, or leave them out"
    ),
    "label.next": Key("space,enter", "next", "Next prompt", "label: Go to the next prompt"),
    "settle.later": Key("space", "later", "Later", "settle: Leave this memory for later"),
    "report.step": Key("enter", "step", "Next step", "report: Do the next step that the answer names"),
    "report.replay": Key("R", "replay_all", "Replay all", "report: Replay every prompt through every system"),
    "report.more": Key("v", "more", "More", "report: Add the ranking measures of TREC, or leave them out"),
    "report.rows": Key("right,l", "rows", "Rows", "report: Go to the rows of this part; enter opens a row"),
    "report.parts": Key("left,h", "parts", "Parts", "report: Go back to the parts"),
    "report.next": Key("right_square_bracket", "move(1)", "Next part", "report: Go to the next part"),
    "report.previous": Key("left_square_bracket", "move(-1)", "Previous part", "report: Go to the previous part"),
    "report.target": Key("t", "target", "Target", "report: Choose the precision that is asked for"),
    "report.export": Key("ctrl+s", "export", "Save", "report: Write the report to a file: HTML, Markdown, JSON, text"),
    "whatif.less": Key("left,h", "move(-1)", "Less", "whatif: Lower the value of this setting"),
    "whatif.more": Key("right,l", "move(1)", "More", "whatif: Raise the value of this setting"),
    "whatif.save": Key("ctrl+s", "save", "Save", "whatif: Save the settings of this root"),
    "whatif.undo": Key("u", "undo", "Undo", "whatif: Put this setting back to its saved value"),
    "whatif.discard": Key("delete,backspace", "discard", "Discard", "whatif: Put all settings back"),
    "whatif.prompts": Key("p", "prompts", "Prompts", "whatif: Go to the prompts that change"),
    "inbox.approve": Key("a", "approve", "Fine", "inbox: It is fine as it is: dismiss it, or approve a risky memory"),
    "inbox.block": Key("b", "block", "Keep out", "inbox: Keep a risky memory out of all prompts"),
    "inbox.check": Key("v", "check", "Check", "inbox: Show the findings of one check"),
    "activity.open": Key("enter,l", "open", "Replay", "activity: Replay the prompt"),
    "activity.kind": Key("v", "kind", "Show", "activity: Show only silent, slow, fallback or injecting answers"),
    "activity.live": Key(
        "f", "live", "Follow", "activity: Stay at the newest prompt as the hook answers, or no longer"
    ),
    "activity.sample": Key("t", "sample", "Sample", "activity: Add the prompts to the sample that is labelled"),
    "close": Key("escape,enter,space,q", "leave", "Close", "dialog: Close this text"),
}
"""By id, which a screen names in its BINDINGS."""

MOVED = {
    ("browse", "p"): "browse.prompts",
    ("browse", "a"): "change.retire",
    ("browse", "y"): "copy.path",
    ("inbox", "d"): "inbox.approve",
    ("inbox", "y"): "copy.path",
    ("replay", "e"): "replay.explain",
    ("replay", "w"): "replay.view",
    ("replay", "u"): "mark.unsure",
    ("label", "y"): "mark.relevant",
    ("label", "n"): "mark.not",
    ("label", "u"): "mark.unsure",
    ("label", "m"): "label.note",
    ("label", "r"): "label.reason",
    ("settle", "y"): "mark.relevant",
    ("settle", "n"): "mark.not",
    ("settle", "u"): "mark.unsure",
    ("report", "r"): "report.replay",
    ("report", "m"): "report.more",
    ("report", "w"): "report.export",
}
"""Screen and key -> the action that the key had there in the version before. The app says once where it is now."""

INTO_INPUT = frozenset(
    {
        "list.filter",
        "replay.search",
        "replay.type",
        "replay.pick",
        "label.note",
        "label.reason",
        "change.retire",
        "change.tags",
        "change.edit",
        "change.move",
        "change.merge",
        "report.target",
        "report.export",
    }
)
"""Keys that lead into an input or a choice. They act at once: letters typed after them must reach the input, not act as
keys of the screen."""


HOMES = {"change": "browse", "copy": "browse", "list": "browse", "mark": "label", "prompt": "replay"}
"""Groups of ids that no screen is named after -> the screen to which their keys lead first."""


def bindings(shown: str = "", hidden: str = "", at_once: str = "") -> list[BindingType]:
    """The bindings of the ids in *shown*, separated by spaces, and in *hidden*, which the footer leaves out.

    Keys *at_once* act before any key typed after them, even if a later key opens an input. The screen's `check_action`
    has to refuse them while an input has the focus.
    """
    first = {*INTO_INPUT, *at_once.split()}
    ids = (*shown.split(), *hidden.split())
    return [_binding(name, show=name in shown.split(), priority=name in first) for name in ids]


def active_keys(screen: Screen[Any]) -> dict[str, ActiveBinding]:
    """Each binding of the table that acts on *screen* now, by its id; the screen's bindings before the app's."""
    found: dict[str, ActiveBinding] = {}
    for active in screen.active_bindings.values():
        if active.enabled and active.binding.id in KEYS:
            found.setdefault(active.binding.id, active)
    return found


def idle_keys(node: Screen[Any] | App[Any], acting: Collection[str]) -> dict[str, str]:
    """The ids in the BINDINGS of *node* that are not *acting*, with the reason why each is off, or an empty text."""
    tables = [vars(kind).get("BINDINGS", ()) for kind in type(node).__mro__]
    ids = dict.fromkeys(
        binding.id for table in tables for binding in table if isinstance(binding, Binding) and binding.id in KEYS
    )
    why_off = getattr(node, "why_off", lambda _action, _parameters: "")
    return {name: why_off(*parse(KEYS[name].action)[1:]) for name in ids if name not in acting}


def home_of(name: str) -> str:
    """The screen on which the key *name* acts, if no other screen is open; empty if it belongs to a dialog."""
    group = name.split(".", 1)[0]
    return HOMES.get(group, group)


def _binding(name: str, *, show: bool, priority: bool) -> Binding:
    key = KEYS[name]
    return Binding(key.keys, key.action, key.name, show=show, tooltip=key.sentence, id=name, priority=priority)


NAMED = re.compile(r"\{(" + "|".join(map(re.escape, KEYS)) + r")\}")
"""The id of a key in a sentence."""

IN_WORDS = {"enter": "enter", "backspace": "backspace"}
"""Keys that the footer shows as a sign, and sentences as a word."""


def keyed(app: App[Any], sentence: str) -> str:
    """*sentence* with the key that is in force in place of each id in braces. It must hold no text of a person."""
    return NAMED.sub(lambda found: key_word(keys_of(app, found[1])[0]), sentence)


def key_names(app: App[Any], name: str) -> str:
    """All keys of the id *name*, as the footer writes them, such as "z ⌫"."""
    binding = Binding(",".join(keys_of(app, name)), KEYS[name].action)
    return " ".join(app.get_key_display(single) for single in Binding.make_bindings([binding]))


def keys_of(app: App[Any], name: str) -> list[str]:
    """The keys of an id that are in force, as Textual names them: those of the person, or else the usual ones."""
    keys: str = getattr(app, "keys", {}).get(name, KEYS[name].keys)
    return keys.split(",")


def key_word(key: str) -> str:
    """A key in a sentence: "ctrl+r", "F4", "esc", "?"."""
    *modifiers, last = key.split("+")
    is_function = last[:1] == "f" and last[1:].isdigit()
    return "+".join([*modifiers, last.upper() if is_function else IN_WORDS.get(last) or format_key(last)])
