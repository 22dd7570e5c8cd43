"""Comparisons on the Odyssey against values found by hand, and what holds on any material."""

from collections import defaultdict
from typing import Any

import numpy as np
import pytest

import memenvs
from instances import random_material
from memenvs.material.records import Claim, Item, Query
from memenvs.materials.odyssey import odyssey
from memenvs.train import playing as playing_module
from memenvs.train.compare import Comparison, compare
from memenvs.train.experiment import load_experiment

FRONTIER = {1: 0.35, 2: 0.60, 3: 0.80, 4: 0.90, 5: 0.95, 6: 1.00}


def run(**options: Any) -> Comparison:
    """Compare with the options of the command line."""
    return compare(load_experiment(None, {k.replace("_", "-"): v for k, v in options.items()}))


def row(comparison: Comparison, policy: str, capacity: int) -> dict[str, Any]:
    """Find a row of a comparison on one material."""
    (found,) = (r for r in comparison.rows if r["policy"] == policy and r["capacity"] == capacity)
    return found


@pytest.fixture(scope="module")
def whole() -> Comparison:
    return run(material=["odyssey"], capacity=list(FRONTIER), policy=["random", "fifo", "optimal"])


def test_optimal_reaches_the_frontier_at_every_capacity(whole: Comparison) -> None:
    for capacity, best in FRONTIER.items():
        found = row(whole, "optimal", capacity)
        assert found["precision"] == pytest.approx(best, abs=1e-9)
        assert found["frontier"] == pytest.approx(best, abs=1e-9)
        assert found["frontier_at_capacity"] == pytest.approx(best, abs=1e-9)
        assert found["efficiency_loss"] == pytest.approx(0, abs=1e-9)
        assert found["compression_cost"] == pytest.approx(1 - best, abs=1e-9)
        assert found["share"] == pytest.approx(1, abs=1e-9)
        assert found["frontier_proved"] is True


def test_fifo_keeps_the_last_four_events(whole: Comparison) -> None:
    found = row(whole, "fifo", 4)
    # e3 (q4 .15, q8 .20), e4 (q6 .20), e5 (q5 .05), e6 (q7 .05): five of nine items
    assert found["size"] == 4
    assert found["precision"] == pytest.approx(0.65)
    assert found["efficiency_loss"] == pytest.approx(0.25)
    assert found["share"] == pytest.approx(0.65 / 0.90)
    assert found["span_gap"] == pytest.approx(4 / 9)
    assert found["compression_cost"] == pytest.approx(0.10)
    assert found["episodes"] == 20


def test_normalised_score_and_difference_follow_from_the_means(whole: Comparison) -> None:
    random, fifo = row(whole, "random", 4), row(whole, "fifo", 4)
    expected = (0.65 - random["precision"]) / (0.90 - random["precision"])
    assert fifo["normalised"] == pytest.approx(expected)
    assert random["normalised"] == 0
    assert row(whole, "optimal", 4)["normalised"] == pytest.approx(1)
    (summary,) = (s for s in whole.summary if (s["policy"], s["capacity"]) == ("fifo", 4))
    assert summary["difference"] == pytest.approx(0.65 - random["precision"])
    assert summary["difference_low"] <= summary["difference"] <= summary["difference_high"]
    assert summary["low"] == summary["precision"] == summary["high"]  # it always ends the same
    assert summary["interval_over"] == "episodes"


def test_no_policy_acts_illegally(whole: Comparison) -> None:
    assert all(r["illegal"] == 0 for r in whole.rows)


def test_an_underfull_memory_is_held_to_the_frontier_of_its_own_size(whole: Comparison) -> None:
    found = row(whole, "random", 6)  # it passes at times: its memories are smaller than S
    assert found["size"] < 6
    assert found["frontier"] < found["frontier_at_capacity"] == pytest.approx(1)
    assert found["efficiency_loss"] == pytest.approx(found["frontier"] - found["precision"])


def test_the_cost_of_compression_is_that_of_the_capacity(whole: Comparison) -> None:
    for found in whole.rows:
        best = FRONTIER[found["capacity"]]
        assert found["compression_cost"] == pytest.approx(1 - best, abs=1e-9)
    assert any(found["frontier"] < found["frontier_at_capacity"] - 0.01 for found in whole.rows)


def test_regret_is_against_the_best_of_what_is_paid() -> None:
    (found,) = run(
        material=["odyssey-noisy"], capacity=[2], policy=["optimal"], utility="coverage", episodes=3
    ).rows
    # The best coverage of two claims is .80; no settlement of a stream can pay more on average.
    settled, total = found["settled"], found["regret"] + found["settled"]
    assert total / 0.80 == pytest.approx(round(total / 0.80))
    assert settled <= round(total / 0.80)


def test_what_else_is_compared_changes_nothing() -> None:
    def rows_of(materials: list[str], policies: list[str]) -> list[dict[str, Any]]:
        played = run(material=materials, policy=policies, capacity=[3], episodes=4).rows
        return [r for r in played if (r["material"], r["policy"]) == ("odyssey", "reservoir")]

    alone = rows_of(["odyssey"], ["reservoir"])
    assert alone == rows_of(["odyssey-noisy", "odyssey"], ["random", "reservoir"])


def test_false_claims_show_as_inflation() -> None:
    found = row(run(material=["odyssey-noisy"], capacity=[2], policy=["fifo"]), "fifo", 2)
    # e6 (q7 .05) and the false claim (q1, q2, q6: .45)
    assert found["coverage"] == pytest.approx(0.50)
    assert found["precision"] == pytest.approx(0.05)
    assert found["water_inflation"] == pytest.approx(0.45)


def test_regret_by_hand() -> None:
    env = memenvs.register_material(
        "regret-by-hand", odyssey, level="static", settlement="expected", closing=10
    )
    found = row(run(env=env, capacity=[4], policy=["fifo"], episodes=2), "fifo", 4)
    # ten queries in expectation: 10 * .90 were possible, 10 * .65 were earned
    assert found["settled"] == pytest.approx(6.5)
    assert found["regret"] == pytest.approx(2.5)


def test_every_policy_plays_the_same_episodes(monkeypatch: pytest.MonkeyPatch) -> None:
    played = defaultdict(list)

    def play(env: Any, policy: Any, units: Any, layer: Any) -> Any:
        key = type(policy).__name__, env.unwrapped.rules.capacity
        played[key] += [(unit.instance.name, unit.seed) for unit in units]
        return original(env, policy, units, layer)

    original = playing_module.play
    monkeypatch.setattr(playing_module, "play", play)
    run(material=["odyssey", "odyssey-noisy"], capacity=[2, 3], policy=["fifo"], episodes=3)
    assert set(played) == {(n, c) for n in ("FirstInFirstOut", "Random") for c in (2, 3)}
    first, *others = played.values()
    assert len(set(first)) == 6
    assert all(other == first for other in others)


def test_equal_memories_are_settled_alike() -> None:
    # On the Odyssey greedy and optimal plan the same memory, so all they earn must be equal.
    result = run(material=["odyssey"], capacity=[3], policy=["greedy", "optimal"])
    greedy, optimal = result.rows
    assert {**greedy, "policy": ""} == {**optimal, "policy": ""}


def test_a_comparison_is_reproducible() -> None:
    options: dict[str, Any] = {"material": ["odyssey"], "policy": ["reservoir"], "episodes": 4}
    assert run(**options) == run(**options)
    assert run(**options) != run(**options, seed=1)


def test_rows_hold_only_the_policies_asked_for() -> None:
    result = run(material=["odyssey"], policy=["fifo"], baseline="longest", episodes=2)
    assert {r["policy"] for r in (*result.rows, *result.summary)} == {"fifo"}
    # the default capacity: a quarter of six claims; e6 alone against e3 alone
    (summary,) = result.summary
    assert summary["capacity"] == 1
    assert summary["difference"] == pytest.approx(0.05 - 0.35)


def test_several_materials_are_the_units_of_the_intervals() -> None:
    names = ["odyssey", "odyssey-noisy", "odyssey-composite"]
    result = run(material=names, capacity=[2], policy=["fifo"])
    (summary,) = result.summary
    assert [r["material"] for r in result.rows] == names
    assert summary["interval_over"] == "materials"
    assert summary["materials"] == summary["episodes"] == 3
    assert summary["precision"] == pytest.approx(np.mean([r["precision"] for r in result.rows]))
    assert summary["low"] <= summary["precision"] <= summary["high"]
    assert summary["intervals"]["coverage"][0] < summary["intervals"]["coverage"][1]


def test_one_episode_has_no_interval() -> None:
    (summary,) = run(material=["odyssey"], policy=["fifo"], episodes=1).summary
    assert summary["low"] is summary["high"] is summary["difference_low"] is None
    assert summary["intervals"]["size"] is None


def test_a_budget_bounds_cost_and_the_frontier_is_of_the_own_cost(tmp_path: Any) -> None:
    weights = {"a": (3.0, 0.6), "b": (2.0, 0.3), "c": (2.0, 0.1)}
    memenvs.Material(
        "priced",
        tuple(Claim(id=name, cost=cost) for name, (cost, _) in weights.items()),
        tuple(Item(id=n, supports=((n,),), answers=(n,)) for n in weights),
        tuple(Query(id=name, weight=weight) for name, (_, weight) in weights.items()),
    ).save(tmp_path / "priced.json")
    file = [str(tmp_path / "priced.json")]
    result = run(material=file, capacity=[2], budget=4.0, policy=["optimal", "random", "fifo"])
    best = row(result, "optimal", 2)
    assert (best["size"], best["cost"]) == (1, 3)
    assert best["precision"] == pytest.approx(0.6)
    assert best["frontier"] == best["frontier_at_capacity"] == pytest.approx(0.6)
    for each in result.rows:
        assert each["cost"] <= 4
        assert each["efficiency_loss"] >= -1e-9
    # two slots bind where the budget does not: a and b, not all three
    loose = run(material=file, capacity=[2], budget=9.0, policy=["optimal"])
    assert row(loose, "optimal", 2)["frontier_at_capacity"] == pytest.approx(0.9)


def test_an_unproved_frontier_is_an_upper_bound_and_says_so(tmp_path: Any) -> None:
    material = random_material(np.random.default_rng(3), 40, 80, composite=0.7)
    material.save(tmp_path / "hard.json")
    options: dict[str, Any] = {
        "material": [str(tmp_path / "hard.json")],
        "capacity": [12],
        "policy": ["fifo", "random"],
        "episodes": 2,
    }
    proved, bounded = run(**options), run(**options, time_limit=0.0)
    assert all(r["frontier_proved"] for r in proved.rows)
    assert not any(s["frontier_proved"] for s in bounded.summary)
    for exact, bound in zip(proved.rows, bounded.rows, strict=True):
        assert bound["frontier"] >= exact["frontier"] - 1e-9
        assert bound["precision"] == exact["precision"]


def test_a_frontier_of_zero_leaves_shares_empty(tmp_path: Any) -> None:
    memenvs.Material(
        "lies",
        (Claim(id="a", truth=False),),
        (Item(id="n", supports=(("a",),), answers=("q",)),),
        (Query(id="q"),),
    ).save(tmp_path / "lies.json")
    result = run(material=[str(tmp_path / "lies.json")], policy=["fifo"], episodes=2)
    for record in (*result.rows, *result.summary):
        assert record["share"] is None
        assert record["normalised"] is None


def test_utility_is_what_the_environment_pays() -> None:
    options: dict[str, Any] = {"material": ["odyssey-noisy"], "capacity": [2], "policy": ["fifo"]}
    (covered,) = run(**options, utility="coverage").rows
    (precise,) = run(**options).rows
    assert covered["utility"] == pytest.approx(covered["coverage"])
    assert precise["utility"] == pytest.approx(precise["precision"])
    assert covered["frontier"] == pytest.approx(0.80)  # of f1 and e3; true are e1 or e2 and e3
    assert precise["frontier"] == pytest.approx(0.60)
