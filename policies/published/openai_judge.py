"""A language model behind an OpenAI-compatible server, as the judge of a memory in use."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.policies.base import privileged
from memenvs.policies.published.books import View
from memenvs.policies.published.parameters import constant
from memenvs.text.model_server import ModelServer, ServerError, chat_body, chat_field

CONTRADICTION = (
    "Can both statements be true of the same time and subject? Reply with JSON alone: "
    '{{"contradiction": true}} if not, else {{"contradiction": false}}.\n1: {}\n2: {}'
)
IMPORTANCE = (
    "Rate how important this statement is to remember, from 1 (mundane) to 10 (poignant). Reply "
    'with JSON alone: {{"importance": 5}}.\nStatement: {}'
)
MOST_IMPORTANT = 10.0
JudgeError = ServerError


class OpenAIJudge:
    """Ask a model for contradictions and importance, by chat completions at temperature 0.

    Only claims of one subject (similarity of .80 or more) are asked about, as the systems do, and
    no question twice. ``base_url`` ends before "/chat/completions"; the ``options`` are those of
    ``ModelServer``. Raises ``JudgeError`` that says in one line what was wrong.
    """

    def __init__(self, base_url: str, model: str, **options: Any) -> None:
        self._server = ModelServer(base_url, "/chat/completions", "judge", **options)
        self.url, self.model = self._server.url, model
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
            self._known[prompt] = self._server.ask(
                chat_body(self.model, prompt), lambda body: _answer(body, field, kind)
            )
        return self._known[prompt]


def _answer(body: bytes, field: str, kind: type) -> Any:
    """Read one field of the JSON that a completion holds; raises ``ValueError``."""
    value, said = chat_field(body, field)
    try:
        if kind is float and type(value) is int:
            value = float(value)
        wanted = type(value) is kind
        usable = wanted and math.isfinite(value)
    except OverflowError:
        usable = False
    if not usable:
        raise ValueError(f"answered {said} where JSON with '{field}' was asked for")
    return value


@dataclass(frozen=True)
class Texts:
    """Wordings of one episode, as a person reads them; nothing of truth or queries."""

    claim: str | None  # None while none is considered
    stored: tuple[str | None, ...]  # (S,) by slot; None where it is free


def observable_texts(env: Any) -> list[Texts]:
    """Give the wordings in view, for each episode of an environment or of a vector of them.

    Observations hold vectors in their stead; a judge that is a language model needs the words.
    """
    found = []
    for view in privileged(env):
        claims = view.load().claims
        found.append(
            Texts(
                None if view.considered is None else claims[view.considered].text,
                tuple(None if slot == EMPTY else claims[slot].text for slot in view.slots.tolist()),
            )
        )
    return found
