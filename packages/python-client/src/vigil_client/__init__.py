"""Reports an agent to Vigil over its gateway. It needs only the standard library."""

from ._agent import Agent, connect
from ._calls import Call
from ._commands import Command, Handoff, Nudge, Probe
from ._gateway import Gateway
from ._hashes import NORMALISER, hash_of_args, hash_of_result, masked_hash_of_result

__all__ = [
    "NORMALISER",
    "Agent",
    "Call",
    "Command",
    "Gateway",
    "Handoff",
    "Nudge",
    "Probe",
    "connect",
    "hash_of_args",
    "hash_of_result",
    "masked_hash_of_result",
]
