"""The file of a root's cutoff model, in its state folder or shared in the root: the model, and its provenance."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import __version__
from engine.config import SHARED_CUTOFF_FILE
from engine.curation import files
from engine.cutoff import VERSION, fit_of
from engine.errors import TuningError
from engine.lean.record import fields
from engine.paths import cutoff_file
from engine.stores.files import write_whole

if TYPE_CHECKING:
    from datetime import datetime

    from engine.config import Config
    from labels.tuning.tuning import Tuning


def content(tuning: Tuning, config: Config, now: datetime, promise: str) -> dict[str, Any]:
    """The file's JSON, as `engine.cutoff` reads it. Raises TuningError for a tuning without a threshold."""
    at = tuning.point_for(promise)
    if at is None:
        raise TuningError("Nothing reaches the target, so there is nothing to write.")
    return {
        "features": VERSION,
        "fit": fields(fit_of(config)),
        "intercept": tuning.weights.intercept,
        "weights": dict(tuning.weights.by_feature),
        "threshold": at.threshold,
        "doubt": min(tuning.doubt, at.threshold),
        "thresholds": dict(tuning.thresholds),
        "phrases": tuning.has_phrases,
        "provenance": {
            "made_at": now.isoformat(timespec="seconds"),
            "memsift": __version__,
            "started_from": "the default model" if tuning.is_from_default else "nothing",
            "promise": promise,
            "roots": tuning.groups,
            "labels_sha256": tuning.labels_hash,
            "prompts": tuning.prompts,
            "relevant": tuning.relevant,
            "not_relevant": tuning.not_relevant,
            "target_precision": tuning.target,
            "confidence": tuning.confidence,
            "figures": {name: _rounded(value) for name, value in vars(at).items()},
            "brier": _rounded(tuning.brier),
        },
    }


def write(folder: str, made: dict[str, Any]) -> Path:
    """Write the model into a state folder, whole or not at all, in place of an earlier one. Raises TuningError."""
    path = Path(cutoff_file(folder))
    try:
        write_whole(str(path), _text(made).encode())
    except OSError as error:
        raise TuningError(f"{path} cannot be written ({error.strerror or error}).") from None
    return path


def share(root: str, made: dict[str, Any] | None) -> Path | None:
    """Write the model into the root itself, or remove it where *made* is None; None if there was none.

    Raises TuningError, and CurationError as `engine.curation.files.write`.
    """
    path = Path(root, SHARED_CUTOFF_FILE)
    if not Path(root).is_dir():
        raise TuningError(f"{root} is a file, so it cannot hold {SHARED_CUTOFF_FILE}. Leave --shared out.")
    if made is None and not os.path.lexists(path):
        return None
    before = files.text_at(str(path))
    root = os.path.realpath(root)
    files.write(files.FileChange(root, SHARED_CUTOFF_FILE, before, None if made is None else _text(made)))
    return path


def remove(folder: str) -> Path | None:
    """Remove the model from a state folder; None if there was none. Raises TuningError."""
    path = Path(cutoff_file(folder))
    try:
        path.unlink()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TuningError(f"{path} cannot be removed ({error.strerror or error}).") from None
    return path


def _text(made: dict[str, Any]) -> str:
    return f"{json.dumps(made, indent=2)}\n"


def _rounded(value: float | None) -> float | None:
    return round(value, 4) if isinstance(value, float) else value
