"""The expected reading of a memory against a simulation of every outcome."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.policies.expected_reading import items_read, reading_losses

CHANCES = st.floats(0, 1, width=32)


def pays(read, answers, true, utility):
    """Whether a query pays, by the definitions; ``read`` are candidates, best first."""
    answering = [place for place in read if answers[place]]
    if utility == "end-to-end":
        return bool(answering) and true[answering[0]]
    return any(utility == "coverage" or true[place] for place in answering)


def worth(similarity, answers, true, weight, utility, k, stored):
    """Sum the chances of every way that answers and truths can turn out, query by query."""
    total = 0.0
    for query, mass in enumerate(weight):
        ranked = sorted(stored, key=lambda place: -similarity[place, query])[:k]
        for outcome in product((0, 1), repeat=2 * len(ranked)):
            answer = dict(zip(ranked, outcome[: len(ranked)], strict=True))
            truth = dict(zip(ranked, outcome[len(ranked) :], strict=True))
            chance = 1.0
            for place in ranked:
                a, p = answers[place, query], true[place]
                chance *= (a if answer[place] else 1 - a) * (p if truth[place] else 1 - p)
            total += mass * chance * pays(ranked, answer, truth, utility)
    return total


@given(
    similarity=arrays(np.float64, (4, 2), elements=st.sampled_from([0.1, 0.2, 0.3, 0.4, 0.5])),
    answers=arrays(np.float64, (4, 2), elements=CHANCES),
    true=arrays(np.float64, 4, elements=CHANCES),
    valid=arrays(np.bool_, 4),
    utility=st.sampled_from(["coverage", "precision", "end-to-end"]),
    k=st.integers(1, 5),
)
def test_losses_are_what_the_memory_is_worth_less_without(
    similarity, answers, true, valid, utility, k
):
    weight = np.array([0.25, 0.75])
    found = reading_losses(
        similarity[None], answers[None], true[None], weight[None], valid[None], utility=utility, k=k
    )[0]
    given_ = similarity, answers, true, weight, utility, k
    stored = np.flatnonzero(valid).tolist()
    everything = worth(*given_, stored)
    for place in range(4):
        without = worth(*given_, [other for other in stored if other != place])
        assert found[place] == pytest.approx(everything - without, abs=1e-9)


def test_what_outranks_a_true_answer_is_worth_less_than_nothing():
    lost = reading_losses(
        np.array([[[0.9], [0.5]]]),
        np.array([[[0.0], [1.0]]]),
        np.ones((1, 2)),
        np.ones((1, 1)),
        np.ones((1, 2), dtype=bool),
        utility="end-to-end",
        k=1,
    )
    assert lost.tolist() == [[-1.0, 0.0]]


def test_a_reader_whose_ranking_is_not_shown_is_refused():
    env = MemorizationEnv("read-limited", capacity=4, reader="similarity:3")
    assert items_read(env.rules, env.layout) == 3
    env = MemorizationEnv("hidden", capacity=4)
    assert items_read(env.rules, env.layout) == 32
    env = MemorizationEnv("odyssey-noisy", capacity=4, reader="bm25:2")
    with pytest.raises(ValueError, match=r"reader='bm25:2'.*similarity:K"):
        items_read(env.rules, env.layout)
