"""A language model behind an OpenAI-compatible server, as the judge of a memory in use."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any

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


class JudgeError(ValueError):
    """The server is absent, refuses, or does not answer what was asked."""


class OpenAIJudge:
    """Ask a model for contradictions and importance, by chat completions at temperature 0.

    Only claims of one subject (similarity of .80 or more) are asked about, as the systems do, and
    no question twice. ``base_url`` ends before "/chat/completions"; a try takes at most ``timeout``
    seconds, and what may pass (no connection, no answer in time, statuses 408, 409, 429 and 5xx, an
    answer that is not the JSON asked for) is tried ``retries`` times more, after ``pause`` seconds
    that double. Raises ``JudgeError`` that says what was wrong.
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
        if not base_url.startswith(("http://", "https://")):
            raise JudgeError(
                f"'{base_url}' is no address of a judge; it begins with http:// or https://"
            )
        self.url = f"{base_url.rstrip('/')}/chat/completions"
        self.model, self.timeout, self.retries, self.pause = model, timeout, retries, pause
        self._headers = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
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
                    answer = self._ask(IMPORTANCE.format(text), "importance", (int, float))
                    rated[b, place] = min(max(answer, 0.0), MOST_IMPORTANT) / MOST_IMPORTANT
        return rated

    def _ask(self, prompt: str, field: str, kind: Any) -> Any:
        if prompt not in self._known:
            self._known[prompt] = self._try(prompt, field, kind)
        return self._known[prompt]

    def _try(self, prompt: str, field: str, kind: Any) -> Any:
        problem = ""
        for attempt in range(self.retries + 1):
            if attempt:
                time.sleep(self.pause * 2 ** (attempt - 1))
            try:
                return _answer(self._post(prompt), field, kind)
            except urllib.error.HTTPError as error:
                problem = f"answered with status {error.code}"
                if error.code not in PASSING:
                    break
            except (
                TimeoutError,
                urllib.error.URLError,
                http.client.HTTPException,
                OSError,
            ) as error:
                problem = f"cannot be reached: {getattr(error, 'reason', None) or error}"
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
        with urllib.request.urlopen(request, timeout=self.timeout) as response:
            read: bytes = response.read()
            return read


def _answer(body: bytes, field: str, kind: Any) -> Any:
    """Read one field of the JSON that a completion holds; raises ``ValueError``."""
    try:
        message = json.loads(body)["choices"][0]["message"]
        refused, content = message.get("refusal"), message.get("content")
    except (ValueError, LookupError, TypeError, AttributeError):
        raise ValueError("did not send a chat completion") from None
    if refused:
        raise ValueError(f"refused to answer: {refused:.100}")
    try:
        value = json.loads(content)[field]
    except (ValueError, LookupError, TypeError):
        value = None
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise ValueError(f"answered {content!r:.100} where JSON with '{field}' was asked for")
    return value
