"""The loss of the reading estimator against a simulation of every outcome, and what it is told."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memenvs.policies.learned.networks.asked import ANSWERS, SILENT, UNKNOWN
from memenvs.policies.learned.networks.reading import Told, reading_loss, told_of

LOGITS = st.floats(-3, 3, width=32)


def sigmoid(logit):
    return 1 / (1 + np.exp(-logit))


def told(outcome, stored, *, alone=False, status=0, truth=0):
    count = len(stored)
    return Told(
        queries=torch.zeros(1, 1, 2),
        outcome=torch.tensor([[float(outcome)]]),
        stored=torch.tensor([stored]),
        alone=torch.tensor([alone]),
        status=torch.tensor([status]) if alone else torch.zeros(1, count, dtype=torch.int8),
        truth=torch.tensor([truth]) if alone else torch.zeros(1, count),
    )


@given(
    true=arrays(np.float32, 3, elements=LOGITS),
    answers=arrays(np.float32, 3, elements=LOGITS),
    stored=arrays(np.bool_, 3),
    order=st.permutations([0.1, 0.2, 0.3]),
    k=st.integers(1, 3),
    right=st.booleans(),
)
def test_an_outcome_has_the_chance_that_the_first_to_answer_is_true(
    true, answers, stored, order, k, right
):
    chance = 0.0
    read = sorted(np.flatnonzero(stored).tolist(), key=lambda place: -order[place])[:k]
    for outcome in product((False, True), repeat=2 * len(read)):
        answering, truth = outcome[: len(read)], outcome[len(read) :]
        weight = 1.0
        for place, says, holds in zip(read, answering, truth, strict=True):
            a, p = sigmoid(answers[place]), sigmoid(true[place])
            weight *= (a if says else 1 - a) * (p if holds else 1 - p)
        if any(answering) and truth[answering.index(True)]:
            chance += weight
    expected = -np.log(np.clip(chance if right else 1 - chance, 1e-6, 1))
    found = reading_loss(
        torch.tensor(true)[None],
        torch.tensor(answers)[None, :, None],
        torch.tensor(order)[None, :, None],
        told(1 if right else -1, stored.tolist()),
        k,
    )
    assert float(found) == pytest.approx(expected, abs=1e-4)


def test_of_a_query_settled_alone_every_claim_that_is_known_of_counts():
    true, answers = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.2, -0.4])
    found = reading_loss(
        torch.tensor(true)[None],
        torch.tensor(answers)[None, :, None],
        torch.zeros(1, 3, 1),
        told(
            -1,
            [True, True, True],
            alone=True,
            status=[SILENT, ANSWERS, UNKNOWN],
            truth=[0.0, -1.0, 0.0],
        ),
        3,
    )
    silent, answering = 1 - sigmoid(answers[0]), sigmoid(answers[1])
    false = 1 - sigmoid(true[1])
    assert float(found) == pytest.approx(-np.log(silent * answering * false))


def test_a_query_that_is_asked_again_is_known():
    asked = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
    known = torch.tensor([[[1, 0], [-1, 0], [0, 1]]])
    queries = torch.tensor([[[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]]])
    assert told_of(known, asked, queries).tolist() == [[[0, 1, 0], [0, -1, 0], [1, 0, 0]]]
