"""Plays episodes, the same ones for every policy: natively in batches, or one after another.

Everything that measures a policy plays here, and its episodes come from ``units.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import VectorEnv
from numpy.typing import NDArray

from memenvs.envs.family import MEMORIZATION, Family
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.incidence import BoolArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.policies.base import privileged
from memenvs.reading.layer import Layer
from memenvs.train.measures import measured
from memenvs.train.units import Unit


@dataclass(frozen=True)
class Known:
    """What an observation shows of the stored claims."""

    claims: NDArray[np.int64]  # (n,) by number
    rows: NDArray[np.float32]  # (n, width) columns of a claim


@dataclass(frozen=True)
class Ended:
    """What an episode ended with."""

    values: dict[str, float]  # what is measured, by name
    memory: BoolArray | None = None  # (E,) what was stored; None where there is no memory
    held: BoolArray | None = None  # (E,) of it what the policy itself holds valid
    known: Known | None = None  # of what the environment's slots hold

    @property
    def own(self) -> BoolArray:
        """What the policy itself holds ``(E,)``."""
        found = self.memory if self.held is None else self.held
        assert found is not None
        return found


def play(
    batch: VectorEnv[Any, Any, Any], policy: Any, played: Sequence[Unit], layer: Layer | None = None
) -> list[Ended]:
    """Play units in a batch that does not reset episodes in the step that ends them.

    The chance of a policy is of an episode's seed alone, so that ``play_one`` gives the same.
    """
    found: list[Ended] = []
    for start in range(0, len(played), batch.num_envs):
        found += _play(batch, policy, played[start : start + batch.num_envs], layer)
    return found


def play_one(env: gym.Env[Any, Any], policy: Any, unit: Unit, layer: Layer | None = None) -> Ended:
    """Play one unit in a scalar environment.

    A system that is measured says itself what it ended with; the slots follow it with a delay.
    """
    inner: Any = env.unwrapped
    family = getattr(inner, "family", None)
    observation, info = env.reset(seed=unit.seed, options=_options(family, unit.instance.value))
    state, over = _begin(policy, [unit.seed]), False
    begun, earned, length, worth = state is None, 0.0, 0, 0.0
    while not over:
        action, state = policy.predict(
            observation,
            state,
            episode_start=np.array([True]) if begun else None,
            deterministic=True,
            action_masks=_masks(info, env),
        )
        observation, reward, terminated, truncated, info = env.step(action)
        over, begun = terminated or truncated, False
        earned, length = earned + float(reward), length + 1
        if family is MEMORIZATION and inner.episode.fresh:
            worth += inner.episode.fresh * inner.episode.account.expected(inner.memory)
    illegal = int(info.get("illegal_action", 0))
    if family is not MEMORIZATION:
        names = {"return": earned, "length": length, "illegal": illegal}
        values = {name: float({**info, **names}.get(name, math.nan)) for name in measured(family)}
        return Ended(values)
    material, memory = inner.material, inner.memory
    held = None
    if hasattr(policy, "held"):
        batched = {name: array[None] for name, array in observation.items()}
        held = _mask(inner.episode.slots.claims[policy.held(batched, state)[0]], material)
    if hasattr(policy, "kept"):
        memory = _mask(np.array(policy.kept(state)[0], dtype=np.int64), material)
    search = policy.search(state) if layer is not None and hasattr(policy, "search") else None
    answered, episode = _answered(layer, material, memory, search), inner.episode
    if hasattr(policy, "conclude"):  # it learns while it is tested, or lets go of what it measured
        policy.conclude(state, float(episode.earned))
    values = _values(inner.rules, material, memory, episode.known_query) | {
        "settled": float(episode.earned),
        "expected": worth,
        "settlements": float(episode.settled),
        "illegal": float(episode.illegal),
        "answered": answered,
    }
    known = _known(inner.episode.slots.claims, observation["memory"], inner.layout)
    return Ended(values, memory, held, known)


def _play(
    batch: VectorEnv[Any, Any, Any], policy: Any, played: Sequence[Unit], layer: Layer | None
) -> list[Ended]:
    """Play one episode in every row of a batch; where units are fewer, some are played twice."""
    family = getattr(batch.unwrapped, "family", None)
    memories = family is MEMORIZATION
    read = _read_memories if memories else _read
    count, size = len(played), batch.num_envs
    filled = [played[row % count] for row in range(size)]
    seeds = [unit.seed for unit in filled]
    options = _options(family, [unit.instance.value for unit in filled])
    observation, infos = batch.reset(seed=seeds, options=options)  # type: ignore[arg-type]
    state = _begin(policy, seeds)
    begun = np.full(size, state is None)
    over, earned, length = np.zeros(size, dtype=bool), np.zeros(size), np.zeros(size)
    found: dict[int, Ended] = {}
    worth = Worth(batch.unwrapped) if memories else None
    while len(found) < count:
        actions, state = policy.predict(
            observation,
            state,
            episode_start=begun if begun.any() else None,
            deterministic=True,
            action_masks=_masks(infos, batch),
        )
        observation, rewards, terminated, truncated, infos = batch.step(actions)
        if worth is not None:
            worth.add(over)
        earned[~over] += rewards[~over]
        length[~over] += 1
        begun = np.zeros(size, dtype=bool)
        now = (terminated | truncated) & ~over
        over |= now
        rows = np.flatnonzero(now[:count]).tolist()
        if rows:  # what an episode ended with stands until the next step
            end = End(batch.unwrapped, observation, infos, {"return": earned, "length": length})
            if worth is not None:
                end.sums["expected"] = worth.total
            found |= read(end, filled, rows, policy, state, layer)
    return [found[row] for row in range(count)]


class Worth:
    """Adds up what the memories of a batch were worth at the settlements of their episodes."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch
        self._settled = batch.settlements
        self.total = np.zeros(batch.num_envs)  # (B,)

    def add(self, over: NDArray[np.bool_]) -> None:
        """Take a step into account in which queries may have been settled."""
        settled = self._batch.settlements
        count = np.where(over, 0, settled - self._settled)
        if count.any():
            self.total += count * self._batch.expected_utilities()
        self._settled = settled


@dataclass(frozen=True)
class End:
    """What a batch shows at a step in which episodes end."""

    batch: Any
    observation: Any
    infos: dict[str, Any]
    sums: dict[str, NDArray[np.float64]]  # over the episodes so far

    def value(self, name: str, row: int) -> float:
        """Give what an episode ended with; NaN where that is not known."""
        if name in self.sums:
            return float(self.sums[name][row])
        known = self.infos.get(f"_{name}", [True] * (row + 1))[row]
        return float(self.infos[name][row]) if known and name in self.infos else math.nan

    def illegal(self, row: int) -> float:
        """Count the actions of an episode that broke the mask."""
        return float(self.infos["illegal_action"][row]) if "illegal_action" in self.infos else 0.0


def _read(
    end: End, played: Sequence[Unit], rows: Sequence[int], policy: Any, state: Any, layer: Any
) -> dict[int, Ended]:
    """Give what the episodes of some rows ended with, by row."""
    names = measured(getattr(end.batch, "family", None))
    return {
        row: Ended({name: end.value(name, row) for name in names} | {"illegal": end.illegal(row)})
        for row in rows
    }


def _read_memories(
    end: End,
    played: Sequence[Unit],
    rows: Sequence[int],
    policy: Any,
    state: Any,
    layer: Layer | None,
) -> dict[int, Ended]:
    """Give what the episodes of some rows ended with, and their memories, by row."""
    views, rules = privileged(end.batch), end.batch.rules
    held = policy.held(end.observation, state) if hasattr(policy, "held") else None
    settled = end.batch.settlements
    # Equal memories are measured once.
    equal: dict[tuple[int, int | None, bytes], dict[str, float]] = {}
    found = {}
    for row in rows:
        material, slots = played[row].instance.value, views[row].slots
        memory = _mask(slots, material)
        key = id(material), views[row].query, memory.tobytes()
        if key not in equal:
            equal[key] = _values(rules, material, memory, views[row].query)
        values = equal[key] | {
            "settled": float(end.sums["return"][row]),
            "expected": float(end.sums["expected"][row]),
            "settlements": float(settled[row]),
            "illegal": end.illegal(row),
            "answered": _answered(layer, material, memory, None),
        }
        own = None if held is None else _mask(slots[held[row]], material)
        known = _known(slots, end.observation["memory"][row], end.batch.layout)
        found[row] = Ended(values, memory, own, known)
    return found


def _begin(policy: Any, seeds: Sequence[int]) -> Any:
    """Give the state of new episodes; the chance of a policy is that of its episode alone."""
    return policy.start(np.array(seeds)) if hasattr(policy, "start") else None


def _masks(info: dict[str, Any], env: Any) -> NDArray[Any] | None:
    """Give what is legal ``(n,)`` or ``(B, n)``, where the environment says so in some way."""
    if "action_mask" in info:
        return np.asarray(info["action_mask"])
    inner = env.unwrapped
    if hasattr(inner, "envs") and hasattr(inner.envs[0].unwrapped, "action_masks"):
        return np.stack([each.unwrapped.action_masks() for each in inner.envs])
    return np.asarray(inner.action_masks()) if hasattr(inner, "action_masks") else None


def _options(family: Family | None, values: Any) -> dict[str, Any] | None:
    """Give the options of a ``reset`` that plays a value, or a list of one for each episode."""
    if family is None or (values[0] if isinstance(values, list) else values) is None:
        return None
    return {family.instance: values}


def _mask(claims: NDArray[np.int64], material: Material) -> BoolArray:
    """Say which claims are named, of those that slots hold: ``(E,)``."""
    memory = np.zeros(len(material.claims), dtype=bool)
    memory[claims[claims != EMPTY]] = True
    return memory


def _known(slots: NDArray[np.int64], memory: NDArray[np.float32], layout: Layout) -> Known:
    """Copy what is shown of the slots ``(S,)`` that hold a claim."""
    stored = np.flatnonzero(slots != EMPTY)
    return Known(slots[stored], memory[stored, : layout.claim.width].copy())


def _values(
    rules: Rules, material: Material, memory: BoolArray, query: int | None
) -> dict[str, float]:
    """Measure a final memory, in expectation under truth and p_D."""
    final = material.evaluate(memory)
    names = ("size", "cost", "coverage", "precision", "water_inflation", "span")
    values = {name: float(getattr(final, name)) for name in names}
    objective = Objective.of(rules).asking(query)
    utility = float(objective.expected(material, memory))
    return values | {"utility": utility, "query": math.nan if query is None else float(query)}


def _answered(layer: Layer | None, material: Material, memory: BoolArray, search: Any) -> float:
    """Query mass that is answered from a memory; NaN where no layer answers."""
    return math.nan if layer is None else layer.answered(material, memory, search)
