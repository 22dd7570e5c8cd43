"""The weighted memory tree around an environment: it decides what is written, or advises on it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from memenvs.envs.memorization.columns import Column
from memenvs.envs.memorization.layout import Columns, Layout
from memenvs.envs.memorization.rules import Rules
from memenvs.material.incidence import BoolArray
from memenvs.material.records import FLOAT32_MAX
from memenvs.policies.base import Observation, State
from memenvs.policies.weighted_tree.tree_policy import WeightedTreePolicy
from memenvs.wrappers.episodes import check_memorization

Mode = Literal["act", "advise"]

COLUMNS: dict[str, Column] = {
    "retention": Column(0, 1, "retention score u of the claim"),
    "missed": Column(0, FLOAT32_MAX, "settlements in a row that did not use it, log(1 + n)"),
    "priority": Column(-1, 1, "priority U of its branch"),
    "lifecycle": Column(0, 1, "of its branch; 0: active, 1: obsolete"),
}
TREE_COLUMNS = {"tree_memory": tuple(COLUMNS), "tree_claim": tuple(COLUMNS)}


class _Tree:
    """Follows a batch of episodes, and adds to their observations or decides in them."""

    def __init__(self, env: Any, mode: Mode) -> None:
        if mode not in ("act", "advise"):
            raise ValueError(f"mode={mode!r} is unknown; choose from act, advise")
        self.advises = mode == "advise"
        self.layout: Layout = env.unwrapped.layout
        self.rules: Rules = env.unwrapped.rules
        self._policy = WeightedTreePolicy(env)
        self._core = self._policy.core
        self._state: State | None = None
        self._seen: Observation = {}

    def space(self, space: spaces.Space[Any]) -> spaces.Space[Any]:
        """Give the space of one observation; raises ``ValueError`` for one that it cannot read."""
        if not isinstance(space, spaces.Dict):
            raise ValueError(
                "the weighted tree reads a Dict of observations; put it inside of what changes them"
            )
        if not self.advises:
            return space
        if not TREE_COLUMNS.keys().isdisjoint(space.spaces):
            raise ValueError("a weighted tree gives advice already; one is enough")
        columns = Columns.build(COLUMNS, {})
        added = {"tree_memory": columns.box(self.rules.capacity), "tree_claim": columns.box()}
        return spaces.Dict({**space.spaces, **added})

    def begin(self, observation: Observation, chosen: BoolArray) -> Observation:
        """Begin the ``chosen`` episodes, and go on with the others where they stand."""
        before, seen = self._state, self._seen
        self._state = self._core.start(len(chosen))
        added = self.follow(observation)
        if before is not None and not chosen.all():
            self._state = tuple(
                np.where(chosen.reshape(-1, *[1] * (old.ndim - 1)), new, old)
                for old, new in zip(before, self._state, strict=True)
            )
            for name in TREE_COLUMNS if self.advises else ():
                added[name][~chosen] = seen[name][~chosen]
        self._seen = added
        return added

    def follow(self, observation: Observation) -> Observation:
        """Enter an observation; gives it with the advice, where that is asked for."""
        self._seen = observation
        if self.advises:
            assert self._state is not None
            added, self._state = self._advised(observation, self._state)
            self._seen = observation | added
        return self._seen

    def last(self, observation: Observation, episodes: NDArray[np.integer]) -> Observation:
        """Give the advice on what these ``episodes`` (n,) end with; they are not followed there."""
        assert self._state is not None
        return self._advised(observation, tuple(array[episodes] for array in self._state))[0]

    def decide(self, given: NDArray[Any]) -> NDArray[Any]:
        """Give the tree's decisions; which claim of a pool is considered is left as ``given``."""
        if self.advises:
            return given
        if self._state is None:
            raise RuntimeError("no episode is running; call reset()")
        actions, self._state = self._policy.predict(self._seen, self._state)
        if not self.layout.pool:
            return actions
        choosing = self._seen["context"][:, self.layout.index("choosing", "context")] == 1
        return np.where(choosing, given, actions)

    def _advised(self, observation: Observation, state: State) -> tuple[Observation, State]:
        advice, state = self._core.observe(observation, state)
        columns = {
            "retention": advice.retention,
            "missed": np.log1p(advice.missed),
            "priority": advice.priority,
            "lifecycle": advice.obsolete,
        }
        table = np.stack([columns[name] for name in COLUMNS], axis=2).astype(np.float32)
        return {"tree_memory": table[:, :-1].copy(), "tree_claim": table[:, -1].copy()}, state


class WeightedTreeMemory(gym.Wrapper[Any, Any, Any, Any], gym.utils.RecordConstructorArgs):
    """Follow each episode in a weighted memory tree (see ``docs/weighted-tree.md``).

    With ``mode="act"`` the tree decides what is written, whatever action is given; of a pool the
    given action picks the claim that is considered. With ``mode="advise"`` the observation gains
    ``tree_memory`` ``(S, 4)`` and ``tree_claim`` ``(4,)``, float32, named in ``tree_columns``:
    retention, missed selections, branch priority and lifecycle of each slot and of the considered
    claim. The tree reads observations alone.
    """

    tree_columns: ClassVar[dict[str, tuple[str, ...]]] = TREE_COLUMNS

    def __init__(self, env: gym.Env[Any, Any], mode: Mode = "act") -> None:
        check_memorization(env, "WeightedTreeMemory")
        gym.utils.RecordConstructorArgs.__init__(self, mode=mode)
        gym.Wrapper.__init__(self, env)
        self._tree = _Tree(env, mode)
        self.observation_space = self._tree.space(env.observation_space)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode with an empty tree."""
        observation, info = self.env.reset(seed=seed, options=options)
        return _first(self._tree.begin(_batch(observation), np.ones(1, dtype=bool))), info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take the tree's decision, or the given one."""
        decided = self._tree.decide(np.asarray(action)[None])[0]
        observation, *others = self.env.step(decided)
        return _first(self._tree.follow(_batch(observation))), *others  # type: ignore[return-value]


class VectorWeightedTreeMemory(gym.vector.VectorWrapper):
    """``WeightedTreeMemory`` for a native batch, in every autoreset mode."""

    tree_columns: ClassVar[dict[str, tuple[str, ...]]] = TREE_COLUMNS

    def __init__(self, env: gym.vector.VectorEnv[Any, Any, Any], mode: Mode = "act") -> None:
        if not hasattr(env.unwrapped, "layout"):
            raise TypeError(f"VectorWeightedTreeMemory needs memorization environments, not {env}")
        super().__init__(env)
        self._tree = _Tree(env, mode)
        self.single_observation_space = self._tree.space(env.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def __getattr__(self, name: str) -> Any:
        """Look public names up in the environment, as scalar wrappers' owners do by hand."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.env, name)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin the episodes that are reset with empty trees."""
        observation, infos = self.env.reset(seed=seed, options=options)
        mask = (options or {}).get("reset_mask")
        chosen = np.ones(self.num_envs, dtype=bool) if mask is None else np.asarray(mask)
        return self._tree.begin(observation, chosen), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take the tree's decisions, or the given ones."""
        observation, *others, infos = self.env.step(self._tree.decide(np.asarray(actions)))
        if "final_obs" in infos and self._tree.advises:
            self._finish(infos)
        return self._tree.follow(observation), *others, infos

    def _finish(self, infos: dict[str, Any]) -> None:
        ended = np.flatnonzero(infos["_final_obs"])
        finals = [infos["final_obs"][i] for i in ended.tolist()]
        joined = {name: np.stack([final[name] for final in finals]) for name in finals[0]}
        added = self._tree.last(joined, ended)
        for place, final in enumerate(finals):
            final.update({name: added[name][place] for name in added})


def _batch(observation: Observation) -> Observation:
    return {name: np.asarray(array)[None] for name, array in observation.items()}


def _first(observation: Observation) -> Observation:
    return {name: array[0] for name, array in observation.items()}
