"""What a memory is expected to answer through a reader of K items, claim by claim."""

from __future__ import annotations

import numpy as np

from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import BoolArray, FloatArray
from memenvs.reading.answers import ALL, Utility
from memenvs.reading.readers import split_name
from memenvs.reading.utility import DECIMALS


def items_read(rules: Rules, layout: Layout) -> int:
    """Give the number of items that are read for a query, all of them under a full reader.

    Raises ``ValueError`` for a reader whose ranking the observations do not show.
    """
    kind, k = split_name(rules.reader)
    if kind not in (ALL, "similarity"):
        raise ValueError(
            f"what reader='{rules.reader}' reads is not seen in observations; it has to be "
            "'similarity:K' or 'all'"
        )
    return k or layout.limits.claims


def reading_losses(
    similarity: FloatArray,
    answers: FloatArray,
    true: FloatArray,
    weight: FloatArray,
    valid: BoolArray,
    *,
    utility: Utility,
    k: int,
) -> FloatArray:
    """Value that all candidates together lose without each of them: ``(B, C)``.

    For every query the ``k`` most similar candidates are read. One that outranks a better one has a
    negative loss: the memory is worth more without it.

    Args:
        similarity: of candidates and queries ``(B, C, T)``.
        answers: P(a candidate answers a query) ``(B, C, T)``.
        true: P(a candidate is true) ``(B, C)``.
        weight: of the queries ``(B, T)``.
        valid: whether there is a candidate ``(B, C)``.
        utility: what is paid, as an ``Objective`` names it.
        k: items that are read, 1 or more.
    """
    candidates = similarity.shape[1]
    rank = np.where(valid[..., None], -np.round(similarity, DECIMALS), np.inf)
    order = np.argsort(rank, axis=1, kind="stable")[:, : k + 1]
    read = np.take_along_axis(np.where(valid[..., None], answers, 0.0), order, axis=1)
    believed = np.take_along_axis(np.broadcast_to(true[..., None], similarity.shape), order, axis=1)
    everything = answered(read[:, :k], believed[:, :k], utility)
    lost = np.zeros(similarity.shape[:2])
    for place in range(min(k, candidates)):
        rest = np.delete(np.arange(order.shape[1]), place)[:k]
        gain = weight * (everything - answered(read[:, rest], believed[:, rest], utility))
        for number in range(candidates):
            lost[:, number] += (gain * (order[:, place] == number)).sum(axis=1)
    return lost


def answered(answers: FloatArray, true: FloatArray, utility: Utility) -> FloatArray:
    """P(each query pays) by what is read of it, best match first: ``(B, k, T)`` to ``(B, T)``.

    Candidates answer, and are true, independently of each other.
    """
    if utility == "end-to-end":  # the first that answers is named
        silent = np.cumprod(1.0 - answers, axis=1)
        before = np.concatenate([np.ones_like(silent[:, :1]), silent[:, :-1]], axis=1)
        return np.asarray((before * answers * true).sum(axis=1))
    paying = answers if utility == "coverage" else answers * true
    return np.asarray(1.0 - (1.0 - paying).prod(axis=1))
