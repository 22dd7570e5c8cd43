"""What settlements teach the estimator: values by hand, and that it finds what is hidden."""

import math

import pytest
import torch

from memenvs.policies.learned.networks.estimator import Judged
from memenvs.policies.learned.networks.losses import settlement_losses


def told(stored, credits, debits, settled, right):
    rows = {"stored": stored, "credits": credits, "debits": debits}
    tensors = {name: torch.tensor([row], dtype=torch.float32) for name, row in rows.items()}
    numbers = {"settled": settled, "right": right}
    return tensors | {name: torch.tensor([float(n)]) for name, n in numbers.items()}


def logit(p):
    return math.log(p / (1 - p))


def judged(p, v=(0.5, 0.5, 0.5), overlap=0.5):
    size = len(p)
    return Judged(
        torch.tensor([[logit(x) for x in p]]),
        torch.tensor([[logit(x) for x in v]]),
        torch.full((1, size, size), logit(overlap)),
        torch.ones(1, size),
    )


def test_a_lone_credited_claim_is_true():
    loss = settlement_losses(judged((0.9, 0.2, 0.3)), told([1, 1, 0], [1, 0, 0], [0, 0, 0], 1, 1))
    assert float(loss.true) == pytest.approx(-math.log(0.9))


def test_debited_claims_are_false():
    loss = settlement_losses(judged((0.9, 0.2, 0.3)), told([1, 1, 1], [0, 0, 0], [1, 1, 0], 1, 0))
    assert float(loss.true) == pytest.approx(-math.log(0.1) - math.log(0.8), rel=1e-5)


def test_of_two_credited_claims_one_is_true():
    loss = settlement_losses(judged((0.9, 0.2, 0.3)), told([1, 1, 1], [1, 1, 0], [0, 0, 0], 1, 1))
    assert float(loss.true) == pytest.approx(-math.log(1 - 0.1 * 0.8), rel=1e-5)


def test_what_was_also_debited_has_no_part_in_a_right_answer():
    """Two queries: both claims were credited once, the second debited once: the first is true."""
    loss = settlement_losses(judged((0.9, 0.2, 0.3)), told([1, 1, 1], [1, 1, 0], [0, 1, 0], 2, 1))
    expected = (-math.log(0.9) - math.log(0.8)) / 2
    assert float(loss.true) == pytest.approx(expected, rel=1e-5)


def test_more_right_answers_than_the_others_explain():
    """Three right answers, of which the second claim can have earned two."""
    loss = settlement_losses(judged((0.9, 0.2, 0.3)), told([1, 1, 1], [3, 2, 0], [0, 0, 0], 5, 3))
    expected = -3 * math.log(0.9) - 2 * math.log(1 - 0.8)  # the second alone is left in doubt
    assert float(loss.true) == pytest.approx(expected / 5, rel=1e-5)


def test_the_answer_rate_is_of_stored_claims():
    loss = settlement_losses(
        judged((0.5, 0.5, 0.5), v=(0.2, 0.4, 0.9)), told([1, 1, 0], [1, 0, 0], [1, 0, 0], 4, 1)
    )
    first = -(0.5 * math.log(0.2) + 0.5 * math.log(0.8))
    assert float(loss.answers) == pytest.approx((first - math.log(0.6)) / 2, rel=1e-5)


def test_the_overlap_is_of_pairs_that_answer():
    """One query, answered by the first two of three stored claims."""
    loss = settlement_losses(
        judged((0.5, 0.5, 0.5), overlap=0.3), told([1, 1, 1], [0, 0, 0], [1, 1, 0], 1, 0)
    )
    shared, apart = -math.log(0.3), -math.log(0.7)  # (1, 2), (2, 1) and (1, 3), (2, 3)
    assert float(loss.overlap) == pytest.approx((2 * shared + 2 * apart) / 4, rel=1e-5)


def test_nothing_settled_gives_no_gradient_to_truth():
    judgements = judged((0.9, 0.2, 0.3))
    judgements.true.requires_grad_()
    loss = settlement_losses(judgements, told([1, 1, 0], [0, 0, 0], [0, 0, 0], 3, 0))
    loss.total().backward()
    assert judgements.true.grad.abs().max() == 0
