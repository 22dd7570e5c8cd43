"""The tree over observations: outcomes, streaks, branches and writes, by hand."""

import numpy as np
import pytest

from batches import random_material
from memenvs import Claim, Item, Material, Query
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.weighted_tree import Constants
from memenvs.policies.weighted_tree.core import TreeCore
from memenvs.policies.weighted_tree.tree_policy import WeightedTreePolicy
from players import SETTINGS, run


def material(sources, groups=None, false=()):
    """Claims that answer one query each; every query is as likely, and all vectors are equal."""
    count = len(sources)
    claims = tuple(
        Claim(
            id=f"c{i}",
            source=source,
            group=groups[i] if groups else "",
            truth=i not in false,
            embedding=(1.0, 0.0),
        )
        for i, source in enumerate(sources)
    )
    items = tuple(
        Item(id=f"n{i}", supports=((f"c{i}",),), answers=(f"q{i}",)) for i in range(count)
    )
    queries = tuple(Query(id=f"q{i}", embedding=(1.0, 0.0)) for i in range(count))
    return Material("hand", claims, items, queries)


def followed(env, actions, constants=None, seed=0):
    """Play actions; gives the advice on each observation, and the episode's settlements."""
    core = TreeCore(env.layout, env.rules, constants)
    observation, _ = env.reset(seed=seed)
    state, advices, settled = core.start(1), [], []
    for action in (*actions, None):
        advice, state = core.observe({n: a[None] for n, a in observation.items()}, state)
        advices.append(type(advice)(*(array[0] for array in advice)))
        if action is not None:
            before = len(env.episode.log)
            observation, *_ = env.step(action)
            settled.append([each.claims for each in env.episode.log[before:]])
    return advices, settled


def test_settlements_are_outcomes_and_missed_selections():
    """Replayed by the rules of the tree over what each settlement credited or debited."""
    env = MemorizationEnv(material("aabab", false={1}), capacity=3, every=1, queries=1, closing=1)
    seen = set()
    for seed in range(12):
        actions = [1, 2, 3, 0, 0]
        advices, settled = followed(env, actions, seed=seed)
        scores, missed, stored = {}, {}, []
        for place, (advice, used) in enumerate(zip(advices[1:], settled, strict=True)):
            if place < 3:
                stored.append(place)
                scores[place], missed[place] = 0.75, 0
            credited = set().union(*used) & set(stored)
            for claim in stored:
                if claim in credited:
                    scores[claim], missed[claim] = (0.3 if claim == 1 else 0.75), 0
                else:
                    missed[claim] += 1
                    scores[claim] *= 0.9 ** min(missed[claim], 3)
                seen.add((claim in credited, claim))
            size = len(stored)
            assert advice.retention[:size].tolist() == pytest.approx([scores[c] for c in stored])
            assert advice.missed[:size].tolist() == [missed[c] for c in stored]
    assert {(True, 0), (True, 1), (False, 1), (False, 2)} <= seen


def test_a_task_is_the_source_or_else_the_group():
    claims = material(["a", "b", "a", "", "", ""], ["g", "g", "h", "g", "h", "g"])
    env = MemorizationEnv(claims, capacity=6, closing=1)
    advices, _ = followed(env, [1, 2, 3])
    # .6 · .75 + .3 · the mean of a task (.5) and of one action, or, at the third claim, of two.
    assert [a.priority[-1] for a in advices[:3]] == pytest.approx([0.6375, 0.6375, 0.65])
    core = TreeCore(env.layout, env.rules)
    observation, _ = env.reset(seed=0)
    state = core.start(1)
    for action in (1, 2, 3, 4, 5, 6):
        _, state = core.observe({n: a[None] for n, a in observation.items()}, state)
        observation, *_ = env.step(action)
    branch = state[-4][0].tolist()
    assert branch[0] == branch[2] == 0
    assert branch[1] == 1
    assert branch[3] == branch[5] == 0  # group g is known by its first claim
    assert branch[4] == 2  # group h by its first, claim 2


def test_obsolete_claims_are_not_written_make_way_and_are_cleared():
    env = MemorizationEnv(
        material("abab", false={0, 2}), capacity=2, every=1, queries=6, closing=1, clearing=True
    )
    constants = Constants(threshold=0.5)
    for seed in range(20):
        advices, settled = followed(env, [1, 0, 0, 0], constants, seed)
        if any(0 in claims for claims in settled[0]):
            break
    # After a debit: .6 · .5 + .3 · (.5 + .3) / 2 - .2 = .22 < .5, once b is considered.
    assert advices[1].priority[0] == pytest.approx(0.22)
    assert advices[1].obsolete.tolist() == [True, False, False]
    assert advices[1].value[0] == -1
    policy = WeightedTreePolicy(env, constants=constants)
    observation, _ = env.reset(seed=seed)
    state, taken = None, []
    for _ in range(4):
        action, state = policy.predict(observation, state)
        taken.append(int(action))
        observation, *_ = env.step(action)
    assert taken[:2] == [1, 2]  # a is believed at first
    assert taken[2] == env.actions.first_clear  # a again: not written, and its old claim cleared


@pytest.mark.parametrize("feedback", ["outcome", "none"])
def test_without_feedback_on_claims_nothing_decays(feedback):
    env = MemorizationEnv(material("abc"), capacity=3, every=1, feedback=feedback)
    advices, _ = followed(env, [1, 2, 3])
    assert all(set(advice.retention.tolist()) <= {0.0, 0.75} for advice in advices)
    assert all(not advice.missed.any() for advice in advices)


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_action_is_legal_and_what_is_best_is_kept(setting):
    materials = [random_material(np.random.default_rng(seed), claims=9) for seed in range(4)]
    env = MemorizationEnv(materials, strict=True, **SETTINGS[setting])
    history = run(make("weighted-tree", env), env, episodes=6)
    assert any(history)


@pytest.mark.parametrize("setting", ["stream", "pool", "priority"])
def test_a_batch_decides_as_each_episode_alone(setting):
    materials = [random_material(np.random.default_rng(seed), claims=9) for seed in range(4)]
    single = MemorizationEnv(materials, **SETTINGS[setting])
    batch = MemorizationVectorEnv(materials, num_envs=3, **SETTINGS[setting])
    policy, alone = make("weighted-tree", batch), make("weighted-tree", single)
    observation, _ = batch.reset(seed=5)
    state, taken = None, []
    for _ in range(7):
        actions, state = policy.predict(observation, state)
        taken.append(actions)
        observation, *_ = batch.step(actions)
    for place in range(3):
        observation, _ = single.reset(seed=5 + place)
        state = None
        for actions in taken:
            action, state = alone.predict(observation, state)
            assert np.allclose(action, actions[place], atol=1e-6)
            observation, *_ = single.step(action)


def test_it_beats_chance_where_settlements_tell_who_lies():
    env = MemorizationEnv(
        "hidden", split="validation", **{**LEVELS["1b"], "every": 1, "capacity": 6}
    )
    reached = {}
    for name in ("weighted-tree", "random"):
        policy, values = make(name, env), []
        for seed in range(12):
            run(policy, env, seed)
            values.append(env.material.precision(env.memory))
        reached[name] = np.mean(values)
    assert reached["weighted-tree"] > reached["random"]
