"""The file of a root's cutoff model in its state folder: the model, and its provenance for people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import __version__
from engine.cutoff import VERSION, fit_of
from engine.errors import TuningError
from engine.lean.record import fields
from engine.paths import cutoff_file
from engine.stores.files import write_whole

if TYPE_CHECKING:
    from datetime import datetime

    from engine.config import Config
    from labels.tuning.tuning import Tuning


OWN, ELSEWHERE, NO_PROMISE = "the roots of the labels", "a root without labels", "none"
"""The subjects of the promised precision."""


def content(tuning: Tuning, config: Config, now: datetime, promise: str = OWN) -> dict[str, Any]:
    """The file's JSON, as `engine.cutoff` reads it. Raises TuningError for a tuning without a threshold."""
    at = tuning.elsewhere if promise == ELSEWHERE else tuning.at
    if at is None:
        raise TuningError("Nothing reaches the target, so there is nothing to write.")
    return {
        "features": VERSION,
        "fit": fields(fit_of(config)),
        "intercept": tuning.weights.intercept,
        "weights": dict(tuning.weights.by_feature),
        "threshold": at.threshold,
        "doubt": min(tuning.doubt, at.threshold),
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
        write_whole(str(path), f"{json.dumps(made, indent=2)}\n".encode())
    except OSError as error:
        raise TuningError(f"{path} cannot be written ({error.strerror or error}).") from None
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


def _rounded(value: float | None) -> float | None:
    return round(value, 4) if isinstance(value, float) else value
