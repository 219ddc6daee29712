"""What Vigil, or a person through it, sends to an agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Union


@dataclass(frozen=True)
class Nudge:
    """A reminder for the model."""

    message: str


@dataclass(frozen=True)
class Probe:
    """A question whether the agent is still there. Call `reply` once the model has read it."""

    message: str
    reply: Callable[[], None]


@dataclass(frozen=True)
class Handoff:
    """A request to save a checkpoint and to stop within `deadline_ms` milliseconds."""

    message: str
    deadline_ms: int


Command = Union[Nudge, Probe, Handoff]
