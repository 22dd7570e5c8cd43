"""What a writer read where others write into the same memory, against what the game knows."""

from dataclasses import replace

import numpy as np
import pytest

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.games import poisoner_writer_v0, shared_writers_v0
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import make
from memenvs.policies.base import privileged
from memenvs.policies.learned.networks.history import History
from memenvs.policies.learned.networks.tracker import Tracker
from memenvs.policies.opponents.opponents import make_opponent

EPISODES = 4
HIDDEN = list(TIERS["hidden"].split("train")[:6])


def rounds_of(game, steps, opponent=None):
    """Play at random; gives each agent's observation, and who begins, before every step."""
    writers = [name for name in game.possible_agents if name.startswith("writer")]
    players = {name: make("random", game, seed=k) for k, name in enumerate(writers)}
    if opponent:
        players["poisoner_0"] = make_opponent(opponent, game)
    seen, _ = game.reset(seed=5)
    states, begun = dict.fromkeys(players), np.ones(game.num_envs, dtype=bool)
    for _ in range(steps):
        yield seen, begun
        actions = {}
        for name, player in players.items():
            actions[name], states[name] = player.predict(seen[name], states[name], begun)
        seen, _, _, _, infos = game.step(actions)
        begun = infos[writers[0]].get("final", np.zeros(game.num_envs, dtype=bool))


@pytest.mark.parametrize(
    ("material", "settings"),
    [
        (HIDDEN, {"writers": 2}),
        (HIDDEN, {"writers": 3, "streams": "turns"}),
        (HIDDEN, {"writers": 2, "action": "priority"}),
        ("conflicting", {"writers": 2, "clearing": True}),
    ],
)
def test_every_slot_names_one_claim_as_long_as_it_is_stored(material, settings):
    game = shared_writers_v0.vector_env(material, num_envs=EPISODES, **settings)
    history = History(game.layout, game.rules.capacity)
    fixed = slice(0, game.layout.index("credits"))
    record = [game.layout.index(name) for name in ("credits", "debits")]
    of = {name: history.start(EPISODES) for name in game.possible_agents}
    named = {name: [{} for _ in range(EPISODES)] for name in game.possible_agents}
    foreign = 0
    for seen, begun in rounds_of(game, 80):
        for number, name in enumerate(game.possible_agents):
            of[name] = History.merge(of[name], history.start(EPISODES), begun)
            read = of[name] = history.enter(of[name], seen[name])
            for i in range(EPISODES):
                if begun[i]:
                    named[name][i] = {}
                if not seen[name]["claim"][i].any():
                    continue  # it has finished
                known = named[name][i]
                for slot, claim in enumerate(game.batch.memory.claims[:, i].tolist()):
                    place, row = int(read.slots[i, slot]), seen[name]["memory"][i, slot]
                    if claim == game.batch.never:
                        assert place == -1
                        continue
                    foreign += place not in known
                    assert known.setdefault(place, claim) == claim
                    assert (read.claims[i, place, fixed] == row[fixed]).all()
                    assert (read.claims[i, place, record] == row[record]).all()
                own = int(game._rounds[i, game._round[i], number])
                assert known.setdefault(int(read.size[i]) - 1, own) == own
                assert len(set(known.values())) == len(known) == read.size[i]
    assert foreign > 50


@pytest.mark.parametrize("alike", [False, True])
def test_alone_it_is_the_claim_that_the_environment_stores(alike):
    """Of claims that look alike in every column, too."""
    claims = tuple(Claim(id=f"c{i}", text="the same" if alike else f"text {i}") for i in range(9))
    items = tuple(Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(9))
    material = Material("alike", claims, items, tuple(Query(id=f"q{i}") for i in range(9)))
    env = MemorizationVectorEnv(
        material, capacity=3, every=1, num_envs=3, autoreset_mode="SameStep"
    )
    history, policy, state = History(env.layout, 3), make("random", env), None
    seen, _ = env.reset(seed=2)
    read = history.enter(history.start(3), seen)
    for _ in range(8):
        actions, state = policy.predict(seen, state)
        seen, *_ = env.step(actions)
        read = history.enter(read, seen)
        for i, view in enumerate(privileged(env)):
            assert read.slots[i].tolist() == view.slots.tolist()


def test_the_last_observation_of_a_stream_with_unused_poison_names_its_claims():
    """There age is a share of decisions that were never taken."""
    game = poisoner_writer_v0.vector_env(HIDDEN, num_envs=3, autoreset=False)
    history, last = History(game.layout, game.rules.capacity), None
    players = {"writer_0": make("fifo", game), "poisoner_0": make_opponent("wait", game)}
    seen, _ = game.reset(seed=1)
    read = history.start(3)
    while not game.over.all():
        read = history.enter(read, seen["writer_0"])
        seen, *_ = game.step({n: p.predict(seen[n])[0] for n, p in players.items()})
    last = history.enter(read, seen["writer_0"])
    assert (last.slots == game.batch.memory.claims.T).all()  # read in the material's order
    assert (last.size == [32, 32, 32]).all()


@pytest.mark.parametrize("closing", [3, 40])
def test_settled_queries_are_counted_where_others_decide_too(closing):
    tier = TIERS["hidden-128"]
    material = list(tier.split("train")[:2])
    game = shared_writers_v0.vector_env(
        material, num_envs=2, writers=2, capacity=8, every=3, closing=closing, autoreset=False
    )
    tracker, heard = Tracker(game.layout, game.rules, 2), []
    tracker.tell(lambda observation, outcome: heard.append(outcome))
    policies = {name: make("fifo", game) for name in game.possible_agents}
    seen, _ = game.reset(seed=0)
    tracker.begin(seen["writer_0"])
    before, right = game.batch.settled.copy(), game.batch.answered.copy()
    for step in range(40):
        if step == 20:  # as each rollout begins
            tracker.tell(lambda observation, outcome: heard.append(outcome))
        seen, *_ = game.step({n: p.predict(seen[n])[0] for n, p in policies.items()})
        tracker.follow(seen["writer_0"], {})
        outcome = heard[-1]
        assert outcome.settled.tolist() == (game.batch.settled - before).tolist()
        assert outcome.right.tolist() == (game.batch.answered - right).tolist()
        assert (outcome.credits + outcome.debits <= outcome.settled[:, None]).all()
        before, right = game.batch.settled.copy(), game.batch.answered.copy()
    assert (before > 16).all()  # more than are in view


def test_a_finished_writer_goes_on_hearing_what_is_settled():
    claims = tuple(replace(c, source="a" if i > 3 else "b") for i, c in enumerate(HIDDEN[0].claims))
    material = replace(HIDDEN[0], claims=claims)
    game = shared_writers_v0.vector_env([material], num_envs=1, writers=2, autoreset=False)
    tracker, heard = Tracker(game.layout, game.rules, 1), []
    tracker.begin(game.reset(seed=0)[0]["writer_1"])
    tracker.tell(lambda observation, outcome: heard.append(outcome))
    policies = {name: make("fifo", game) for name in game.possible_agents}
    seen, _ = game.reset(seed=0)
    while not game.over.all():
        seen, *_ = game.step({n: p.predict(seen[n])[0] for n, p in policies.items()})
        tracker.follow(seen["writer_1"], {})
    assert len(heard) == 28
    assert sum(float(outcome.settled[0]) for outcome in heard) == game.batch.settled[0]
    assert sum(float(outcome.right[0]) for outcome in heard) == game.batch.answered[0]
    late = [outcome.stored[0] for outcome in heard[4:]]  # its four claims were decided about
    assert all(stored[-1] == 0 for stored in late)  # nothing arrives any more
    assert all(stored[:-1].any() for stored in late)


def test_the_scalar_environment_names_the_same_claims():
    env = MemorizationEnv(HIDDEN[0], capacity=3, every=2)
    history = History(env.layout, 3)
    policy, state = make("random", env), None
    seen, _ = env.reset(seed=3)
    read = history.start(1)
    over = False
    while not over:
        read = history.enter(read, {name: array[None] for name, array in seen.items()})
        assert read.slots[0].tolist() == privileged(env)[0].slots.tolist()
        action, state = policy.predict(seen, state)
        seen, _, over, _, _ = env.step(action)
