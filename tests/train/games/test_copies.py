"""Independent copies: what each reads and may keep, and what their memories are worth together."""

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query, frontier
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.games.streams import owners
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import make
from memenvs.policies.base import privileged
from memenvs.reading.utility import end_to_end
from memenvs.train.experiment import load_experiment
from memenvs.train.games.comparison import compare_in_game
from memenvs.train.games.copies import part_of, play_copies
from memenvs.train.games.game_setting import make_game_setting
from memenvs.train.units import episode_seed

TIER = TIERS["hidden"]
MATERIALS = list(TIER.split("validation")[:4])


def experiment(**options):
    given = {"game": "shared-writers", "material": ["hidden"], "split": "validation"}
    given |= {"materials": 4, "policy": ["fifo:split"], **options}
    return load_experiment(None, given)


@pytest.mark.parametrize(("writers", "shares"), [(2, (4, 3)), (3, (3, 2, 2))])
def test_each_copy_keeps_the_last_claims_of_its_own_stream(writers, shares):
    settings = {"capacity": 7, "game-option": {"writers": writers, "streams": "turns"}}
    setting = make_game_setting(experiment(**settings))
    ((_, game),) = setting.games()
    values, nested = play_copies(setting, game, "fifo", often=False)
    assert not nested
    expected = []
    for material in MATERIALS:
        names = [claim.id for claim in material.claims]
        kept = [id for k, share in enumerate(shares) for id in names[k::writers][-share:]]
        expected.append((material.precision(kept), material.coverage(kept), 7))
    found = np.stack([values[name][0] for name in ("precision", "coverage", "size")], axis=1)
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize(("suffix", "every"), [("split", 2), ("split-often", 1)])
def test_each_copy_plays_the_memorization_environment(suffix, every):
    (row,) = compare_in_game(experiment(policy=[f"trust:{suffix}"])).rows
    reached = []
    for material in MATERIALS:
        kept = set()
        for copy in range(2):
            part = part_of(material, owners(material, 2, "source") == copy)
            env = MemorizationEnv([part], **{**TIER.preset, "capacity": 3, "every": every})
            seed = episode_seed(0, material.name, 0) + copy
            policy = make("trust", env)
            seen, _ = env.reset(seed=seed)
            state, over = policy.start(np.array([seed])), False
            while not over:
                action, state = policy.predict(seen, state)
                seen, _, over, _, _ = env.step(action)
            slots = privileged(env)[0].slots
            kept |= {part.claims[place].id for place in slots.tolist() if place >= 0}
        reached.append(material.precision(kept))
    assert row["precision"] == pytest.approx(np.mean(reached))
    assert row["settled"] is None
    assert row["conflicts"] == row["illegal"] == 0


def test_a_stream_tells_what_its_claims_tell_alone():
    claims = tuple(Claim(id=f"c{i}", source="ab"[i % 2]) for i in range(4))
    items = (
        Item(id="own", supports=(("c0",), ("c0", "c1")), answers=("q0",), conflicts=("c1", "c2")),
        Item(id="both", supports=(("c0", "c3"),), answers=("q1",)),
        Item(id="other", supports=(("c1",),), answers=("q0", "q1")),
    )
    material = Material("two", claims, items, (Query(id="q0"), Query(id="q1", weight=3.0)))
    part = part_of(material, owners(material, 2, "source") == 0)
    assert [claim.id for claim in part.claims] == ["c0", "c2"]
    assert [(i.id, i.supports, i.conflicts) for i in part.items] == [("own", (("c0",),), ("c2",))]
    assert part.queries == material.queries
    assert part.coverage(["c0"]) == material.coverage(["c0"]) == 0.25


def test_a_writer_without_a_stream_leaves_its_slots_empty(tmp_path):
    claims = tuple(Claim(id=f"c{i}", text=f"text {i}", source="a") for i in range(4))
    items = tuple(Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(4))
    queries = tuple(Query(id=f"q{i}", text=f"query {i}", weight=float(1 + i)) for i in range(4))
    material = Material("one", claims, items, queries)
    material.save(tmp_path / "one.json")
    played = {"game": "shared-writers", "material": [str(tmp_path / "one.json")], "capacity": [3]}
    found = compare_in_game(load_experiment(None, played | {"policy": ["fifo:split"]}))
    (row,) = found.rows
    assert row["precision"] == pytest.approx(0.7)  # c2 and c3: its share is two slots
    assert (row["size"], row["materials"], row["episodes"]) == (2, 1, 20)


def test_writers_are_compared_by_the_objective_of_their_game():
    """By hand for copies that keep the last claims dealt to them, under end-to-end utility."""
    options = {"game-option": {"writers": 2, "streams": "turns"}, "policy": ["fifo:split", "fifo"]}
    rows = compare_in_game(experiment(material=["end-to-end"], **options)).rows
    reached, best = [], []
    for material in TIERS["end-to-end"].split("validation")[:4]:
        names = [claim.id for claim in material.claims]
        kept = [id for k in range(2) for id in names[k::2][-3:]]
        reached.append(end_to_end(material, kept))
        best.append(frontier(material, "end-to-end", [6]).values[0])
    assert rows[0]["objective"] == "end-to-end"
    assert rows[0]["utility"] == pytest.approx(np.mean(reached))
    assert rows[0]["utility"] < rows[0]["precision"]  # what is false outranks what is true
    assert rows[0]["share"] == pytest.approx(np.mean(np.divide(reached, best)))
    own, other = (row["utility"] for row in rows)
    baseline = compare_in_game(experiment(material=["end-to-end"], baseline="fifo", **options))
    assert baseline.rows[0]["difference"] == pytest.approx(own - other)
