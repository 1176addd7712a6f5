"""Forms in which a text pretends to be another speaker, or brings a command along that a tool could run."""

from __future__ import annotations

import re

from engine.quality.safety.rules import EXFILTRATION, HARD, OVERRIDING, ROLE_ESCAPE, TOOLS, Detection

SECRET_FILES = (
    r"(?:\.env\b|\.ssh|\.aws|id_rsa|id_ed25519|credentials|/etc/(?:passwd|shadow)|netrc|\.npmrc|\.pypirc|\.pgpass"
    r"|\.kube|secrets?\.)"
)
FETCH = r"(?:curl|wget|fetch|iwr)\b"
SPEAKERS = r"(?:System|SYSTEM|Human|Assistant|Developer|User)"
INNER = r"(?=(?:\W*\w+){3})"

FORMS = tuple(
    (category, re.compile(pattern, flags), reason)
    for category, flags, reason, pattern in (
        (ROLE_ESCAPE, re.I, "closes the frame of memories", r"</\s*memory[-_ ](?:context|data|note)\s*>"),
        (
            ROLE_ESCAPE,
            re.I,
            "closes a frame and begins a turn of another speaker",
            rf"</\s*\w[\w-]*\s*>\s*(?:{SPEAKERS}\s*:|<\s*/?\s*(?:system|user|assistant|function_calls?)\b)",
        ),
        (
            ROLE_ESCAPE,
            re.I | re.S,
            "a whole turn of a chat template",
            rf"<\|(?:im_start|start_header_id)\|>\s*system\b(?=(?:\W*\w+){{5}}).{{10,}}|\[INST\]\s*<<SYS>>{INNER}.{{10,}}\[/INST\]",
        ),
        (
            ROLE_ESCAPE,
            re.I | re.S,
            "a text between tags of another speaker",
            r"<(system(?:[-_]\w+)?|admin|developer|user|assistant|function_results|tool_result|hidden|important|secret)>"
            rf"{INNER}.{{8,600}}?</\1>",
        ),
        (
            ROLE_ESCAPE,
            re.S,
            "turns of other speakers",
            rf"^\s*(?:#+\s*)?{SPEAKERS}\s*:.{{1,400}}^\s*(?:#+\s*)?{SPEAKERS}\s*:",
        ),
        (
            ROLE_ESCAPE,
            re.I,
            "a message of the system",
            r"^\s*(?:#+\s*)?system(?: prompt| message)?\s*#*\s*:?\s*(?:\n\s*)?(?:the (?:user|assistant)|you |new )",
        ),
        (
            ROLE_ESCAPE,
            0,
            "a heading of another speaker",
            r"\[\s*(?:SYSTEM|ADMIN|DEVELOPER|ROOT)(?:[\s_-]+(?:OVERRIDE|MESSAGE|PROMPT|MODE|UPDATE|NOTICE))?"
            r"(?::[^\]\n]{12,}\]|\]\s*:?\s*\w)|"
            r"#{2,}\s*(?:SYSTEM|ADMIN)\s*#{2,}|"
            r"\b(?:SYSTEM|ADMIN|ADMINISTRATOR|EDITOR|MODERATOR|DEVELOPER|ROOT|PRIORITY|OVERRIDE|URGENT)\s+"
            r"(?:SYSTEM )?(?:NOTE|OVERRIDE|MESSAGE|ALERT|INSTRUCTION|COMMAND|PROMPT|NOTICE|DIRECTIVE)S?\b[^:\n]{0,40}:",
        ),
        (
            ROLE_ESCAPE,
            0,
            "a mark that the context ends",
            r"(?:END OF|BEGIN|START OF|END)\s+(?:OF\s+)?(?:THE\s+)?(?:NEW |ADMIN |SYSTEM |HIDDEN )?"
            r"(?:CONTEXT|MEMOR(?:Y|IES)|PROMPT|INSTRUCTIONS?|USER INPUT|DOCUMENT|DATA|SESSION|METADATA|HEADER)\b",
        ),
        (
            ROLE_ESCAPE,
            re.I,
            "a message of the system as JSON",
            r'["\'\]}]\s*[}\]]+\s*,\s*"role"\s*:\s*"(?:system|developer)"',
        ),
        (
            OVERRIDING,
            re.I,
            "a hidden instruction",
            r"\b(?:hidden|secret|ai|llm|assistant|agent)[ _-](?:instructions?|prompt|directives?|command)s?\s*[:=]",
        ),
        (ROLE_ESCAPE, re.I, "a block of the system", r"^```\s*(?:system|admin|developer)\s*$"),
        (
            TOOLS,
            re.I | re.S,
            "a call of a tool with a dangerous command",
            r"(?:<invoke\b|<tool_use\b|<function_call|\"(?:tool|name|function)\"\s*:\s*\"(?:bash|shell|terminal|exec\w*|run_\w+)\")"
            r".{0,200}?(?:curl|wget|\brm\b|chmod|\bsh\b|\bnc\b|/etc/|delete|sudo)",
        ),
        (
            EXFILTRATION,
            re.I,
            "an image whose address carries data away",
            r"!\[[^\]]*\]\(\s*https?://[^)\s]*[?&][\w-]+=(?:[\[{<]|\$[{(A-Za-z]|(?-i:[A-Z]{2,}(?:_[A-Z]+)+|(?:KEY|SECRET|TOKEN|DATA)\b))",
        ),
        (
            EXFILTRATION,
            re.I,
            "a page that sends cookies away",
            r"https?://[^\n]{0,120}(?:document\.cookie|localstorage)",
        ),
        (
            EXFILTRATION,
            re.I,
            "a command in an address",
            r"https?://[^\s\"']*\$\((?:cat|env|printenv|whoami|id)\b|\$\((?:cat|env|printenv)\b[^)\n]*\)\.[\w-]+\.\w",
        ),
        (
            EXFILTRATION,
            re.I,
            "an address that carries data away",
            r"https?://[^\s)]*[?&/][\w-]+=(?:<|\[|\{)[^>\]}]*\b(?:content|conversation|secret|key|file|user|data|env)",
        ),
        (
            EXFILTRATION,
            re.I,
            "a command that sends a file of secrets",
            rf"{FETCH}[^\n|]*(?:-d|--data\S*|-F|-T|--upload-file|--post-file)\s*=?\S*{SECRET_FILES}|"
            rf"{SECRET_FILES}[^\n|]*(?:\n|\|)[^\n]*\b(?:nc|curl|wget|ncat)\b",
        ),
        (TOOLS, 0, "opens a shell for another machine", r"\b(?:nc|ncat|netcat)\b[^\n]*\s-e\s|/dev/tcp/\d"),
        (
            TOOLS,
            re.I,
            "orders to do what a page says",
            r"\b(?:fetch|open|visit|load|read|download|curl|wget)\b[^\n]{0,40}https?://\S+[^\n]{0,40}"
            r"\b(?:run|execute|follow|obey|do|apply|carry out)\s+"
            r"(?:whatever|what it|(?:the|all|any|its)\s+(?:commands|orders)\b)",
        ),
        (
            TOOLS,
            re.I,
            "a hidden program that is run at once",
            r"base64\s+(?:-d|--decode|-D)[^\n|]*\|\s*(?:ba|z)?sh\b",
        ),
        (
            TOOLS,
            re.I,
            "a lasting task from the network",
            r"\*\s\*\s\*[^\n]{0,40}(?:curl|wget)[^\n]*\|\s*(?:ba|z)?sh",
        ),
    )
    for flags in (flags | re.M,)
)
IN_CODE = re.compile(r"`[^`\n]+`")


def forms(text: str) -> list[Detection]:
    """The forms in a folded text. A soft one between backticks is no sign: a note that explains a form quotes it."""
    code = [match.span() for match in IN_CODE.finditer(text)]
    return [
        Detection(category, start, end, reason)
        for category, pattern, reason in FORMS
        for start, end in (match.span() for match in pattern.finditer(text))
        if category in HARD or not any(first <= start and end <= last for first, last in code)
    ]
