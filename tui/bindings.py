"""Every key in one table: id, key, what it does, its short name for the footer, and a sentence for help and palette."""

from __future__ import annotations

from textual.binding import Binding, BindingType

KEYS: dict[str, tuple[str, str, str, str]] = {
    # id: (keys, action, short name, sentence)
    "go.browse": ("f2", "app.switch_mode('browse')", "Browse", "go: Browse the memories"),
    "go.replay": ("f3", "app.switch_mode('replay')", "Replay", "go: Replay prompts"),
    "go.label": ("f4", "app.switch_mode('label')", "Label", "go: Label what was retrieved"),
    "go.report": ("f5", "app.switch_mode('report')", "Report", "go: Read the report"),
    # ctrl+q is the framework's own and goes before every other key: it quits from an open text and from an input too
    "app.quit": ("q", "app.quit", "Quit", "app: Quit"),
    "app.help": ("question_mark,f1", "app.toggle_help", "Help", "app: Show the keys of this screen"),
    "app.reload": ("ctrl+r", "app.reload", "Reload", "app: Read the memories anew"),
    "app.skipped": ("s", "app.show_skipped", "Skipped", "app: Show the files that were skipped, and why"),
    "app.theme": ("ctrl+t", "app.change_theme", "Theme", "app: Choose a theme"),
    "prompt.read": ("i", "read_prompt", "Prompt", "prompt: Read the whole prompt and the turns before it"),
    "browse.filter": ("slash", "filter", "Filter", "browse: Filter by words of title, tags and body"),
    "browse.clear": ("escape", "clear", "Clear", "browse: Clear the filter"),
    "browse.copy": ("y", "copy", "Copy path", "browse: Copy the path of the memory"),
    "browse.open": ("enter,space", "open", "Read", "browse: Read the whole memory"),
    "replay.memories": ("right,l", "memories", "Memories", "replay: Go to the memories of this prompt"),
    "replay.prompts": ("left,h", "prompts", "Prompts", "replay: Go back to the prompts"),
    "replay.type": ("n,slash", "type", "Type", "replay: Type a prompt and replay it"),
    "replay.leave": ("escape", "leave", "Back", "replay: Leave the prompt line"),
    "replay.next": ("right_square_bracket", "move(1)", "Next prompt", "replay: Go to the next prompt"),
    "replay.previous": ("left_square_bracket", "move(-1)", "Previous prompt", "replay: Go to the previous prompt"),
    "replay.again": ("r", "again", "Again", "replay: Run this prompt again"),
    "replay.compare": (
        "c",
        "compare",
        "Compare",
        "replay: Compare with the other first stage, or with the judge again",
    ),
    "replay.open": ("enter,space", "open", "Read", "replay: Read the whole memory"),
    "replay.explain": ("e", "explain", "Explain", "replay: Explain why this memory is where it is"),
    "replay.pick": ("f", "pick", "Why not", "replay: Pick any memory and explain why it is not here"),
    "pick.leave": ("escape", "leave", "Close", "pick: Choose none"),
    "mark.relevant": ("a,1", "label('relevant')", "Relevant", "label: Relevant to this prompt"),
    "mark.not": ("x,0", "label('not')", "Not", "label: Not relevant to this prompt"),
    "mark.unsure": ("u", "label('unsure')", "Unsure", "label: Unsure (counted, but in no precision)"),
    "mark.undo": ("z,backspace", "undo", "Undo", "label: Take the last label back"),
    "mark.unrateable": ("exclamation_mark", "label('unrateable')", "No rating", "label: It cannot be rated"),
    "label.note": ("m", "note", "Note", "label: Write a note that goes with the label"),
    "label.reason": ("r", "reason", "Reason", "label: Choose a reason that goes with the label"),
    "label.skip": ("space", "skip", "Skip", "label: Skip this card; it comes back at the end of its prompt"),
    "label.open": ("enter", "open", "Read", "label: Read the whole memory"),
    "label.order": ("o", "order", "Order", "label: Choose which prompts come first"),
    "label.settle": ("d", "app.switch_mode('settle')", "Settle", "label: Settle what people differ on"),
    "settle.later": ("space", "later", "Later", "settle: Leave this one for later"),
    "label.next": ("space,enter", "next", "Next prompt", "label: Go to the next prompt"),
    "report.replay": ("r", "replay_all", "Replay all", "report: Replay every prompt through every system"),
    "report.more": ("m", "more", "More", "report: Show the curves, and the ranking as TREC counts it"),
    "close": ("escape,enter,space,q", "close", "Close", "app: Close this"),
}

INTO_INPUT = frozenset({"browse.filter", "replay.type", "replay.pick", "label.note", "label.reason"})
"""They lead into an input or a choice, so they are dealt with at once: what was typed after them must not act as keys
of the screen."""


def bindings(*ids: str, hidden: tuple[str, ...] = (), at_once: tuple[str, ...] = ()) -> list[BindingType]:
    """The bindings called *ids*, shown in the footer, and *hidden*, which work without being shown.

    *at_once* are those of them that must not be overtaken by a key into an input that is typed after them; the screen's
    `check_action` has to refuse them while an input has the focus.
    """
    first = {*INTO_INPUT, *at_once}
    return [_binding(name, show=name in ids, priority=name in first) for name in (*ids, *hidden)]


def _binding(name: str, *, show: bool, priority: bool) -> Binding:
    keys, action, label, sentence = KEYS[name]
    return Binding(keys, action, label, show=show, tooltip=sentence, id=name, priority=priority)
