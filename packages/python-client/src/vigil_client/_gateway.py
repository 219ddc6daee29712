"""Requests to the gateway, with a token that renews itself."""

from __future__ import annotations

import base64
import json
import os
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any, Callable, Optional, Tuple
from urllib.parse import urlsplit

Problem = Callable[[str], None]

PATIENCE_S = 15.0
"""An attempt without an answer ends after this time."""

_LARGEST_ANSWER = 1 << 22
_LONGEST_RETRY_S = 300.0
_RENEWED_AFTER = 2 / 3
_FIRST_RETRY_S = 60.0
_LAST_RETRY_S = 3600.0
_READ_EVERY_S = 1.0
# Writing by the group, and anything by others. Kubernetes lets a group read its secrets.
_OPEN_TO_OTHERS = 0o027
# An operator may correct a token while the agent works, so a 401 is worth another try.
_RETRIED = frozenset((401, 403, 404, 408, 425, 429))


@dataclass(frozen=True)
class Gateway:
    """The gateway's address, with a token or with the file of one."""

    url: str
    token: Optional[str] = None
    token_file: Optional[str] = None

    def __repr__(self) -> str:
        return f"Gateway(url={self.url!r})"


class Refused(Exception):
    """The gateway will never accept this request."""


class Busy(Exception):
    """The gateway did not accept this request now."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirection would carry the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _validity_of(token: str) -> Optional[Tuple[float, float]]:
    """When a JWT becomes valid and when it expires, epoch seconds; None if the token has no such times."""
    try:
        part = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        return float(claims["iat"]), float(claims["exp"])
    except Exception:
        return None


class _Token:
    def __init__(self, way: Gateway, on_problem: Problem) -> None:
        self._path = way.token_file
        self._value = "" if way.token_file else (way.token or "")
        self._on_problem = on_problem
        self._version: Optional[Tuple[int, int, int]] = None
        self._read_at = float("-inf")
        self._unreadable: Optional[str] = None
        self._renews_from = 0.0
        self._retry_s = _FIRST_RETRY_S

    def current(self) -> str:
        if self._path is not None:
            self._refresh(self._path)
        return self._value

    def is_due(self) -> bool:
        validity = _validity_of(self._value)
        if validity is None:
            return False
        valid_from, until = validity
        return time.time() >= max(self._renews_from, valid_from + (until - valid_from) * _RENEWED_AFTER)

    def renewed(self, value: str) -> None:
        self._use(value)
        if self._path is None:
            return
        try:
            self._replace(self._path, value)
        except OSError as error:
            self._on_problem(f"the renewed token is used, and could not be written to {self._path}: {error}")

    def not_renewed(self, error: Exception) -> None:
        if self._retry_s == _FIRST_RETRY_S:
            self._on_problem(f"the token could not be renewed, and is used until it expires: {error}")
        self._renews_from = time.time() + self._retry_s
        self._retry_s = min(self._retry_s * 2, _LAST_RETRY_S)

    def _use(self, value: str) -> None:
        self._value = value
        self._renews_from = 0.0
        self._retry_s = _FIRST_RETRY_S

    def _refresh(self, path: str) -> None:
        if self._value and time.monotonic() < self._read_at + _READ_EVERY_S:
            return
        try:
            self._read_if_changed(path)
            self._unreadable = None
        except OSError as error:
            if not self._value:
                raise
            if self._unreadable != str(error):
                self._on_problem(f"the token of before is used: {error}")
            self._unreadable = str(error)
        self._read_at = time.monotonic()

    def _read_if_changed(self, path: str) -> None:
        version = self._version_of(path)
        if version == self._version:
            return
        with open(path, encoding="utf-8") as file:
            value = file.read().strip()
        if not value:
            raise OSError(f"the token file {path} is empty")
        self._use(value)
        self._version = version

    @staticmethod
    def _version_of(path: str) -> Tuple[int, int, int]:
        found = os.stat(path)
        if found.st_mode & _OPEN_TO_OTHERS:
            raise OSError(f"other users may read or change the token in {path}: chmod 600 {path}")
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _replace(self, path: str, value: str) -> None:
        """Replaces the whole file at once, so that no reader finds half a token."""
        new = f"{path}.{os.getpid()}.new"
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(value + "\n")
        os.replace(new, path)
        self._version = self._version_of(path)


def _retry_after_s(value: Optional[str]) -> float:
    try:
        return min(max(0.0, float(value or 0)), _LONGEST_RETRY_S)
    except ValueError:
        return 0.0


class GatewayClient:
    """One request at a time, by the thread that sends heartbeats."""

    def __init__(self, way: Gateway, on_problem: Problem) -> None:
        if urlsplit(way.url).scheme not in ("http", "https"):
            raise ValueError(f"{way.url!r} is not the address of a gateway; write one like http://127.0.0.1:7410")
        self._url = way.url.rstrip("/")
        self._token = _Token(way, on_problem)
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._lock = threading.Lock()

    def post(self, path: str, body: object, timeout_s: float) -> Any:
        """The answer's JSON. Raises Refused if it will never be accepted, Busy or OSError if it may be later."""
        with self._lock:
            if self._token.is_due():
                self._renew()
            return self._post(path, body, timeout_s)

    def _renew(self) -> None:
        try:
            self._token.renewed(str(self._post("/v1/token", {}, PATIENCE_S)["token"]))
        except Exception as error:
            self._token.not_renewed(error)

    def _post(self, path: str, body: object, timeout_s: float) -> Any:
        headers = {"Authorization": f"Bearer {self._token.current()}", "Content-Type": "application/json"}
        data = json.dumps(body, ensure_ascii=True, allow_nan=False).encode("ascii")
        request = urllib.request.Request(self._url + path, data=data, headers=headers, method="POST")
        try:
            with self._opener.open(request, timeout=timeout_s) as response:
                answer = response.read(_LARGEST_ANSWER + 1)
        except urllib.error.HTTPError as error:
            with error:
                detail = error.read(300).decode("utf-8", "replace")
            message = f"{path} answered {error.code} {detail}"
            if 400 <= error.code < 500 and error.code not in _RETRIED:
                raise Refused(message) from None
            raise Busy(message, _retry_after_s(error.headers.get("Retry-After"))) from None
        if len(answer) > _LARGEST_ANSWER:
            raise Busy(f"an answer of more than {_LARGEST_ANSWER} bytes does not come from a gateway", 0.0)
        return json.loads(answer)
