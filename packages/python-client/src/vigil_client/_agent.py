"""An agent that reports itself."""

from __future__ import annotations

import hashlib
import logging
import os
import random
import socket
import threading
import time
import uuid
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Mapping, Optional, Sequence, Type, Union

from . import _fields as fields
from ._calls import Call, error_class, now_ms, started_call
from ._commands import Command
from ._fields import Time
from ._gateway import PATIENCE_S, Busy, Gateway, GatewayClient, Refused
from ._hashes import UNKNOWN, Value, hash_of_result
from ._notes import Identity, Notes
from ._orders import Orders

_LOG = logging.getLogger("vigil_client")

_USUAL_INTERVAL_MS = 10_000
_SHORTEST_MS = 200
_LONGEST_MS = 3_600_000
# The shortest gap between two heartbeats that only the ends of calls bring forward.
_CALL_END_GAP_MS = 1000
# From this number of pending calls on, a heartbeat is brought forward, well before any call is left out.
_MANY_CALLS = 50
_FLUSH_S = 2.0
_RECEIPTS_S = 10.0

OnCommand = Callable[[Command], object]
OnProblem = Callable[[str], object]


def back_off_s(failures: int) -> float:
    """About 250 ms, doubled with each failure, at most 10 s. Half of it is random: a fleet does not return at once."""
    return float(min(0.25 * 2 ** min(failures - 1, 10), 10.0) * (0.5 + random.random() / 2))


class Agent:
    """One instance of an agent. Its methods neither wait for Vigil nor raise because of it.

    A daemon thread sends the heartbeats: a process that ends does not wait for it. Created by `connect`.
    """

    def __init__(
        self,
        identity: Identity,
        gateway: Optional[GatewayClient],
        interval_ms: Optional[int],
        on_command: Optional[OnCommand],
        on_problem: OnProblem,
    ) -> None:
        self.instance_id = identity.instance_id
        self._gateway = gateway
        self._own_interval_ms = interval_ms
        self._interval_ms = interval_ms or _USUAL_INTERVAL_MS
        self._on_command = on_command
        self._on_problem = on_problem
        self._last_problem = ""
        self._warned: set[str] = set()
        self._notes = Notes(identity)
        self._changed = threading.Condition()
        self._gap_ms: Optional[int] = None
        self._calls = 0
        self._delivered = 0
        self._closing_by: Optional[float] = None
        self._ending: tuple[str, Optional[int]] = ("finished", None)
        self._orders = Orders(
            identity.agent_id, identity.instance_id, self._deliver_command, self._reply, self._overtakes
        )
        self._thread = threading.Thread(target=self._run, name="vigil-heartbeats", daemon=True)
        if gateway is not None:
            self._thread.start()

    def call(
        self,
        tool: str,
        *,
        args: Value = UNKNOWN,
        kind: str = "tool",
        deadline_ms: Optional[float] = None,
        mutating: bool = False,
        polling: bool = False,
        checking: bool = False,
        target: Optional[str] = None,
    ) -> Call:
        """A call to report: `with agent.call("Read", args={"path": path}) as call: call.result = read(path)`.

        `kind`: tool, model, external_api or checkpoint_write. `deadline_ms`: the expected duration, reported and not
        enforced. `mutating`: its success is progress. `polling`: its repetition is not a loop. `checking`: a test, a
        build, a lint or a type check. Only hashes of `args` and of the result leave the process.
        """
        with self._changed:
            self._calls += 1
            call_id = f"{self.instance_id[:8]}-{self._calls}"
        started = started_call(call_id, tool, args, kind, deadline_ms, mutating, polling, checking, target)
        return Call(self._note_call, started)

    def report(
        self,
        *,
        phase: Optional[str] = None,
        progress: Optional[str] = None,
        activity: Optional[str] = None,
        tokens: Optional[int] = None,
        step: Union[bool, str, None] = None,
        work: Optional[Mapping[str, Any]] = None,
        blockers: Optional[Sequence[str]] = None,
        handoff: Optional[str] = None,
        rate_limited_until: Union[Time, bool, None] = None,
    ) -> None:
        """What the agent reports about itself. An omitted field keeps its value.

        `progress`: any text that changes as the work proceeds. `tokens`: used since the last report. `step`: True, or
        the verdict of a judge. `work`: the ticket as its tracker has it, with `id`, `status`, `updated_at`,
        `claim_refreshed_at` and `comment_count`. `blockers` and `handoff` answer a nudge.
        """
        with self._changed:
            self._notes.set(
                phase=fields.text(phase, fields.LONGEST_NAME),
                progress_indicator=fields.text(progress, fields.LONGEST_TEXT),
                activity=activity if activity in fields.ACTIVITIES else None,
            )
            used = fields.count(tokens)
            if used is not None:
                self._notes.tokens(used)
            if step is True or step in fields.VERDICTS:
                self._notes.step(step if isinstance(step, str) else None)
            item = _work_of(work)
            if item is not None:
                self._notes.work(item)
            self._notes.once(
                blockers=None if blockers is None else fields.texts(blockers, fields.MOST_BLOCKERS, 1000),
                handoff=fields.text(handoff, fields.LONGEST_ANSWER),
                rate_limit=_rate_limit_of(rate_limited_until),
            )
            if any(one is not None for one in (activity, blockers, handoff, rate_limited_until, work)):
                self._bring_forward(_SHORTEST_MS)

    def error(self, error: Union[BaseException, str]) -> None:
        """Reports an error outside of calls. A call reports its errors by itself."""
        message = fields.text(str(error), fields.LONGEST_MESSAGE)
        found = {
            "at": now_ms(),
            "count": 1,
            "error_class": "Error" if isinstance(error, str) else error_class(error),
            "hash": hash_of_result(message or UNKNOWN),
            "message": message,
        }
        with self._changed:
            self._notes.error(found)

    def checkpoint(
        self,
        *,
        file: Union[str, "os.PathLike[str]", None] = None,
        uri: Optional[str] = None,
        sha256: Optional[str] = None,
        id: Optional[str] = None,
        completed: Sequence[str] = (),
        remaining: Sequence[str] = (),
    ) -> None:
        """Reports a checkpoint that was saved. With `file`, its SHA-256 and address are computed.

        A file that cannot be read is a problem for `on_problem`, and is not reported.
        """
        try:
            address = fields.text(uri, fields.LONGEST_ADDRESS)
            if file is not None:
                sha256 = _digest_of(file)
                address = address or Path(file).resolve().as_uri()
            if address is not None and not fields.is_address(address):
                raise ValueError(f"its address is {address[:140]!r}; use one without #, ? and invisible characters")
        except (OSError, ValueError) as error:
            return self._problem(f"a checkpoint is not reported: {error}")
        found = {
            "uri": address,
            "sha256": fields.text(sha256, fields.LONGEST_NAME),
            "created_at": now_ms(),
            "completed_work": fields.texts(completed, fields.MOST_WORK, fields.LONGEST_TEXT),
            "remaining_work": fields.texts(remaining, fields.MOST_WORK, fields.LONGEST_TEXT),
        }
        with self._changed:
            self._notes.checkpoint(found, fields.text(id, fields.LONGEST_NAME))
            self._bring_forward(_SHORTEST_MS)
        return None

    @property
    def delivered(self) -> int:
        """How many heartbeats the gateway has accepted."""
        return self._delivered

    @property
    def left_out(self) -> int:
        """Calls and errors that no heartbeat has carried, because too many came at once."""
        return self._notes.left_out

    def close(self, reason: str = "finished", *, code: Optional[int] = None, within_s: float = _FLUSH_S) -> None:
        """Sends the last heartbeat. Returns when it is delivered, or when its time is over.

        `reason`: finished or explicit end an agent without a runtime; crashed, resource_limit and lost are hints.
        """
        with self._changed:
            if self._closing_by is None:
                self._ending = (reason if reason in fields.REASONS else "finished", fields.small(code))
                self._closing_by = time.monotonic() + within_s
            self._changed.notify_all()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(within_s)

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        if error is None:
            self.close()
        else:
            self.close("crashed" if isinstance(error, Exception) else "explicit")

    def _problem(self, problem: str) -> None:
        if problem == self._last_problem:
            return
        self._last_problem = problem
        try:
            self._on_problem(problem)
        except Exception:
            # An agent does not fail because its own listener raises.
            _LOG.exception("on_problem failed")

    def _bring_forward(self, gap_ms: int) -> None:
        self._gap_ms = gap_ms if self._gap_ms is None else min(self._gap_ms, gap_ms)
        self._changed.notify_all()

    def _note_call(self, call: Mapping[str, Any]) -> None:
        with self._changed:
            self._notes.call(call)
            if self._notes.pending_calls() > _MANY_CALLS:
                self._bring_forward(_SHORTEST_MS)
            elif call["outcome"] != "running":
                self._bring_forward(_CALL_END_GAP_MS)

    def _reply(self, nonce: str) -> None:
        with self._changed:
            self._notes.once(probe_reply=fields.text(nonce, fields.LONGEST_NAME))
            self._bring_forward(_SHORTEST_MS)

    def _overtakes(self, order: Mapping[str, Any]) -> bool:
        with self._changed:
            return self._notes.progress.overtakes(order)

    def _deliver_command(self, command: Command) -> bool:
        if self._on_command is None:
            return False
        try:
            self._on_command(command)
        except Exception as error:
            self._problem(f"on_command failed: {error!r}")
        return True

    def _run(self) -> None:
        try:
            while self._closing_by is None:
                began = time.monotonic()
                with self._changed:
                    self._gap_ms = None
                self._deliver()
                self._rest(began)
            if self._notes.in_flight is not None:
                self._deliver()
            with self._changed:
                self._notes.end(*self._ending)
            self._deliver()
        except Exception as error:
            self._problem(f"heartbeats have stopped: {error!r}")

    def _rest(self, began: float) -> None:
        with self._changed:
            while self._closing_by is None:
                gap_ms = self._interval_ms if self._gap_ms is None else min(self._gap_ms, self._interval_ms)
                left = began + gap_ms / 1000 - time.monotonic()
                if left <= 0:
                    return
                self._changed.wait(left)

    def _left(self) -> float:
        """Seconds until this agent gives up; endless until it is closed."""
        return float("inf") if self._closing_by is None else self._closing_by - time.monotonic()

    def _deliver(self) -> None:
        """Sends the same heartbeat until it is answered, refused, or the time of an agent that is closed is over."""
        was_closing = self._closing_by is not None
        failures = 0
        while True:
            with self._changed:
                heartbeat = dict(self._notes.take(now_ms(), self._interval_ms))
            error = self._attempt(heartbeat)
            if error is None or isinstance(error, Refused):
                if error is not None:
                    self._problem(f"a heartbeat was refused, and is given up: {error}")
                with self._changed:
                    self._notes.answered()
                    if failures > 0:
                        self._bring_forward(_SHORTEST_MS)
                return
            failures += 1
            if failures == 1:
                self._problem(f"heartbeats wait: {error}")
            if self._pause(max(back_off_s(failures), error.retry_after_s if isinstance(error, Busy) else 0), was_closing):
                return

    def _pause(self, seconds: float, was_closing: bool) -> bool:
        """Waits. Returns True if the agent gives up: it was closed meanwhile, or its time is over."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                if self._closing_by is not None and not was_closing:
                    return True
                if self._left() <= 0:
                    return True
                left = min(end - time.monotonic(), self._left())
                if left <= 0:
                    return self._left() <= 0
                self._changed.wait(left)

    def _attempt(self, heartbeat: Mapping[str, Any]) -> Optional[Exception]:
        gateway = self._gateway
        if gateway is None:
            return None
        began = time.monotonic()
        try:
            answer = gateway.post("/v1/heartbeats", heartbeat, max(0.1, min(PATIENCE_S, self._left())))
            self._delivered += 1
            self._take_answer(gateway, answer, (time.monotonic() - began) * 1000)
            return None
        except Exception as error:
            return error

    def _take_answer(self, gateway: GatewayClient, answer: Mapping[str, Any], took_ms: float) -> None:
        requested = self._own_interval_ms or fields.count(answer.get("intervalMs"))
        if requested is not None:
            self._interval_ms = min(max(requested, _SHORTEST_MS), _LONGEST_MS)
        for warning in answer.get("warnings") or []:
            if warning not in self._warned:
                self._warned.add(warning)
                self._problem(f"the gateway warns: {warning}")
        try:
            late_ms = max(0.0, took_ms - (answer.get("waitedMs") or 0))
            receipts = self._orders.handle(answer.get("orders") or [], late_ms)
            if receipts:
                records = [{"type": "ORDER_RECEIPT", "payload": receipt} for receipt in receipts]
                gateway.post("/v1/receipts", records, _RECEIPTS_S)
        except Exception as error:
            # The gateway offers an order until it has the receipt.
            self._problem(f"receipts wait for the gateway: {error!r}")


def _work_of(work: Optional[Mapping[str, Any]]) -> Optional[Mapping[str, Any]]:
    name = None if work is None else fields.text(work.get("id"), fields.LONGEST_NAME)
    if work is None or name is None:
        return None
    return {
        "id": name,
        "status": fields.text(work.get("status"), fields.LONGEST_SHORT),
        "updated_at": fields.time_ms(work.get("updated_at")),
        "claim_refreshed_at": fields.time_ms(work.get("claim_refreshed_at")),
        "comment_count": fields.count(work.get("comment_count")),
    }


def _rate_limit_of(until: Union[Time, bool, None]) -> Optional[Mapping[str, Any]]:
    """True: it is limited, and the end of that is unknown."""
    return None if until is None or until is False else {"retry_at": fields.time_ms(until)}


def _digest_of(file: Union[str, "os.PathLike[str]"]) -> str:
    digest = hashlib.sha256()
    with open(file, "rb") as content:
        for part in iter(lambda: content.read(1 << 20), b""):
            digest.update(part)
    return digest.hexdigest()


def _gateway_of(env: Mapping[str, str]) -> Optional[Gateway]:
    url = env.get("VIGIL_GATEWAY_URL")
    if not url:
        return None
    token_file = env.get("VIGIL_GATEWAY_TOKEN_FILE") or None
    return Gateway(url, token=env.get("VIGIL_GATEWAY_TOKEN"), token_file=token_file)


def _attempt_of(value: Optional[str]) -> Optional[int]:
    return int(value) if value is not None and value.isascii() and value.isdigit() else None


def connect(
    agent_id: Optional[str] = None,
    *,
    gateway: Optional[Gateway] = None,
    task_id: Optional[str] = None,
    policy: Optional[str] = None,
    labels: Optional[Mapping[str, str]] = None,
    runtime_id: Optional[str] = None,
    attempt: Optional[int] = None,
    max_attempts: Optional[int] = None,
    checkpoints: bool = False,
    interval_ms: Optional[int] = None,
    on_command: Optional[OnCommand] = None,
    on_problem: Optional[OnProblem] = None,
    env: Optional[Mapping[str, str]] = None,
) -> Agent:
    """Connects an agent. It sends heartbeats by itself until `close`. It neither waits nor raises.

    What is not given comes from the environment: VIGIL_AGENT_ID, VIGIL_TASK_ID, VIGIL_ATTEMPT, and VIGIL_GATEWAY_URL
    with VIGIL_GATEWAY_TOKEN_FILE or VIGIL_GATEWAY_TOKEN. Without a gateway nothing is reported.
    `on_command` runs on the thread that sends heartbeats: let it put the command in a queue.
    `on_problem`: default, a warning of the logger `vigil_client`.
    """
    env = os.environ if env is None else env
    report = on_problem or _LOG.warning
    agent = agent_id if agent_id is not None else env.get("VIGIL_AGENT_ID")
    task = task_id if task_id is not None else env.get("VIGIL_TASK_ID")
    for name, value in (("agent_id", agent), ("task_id", task), ("runtime_id", runtime_id)):
        if not fields.is_id(value) and (value or name == "agent_id"):
            nothing = "; nothing is reported" if name == "agent_id" else ""
            report(f"{name} is {value!r}: use {fields.ID_FORM}{nothing}")
    identity = Identity(
        agent_id=agent if agent is not None and fields.is_id(agent) else "",
        instance_id=str(uuid.uuid4()),
        task_id=task if fields.is_id(task) else None,
        runtime_id=runtime_id if fields.is_id(runtime_id) else None,
        attempt=fields.small(attempt) if attempt is not None else _attempt_of(env.get("VIGIL_ATTEMPT")),
        max_attempts=fields.small(max_attempts),
        policy=fields.text(policy, fields.LONGEST_NAME),
        labels=fields.labels({"host": socket.gethostname(), **(labels or {})}),
    )
    way = gateway or _gateway_of(env)
    client: Optional[GatewayClient] = None
    if way is not None and identity.agent_id:
        try:
            client = GatewayClient(way, lambda problem: started._problem(problem))
        except ValueError as error:
            report(f"{error}; nothing is reported")
    started = Agent(identity, client, fields.count(interval_ms) or None, on_command, report)
    if checkpoints:
        with started._changed:
            started._notes.set(reports_checkpoints=True)
    return started
