"""What an agent has done, as far as orders need it: an order whose finding has ended meanwhile is refused.

The same rules as packages/sdk/src/report/progress.ts. The sequence is that of the heartbeat that carries the report.
"""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Optional

_MOST_CHANGES = 32
_MOST_CALLS = 100
_NEVER = float("-inf")

_MARKS_OF_OUTCOME: Mapping[str, tuple[str, ...]] = {
    "ok": ("call", "answer", "success"),
    "error": ("call", "answer"),
}


def _by_axis(axis: str) -> tuple[str, ...]:
    if axis == "absence":
        return ("activity",)
    return () if axis == "fact" else ("change",)


class Progress:
    def __init__(self) -> None:
        self._marks: dict[str, int] = {}
        self._open_calls: dict[str, int] = {}
        self._changes: list[str] = []
        self._work: Optional[tuple[str, str]] = None
        self._checkpoint_id: Optional[str] = None
        self._tokens = 0

    def _mark(self, marks: Iterable[str], sequence: int) -> None:
        for mark in marks:
            self._marks[mark] = sequence

    def heartbeat(self, sequence: int) -> None:
        self._mark(("heartbeat",), sequence)

    def activity(self, sequence: int) -> None:
        self._mark(("activity",), sequence)

    def call(self, call: Mapping[str, Any], sequence: int) -> None:
        self.activity(sequence)
        began = self._open_calls.pop(call["call_id"], sequence)
        if call["outcome"] == "running":
            self._open_calls[call["call_id"]] = began
            while len(self._open_calls) > _MOST_CALLS:
                del self._open_calls[next(iter(self._open_calls))]
        self._mark(_MARKS_OF_OUTCOME.get(call["outcome"], ("call",)), sequence)
        self._changed(call, sequence)

    def _changed(self, call: Mapping[str, Any], sequence: int) -> None:
        """A successful mutation is a change, unless the same one has given the same result before."""
        if not call["mutating"] or call["outcome"] != "ok":
            return
        if call["args_hash"] is not None and call["result_hash"] is not None:
            change = f"{call['tool']} {call['args_hash']} {call['result_hash']}"
            if change in self._changes:
                return
            self._changes = [*self._changes[1 - _MOST_CHANGES :], change]
        self._mark(("change",), sequence)

    def tokens(self, total: int, sequence: int) -> None:
        if total > self._tokens:
            self._mark(("tokens",), sequence)
        self._tokens = total

    def step(self, verdict: Optional[str], sequence: int) -> None:
        self._mark(("step",), sequence)
        if verdict == "ACCEPT":
            self._mark(("accept", "change"), sequence)

    def checkpoint(self, checkpoint_id: str, sequence: int) -> None:
        if checkpoint_id != self._checkpoint_id:
            self._mark(("checkpoint", "change"), sequence)
        self._checkpoint_id = checkpoint_id

    def work(self, work: Mapping[str, Any], sequence: int) -> None:
        """The first sighting of a work item and a repetition are not changes."""
        stamps = (
            f"{work['id']} {work['updated_at']} {work['comment_count']}",
            f"{work['id']} {work['claim_refreshed_at']}",
        )
        known = self._work or stamps
        if known[0] != stamps[0]:
            self._mark(("work", "change"), sequence)
        if known[1] != stamps[1]:
            self._mark(("claim",), sequence)
        self._work = stamps

    def _newest(self, mark: str) -> float:
        seen = self._marks.get(mark)
        if seen is None:
            return _NEVER
        # Each call that was in flight at the finding has to end, not any call.
        return min([seen, *self._open_calls.values()]) if mark == "answer" else seen

    def overtakes(self, order: Mapping[str, Any]) -> bool:
        """Whether the awaited signals have arrived since the order's finding. One mark of each group is enough."""
        folded = order.get("foldedSequence")
        awaits = order.get("awaits")
        groups = [_by_axis(axis) for axis in order.get("axes") or []] if awaits is None else awaits
        if folded is None or not groups:
            return False
        return all(any(self._newest(mark) > folded for mark in group) for group in groups)
