"""Brings values into the form that a heartbeat may have. The gateway refuses a heartbeat for one bad field."""

from __future__ import annotations

import math
import re
import unicodedata
from datetime import datetime, timezone
from typing import Any, Iterable, Mapping, Optional, Union

Time = Union[int, float, str, datetime]
"""Epoch milliseconds, an ISO 8601 text, or a datetime. A datetime without a time zone is UTC."""

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}\Z")
ID_FORM = "1 to 128 of the characters A-Z a-z 0-9 . _ : -; the first is a letter or digit"

LONGEST_NAME = 200
LONGEST_SHORT = 100
LONGEST_TEXT = 300
LONGEST_MESSAGE = 200
LONGEST_ADDRESS = 2000
LONGEST_ANSWER = 4000

MOST_CALLS = 100
MOST_ERRORS = 100
MOST_WORK = 50
MOST_BLOCKERS = 10
MOST_LABELS = 50

LARGEST_COUNT = 2**53 - 1
LARGEST_SMALL = 2**31 - 1
LARGEST_TIME = 8_640_000_000_000_000

ACTIVITIES = frozenset(
    "starting working idle awaiting_input blocked rate_limited paused handing_off stuck exiting finished".split()
)
CALL_KINDS = frozenset("tool model external_api checkpoint_write".split())
REASONS = frozenset("finished explicit crashed resource_limit lost".split())
VERDICTS = frozenset("ACCEPT RETRY CONTINUE ESCALATE".split())


def is_id(value: object) -> bool:
    return isinstance(value, str) and ID.match(value) is not None


def text(value: object, longest: int) -> Optional[str]:
    """The text, cut to a length; None if there is none."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    # A text with half a surrogate pair has no UTF-8.
    found = str(value)[:longest].encode("utf-8", "replace").decode("utf-8")
    return found or None


def texts(values: object, most: int, longest: int) -> list[str]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        return []
    found = (text(value, longest) for value in values)
    return [one for one in found if one is not None][:most]


def _number(value: object) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) else None


def count(value: object) -> Optional[int]:
    """A whole number that is not below zero; None if the value is not a number."""
    number = _number(value)
    return None if number is None else min(max(0, round(number)), LARGEST_COUNT)


def small(value: object) -> Optional[int]:
    """A whole number of 32 bits; None if the value is not a number."""
    number = _number(value)
    return None if number is None else max(-LARGEST_SMALL, min(round(number), LARGEST_SMALL))


def _epoch_ms(value: object) -> Optional[float]:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return None
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=timezone.utc)
        return moment.timestamp() * 1000
    return _number(value)


def time_ms(value: object) -> Optional[int]:
    """Epoch milliseconds; None if the value is not a moment that a heartbeat can carry."""
    found = _epoch_ms(value)
    return round(found) if found is not None and 0 <= found <= LARGEST_TIME else None


def labels(value: Optional[Mapping[str, Any]]) -> dict[str, str]:
    found = ((str(name)[:LONGEST_SHORT], text(label, LONGEST_SHORT)) for name, label in (value or {}).items())
    return dict([(name, label) for name, label in found if label is not None][:MOST_LABELS])


def is_address(address: str) -> bool:
    """Whether Vigil accepts it as the address of a checkpoint: without #, ? and invisible characters."""
    return not any(one in "#?" or unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") for one in address)
