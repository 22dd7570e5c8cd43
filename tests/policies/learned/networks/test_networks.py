"""The networks: equivariant over slots, blind to padding, of any size, equal after saving."""

from importlib import import_module

import gymnasium as gym
import numpy as np
import pytest
import torch

from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.policies import make
from memenvs.policies.learned.networks.estimator import (
    Judged,
    SettlementEstimator,
    removal_losses,
    replacement_gains,
)
from memenvs.policies.learned.networks.table import NETWORKS
from memenvs.policies.learned.networks.tracker import Tracker

PRIORITIES = ("priority", "scorer")
SLOTS = [name for name in NETWORKS if name not in PRIORITIES]
PERMUTED = [2, 0, 3, 1]


def batch(**changes):
    settings = {"material": "hidden", "split": "train", "capacity": 4, "every": 2, **changes}
    return MemorizationVectorEnv(**settings, num_envs=6, autoreset_mode="SameStep")


def observed(env, steps=20):
    """Observations from within episodes, as tensors, with their history where they are streams."""
    tracker = None if env.layout.pool else Tracker(env.layout, env.rules, env.num_envs)
    policy, state = make("random", env), None
    observation, _ = env.reset(seed=4)
    observation = observation if tracker is None else tracker.begin(observation)
    for _ in range(steps):
        actions, state = policy.predict(observation, state)
        observation = env.step(actions)[0]
        observation = observation if tracker is None else tracker.follow(observation, {})
    return {name: torch.as_tensor(array) for name, array in observation.items()}


def space_of(env, layout):
    n = 1 if env.rules.action == "priority" else env.actions.n
    arrays = dict(layout.space(env.rules.capacity, n).spaces)
    return gym.spaces.Dict(arrays | {"history": layout.claim.box(layout.limits.claims)})


def network(name, env, seed=0):
    """A network with weights that are far from small, so that differences show."""
    path, options = NETWORKS[name]
    module, _, attribute = path.partition(":")
    torch.manual_seed(seed)
    built = getattr(import_module(module), attribute)
    policy = built(
        space_of(env, env.layout),
        env.single_action_space,
        lambda _: 1e-3,
        layout=env.layout,
        actions=env.actions,
        **({} if name == "scorer" else {"hidden": 16}),
        **options,
    )
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return policy.eval()


def logits(policy, observation):
    with torch.no_grad():
        return policy.action_logits(observation)


@pytest.mark.parametrize("name", SLOTS)
def test_permuting_slots_permutes_logits(name):
    env = batch(clearing=True)
    observation, policy = observed(env), network(name, env)
    before = logits(policy, observation)
    after = logits(policy, observation | {"memory": observation["memory"][:, PERMUTED]})
    assert before.std(dim=1).min() > 1e-3
    for first in (1, 5):  # writes, clears
        places = [first + slot for slot in PERMUTED]
        torch.testing.assert_close(
            after[:, first : first + 4], before[:, places], rtol=1e-4, atol=1e-4
        )
    torch.testing.assert_close(after[:, 0], before[:, 0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_padding_changes_nothing(name):
    env = batch(action="priority" if name in PRIORITIES else "slots")
    observation, policy = observed(env), network(name, env)
    more = {
        "memory": torch.nn.functional.pad(observation["memory"], (0, 0, 0, 3)),
        "history": torch.nn.functional.pad(observation["history"], (0, 0, 0, 9)),
        "queries": torch.nn.functional.pad(observation["queries"], (0, 0, 0, 5)),
    }
    before, after = logits(policy, observation), logits(policy, observation | more)
    torch.testing.assert_close(after[:, : before.shape[1]], before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", SLOTS)
def test_one_network_runs_at_other_sizes(name):
    policy = network(name, batch())
    other = batch(material="hidden-128", capacity=16)
    found = logits(policy, observed(other))
    assert found.shape == (6, 17)
    assert found.isfinite().all()


@pytest.mark.parametrize("name", ["pointer", "set-transformer"])
def test_permuting_a_pool_permutes_the_considered(name):
    env = batch(material="odyssey", split=None, access="pool", disclosure="all", capacity=2)
    observation, policy = observed(env, 5), network(name, env)
    count = observation["claims"].shape[1]
    order = torch.randperm(count, generator=torch.Generator().manual_seed(1))
    before = logits(policy, observation)
    after = logits(policy, observation | {"claims": observation["claims"][:, order]})
    assert before[:, 3:].std(dim=1).min() > 1e-3
    torch.testing.assert_close(after[:, :3], before[:, :3], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(after[:, 3:], before[:, 3:][:, order], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", NETWORKS)
def test_a_saved_network_decides_the_same(name, tmp_path):
    env = batch(action="priority" if name in PRIORITIES else "slots")
    observation, policy = observed(env), network(name, env)
    policy.save(tmp_path / "policy.pth")
    again = type(policy).load(tmp_path / "policy.pth")
    assert torch.equal(logits(policy, observation), logits(again, observation))


@pytest.mark.parametrize("name", SLOTS)
def test_an_algorithm_without_masks_acts_legally(name):
    env = batch()
    observation = observed(env, 2)  # two slots are still free: one write is legal
    policy = network(name, env)
    for _ in range(20):
        actions, _, chances = policy(observation)
        assert observation["action_mask"].gather(1, actions[:, None]).all()
        assert chances.isfinite().all()


def test_a_shared_pointer_spares_what_others_wrote():
    env = batch(clearing=True)
    observation, policy = observed(env), network("shared-pointer", env)
    alone = logits(policy, observation)
    others = torch.tensor([[0, 1, 0, 1]] * 6)
    beside = logits(policy, observation | {"others": others})
    none = logits(policy, observation | {"others": torch.zeros_like(others)})
    torch.testing.assert_close(none, alone)
    spared = alone - beside  # by how much writes and clears are wanted less
    torch.testing.assert_close(spared[:, 1:5], spared[:, 5:9], rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(spared[:, [0, 1, 3]], torch.zeros(6, 3))
    assert (spared[:, [2, 4]].abs() > 1e-2).all()


def test_the_estimator_ignores_the_order_of_what_was_read():
    env = batch()
    observation = observed(env)
    estimator = SettlementEstimator(env.layout)
    shuffled = observation["history"][:, torch.randperm(32, generator=torch.Generator())]
    with torch.no_grad():
        before, after = estimator(observation), estimator(observation | {"history": shuffled})
    for one, other in zip(before, after, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)


def test_gains_are_differences_of_the_value():
    """Against the value of every memory, summed as it is written."""
    generator = torch.Generator().manual_seed(0)
    numbers = [torch.randn(3, 5, generator=generator) for _ in range(2)]
    overlap = torch.randn(3, 5, 5, generator=generator)
    valid = torch.ones(3, 5)
    valid[1, 2] = 0
    judged = Judged(*numbers, overlap, valid)

    def value(i, members):
        p, v = judged.true[i].sigmoid(), judged.answers[i].sigmoid()
        order = sorted(members, key=lambda c: -float(p[c] * v[c]))
        total = 0.0
        for place, c in enumerate(order):
            shares = [1 - float(p[j] * overlap[i, c, j].sigmoid()) for j in order[:place]]
            total += float(v[c] * p[c]) * float(np.prod(shares))
        return total

    gains, losses = replacement_gains(judged), removal_losses(judged)
    for i in range(3):
        everyone = [c for c in range(5) if valid[i, c]]
        for c in everyone:
            rest = [other for other in everyone if other != c]
            assert float(losses[i, c]) == pytest.approx(
                value(i, everyone) - value(i, rest), abs=1e-5
            )
        for slot in everyone[:-1]:
            written = [c for c in everyone if c != slot]
            passed = everyone[:-1]
            expected = value(i, written) - value(i, passed)
            assert float(gains[i, slot]) == pytest.approx(expected, abs=1e-5)
