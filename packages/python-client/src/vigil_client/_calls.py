"""A call of a tool, a model or a service, as a heartbeat reports it."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Type

from . import _fields as fields
from ._hashes import UNKNOWN, Value, hash_of_args, hash_of_result, masked_hash_of_result

Record = Callable[[Mapping[str, Any]], None]

_LIMITED = frozenset((429, 529))
_NOT_ENDED: Mapping[str, Any] = {
    "result_hash": None,
    "masked_result_hash": None,
    "outcome": "running",
    "error_class": None,
    "ended_at": None,
}


def now_ms() -> int:
    return round(time.time() * 1000)


def error_class(error: BaseException) -> str:
    """`rate_limit`, `timeout` and `aborted` for every client, else the error's name."""
    statuses = (getattr(error, name, None) for name in ("status", "status_code", "code"))
    if any(isinstance(status, int) and status in _LIMITED for status in statuses):
        return "rate_limit"
    name = type(error).__name__
    if isinstance(error, TimeoutError) or name in ("Timeout", "TimeoutError", "ReadTimeout", "ConnectTimeout", "timeout"):
        return "timeout"
    if isinstance(error, KeyboardInterrupt) or name == "CancelledError":
        return "aborted"
    return fields.text(name, fields.LONGEST_SHORT) or "Error"


class Call:
    """A call in progress: `with agent.call("Read", args=…) as call: call.result = …`.

    An exception ends the call as failed. For a tool that returns its errors, call `fail`.
    """

    def __init__(self, record: Record, started: Mapping[str, Any]) -> None:
        self._record = record
        self._started = started
        self._failure: Optional[str] = None
        self.result: Value = UNKNOWN
        """Only its hash leaves the process. Without it the call is never part of a loop."""

    def fail(self, error_class: str) -> None:
        """The tool has returned an error of this class."""
        self._failure = fields.text(error_class, fields.LONGEST_SHORT) or "Error"

    def __enter__(self) -> Call:
        self._record({**self._started, **_NOT_ENDED})
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        failure = self._failure if error is None else error_class(error)
        content = self.result if error is None else error
        self._record(
            {
                **self._started,
                "outcome": "ok" if failure is None else "error",
                "error_class": failure,
                "ended_at": now_ms(),
                "result_hash": hash_of_result(content),
                "masked_result_hash": masked_hash_of_result(content),
            }
        )


def started_call(
    call_id: str,
    tool: str,
    args: Value,
    kind: str,
    deadline_ms: Optional[float],
    mutating: bool,
    polling: bool,
    checking: bool,
    target: Optional[str],
) -> Mapping[str, Any]:
    now = now_ms()
    due = fields.count(deadline_ms)
    return {
        "call_id": call_id,
        "kind": kind if kind in fields.CALL_KINDS else "tool",
        "tool": fields.text(tool, fields.LONGEST_NAME) or "unnamed",
        "args_hash": hash_of_args(args),
        "started_at": now,
        "deadline_at": None if due is None else min(now + due, fields.LARGEST_TIME),
        "mutating": mutating is True,
        "polling": polling is True,
        "checking": checking is True,
        "target": fields.text(target, fields.LONGEST_TEXT),
    }
