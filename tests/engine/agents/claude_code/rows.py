"""Rows of transcripts and history files, and files of them."""

import json
from pathlib import Path
from typing import Any

from engine.conversations.prompt_files import PromptReading

SESSION = "9db9dad3-be74-4dc0-bb98-972850c2e4ba"


def user(text: object, **fields: object) -> dict[str, Any]:
    return {"type": "user", "sessionId": SESSION, "message": {"role": "user", "content": text}, **fields}


def remembered(display: str, **fields: object) -> dict[str, Any]:
    row = {"display": display, "pastedContents": {}, "timestamp": 1795294392714, "project": "/p", "sessionId": SESSION}
    return {**row, **fields}


def write(path: Path, *rows: object, end: bytes = b"\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"\n".join(lines) + end)
    return str(path)


def texts(reading: PromptReading) -> list[str]:
    return [prompt.text for prompt in reading.prompts]
