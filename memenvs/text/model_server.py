"""Requests to an OpenAI-compatible server: retries, bounds, and a key that goes nowhere else."""

from __future__ import annotations

import http.client
import json
import math
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import IO, Any, TypeVar

from memenvs.text.completions import shown
from memenvs.text.origins import LOOPBACK, check_address, joined, shown_address

T = TypeVar("T")

PASSING = (408, 409, 429, *range(500, 600))  # statuses that may be gone at the next try
LONGEST = 2**20  # bytes of an answer that are read
CHUNK = 2**16
WHY = 2**14  # bytes of a refusal that are read
LONGEST_WAIT = 60.0  # seconds that a server may ask to wait before the next try


class ServerError(ValueError):
    """The server is absent, refuses, or does not answer what was asked."""


class ModelServer:
    """Post JSON to one address of a server that speaks as OpenAI's does.

    ``base_url`` ends before ``path`` ("/chat/completions") and may have a query, which is kept but
    never shown; ``role`` names the server in errors. Without encryption only this machine is asked,
    and hosts that ``MEMENVS_PLAIN_HTTP`` names.
    A try is given up after ``timeout`` seconds, and what may pass (no connection, no answer in
    time, statuses 408, 409, 429 and 5xx, an answer that is not what was asked for or exceeds
    ``longest`` bytes) is tried ``retries`` times more, after ``pause`` seconds that double, or as
    many as the server asks for (``Retry-After``), up to a minute. Threads may share it. No
    redirection is followed, so that the key goes to no other server, and a server on this machine
    is not asked through a proxy. Raises ``ServerError`` that says in one line what was wrong.
    """

    def __init__(
        self,
        base_url: str,
        path: str,
        role: str,
        *,
        key: str = "",
        timeout: float = 30.0,
        retries: int = 3,
        pause: float = 0.5,
        longest: int = LONGEST,
    ) -> None:
        try:
            check_address(base_url, role)
        except ValueError as error:
            raise ServerError(str(error)) from None
        if not (key.isascii() and key.isprintable()):
            raise ServerError(f"the {role}'s key holds characters that a header cannot")
        self._address = joined(base_url, path)
        self.url = shown_address(self._address)  # for messages and keys of caches
        self.role, self.timeout, self.retries, self.pause = role, timeout, retries, pause
        self._longest = longest
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        handlers: list[urllib.request.BaseHandler] = [_NoRedirection()]
        if urllib.parse.urlsplit(base_url).hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def ask(self, body: dict[str, Any], read: Callable[[bytes], T]) -> T:
        """Post ``body`` and give what ``read`` makes of the answer; its ValueErrors are retried."""
        problem, wait = "", None
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1) if wait is None else wait)
            wait = None
            try:
                return read(self._post(body))
            except urllib.error.HTTPError as error:
                wait, said = _asked_to_wait(error), self._reason(error)
                error.close()
                problem = f"answered with status {error.code}{said and f': {said}'}"
                if 300 <= error.code < 400:
                    problem = f"answered with status {error.code}; redirections are not followed"
                if error.code not in PASSING:
                    break
            except (http.client.HTTPException, OSError) as error:
                said = str(getattr(error, "reason", None) or error) or type(error).__name__
                problem = f"cannot be reached: {shown(said)[1:-1]}"
            except ValueError as error:
                problem = str(error)
        raise ServerError(f"the {self.role} at {self.url} {problem}")

    def _reason(self, error: urllib.error.HTTPError) -> str:
        """Read what a server says of its refusal, without the key if it repeats that."""
        try:
            sent = error.read1(WHY).decode("utf-8", "replace")
        except (http.client.HTTPException, OSError):
            return ""
        try:
            told = json.loads(sent)
            told = told.get("error", told)
            told = told["message"] if isinstance(told, dict) else told
        except (ValueError, LookupError, AttributeError, RecursionError):
            told = "" if "<html" in sent[:200].lower() else sent.strip()
        key = self._headers.get("Authorization", " ").split(" ")[-1]
        text = told if isinstance(told, str) else ""
        return shown(text.replace(key, "...") if key else text) if text else ""

    def _post(self, body: dict[str, Any]) -> bytes:
        request = urllib.request.Request(self._address, json.dumps(body).encode(), self._headers)
        end, read = time.monotonic() + self.timeout, b""
        with self._opener.open(request, timeout=self.timeout) as response:
            while chunk := response.read1(CHUNK):
                read += chunk
                if len(read) > self._longest:
                    raise ValueError(f"sent more than {self._longest} bytes")
                if time.monotonic() > end:
                    raise TimeoutError("timed out")
        return read


def _asked_to_wait(error: urllib.error.HTTPError) -> float | None:
    """Seconds that the server asks to wait, as a number or a date; None where it does not."""
    given = error.headers.get("Retry-After", "") if error.headers else ""
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(given).timestamp() - time.time()
        except (TypeError, ValueError):
            return None
    return min(max(seconds, 0.0), LONGEST_WAIT) if math.isfinite(seconds) else None


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """Leaves a redirection what it is, a status: the key is for one server alone."""

    def _leave(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
    ) -> None:
        """Follow nothing; do not even read where to."""

    http_error_301 = http_error_302 = http_error_303 = http_error_307 = http_error_308 = _leave
