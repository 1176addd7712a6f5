"""Forms in which a text pretends to be another speaker, or brings a command along that a tool could run."""

from __future__ import annotations

import re

from engine.quality.safety.rules import EXFILTRATION, OVERRIDING, ROLE_ESCAPE, TOOLS, Detection

SECRET_FILES = (
    r"(?:\.env\b|\.ssh|\.aws|id_rsa|id_ed25519|credentials|/etc/(?:passwd|shadow)|netrc|\.npmrc|\.pypirc|\.pgpass"
    r"|\.kube|secrets?\.)"
)
FETCH = r"(?:curl|wget|fetch|iwr)\b"
SPEAKERS = r"(?:System|SYSTEM|Human|Assistant|Developer|User)"
INNER = r"(?=(?:\W*\w+){3})"

FORMS = tuple(
    (category, severity, re.compile(pattern, flags), reason)
    for category, severity, flags, reason, pattern in (
        (ROLE_ESCAPE, 0.6, re.I, "closes the frame of memories", r"</\s*memory[-_ ](?:context|data|note)\s*>"),
        (
            ROLE_ESCAPE,
            0.55,
            re.I,
            "closes a frame and begins a turn of another speaker",
            rf"</\s*\w[\w-]*\s*>\s*(?:{SPEAKERS}\s*:|<\s*/?\s*(?:system|user|assistant|function_calls?)\b)",
        ),
        (
            ROLE_ESCAPE,
            0.4,
            re.I,
            "a marker of a chat template",
            r"<\|(?:im_start|im_end|system|user|assistant|eot_id)\|>",
        ),
        (ROLE_ESCAPE, 0.4, 0, "a marker of a chat template", r"\[/?INST\]|<</?SYS>>"),
        (
            ROLE_ESCAPE,
            0.55,
            re.I | re.S,
            "a whole turn of a chat template",
            rf"<\|im_start\|>\s*system\s+(?=(?:\W*\w+){{5}}).{{10,}}|\[INST\]\s*<<SYS>>{INNER}.{{10,}}\[/INST\]",
        ),
        (
            ROLE_ESCAPE,
            0.55,
            re.I | re.S,
            "a text between tags of another speaker",
            r"<(system(?:[-_]\w+)?|admin|developer|user|assistant|function_results|tool_result|hidden|important|secret)>"
            rf"{INNER}.{{8,600}}?</\1>",
        ),
        (
            ROLE_ESCAPE,
            0.55,
            re.S,
            "turns of other speakers",
            rf"^\s*(?:#+\s*)?{SPEAKERS}\s*:.{{1,400}}^\s*(?:#+\s*)?{SPEAKERS}\s*:",
        ),
        (
            ROLE_ESCAPE,
            0.5,
            re.I,
            "a message of the system",
            r"^\s*(?:#+\s*)?system(?: prompt| message)?\s*#*\s*:?\s*(?:\n\s*)?(?:the (?:user|assistant)|you |new )",
        ),
        (
            ROLE_ESCAPE,
            0.55,
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
            0.5,
            0,
            "a mark that the context ends",
            r"(?:END OF|BEGIN|START OF|END)\s+(?:OF\s+)?(?:THE\s+)?(?:NEW |ADMIN |SYSTEM |HIDDEN )?"
            r"(?:CONTEXT|MEMOR(?:Y|IES)|PROMPT|INSTRUCTIONS?|USER INPUT|DOCUMENT|DATA|SESSION|METADATA|HEADER)\b",
        ),
        (
            ROLE_ESCAPE,
            0.55,
            re.I,
            "a message of the system as JSON",
            r'["\'\]}]\s*[}\]]+\s*,\s*"role"\s*:\s*"(?:system|developer)"',
        ),
        (
            OVERRIDING,
            0.5,
            re.I,
            "a hidden instruction",
            r"\b(?:hidden|secret|ai|llm|assistant|agent)[ _-](?:instructions?|prompt|directives?|command)s?\s*[:=]",
        ),
        (ROLE_ESCAPE, 0.5, re.I, "a block of the system", r"^```\s*(?:system|admin|developer)\s*$"),
        (
            OVERRIDING,
            0.45,
            re.I | re.S,
            "a comment that is addressed to an assistant",
            r"(?:<!--|/\*|^\s*(?:#|//)\s*(?:note|todo|hint|attention)?)[^>\n]{0,40}\b(?:to |for )?"
            r"(?:ais?|llms?|copilot|assistants?|agents?|language models?)\b[^>\n]{0,20}:",
        ),
        (
            OVERRIDING,
            0.3,
            re.I,
            "addresses an assistant in a document",
            r"\(\s*(?:for |to )?(?:the )?(?:ai|assistant|llm|model|agent)\b[^)]{0,3}(?:\)|,)|"
            r"\b(?:note|message|attention|instruction)s?,? (?:to |for )?(?:all )?(?:the )?"
            r"(?:ai\b|llms?\b|assistants?\b|copilot)|"
            r"\b(?:ai|assistants?|models?|llms?|agents?) (?:that |who )?(?:read|process)(?:s|es|ing)? this",
        ),
        (TOOLS, 0.3, re.I, "a call of a tool", r"<(?:invoke|tool_use|function_call)\b[^>]*>"),
        (
            TOOLS,
            0.65,
            re.I | re.S,
            "a call of a tool with a dangerous command",
            r"(?:<invoke\b|<tool_use\b|<function_call|\"(?:tool|name|function)\"\s*:\s*\"(?:bash|shell|terminal|exec\w*|run_\w+)\")"
            r".{0,200}?(?:curl|wget|\brm\b|chmod|\bsh\b|\bnc\b|/etc/|delete|sudo)",
        ),
        (
            EXFILTRATION,
            0.6,
            re.I,
            "an image whose address carries data away",
            r"!\[[^\]]*\]\(\s*https?://[^)\s]*[?&][\w-]+=(?:[\[{<]|\$[{(A-Za-z]|(?-i:[A-Z]{2,}(?:_[A-Z]+)+|(?:KEY|SECRET|TOKEN|DATA)\b))",
        ),
        (
            EXFILTRATION,
            0.6,
            re.I,
            "a page that sends cookies away",
            r"https?://[^\n]{0,120}(?:document\.cookie|localstorage)",
        ),
        (
            EXFILTRATION,
            0.6,
            re.I,
            "a command in an address",
            r"https?://[^\s\"']*\$\((?:cat|env|printenv|whoami|id)\b|\$\((?:cat|env|printenv)\b[^)\n]*\)\.[\w-]+\.\w",
        ),
        (
            EXFILTRATION,
            0.6,
            re.I,
            "an address that carries data away",
            r"https?://[^\s)]*[?&/][\w-]+=(?:<|\[|\{)[^>\]}]*\b(?:content|conversation|secret|key|file|user|data|env)",
        ),
        (
            EXFILTRATION,
            0.65,
            re.I,
            "a command that sends a file of secrets",
            rf"{FETCH}[^\n|]*(?:-d|--data\S*|-F|-T|--upload-file|--post-file)\s*=?\S*{SECRET_FILES}|"
            rf"{SECRET_FILES}[^\n|]*(?:\n|\|)[^\n]*\b(?:nc|curl|wget|ncat)\b",
        ),
        (TOOLS, 0.55, 0, "opens a shell for another machine", r"\b(?:nc|ncat|netcat)\b[^\n]*\s-e\s|/dev/tcp/\d"),
        (
            TOOLS,
            0.55,
            re.I,
            "orders to do what a page says",
            r"\b(?:fetch|open|visit|load|read|download|curl|wget)\b[^\n]{0,40}https?://\S+[^\n]{0,40}"
            r"\b(?:run|execute|follow|obey|do|apply|carry out)\s+"
            r"(?:whatever|what it|(?:the|all|any|its)\s+(?:commands|orders)\b)",
        ),
        (
            TOOLS,
            0.2,
            re.I,
            "a program from the network that is run at once",
            rf"{FETCH}[^\n|]*\|\s*(?:sudo\s+)?(?:ba|z)?sh\b",
        ),
        (
            TOOLS,
            0.6,
            re.I,
            "a hidden program that is run at once",
            r"base64\s+(?:-d|--decode|-D)[^\n|]*\|\s*(?:ba|z)?sh\b",
        ),
        (
            TOOLS,
            0.55,
            re.I,
            "a lasting task from the network",
            r"\*\s\*\s\*[^\n]{0,40}(?:curl|wget)[^\n]*\|\s*(?:ba|z)?sh",
        ),
    )
    for flags in (flags | re.M,)
)
IN_CODE = re.compile(r"`[^`\n]+`")


def forms(text: str) -> list[Detection]:
    """The forms in a folded text. Between backticks they weigh half: a note that explains a form quotes it."""
    code = [match.span() for match in IN_CODE.finditer(text)]
    found = []
    for category, severity, pattern, reason in FORMS:
        for match in pattern.finditer(text):
            start, end = match.span()
            is_code = any(first <= start and end <= last for first, last in code)
            found.append(Detection(category, severity / 2 if is_code else severity, start, end, reason))
    return found
