"""An agent for the tests on the real gateway: prints each command and problem as a line of JSON."""

from __future__ import annotations

import json
import queue
import sys
from typing import Any

from vigil_client import Agent, Command, Handoff, Nudge, Probe, connect

WAIT_S = 60.0


def emit(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def open_agent(inbox: queue.SimpleQueue[Command]) -> Agent:
    return connect(on_command=inbox.put, on_problem=lambda problem: emit(problem=problem), interval_ms=1000)


def work(agent: Agent, inbox: queue.SimpleQueue[Command], file: str) -> None:
    """One call that fails, one that changes something, a report, an error and a checkpoint."""
    try:
        with agent.call("Read", args={"path": "a"}, deadline_ms=60_000):
            raise FileNotFoundError("no such file")
    except FileNotFoundError:
        pass
    with agent.call("Edit", args={"path": "b"}, mutating=True, target="b") as call:
        call.result = "12 lines"
    agent.report(phase="build", progress="3/10", tokens=1200, step="ACCEPT")
    agent.report(tokens=300)
    agent.error(ValueError("odd"))
    agent.checkpoint(file=file, completed=["parsed"], remaining=["tests"])


def answer(agent: Agent, inbox: queue.SimpleQueue[Command], _: str) -> None:
    """Answers one command."""
    command = inbox.get(timeout=WAIT_S)
    emit(command=type(command).__name__, message=command.message)
    if isinstance(command, Nudge):
        agent.report(blockers=["no access"])
    elif isinstance(command, Probe):
        command.reply()
    elif isinstance(command, Handoff):
        agent.report(handoff="the tests are next")


def wait(agent: Agent, inbox: queue.SimpleQueue[Command], _: str) -> None:
    """Works until its standard input ends."""
    with agent.call("Edit", args={"path": "b"}, mutating=True) as call:
        call.result = "12 lines"
    sys.stdin.read()
    while not inbox.empty():
        emit(command=type(inbox.get()).__name__)


if __name__ == "__main__":
    commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
    with open_agent(commands) as this:
        emit(instance=this.instance_id)
        {"work": work, "answer": answer, "wait": wait}[sys.argv[1]](this, commands, sys.argv[2])
    emit(delivered=this.delivered)
