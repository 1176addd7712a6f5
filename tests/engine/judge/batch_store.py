"""Message batches as the loopback server keeps them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.engine.judge.api_server import ApiRequest, Reply

BATCHES = "/v1/messages/batches"


@dataclass
class BatchStore:
    """Batches by id. One is in progress for *polls* looks at it; results come in reverse order.

    `raw_results` is sent in place of the results, with the header `content-encoding` if it has one.
    `failing` holds the result of a failed item (errored, expired or canceled) by its place among all submitted items.
    """

    polls: int = 1
    failing: dict[int, str] = field(default_factory=dict)
    raw_results: tuple[bytes, str] | None = None
    requests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    looks: dict[str, int] = field(default_factory=dict)
    submitted: int = 0
    lock: Lock = field(default_factory=Lock)

    def reply_to(self, request: ApiRequest, url: str, answer: Callable[[ApiRequest], Reply]) -> Reply:
        from tests.engine.judge.api_server import Reply, failed

        with self.lock:
            if request.path == BATCHES:
                return Reply(json.dumps(self._created(request.body["requests"], url)).encode())
            batch_id, _, rest = request.path.removeprefix(f"{BATCHES}/").partition("/")
            if batch_id not in self.requests:
                return failed(404, "no such batch")
            if rest == "results" and self.raw_results:
                body, encoding = self.raw_results
                return Reply(body, headers={"content-encoding": encoding} if encoding else {})
            if rest == "results":
                lines = [self._result(item, request, answer) for item in reversed(self.requests[batch_id])]
                return Reply("".join(f"{line}\n" for line in lines).encode(), content_type="application/x-jsonl")
            self.looks[batch_id] += 1
            return Reply(json.dumps(self._described(batch_id, url)).encode())

    def _created(self, items: list[dict[str, Any]], url: str) -> dict[str, Any]:
        batch_id = f"msgbatch_{len(self.requests) + 1}"
        self.requests[batch_id] = [{**item, "number": self.submitted + place} for place, item in enumerate(items)]
        self.submitted += len(items)
        self.looks[batch_id] = 0
        return self._described(batch_id, url)

    def _described(self, batch_id: str, url: str) -> dict[str, Any]:
        is_ended = self.looks[batch_id] > self.polls
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        return {
            "id": batch_id,
            "type": "message_batch",
            "processing_status": "ended" if is_ended else "in_progress",
            "request_counts": counts,
            "ended_at": "2026-01-01T00:00:00Z" if is_ended else None,
            "created_at": "2026-01-01T00:00:00Z",
            "expires_at": "2026-01-02T00:00:00Z",
            "archived_at": None,
            "cancel_initiated_at": None,
            "results_url": f"{url}{BATCHES}/{batch_id}/results" if is_ended else None,
        }

    def _result(self, item: dict[str, Any], request: ApiRequest, answer: Callable[[ApiRequest], Reply]) -> str:
        from dataclasses import replace

        kind = self.failing.get(item["number"], "succeeded")
        result: dict[str, Any] = {"type": kind}
        if kind == "succeeded":
            asked = replace(request, raw=json.dumps(item["params"]).encode())
            result["message"] = json.loads(answer(asked).body)
        elif kind == "errored":
            result["error"] = {
                "type": "error",
                "error": {"type": "api_error", "message": "internal"},
                "request_id": "r",
            }
        return json.dumps({"custom_id": item["custom_id"], "result": result})
