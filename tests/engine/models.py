"""Models of a cutoff, made by hand, and where the hook finds them."""

import json
from pathlib import Path
from typing import Any

from engine.config import Config
from engine.cutoff import VERSION, Cutoff, fit_of, model_of
from engine.lean.record import fields
from engine.paths import cutoff_file


def content(config: Config | None = None, **changes: Any) -> dict[str, Any]:
    """A model as its file says it: P(relevant) rises with the strength."""
    made = {
        "features": VERSION,
        "fit": fields(fit_of(config or Config())),
        "intercept": -6.0,
        "weights": {"strength": 0.8},
        "threshold": 0.5,
        "doubt": 0.1,
    }
    return {**made, **changes}


def cutoff(config: Config | None = None, **changes: Any) -> Cutoff:
    return Cutoff(model_of(content(config, **changes)))


def write_model(state: Path, made: object) -> Path:
    """Put a model, or whatever is given, where the hook looks for it."""
    path = state / cutoff_file("")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(made if isinstance(made, str) else json.dumps(made), encoding="utf-8")
    return path
