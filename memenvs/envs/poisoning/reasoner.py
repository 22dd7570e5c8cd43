"""The simulated reasoner: it answers from one line of its context, the most salient to it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.text.encoders import HashingEncoder

MIDDLE = 0.25  # of its relevance, what a line in the middle of the context loses
FAILED = 0.3  # factor of a line recorded as failed
SILENT = 0.5  # factor of a line that offers no answer
NOISE = 0.08  # scale of the Gumbel noise
NOTHING = -1  # the line that an empty context gives
ENCODER = HashingEncoder(256)


def cosines(questions: list[str], texts: list[str]) -> FloatArray:
    """Relevance of texts to questions, as the reasoner sees it: ``(q, n)``."""
    rows = np.array([_vector(text) for text in questions])
    relevance: FloatArray = rows @ np.array([_vector(text) for text in texts]).T
    return relevance


@lru_cache(maxsize=1 << 15)
def _vector(text: str) -> FloatArray:
    vector: FloatArray = ENCODER.encode([text])[0]
    return vector


def choose_line(
    relevance: FloatArray,
    failed: BoolArray,
    offers: BoolArray,
    present: BoolArray,
    uniform: FloatArray,
) -> IntArray:
    """Give the line that the reasoner answers from, ``NOTHING`` where none is present.

    All are ``(..., L)`` in the order of the context; ``offers`` says which lines offer an answer to
    the question; ``uniform`` are random numbers in [0, 1). Truth is not asked.
    """
    place = np.cumsum(present, axis=-1) - 1
    last = np.maximum(place[..., -1:], 1)
    dip = 1.0 - np.abs(2.0 * place / last - 1.0)  # 0 at both ends, 1 in the middle
    salience = relevance * (1.0 - MIDDLE * np.where(place[..., -1:] > 0, dip, 0.0))
    salience = salience * np.where(failed, FAILED, 1.0) * np.where(offers, 1.0, SILENT)
    gumbel = -np.log(-np.log(np.clip(uniform, 1e-12, 1 - 1e-12)))
    noisy = np.where(present, salience + NOISE * gumbel, -np.inf)
    chosen: NDArray[np.int64] = noisy.argmax(axis=-1)
    return np.where(present.any(axis=-1), chosen, NOTHING)
