"""The asker's game against the memorization environment, and against tallies by hand."""

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.games.asker import ASKER, WRITER, AskerWriter
from memenvs.materials.generator.tiers import TIERS

HIDDEN = list(TIERS["hidden"].split("train")[:3])


def test_an_asker_that_leaves_it_to_chance_gives_the_memorization_environment():
    rules = {"capacity": 6, "every": 2}
    game = AskerWriter(HIDDEN, num_envs=4, **rules)
    env = MemorizationVectorEnv(HIDDEN, num_envs=4, autoreset_mode="SameStep", **rules)
    seen, _ = game.reset(seed=3)
    observation, _ = env.reset(seed=3)
    rng, chance = np.random.default_rng(0), np.zeros(4, dtype=int)
    for _ in range(2):
        for step in range(32):
            for name, array in observation.items():
                np.testing.assert_array_equal(seen[WRITER][name], array)
            masks = observation["action_mask"]
            actions = (masks * rng.random(masks.shape)).argmax(axis=1)
            seen, rewards, over, _, infos = game.step({WRITER: actions, ASKER: chance})
            observation, paid, _, _, told = env.step(actions)
            assert not over[WRITER].any()
            if step < 31:
                np.testing.assert_array_equal(rewards[WRITER], paid)
        total = rewards[WRITER]
        for _ in range(15):
            assert (seen[WRITER]["action_mask"].sum(axis=1) == 1).all()
            seen, rewards, over, _, infos = game.step({WRITER: chance, ASKER: chance})
            total = total + rewards[WRITER]
        assert over[WRITER].all()
        assert over[ASKER].all()
        np.testing.assert_array_equal(total, paid)
        np.testing.assert_array_equal(infos[WRITER]["precision"], told["final_info"]["precision"])


def small():
    """Two claims that answer a query each; the second query has a quarter of the mass."""
    return Material(
        name="small",
        claims=(Claim(id="a", embedding=(1.0, 0.0)), Claim(id="b", embedding=(0.6, 0.8))),
        items=(
            Item(id="n0", supports=(("a",),), answers=("q0",)),
            Item(id="n1", supports=(("b",),), answers=("q1",)),
        ),
        queries=(
            Query(id="q0", weight=3.0, embedding=(1.0, 0.0)),
            Query(id="q1", weight=1.0, embedding=(0.0, 1.0)),
        ),
    )


def test_rewards_are_misses_less_the_growth_of_the_divergence():
    game = AskerWriter(small(), price=2.0, autoreset=False, capacity=1, every=1, closing=2)
    seen, _ = game.reset(seed=0)
    columns = game.queries.columns.slices
    # The first claim is written; its query is asked right after that, and answered.
    assert seen[ASKER]["action_mask"][0].tolist() == [1, 1, 1]
    seen, rewards, *_ = game.step({WRITER: np.array([1]), ASKER: np.array([1])})
    assert rewards[WRITER][0] == 1.0
    assert rewards[ASKER][0] == pytest.approx(-2 * np.log(4 / 3))
    assert seen[ASKER]["queries"][0, 0, columns["told"].start] == pytest.approx(1.0)
    # The last claim is passed over: the exam is still to come, and nothing is due before it.
    assert seen[ASKER]["action_mask"][0].tolist() == [1, 0, 0]
    seen, rewards, *_ = game.step({WRITER: np.array([0]), ASKER: np.array([0])})
    assert rewards[WRITER][0] == rewards[ASKER][0] == 0.0
    told = seen[ASKER]["queries"][0, :, columns["told"].start]
    assert told.tolist() == pytest.approx([0.8, 0.4])  # means over both claims
    # The exam: what is not stored is missed. Half of what was asked has a quarter of the mass.
    seen, rewards, over, *_ = game.step({WRITER: np.array([0]), ASKER: np.array([2])})
    half = 0.5 * np.log(0.5 / 0.75) + 0.5 * np.log(0.5 / 0.25)
    assert rewards[WRITER][0] == 0.0
    assert rewards[ASKER][0] == pytest.approx(1 - 2 * (half - np.log(4 / 3)))
    assert seen[ASKER]["queries"][0, 1, columns["missed"].start] == pytest.approx(1 / 3)
    assert not over[WRITER][0]
    seen, rewards, over, _, infos = game.step({WRITER: np.array([0]), ASKER: np.array([2])})
    third = np.log(4 / 9) / 3 + 2 * np.log(8 / 3) / 3
    assert rewards[ASKER][0] == pytest.approx(1 - 2 * (third - half))
    assert over[ASKER][0]
    assert infos[WRITER]["precision"][0] == pytest.approx(0.75)


@pytest.mark.parametrize("every", [2, 3])
def test_what_the_asker_picks_is_what_is_settled(every):
    game = AskerWriter(HIDDEN, num_envs=3, capacity=6, every=every, closing=3, autoreset=False)
    seen, _ = game.reset(seed=1)
    rng, chance = np.random.default_rng(0), np.zeros(3, dtype=int)
    for _ in range(32 + 3):
        masks = seen[ASKER]["action_mask"]
        due = masks[:, 1:].any(axis=1)
        picked = np.where(due, 1 + (masks[:, 1:] * rng.random(masks[:, 1:].shape)).argmax(1), 0)
        before = game.queries.settled.sum(axis=0)
        seen, *_, infos = game.step({WRITER: chance, ASKER: picked})
        asked = game.queries.settled.sum(axis=0) - before
        for i in range(3):
            assert np.flatnonzero(asked[i]).tolist() == ([picked[i] - 1] if due[i] else [])
    assert game.over.all()
    assert not infos[ASKER]["illegal_action"].any()


def test_a_query_without_mass_cannot_be_asked_and_an_illegal_one_is_left_to_chance():
    material = small()
    weightless = Query(id="q1", weight=0.0, embedding=(0.0, 1.0))
    material = Material(
        name="m",
        claims=material.claims,
        items=material.items,
        queries=(material.queries[0], weightless),
    )
    game = AskerWriter(material, autoreset=False, capacity=1, every=1, closing=1)
    seen, _ = game.reset(seed=0)
    assert seen[ASKER]["action_mask"][0].tolist() == [1, 1, 0]
    _, rewards, _, _, infos = game.step({WRITER: np.array([1]), ASKER: np.array([2])})
    assert infos[ASKER]["illegal_action"][0] == 1
    assert rewards[WRITER][0] == 1.0  # q0, the only one that p_D has
    strict = AskerWriter(material, autoreset=False, capacity=1, every=1, closing=1, strict=True)
    strict.reset(seed=0)
    with pytest.raises(ValueError, match="asker_0: action 2 is illegal here"):
        strict.step({WRITER: np.array([1]), ASKER: np.array([2])})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"price": -1.0}, "price=-1.0 is not a finite number from 0"),
        ({"price": np.inf}, "price=inf is not a finite number from 0"),
        ({"queries": 2}, "an asker needs queries=1, not 2"),
        ({"settlement": "expected"}, "an asker needs settlement='sampled'"),
    ],
)
def test_what_cannot_be_is_refused(settings, problem):
    with pytest.raises(ValueError, match=problem):
        AskerWriter(HIDDEN, capacity=6, **settings)
