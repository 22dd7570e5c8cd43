"""The write policy: what it is fitted on, how it goes on learning, and how it reads situations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.material.files import save_materials
from memenvs.policies import make
from memenvs.policies.bisimulation.constants import PAPER
from memenvs.policies.bisimulation.graph import COUNT, FAILURE, SUCCESS, TARGET
from memenvs.policies.bisimulation.situations import Name, Situations, as_batch
from memenvs.policies.rules.simple import Confidence, FirstInFirstOut
from memenvs.train.places import Instance
from memenvs.train.play import play_one
from memenvs.train.units import Unit
from players import SETTINGS, run


def material(name: str, seed: int, claims: int = 12) -> Material:
    """Claims of which every other one answers a query."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(claims, 4)).tolist()
    told = tuple(
        Claim(
            id=f"c{i}", source=f"s{i % 3}", confidence=float(rng.random()), embedding=tuple(vector)
        )
        for i, vector in enumerate(vectors)
    )
    useful = range(0, claims, 2)
    items = tuple(Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in useful)
    queries = tuple(Query(id=f"q{i}", embedding=tuple(vectors[i])) for i in useful)
    return Material(name, told, items, queries)


def environment(*names: str, **settings: object) -> MemorizationEnv:
    materials = [material(name, seed) for seed, name in enumerate(names)]
    return MemorizationEnv(materials, **{**LEVELS["1b"], "capacity": 4, "strict": True, **settings})


def play_material(env: MemorizationEnv, policy: Any, material: Material, seed: int) -> None:
    """Play one episode."""
    play_one(env, policy, Unit(Instance(material.name, material), 0, seed))


def test_the_played_material_is_left_out():
    policy = make("bisimulation", environment("x", "y", "z"))
    whole, without = policy.memory(""), policy.memory("y")
    assert whole.graph.edges[COUNT].sum() == 3 * 12  # every decision of every episode
    assert without.graph.edges[COUNT].sum() == 2 * 12
    assert policy.memory("unknown") is whole
    ends = whole.graph.edges[COUNT][np.isin(whole.graph.edges[TARGET], [SUCCESS, FAILURE])]
    assert ends.sum() == 3


def test_it_is_frozen_while_it_plays():
    env = environment("x", "y", "z")
    policy = make("bisimulation", env)
    before = [policy.memory(name).graph.records for name in ("", "x", "y", "z")]
    for seed in range(6):
        play_material(env, policy, env.materials[seed % 3], seed)
    assert [policy.memory(name).graph.records for name in ("", "x", "y", "z")] == before


def test_learning_records_what_it_plays_and_how_it_ended():
    env = environment("x")
    policy = make("bisimulation:learning", env)
    for episode in range(4):
        play_material(env, policy, env.materials[0], episode)
        edges = policy.memory().graph.edges
        assert edges[COUNT].sum() == 12 * (episode + 1)
        ends = np.isin(edges[TARGET], [SUCCESS, FAILURE])
        assert edges[COUNT][ends].sum() == episode + 1


def test_learning_begins_with_nothing_of_the_materials_it_plays():
    env = environment("x", "y", "z")
    policy = make("bisimulation:learning", env)
    assert policy.memory().graph.records == 0
    play_material(env, policy, env.materials[1], 0)
    assert policy.memory().graph.records == 12


def test_it_needs_other_materials_or_learns_from_nothing(tmp_path):
    single = environment("x")
    with pytest.raises(ValueError, match=r"nothing to train on.*bisimulation:learning"):
        make("bisimulation", single)
    save_materials([material("v", 8), material("w", 9)], tmp_path / "other.jsonl")
    fitted = make(f"bisimulation:{tmp_path / 'other.jsonl'}", single)
    assert fitted.memory().graph.edges[COUNT].sum() == 2 * 12


@pytest.mark.parametrize("kind", [kind for kind in SETTINGS if kind != "priority"])
def test_equal_seeds_and_legal_actions(kind):
    env = environment("x", "y", "z", **{"every": None, **SETTINGS[kind]})
    first = [run(make("bisimulation", env, seed=3), env, seed) for seed in range(3)]
    assert [run(make("bisimulation", env, seed=3), env, seed) for seed in range(3)] == first


def test_priorities_are_refused():
    with pytest.raises(ValueError, match="use action='slots'"):
        make("bisimulation", environment("x", "y", action="priority"))


def test_a_native_batch_is_played_as_single_episodes_are():
    materials = [material(name, seed) for seed, name in enumerate("xyz")]
    settings = {**LEVELS["1b"], "capacity": 4}
    batch = MemorizationVectorEnv(materials, num_envs=3, **settings)
    observation, _ = batch.reset(seed=[1, 2, 3], options={"material": materials})
    policy, state = make("bisimulation", batch), None
    together = []
    for _ in range(12):
        actions, state = policy.predict(observation, state)
        together.append(actions.tolist())
        observation, *_ = batch.step(actions)
    env = MemorizationEnv(materials, **settings)
    alone = make("bisimulation", env)
    for place, each in enumerate(materials):
        observation, _ = env.reset(seed=1 + place, options={"material": each})
        state = None
        for step in range(12):
            action, state = alone.predict(observation, state)
            assert action == together[step][place]
            observation, *_ = env.step(int(action))


def test_slots_are_named_by_role():
    env = environment("x", "y", capacity=3)
    situations = Situations(Confidence(env))
    observation, _ = env.reset(seed=0, options={"material": 0})
    state, filled = (), 0
    while filled < 3:
        looks, shortlists, state = situations.read(
            as_batch(observation), env.action_masks()[None], state
        )
        assert looks[0].templates[1 + filled] == Name.FREE
        assert shortlists[0] == [1 + filled, 0]  # the free slot, or pass
        observation, *_ = env.step(shortlists[0][0])
        filled += 1
    (look,), (shortlist,), _ = situations.read(
        as_batch(observation), env.action_masks()[None], state
    )
    memory = observation["memory"]
    ages = memory[:, env.layout.index("age")]
    confidence = memory[:, env.layout.index("confidence")]
    # Nothing was credited yet, so that the first slot is both the oldest and the least credited.
    lowest = 1 + int(confidence.argmin())
    assert look.templates[lowest] == Name.LOWEST
    assert ages.argmax() == 0
    named = {Name(look.templates[slot]) for slot in (1, 2, 3)}
    assert named <= {Name.LOWEST, Name.LEAST_CREDITED, Name.MOST_SIMILAR, Name.OTHER}
    assert look.resolved == [True, *(look.templates[s] != Name.OTHER for s in (1, 2, 3))]
    assert set(shortlist) == {a for a in range(4) if look.resolved[a]}
    gains = [observation["claim"][env.layout.index("confidence")] - confidence[a - 1] if a else 0.0
             for a in shortlist[1:]]  # fmt: skip
    assert gains == sorted(gains, reverse=True)


def test_the_label_is_phase_and_fill():
    env = environment("x", "y", capacity=3)
    situations = Situations(FirstInFirstOut(env))
    observation, _ = env.reset(seed=0, options={"material": 0})
    labels, signatures, over = [], set(), False
    while not over:
        (look,), _, _ = situations.read(as_batch(observation), env.action_masks()[None], ())
        labels.append(look.label)
        signatures.add((look.signature, look.label))
        observation, _, over, _, _ = env.step(0 if len(labels) < 4 else 1 + (len(labels) - 4) % 3)
    # Twelve decisions in four phases; nothing is stored for four, then one slot after another.
    assert len(set(labels)) == 6
    assert labels[:3] == [labels[0]] * 3
    assert len({signature for signature, _ in signatures}) == len(signatures)


def test_the_settled_share_decides_between_success_and_failure():
    situations = Situations(Confidence(environment("x", "y")), level=0.5)
    total = situations.base.rules.total(12)
    assert situations.role(total / 2, 12, terminated=True) == SUCCESS
    assert situations.role(total / 2 - 1, 12, terminated=True) == FAILURE
    assert PAPER.detour == 0.35
