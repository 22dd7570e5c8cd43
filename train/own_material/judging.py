"""A language model that picks the claims a question needs; asked only where it is configured."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any

from memenvs.text.cache import Cache, content_key
from memenvs.text.model_server import ModelServer, chat_body, chat_field
from memenvs.train.own_material.links import Found
from memenvs.train.own_material.matching import Asked

CANDIDATES = 12  # claims that it is shown
SHOWN = 1_000  # characters of a claim that it is shown
PROMPT = (
    "Which of these statements are needed to answer the question? Name all that are needed "
    "together, and no more; none, if they do not answer it. Reply with JSON alone: "
    '{{"claims": [2, 5], "confidence": 0.9}}.\nQuestion: {}\n{}{}'
)


class LinkJudge:
    """Ask the server of ``MEMENVS_JUDGE_URL`` which claims a question needs; keep its replies."""

    def __init__(self, url: str, model: str, cache: Cache, **options: Any) -> None:
        self._server = ModelServer(url, "/chat/completions", "judge", **options)
        self.url, self._model, self._cache = self._server.url, model, cache

    def pick(self, asked: Asked, texts: Sequence[str], claims: Sequence[int]) -> Found | None:
        """Give those of the ``claims`` (with their ``texts``) that are needed; None if none are.

        Raises ``ServerError`` where the server does not answer.
        """
        answer = f"Answer: {asked.answer}\n" if asked.answer else ""
        listed = "\n".join(f"{n}: {text[:SHOWN]}" for n, text in enumerate(texts, start=1))
        prompt = PROMPT.format(asked.text, answer, listed)
        key = content_key("judge", self.url, self._model, prompt)
        kept = self._cache.get([key]).get(key)
        if kept is None:
            picked, confidence = self._server.ask(
                chat_body(self._model, prompt), lambda body: _answer(body, len(texts))
            )
            self._cache.put({key: json.dumps([picked, confidence]).encode()})
        else:
            picked, confidence = json.loads(kept)
        if not picked:
            return None
        return Found(tuple(claims[n - 1] for n in picked), "judge", confidence)


def configured_link_judge(cache: Cache) -> LinkJudge | None:
    """Give the judge of the environment variables, as memories in use have it; None without."""
    url = os.environ.get("MEMENVS_JUDGE_URL")
    if not url:
        return None
    model = os.environ.get("MEMENVS_JUDGE_MODEL", "default")
    return LinkJudge(url, model, cache, key=os.environ.get("MEMENVS_JUDGE_KEY", ""))


def _answer(body: bytes, count: int) -> tuple[list[int], float]:
    """Read the numbers of statements and the confidence; raises ``ValueError``."""
    picked, said = chat_field(body, "claims")
    confidence, _ = chat_field(body, "confidence")
    numbers = isinstance(picked, list) and all(type(n) is int and 1 <= n <= count for n in picked)
    sure = type(confidence) in (int, float) and math.isfinite(confidence) and 0 <= confidence <= 1
    if not (numbers and sure):
        raise ValueError(f"answered {said} where JSON with 'claims' and 'confidence' was asked for")
    return list(dict.fromkeys(picked)), float(confidence)
