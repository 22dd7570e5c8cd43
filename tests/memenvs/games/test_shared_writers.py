"""Shared writers against a simulation claim by claim, and against the environment of one writer."""

import numpy as np
import pytest
from gymnasium.utils import seeding
from hypothesis import given
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query
from memenvs.counter import ORDER, episode_key, uniforms
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.envs.memorization.reward import Account
from memenvs.games import shared_writers_v0
from memenvs.games.shared_writers import SharedWriters
from memenvs.games.streams import interleave, owners, rounds
from memenvs.materials.generator.tiers import TIERS
from memenvs.objective import Objective

HIDDEN = list(TIERS["hidden"].split("train")[:4])
WRITER = "writer_0"


def some_actions(rng, observation, action):
    if action == "priority":
        return rng.uniform(-1, 1, (len(observation["claim"]), 1)).astype(np.float32)
    masks = observation["action_mask"]
    return (masks * rng.random(masks.shape)).argmax(axis=1)


@pytest.mark.parametrize("credit", ["team", "individual"])
@pytest.mark.parametrize(
    "settings",
    [
        {"capacity": 6, "every": 2},
        {"capacity": 6, "every": 2, "action": "priority"},
        {"capacity": 4, "every": 3, "clearing": True, "utility": "end-to-end"},
        {"capacity": 6, "every": 2, "queries": 2, "settlement": "expected"},
    ],
)
def test_one_writer_plays_the_memorization_environment(settings, credit):
    game = SharedWriters(HIDDEN, writers=1, num_envs=5, credit=credit, **settings)
    env = MemorizationVectorEnv(HIDDEN, num_envs=5, autoreset_mode="SameStep", **settings)
    seen, _ = game.reset(seed=3)
    observation, _ = env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(70):
        for name, array in observation.items():
            np.testing.assert_array_equal(seen[WRITER][name], array)
        actions = some_actions(rng, observation, settings.get("action"))
        seen, rewards, terminated, truncated, infos = game.step({WRITER: actions})
        observation, paid, over, late, told = env.step(actions)
        np.testing.assert_array_equal(terminated[WRITER], over)
        np.testing.assert_array_equal(truncated[WRITER], late)
        if credit == "team":  # without the only writer's claims nothing would be answered, either
            np.testing.assert_array_equal(rewards[WRITER], paid)
        np.testing.assert_allclose(rewards[WRITER], paid)
        if over.any():
            final = told["final_info"]
            for name in ("coverage", "precision", "size", "utility", "settled"):
                np.testing.assert_array_equal(infos[WRITER][name], final[name] * over)
            for i in over.nonzero()[0].tolist():
                for name, array in told["final_obs"][i].items():
                    np.testing.assert_array_equal(infos[WRITER][f"final_{name}"][i], array)


def test_each_writer_sees_which_slots_hold_what_others_read():
    game = SharedWriters(HIDDEN, writers=3, num_envs=4, capacity=6, every=2, autoreset=False)
    assert "others" not in SharedWriters(HIDDEN, writers=1).observation_spaces[WRITER].spaces
    seen, _ = game.reset(seed=1, options={"material": HIDDEN})
    orders = [interleave(material, 3, "source") for material in HIDDEN]
    readers = [owners(order, 3, "source") for order in orders]
    rng, marked = np.random.default_rng(0), 0
    while not game.over.any():
        actions = {name: some_actions(rng, seen[name], None) for name in seen}
        seen, *_ = game.step(actions)
        for i in range(4):
            slots = game.batch.memory.claims[:, i].tolist()
            for number, name in enumerate(game.possible_agents):
                foreign = [c < len(readers[i]) and readers[i][c] != number for c in slots]
                assert seen[name]["others"][i].tolist() == foreign
                marked += sum(foreign)
    assert marked > 100


def simulate(material, writers, capacity, every, key, choose, individual):
    """Play an episode with lists and sets; gives the rewards and the memory after each round."""
    order = interleave(material, writers, "source")
    owner = owners(order, writers, "source")
    table = rounds(owner, writers)
    env = MemorizationEnv(order, capacity=capacity, every=every, closing=4)
    account = Account(env.materials.prepare(order, env.layout), Objective("precision"), key)
    memory, decided, total = [None] * capacity, 0, len(order.claims)
    for number, row in enumerate(table):
        before = list(memory)
        rewards = np.zeros(writers)
        draws = uniforms(key, ORDER, number * writers + np.arange(writers))
        conflicts = 0
        for writer in np.argsort(draws).tolist():
            claim = int(row[writer])
            if claim < 0:
                continue
            slot = choose(number, writer, before)
            if slot is not None:
                if before[slot] is None and memory[slot] is not None:
                    free = [place for place, held in enumerate(memory) if held is None]
                    slot = free[0] if free else None
                elif before[slot] != memory[slot]:
                    slot = None
                if slot is None:
                    conflicts += 1
                else:
                    memory[slot] = claim
            decided += 1
            due = 4 if decided == total else int(decided % every == 0)
            for query in account.draw(due):
                held = {c for c in memory if c is not None}
                right = account.settle(query, frozenset(held)).answered
                for each in range(writers):
                    without = frozenset(c for c in held if owner[c] != each)
                    lost = individual and account.settle(query, without).answered
                    rewards[each] += right - lost
        yield rewards, list(memory), conflicts


@given(
    seed=st.integers(0, 2**20),
    writers=st.integers(2, 4),
    capacity=st.integers(1, 6),
    every=st.integers(1, 5),
    number=st.integers(0, len(HIDDEN) - 1),
    individual=st.booleans(),
)
def test_rounds_are_those_of_a_simulation(seed, writers, capacity, every, number, individual):
    material = HIDDEN[number]
    game = SharedWriters(
        [material],
        writers=writers,
        credit="individual" if individual else "team",
        autoreset=False,
        capacity=capacity,
        every=every,
        closing=4,
    )
    key = episode_key(seeding.np_random(seed)[0])

    def choose(number, writer, memory):
        """A slot that is legal as the round begins, or None; by numbers of its own."""
        draw = np.random.default_rng([seed, number, writer])
        if None in memory:
            return memory.index(None) if draw.random() < 0.8 else None
        return int(draw.integers(capacity)) if draw.random() < 0.8 else None

    game.reset(seed=seed)
    played = simulate(material, writers, capacity, every, key, choose, individual)
    total = np.zeros(writers)
    for number, (rewards, memory, conflicts) in enumerate(played):
        held = game.batch.memory.claims[:, 0]
        before = [None if claim == game.batch.never else int(claim) for claim in held]
        counted = game.conflicts.sum()
        actions = {}
        for writer, name in enumerate(game.possible_agents):
            slot = choose(number, writer, before)
            actions[name] = np.array([0 if slot is None else 1 + slot])
        _, paid, _, _, infos = game.step(actions)
        found = [None if c == game.batch.never else int(c) for c in game.batch.memory.claims[:, 0]]
        assert found == memory
        assert game.conflicts.sum() - counted == conflicts
        assert [float(paid[name][0]) for name in game.possible_agents] == rewards.tolist()
        assert all(infos[name]["illegal_action"][0] == 0 for name in game.possible_agents)
        total += rewards
    assert game.over[0]


def test_streams_are_dealt_out_by_names_whatever_the_order_of_the_claims():
    claims = [Claim(id=f"c{i}", source=name) for i, name in enumerate("bacabb")]
    material = Material(
        name="m",
        claims=tuple(claims),
        items=(Item(id="n", supports=(("c0",),), answers=("q",)),),
        queries=(Query(id="q"),),
    )
    assert owners(material, 2, "source").tolist() == [1, 0, 0, 0, 1, 1]  # a and c, b
    assert rounds(owners(material, 2, "source"), 2).tolist() == [[1, 0], [2, 4], [3, 5]]
    mixed = interleave(material, 2, "source")
    assert [claim.id for claim in mixed.claims] == ["c1", "c0", "c2", "c4", "c3", "c5"]
    assert interleave(mixed, 2, "source").claims == mixed.claims
    assert owners(material, 3, "turns").tolist() == [0, 1, 2, 0, 1, 2]


def test_a_writer_whose_stream_ends_is_terminated_and_the_others_go_on():
    game = SharedWriters(HIDDEN, writers=3, autoreset=False, capacity=6, every=2)
    game.reset(seed=1)
    lengths = [(game._owner[0] == writer).sum() for writer in range(3)]
    ended = {}
    for number in range(max(lengths)):
        seen, _, terminated, truncated, _ = game.step(
            {name: np.zeros(1, dtype=int) for name in game.possible_agents}
        )
        for name in game.possible_agents:
            if terminated[name][0]:
                ended[name] = number + 1
                assert seen[name]["action_mask"][0].tolist() == [1] + [0] * 6
                assert not seen[name]["claim"].any()
            assert not truncated[name][0]
    assert [ended[name] for name in game.possible_agents] == lengths
    with pytest.raises(RuntimeError, match="call reset"):
        game.step({name: np.zeros(1, dtype=int) for name in game.possible_agents})


def test_a_writer_without_a_stream_leaves_in_the_first_step():
    claims = [Claim(id=f"c{i}", source=name) for i, name in enumerate("abab")]
    material = Material(
        name="m",
        claims=tuple(claims),
        items=(Item(id="n", supports=(("c0",),), answers=("q",)),),
        queries=(Query(id="q"),),
    )
    game = SharedWriters(material, writers=3, num_envs=2, capacity=1)
    seen, _ = game.reset(seed=0)
    assert seen["writer_2"]["action_mask"].tolist() == [[1, 0]] * 2
    actions = {name: np.zeros(2, dtype=int) for name in game.possible_agents}
    for _ in range(2):  # the next episode is like the first
        _, _, terminated, _, infos = game.step(actions)
        assert terminated["writer_2"].all()
        assert not terminated["writer_0"].any()
        _, _, terminated, _, infos = game.step(actions)
        assert not terminated["writer_2"].any()
        assert terminated["writer_0"].all()
        assert infos["writer_2"]["final"].all()
    rounds_ = shared_writers_v0.parallel_env(material=material, writers=3, capacity=1)
    rounds_.reset(seed=0)
    left = []
    while rounds_.agents:
        rounds_.step(dict.fromkeys(rounds_.agents, 0))
        left.append(list(rounds_.agents))
    assert left == [["writer_0", "writer_1"], []]


def test_what_is_worked_out_of_materials_goes_with_them():
    fresh = TIERS["hidden"].split("train")
    game = SharedWriters(lambda rng: fresh[int(rng.integers(50))], num_envs=2, capacity=6, every=2)
    game.reset(seed=0)
    actions = {name: np.zeros(2, dtype=int) for name in game.possible_agents}
    for _ in range(150):
        game.step(actions)
        for i in range(2):
            owner = owners(game.material(i), 2, "source")
            assert game._owner[i, : len(owner)].tolist() == owner.tolist()
    assert len(game._bank._worked) <= 2


def test_illegal_actions_pass_and_are_counted_for_the_writer_alone():
    game = SharedWriters(HIDDEN, writers=2, autoreset=False, capacity=6, every=2)
    game.reset(seed=1)
    _, _, _, _, infos = game.step({"writer_0": np.array([6]), "writer_1": np.array([1])})
    assert infos["writer_0"]["illegal_action"][0] == 1
    assert infos["writer_1"]["illegal_action"][0] == 0
    assert game.batch.memory.count[0] == 1
    strict = SharedWriters(HIDDEN, writers=2, autoreset=False, capacity=6, every=2, strict=True)
    strict.reset(seed=1)
    with pytest.raises(ValueError, match=r"writer_0: action 6 \(write into slot 5\) is illegal"):
        strict.step({"writer_0": np.array([6]), "writer_1": np.array([1])})


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"writers": 0}, "writers=0 is not a positive integer"),
        ({"streams": "speaker"}, "streams='speaker' is unknown; choose from source, group, turns"),
        ({"credit": "own"}, "credit='own' is unknown; choose from team, individual"),
        ({"access": "pool"}, "leave access and disclosure as they are"),
        ({"num_envs": 0}, "num_envs=0 is not a positive integer"),
    ],
)
def test_what_cannot_be_is_refused(settings, problem):
    with pytest.raises(ValueError, match=problem):
        SharedWriters(HIDDEN, capacity=6, **settings)
