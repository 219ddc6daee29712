"""Everything that is still to be reported.

One heartbeat is in flight at a time. It keeps its content and its sequence until it is answered, so that one that
arrives twice is counted once. The same rules as packages/sdk/src/report/notes.ts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional

from . import _fields as fields
from ._progress import Progress

_WAITING = frozenset(("starting", "idle", "awaiting_input", "rate_limited"))


@dataclass(frozen=True)
class Identity:
    agent_id: str
    instance_id: str
    task_id: Optional[str]
    runtime_id: Optional[str]
    attempt: Optional[int]
    max_attempts: Optional[int]
    policy: Optional[str]
    labels: Mapping[str, str]


def _nothing() -> dict[str, Any]:
    return {
        "tool_calls": [],
        "errors": [],
        "blockers": [],
        "handoff": None,
        "probe_reply": None,
        "rate_limit": None,
    }


class Notes:
    def __init__(self, identity: Identity) -> None:
        self._identity = identity
        self._sequence = 0
        self._steps: Optional[int] = None
        self._verdicts: list[str] = []
        self._reported_calls: set[str] = set()
        self._once = _nothing()
        self._lasting: dict[str, Any] = {
            "phase": "running",
            "progress_indicator": "running",
            "activity": None,
            "token_count": None,
            "error_count": 0,
            "last_tool_call": None,
            "reports_checkpoints": None,
            "checkpoint": None,
            "work": None,
            "exit": None,
        }
        self.progress = Progress()
        self.in_flight: Optional[dict[str, Any]] = None
        self.left_out = 0
        """Calls and errors that no heartbeat has carried, because too many came at once."""

    @property
    def _next(self) -> int:
        return self._sequence + 1

    def take(self, now: int, interval_ms: int) -> Mapping[str, Any]:
        """Returns the heartbeat in flight, with the present time. If there is none, the next one becomes it."""
        if self.in_flight is None:
            self.in_flight = self._heartbeat(interval_ms)
            self._sequence = self._next
            for call in self._once["tool_calls"]:
                change = self._reported_calls.add if call["outcome"] == "running" else self._reported_calls.discard
                change(call["call_id"])
            self._once = _nothing()
            self._verdicts = []
        self.in_flight["timestamp"] = now
        self.progress.heartbeat(self._sequence)
        return self.in_flight

    def answered(self) -> None:
        self.in_flight = None

    def _heartbeat(self, interval_ms: int) -> dict[str, Any]:
        identity = self._identity
        steps = None if self._steps is None else {"total_steps": self._steps, "verdicts": self._verdicts}
        return {
            **self._lasting,
            **self._once,
            "agent_id": identity.agent_id,
            "task_id": identity.task_id,
            "instance_id": identity.instance_id,
            "runtime_id": identity.runtime_id,
            "attempt": identity.attempt,
            "max_attempts": identity.max_attempts,
            "policy": identity.policy,
            "labels": dict(identity.labels),
            "sequence": self._next,
            "reporter": "agent",
            "interval_ms": interval_ms,
            "steps": steps,
        }

    def set(self, **changes: Any) -> None:
        """Sets the fields that are not None. None: not given, or not valid."""
        self._lasting.update({name: value for name, value in changes.items() if value is not None})
        self.progress.activity(self._next)

    def call(self, call: Mapping[str, Any]) -> None:
        """A call that began and ended since the last heartbeat is reported once, as ended."""
        calls = [one for one in self._once["tool_calls"] if one["call_id"] != call["call_id"]]
        calls.append(call)
        if len(calls) > fields.MOST_CALLS:
            # The end of a call whose start was reported must not get lost.
            new = (at for at, one in enumerate(calls) if one["call_id"] not in self._reported_calls)
            del calls[next(new, 0)]
            self.left_out += 1
        self._once["tool_calls"] = calls
        lasting = self._lasting
        lasting["last_tool_call"] = call["ended_at"] or call["started_at"]
        if lasting["activity"] in _WAITING:
            lasting["activity"] = "working"
        if call["outcome"] == "error":
            lasting["error_count"] += 1
        self.progress.call(call, self._next)

    def pending_calls(self) -> int:
        return len(self._once["tool_calls"])

    def error(self, error: Mapping[str, Any]) -> None:
        """The same error again raises the count of the last entry."""
        errors = self._once["errors"]
        last = errors[-1] if errors else None
        if last is not None and (last["hash"], last["error_class"]) == (error["hash"], error["error_class"]):
            errors[-1] = {**error, "count": last["count"] + 1}
        else:
            errors.append(error)
        if len(errors) > fields.MOST_ERRORS:
            del errors[0]
            self.left_out += 1
        self._lasting["error_count"] += 1
        self.progress.activity(self._next)

    def tokens(self, used: int) -> None:
        total = min((self._lasting["token_count"] or 0) + used, fields.LARGEST_COUNT)
        self.set(token_count=total)
        self.progress.tokens(total, self._next)

    def step(self, verdict: Optional[str]) -> None:
        self._steps = (self._steps or 0) + 1
        if verdict is not None:
            self._verdicts = [*self._verdicts, verdict][-fields.MOST_CALLS :]
        self.progress.step(verdict, self._next)

    def work(self, work: Mapping[str, Any]) -> None:
        self.set(work=work)
        self.progress.work(work, self._next)

    def once(self, **changes: Any) -> None:
        self._once.update({name: value for name, value in changes.items() if value is not None})

    def checkpoint(self, found: Mapping[str, Any], given_id: Optional[str]) -> None:
        before = self._lasting["checkpoint"]
        checkpoint_id = given_id or (found["sha256"] or "")[:16] or f"at-{found['created_at']}"
        parent = None if before is None else before["checkpoint_id"]
        if parent == checkpoint_id:
            parent = before["parent_id"]
        # A later reader decides whether it is valid; that it could be read just now proves nothing.
        checkpoint = {"checkpoint_id": checkpoint_id, "parent_id": parent, "valid": None, "invalid_reason": None, **found}
        self.set(reports_checkpoints=True, checkpoint=checkpoint)
        self.progress.checkpoint(checkpoint_id, self._next)

    def end(self, reason: str, code: Optional[int]) -> None:
        # A crashed agent has to count as silent: `exiting` would excuse its silence.
        self._lasting["activity"] = {"finished": "finished", "explicit": "exiting"}.get(reason)
        self._lasting["exit"] = {"code": code, "signal": None, "reason": reason}
        self.progress.activity(self._next)
