"""Orders that an agent carries out by itself: each is delivered once, and answered each time it is offered."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import Any, Callable, Mapping, Optional, Sequence, Tuple

from ._commands import Command, Handoff, Nudge, Probe
from ._progress import Progress

_MOST_RECEIPTS = 200

_KINDS: Mapping[str, str] = {
    "NUDGE_AGENT": "nudge",
    "PROBE_AGENT": "probe",
    "HANDOFF_AGENT": "handoff",
    "RESET_BREAKER": "reset_breaker",
}

_NO_END: Mapping[str, Any] = {
    "confirmed": False,
    "forced": False,
    "by": None,
    "code": None,
    "signal": None,
    "claimsReleased": [],
    "checkpoint": None,
    "completedWork": [],
    "remainingWork": [],
    "forensics": None,
    "lastOutput": [],
}

Outcome = Tuple[str, Optional[str]]


class Orders:
    def __init__(
        self,
        agent_id: str,
        instance_id: str,
        deliver: Callable[[Command], bool],
        reply: Callable[[str], None],
        overtakes: Callable[[Mapping[str, Any]], bool],
    ) -> None:
        self._agent_id = agent_id
        self._instance_id = instance_id
        self._deliver = deliver
        self._reply = reply
        self._overtakes = overtakes
        self._receipts: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._highest = -1

    def handle(self, offered: Sequence[Mapping[str, Any]], late_ms: float) -> Sequence[Mapping[str, Any]]:
        """The receipts to report. `late_ms`: for how long the answer with the orders was on its way."""
        ours = [one for one in offered if one["type"] in _KINDS and one["payload"]["agentId"] == self._agent_id]
        ours.sort(key=lambda one: int(one["payload"]["number"]))
        return [self._receipts.get(one["payload"]["orderId"]) or self._answer(one, late_ms) for one in ours]

    def _answer(self, order: Mapping[str, Any], late_ms: float) -> Mapping[str, Any]:
        payload = order["payload"]
        outcome, why = self._outcome(order, late_ms)
        receipt = {
            "orderId": payload["orderId"],
            "kind": _KINDS[order["type"]],
            "agentId": self._agent_id,
            "instanceId": payload.get("instanceId"),
            # The receipt of an agent without a runtime names the agent.
            "runtimeId": payload.get("runtimeId") or self._agent_id,
            "outcome": outcome,
            "why": why,
            "at": round(time.time() * 1000),
            **_NO_END,
        }
        self._receipts[receipt["orderId"]] = receipt
        if len(self._receipts) > _MOST_RECEIPTS:
            self._receipts.popitem(last=False)
        return receipt

    def _outcome(self, order: Mapping[str, Any], late_ms: float) -> Outcome:
        payload = order["payload"]
        instance_id, number = payload.get("instanceId"), int(payload["number"])
        if instance_id is not None and instance_id != self._instance_id:
            return "superseded", f"meant for {instance_id}; this instance is {self._instance_id}"
        if number <= self._highest:
            return "superseded", f"number {self._highest} was heeded before"
        if order["expiresInMs"] - late_ms <= 0:
            return "expired", "its time to live was over when it was read"
        if self._overtakes(payload):
            return "superseded", f"what was awaited has come since heartbeat {payload.get('foldedSequence')}"
        self._highest = number
        command = self._command_in(order)
        if command is None:
            return "failed", "the client for Python has no breakers"
        if not self._deliver(command):
            return "failed", "the agent does not listen for commands: pass on_command to connect"
        return "delivered", None

    def _command_in(self, order: Mapping[str, Any]) -> Optional[Command]:
        payload = order["payload"]
        if order["type"] == "NUDGE_AGENT":
            return Nudge(str(payload["message"]))
        if order["type"] == "PROBE_AGENT":
            nonce = str(payload["nonce"])
            return Probe(str(payload["message"]), lambda: self._reply(nonce))
        if order["type"] == "HANDOFF_AGENT":
            return Handoff(str(payload["message"]), int(payload["deadlineMs"]))
        return None
