"""Hashes of arguments and results. Only they leave the process; equal hashes show a repetition.

What varies from run to run (times, ids, addresses, paths of temporary files) is replaced before it is hashed. The rules
are fewer than those of the SDK for JavaScript, and the prefix differs: hashes of the two never compare as equal.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, is_dataclass
from typing import Any, Callable, Mapping, Optional, Union

NORMALISER = 1
"""The version of the rules. Every hash contains it: raise it when the input of a hash changes."""


class Unknown:
    """No value was given: it is never compared."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown()

_LARGEST = 1 << 20
_DEEPEST = 100

_VOLATILE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<uuid>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"), "<time>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "<time>"),
    (re.compile(r"\b0x[0-9a-fA-F]{6,}\b"), "<address>"),
    (re.compile(r"(?:/private)?(?:/var)?/tmp/[^\s'\":]+"), "<temporary>"),
    (re.compile(r"\b(?:in |took |after )\d+(?:[.,]\d+)? ?(?:ms|s|sec|seconds|m|min)\b"), "<duration>"),
    (re.compile(r"\b(?:pid|PID)[ =:]+\d+\b"), "<process>"),
    (re.compile(r"\b(localhost|127\.0\.0\.1):\d+\b"), r"\1:<port>"),
)
_DIGITS = re.compile(r"\d+")


def _settled(value: str) -> str:
    for pattern, replacement in _VOLATILE:
        value = pattern.sub(replacement, value)
    return value


def _without_digits(value: str) -> str:
    return _DIGITS.sub("#", _settled(value))


def _plain(value: object, write: Callable[[str], str], numbers: bool, depth: int) -> Any:
    if depth > _DEEPEST:
        raise ValueError("too deep")
    if isinstance(value, str):
        return write(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return value if numbers else "#"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "bytes:" + hashlib.sha256(bytes(value)).hexdigest()
    if isinstance(value, BaseException):
        return {"name": type(value).__name__, "message": write(str(value))}
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value), write, numbers, depth + 1)
    if isinstance(value, Mapping):
        return {str(key): _plain(one, write, numbers, depth + 1) for key, one in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted((_plain(one, write, numbers, depth + 1) for one in value), key=repr)
    if isinstance(value, (list, tuple)):
        return [_plain(one, write, numbers, depth + 1) for one in value]
    # The default text of an object contains its address.
    return write(str(value))


def _canonical(value: object, write: Callable[[str], str], numbers: bool) -> Optional[str]:
    """JSON with sorted keys and no white space; None if the value cannot be read."""
    try:
        plain = _plain(value, write, numbers, 0)
        written = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=True)
    except Exception:
        return None
    return written


def _hash(kind: str, value: object, write: Callable[[str], str], numbers: bool = True) -> Optional[str]:
    if isinstance(value, Unknown):
        return None
    if isinstance(value, str) and len(value) > _LARGEST:
        written: Optional[str] = value
    else:
        written = _canonical(value, write, numbers)
    if written is None:
        return None
    digest = hashlib.sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{kind}py{NORMALISER}:{digest[:32]}"


Value = Union[object, Unknown]


def hash_of_args(args: Value) -> Optional[str]:
    return _hash("a", args, str)


def hash_of_result(result: Value) -> Optional[str]:
    return _hash("r", result, _settled)


def masked_hash_of_result(result: Value) -> Optional[str]:
    """Without digits: results that differ in figures only are alike."""
    return _hash("m", result, _without_digits, numbers=False)
