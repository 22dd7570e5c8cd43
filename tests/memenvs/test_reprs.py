"""What is shown of anything that a user meets: short, and it says what it is."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest

import memenvs
from memenvs.materials.library import find_materials
from memenvs.objective import Objective
from memenvs.policies import POLICIES, WriteMemory, make
from memenvs.train.compare import compare
from memenvs.train.experiment import Experiment

LARGE = "x" * 10**5


def shown():
    (material,) = find_materials("hidden-128", "test", 1)
    env = gym.make("memenvs/HiddenMedium-v0")
    env.reset(seed=0)
    memory = WriteMemory("trust", 3)
    memory.add(LARGE, LARGE)
    yield from (material, material.claims[0], material.items[0], material.queries[0])
    yield from (material.incidence, material.evaluate([]), Objective())
    yield from (memory, memory.contents()[0], memory.search(LARGE)[0])
    yield from (memenvs.frontier(material, "precision", [1, 2, 3]), env, env.unwrapped)
    yield from (env.unwrapped.layout, env.unwrapped.rules, *memenvs.registered_envs())
    yield memenvs.Claim(id=LARGE, text=LARGE, cues={LARGE: 1.0}, embedding=tuple(range(1000)))
    yield memenvs.Query(id=LARGE, embedding=tuple(range(1000)))
    yield memenvs.Item(id="n", supports=((LARGE,), ("a",)), answers=tuple(map(str, range(1000))))
    yield compare(Experiment(material=["odyssey"], policy=["fifo"], episodes=1))
    yield from (
        make(name, env) for name in ("fifo", "trust", "bayes", "random") if name in POLICIES
    )


def test_nothing_fills_the_screen():
    for each in shown():
        assert len(repr(each)) < 300, type(each)
        assert "\n" not in repr(each) or isinstance(each, memenvs.Frontier)


def test_fields_that_say_something_are_shown():
    claim = memenvs.Claim(id="c1", text="Tea is hot.", source="Ann", truth=False)
    assert repr(claim) == "Claim(id='c1', text='Tea is hot.', truth=0.0, source='Ann')"
    material = memenvs.Material(
        "m", (claim,), (memenvs.Item(id="n", supports=(("c1",),), answers=("q",)),),
        (memenvs.Query(id="q"),),
    )  # fmt: skip
    assert repr(material) == "Material('m', 1 claims, 1 items, 1 queries)"
    assert repr(material.queries[0]) == "Query(id='q')"


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert memenvs.__version__ == version("memenvs")


@pytest.mark.parametrize(
    "value", [np.zeros(10**6), [np.zeros(10)] * 1000, {n: n for n in range(999)}]
)
def test_large_values_are_cut(value):
    from dataclasses import dataclass
    from typing import Any

    from memenvs.short_repr import short_repr

    @dataclass
    class Holder:
        value: Any
        more: Any = None
        __repr__ = short_repr

    assert len(repr(Holder(value, value))) < 300
