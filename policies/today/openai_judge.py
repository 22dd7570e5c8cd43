"""A language model behind an OpenAI-compatible server, as the judge of a memory in use."""

from __future__ import annotations

import http.client
import json
import math
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import IO, Any

import numpy as np

from memenvs.incidence import BoolArray, FloatArray
from memenvs.policies.today.books import View
from memenvs.policies.today.constants import constant
from memenvs.policies.today.texts import observable_texts

PASSING = (408, 409, 429, *range(500, 600))  # statuses that may be gone at the next try
CONTRADICTION = (
    "Can both statements be true of the same time and subject? Reply with JSON alone: "
    '{{"contradiction": true}} if not, else {{"contradiction": false}}.\n1: {}\n2: {}'
)
IMPORTANCE = (
    "Rate how important this statement is to remember, from 1 (mundane) to 10 (poignant). Reply "
    'with JSON alone: {{"importance": 5}}.\nStatement: {}'
)
MOST_IMPORTANT = 10.0
LONGEST = 2**20  # bytes of an answer that are read
CHUNK = 2**16
SHOWN = 100  # characters of the server's text in a message
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class JudgeError(ValueError):
    """The server is absent, refuses, or does not answer what was asked."""


class OpenAIJudge:
    """Ask a model for contradictions and importance, by chat completions at temperature 0.

    Only claims of one subject (similarity of .80 or more) are asked about, as the systems do, and
    no question twice. ``base_url`` ends before "/chat/completions"; a try is given up after
    ``timeout`` seconds, and what may pass (no connection, no answer in time, statuses 408, 409, 429
    and 5xx, an answer that is not the JSON asked for or exceeds 1 MiB) is tried ``retries`` times
    more, after ``pause`` seconds that double. No redirection is followed, so that the key goes to
    no other server, and a server on this machine is not asked through a proxy. Raises
    ``JudgeError`` that says in one line what was wrong.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key: str = "",
        timeout: float = 30.0,
        retries: int = 3,
        pause: float = 0.5,
    ) -> None:
        if not _is_address(base_url):
            raise JudgeError(
                f"{base_url!a} is no address of a judge; it begins with http:// or https://"
            )
        if not (key.isascii() and key.isprintable()):
            raise JudgeError("the judge's key holds characters that a header cannot")
        self.url = f"{base_url.rstrip('/')}/chat/completions"
        self.model, self.timeout, self.retries, self.pause = model, timeout, retries, pause
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        handlers: list[urllib.request.BaseHandler] = [_NoRedirection()]
        if urllib.parse.urlsplit(base_url).hostname in LOOPBACK:
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)
        self._known: dict[str, Any] = {}  # answers by prompt

    def contradicts(self, view: View) -> BoolArray:
        """Say which live slots the considered claim contradicts: ``(B, S)``."""
        asked = np.round(view.similarity, 6) >= constant("judge", "subject")
        found = np.zeros(asked.shape, dtype=bool)
        if asked.any():
            texts = observable_texts(view.env)
            for b, s in np.argwhere(asked).tolist():
                prompt = CONTRADICTION.format(texts[b].stored[s], texts[b].claim)
                found[b, s] = self._ask(prompt, "contradiction", bool)
        return found

    def importance(self, view: View) -> FloatArray:
        """Give the importance of the slots and then of the considered claim: ``(B, S + 1)``."""
        rated = np.zeros((len(view.stored), view.stored.shape[1] + 1))
        for b, texts in enumerate(observable_texts(view.env)):
            for place, text in enumerate((*texts.stored, texts.claim)):
                if text is not None:
                    answer = self._ask(IMPORTANCE.format(text), "importance", float)
                    rated[b, place] = min(max(answer, 0.0), MOST_IMPORTANT) / MOST_IMPORTANT
        return rated

    def _ask(self, prompt: str, field: str, kind: type) -> Any:
        if prompt not in self._known:
            self._known[prompt] = self._try(prompt, field, kind)
        return self._known[prompt]

    def _try(self, prompt: str, field: str, kind: type) -> Any:
        problem = ""
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1))
            try:
                return _answer(self._post(prompt), field, kind)
            except urllib.error.HTTPError as error:
                error.close()
                problem = f"answered with status {error.code}"
                if 300 <= error.code < 400:
                    problem += "; redirections are not followed"
                if error.code not in PASSING:
                    break
            except (http.client.HTTPException, OSError) as error:
                said = str(getattr(error, "reason", None) or error) or type(error).__name__
                problem = f"cannot be reached: {_shown(said)[1:-1]}"
            except ValueError as error:
                problem = str(error)
        raise JudgeError(f"the judge at {self.url} {problem}")

    def _post(self, prompt: str) -> bytes:
        body = {
            "model": self.model,
            "temperature": 0,
            "messages": [{"role": "user", "content": prompt}],
        }
        request = urllib.request.Request(self.url, json.dumps(body).encode(), self._headers)
        end, read = time.monotonic() + self.timeout, b""
        with self._opener.open(request, timeout=self.timeout) as response:
            while chunk := response.read1(CHUNK):
                read += chunk
                if len(read) > LONGEST:
                    raise ValueError(f"sent more than {LONGEST} bytes")
                if time.monotonic() > end:
                    raise TimeoutError("timed out")
        return read


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


def _is_address(url: str) -> bool:
    """Whether requests can be sent there: no more is asked than that it can be read."""
    try:
        parts = urllib.parse.urlsplit(url)
        readable = parts.port != 0 and bool(parts.hostname)
    except ValueError:
        return False
    plain = url.isascii() and url.isprintable() and " " not in url
    return readable and plain and url.startswith(("http://", "https://"))


def _shown(sent: Any) -> str:
    """Quote what a server sent, in ASCII of bounded length."""
    try:
        quoted = ascii(sent)
    except RecursionError:
        return "deeply nested JSON"
    return quoted if len(quoted) <= SHOWN else f"{quoted[:SHOWN]}{quoted[0]}"


def _answer(body: bytes, field: str, kind: type) -> Any:
    """Read one field of the JSON that a completion holds; raises ``ValueError``."""
    try:
        message = json.loads(body)["choices"][0]["message"]
        refused, content = message.get("refusal"), message.get("content")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError("did not send a chat completion") from None
    if refused:
        raise ValueError(f"refused to answer: {_shown(refused)}")
    try:
        value: Any = json.loads(_unfenced(content))[field]
        if kind is float and type(value) is int:
            value = float(value)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError):
        value = None
    wanted = type(value) is kind
    if not wanted or not math.isfinite(value):
        raise ValueError(f"answered {_shown(content)} where JSON with '{field}' was asked for")
    return value


def _unfenced(content: str) -> str:
    """Take JSON out of the fence that many models put around it."""
    text = content.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text[3:-3].removeprefix("json")
    return text
