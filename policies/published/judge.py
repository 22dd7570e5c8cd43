"""The decisions for which a memory in use asks a language model, and an observable stand-in."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Protocol

import numpy as np

from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.policies.published.books import View
from memenvs.policies.published.parameters import constant

_alone: ContextVar[bool] = ContextVar("alone", default=False)  # whether the stand-in judges alone


class Judge(Protocol):
    """Says what contradicts, and what matters."""

    def contradicts(self, view: View) -> BoolArray:
        """Say which live slots the considered claim contradicts: ``(B, S)``."""
        ...

    def importance(self, view: View) -> FloatArray:
        """Give the importance of the slots and then of the considered claim: ``(B, S + 1)``."""
        ...


class ObservableJudge:
    """Stands in for a language model by what an observation shows.

    Two claims contradict each other where they share a subject and do not say the same (their
    similarity lies between two constants) and were told at different times or by different sources.
    It so takes a similar, compatible claim for a contradiction, and overlooks one in other words.
    Importance is the cue of that name, else the confidence.
    """

    def contradicts(self, view: View) -> BoolArray:
        """Say which live slots the considered claim contradicts: ``(B, S)``."""
        apart = (view.of_slots("time") != view.of_claim("time")[:, None]) | (
            view.of_slots("source") != view.of_claim("source")[:, None]
        )
        return np.asarray(same_subject(view) & apart)

    def importance(self, view: View) -> FloatArray:
        """Give the importance of the slots and then of the considered claim: ``(B, S + 1)``."""
        cue = "cues.importance"
        return view.of_both(cue if view.has(cue) else "confidence")


def same_subject(view: View) -> BoolArray:
    """Say which live slots are of the claim's subject without saying the same: ``(B, S)``."""
    similarity = np.round(view.similarity, 6)
    return np.asarray(
        (similarity >= constant("judge", "subject")) & (similarity < constant("judge", "same"))
    )


def configured_judge() -> Judge:
    """Give the judge of the environment variables, or else the stand-in.

    ``MEMENVS_JUDGE_URL`` names an OpenAI-compatible server ("http://127.0.0.1:8000/v1"), and the
    other variables are those of ``configured_chat``. That a server is asked is logged once, as a
    warning, which goes to standard error unless logging is set up.
    """
    if not os.environ.get("MEMENVS_JUDGE_URL") or _alone.get():
        return ObservableJudge()
    from memenvs.policies.published.openai_judge import OpenAIJudge
    from memenvs.text.chat import configured_chat

    judge = OpenAIJudge(configured_chat("judge"))
    _log(f"memories in use ask the judge {judge.model!a} at {judge.url} (MEMENVS_JUDGE_URL)")
    return judge


@contextmanager
def stand_in_alone() -> Iterator[None]:
    """Let ``configured_judge`` give the stand-in, whatever the environment variables say."""
    token = _alone.set(True)
    try:
        yield
    finally:
        _alone.reset(token)


@cache
def _log(line: str) -> None:
    logging.getLogger("memenvs").warning(line)
