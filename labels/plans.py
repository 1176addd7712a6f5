"""Plans in the label store: the order of an annotator, and the strata in which prompts stood when it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labels.orders import Plan

if TYPE_CHECKING:
    from labels.database import LabelDatabase


def save_plan(db: LabelDatabase, root: str, annotator: str, plan: Plan, ts: str) -> None:
    """Insert or replace the annotator's rows of the plan's prompts; rows of other prompts follow its order too."""
    at = {"root": root, "annotator": annotator, "order_name": plan.order, "seed": plan.seed, "ts": ts}
    db.execute("UPDATE plan SET order_name = :order_name WHERE root = :root AND annotator = :annotator", at)
    for prompt_id, stratum in plan.strata.items():
        row = {**at, "prompt_id": prompt_id, "stratum": stratum}
        changes = ", ".join(f"{name} = excluded.{name}" for name in ("order_name", "seed", "stratum", "ts"))
        db.insert("plan", row, upsert=f"(root, prompt_id, annotator) DO UPDATE SET {changes}")


def plan_of(db: LabelDatabase, root: str, annotator: str) -> Plan | None:
    rows = db.tuples(
        "SELECT order_name, seed, prompt_id, stratum FROM plan WHERE root = ? AND annotator = ? ORDER BY prompt_id",
        [root, annotator],
    )
    if not rows:
        return None
    order, seed, _, _ = rows[0]
    return Plan(order, seed, {prompt_id: stratum for _, _, prompt_id, stratum in rows})


def newest_strata(db: LabelDatabase, root: str, besides: str | None) -> dict[str, str]:
    rows = db.tuples(
        "SELECT prompt_id, stratum FROM plan WHERE root = ? AND annotator IS NOT ? ORDER BY ts, rowid", [root, besides]
    )
    return dict(rows)
