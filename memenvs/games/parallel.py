"""A game as PettingZoo knows it: one episode, a dictionary of agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

from memenvs.envs.arguments import check_render_mode, read_options
from memenvs.games.vector_game import VectorGame

Observation = dict[str, NDArray[Any]]
PROBE = {"options": 1}  # what PettingZoo's published tests call reset with; it means nothing


class Game(ParallelEnv[str, Observation, Any]):  # type: ignore[misc]
    """One episode of a game in PettingZoo's parallel API.

    Args:
        batch: the game, a batch of one without autoreset; what happens is decided there alone.
        name: as in ``metadata``.
        render_mode: ``"ansi"`` gives text, ``"human"`` prints it.

    An agent that finishes leaves ``agents``; the others go on. Masks stand in the observations
    and in the infos.
    """

    metadata: dict[str, Any]
    render_modes: ClassVar[tuple[str, ...]] = ("ansi", "human")

    def __init__(self, batch: VectorGame, name: str, render_mode: str | None = None) -> None:
        check_render_mode(render_mode, self.render_modes)
        self.batch = batch
        self.metadata = {
            "name": name,
            "render_modes": list(self.render_modes),
            "is_parallelizable": True,
        }
        self.render_mode = render_mode
        self.possible_agents = list(batch.possible_agents)
        self.agents: list[str] = []
        self._rewards = dict.fromkeys(self.possible_agents, 0.0)

    @property
    def max_cycles(self) -> int | None:
        """Steps after which an episode is truncated."""
        return self.batch.max_cycles

    @max_cycles.setter
    def max_cycles(self, steps: int | None) -> None:
        self.batch.max_cycles = steps

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Give the space of an agent's observations."""
        return self.batch.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Give the space of an agent's actions."""
        return self.batch.action_spaces[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin an episode; ``options["material"]`` is a material, or its number.

        Other options raise ``ValueError``, but for the one that PettingZoo's own tests give.
        """
        if options != PROBE:
            read_options(options, (self.batch.family.instance,))
        observations, infos = self.batch.reset(
            seed=seed, options=None if options == PROBE else options
        )
        self.agents = list(self.possible_agents)
        self._rewards = dict.fromkeys(self.possible_agents, 0.0)
        return _first(observations), _first(infos)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[
        dict[str, Observation],
        dict[str, float],
        dict[str, bool],
        dict[str, bool],
        dict[str, dict[str, Any]],
    ]:
        """Let the agents that are left act; raises ``RuntimeError`` once there are none."""
        if not self.agents:
            raise RuntimeError("the episode is over; call reset()")
        missing = [name for name in self.agents if name not in actions]
        if missing:
            raise ValueError(f"no action was given for {', '.join(missing)}")
        chosen = {
            name: np.asarray(actions[name])[None]
            if name in self.agents
            else np.zeros((1, *(space.shape or ())), dtype=space.dtype)
            for name, space in self.batch.action_spaces.items()
        }
        acting = self.agents
        observations, rewards, terminated, truncated, infos = self.batch.step(chosen)
        ended = {name: bool(terminated[name][0]) for name in acting}
        late = {name: bool(truncated[name][0]) for name in acting}
        self.agents = [name for name in acting if not (ended[name] or late[name])]
        self._rewards = {name: float(rewards[name][0]) for name in acting}
        return (
            {name: _first(observations)[name] for name in acting},
            dict(self._rewards),
            ended,
            late,
            {name: _first(infos)[name] for name in acting},
        )

    def render(self) -> str | None:
        """Give the episode as text, or print it; it shows truth, which no agent sees."""
        lines = self.batch.describe(0)
        lines += [f"{name} earned {reward:g}" for name, reward in self._rewards.items()]
        text = "\n".join(lines)
        if self.render_mode == "ansi":
            return text
        if self.render_mode == "human":
            print(text)
        return None

    def close(self) -> None:
        """Do nothing: no resource is open."""


def forms(
    name: str, vector_env: Callable[..., VectorGame]
) -> tuple[Callable[..., Game], Callable[..., AECEnv[str, Any, Any]]]:
    """Give a module's ``parallel_env`` and ``raw_env``, both a batch of one.

    In the second the agents act in turn, on what they saw as the round began.
    """

    def parallel_env(
        *, render_mode: str | None = None, max_cycles: int | None = None, **settings: Any
    ) -> Game:
        batch = vector_env(num_envs=1, autoreset=False, max_cycles=max_cycles, **settings)
        return Game(batch, name, render_mode)

    def raw_env(**settings: Any) -> AECEnv[str, Any, Any]:
        return parallel_to_aec(parallel_env(**settings))

    return parallel_env, raw_env


def _first(values: dict[str, dict[str, NDArray[Any]]]) -> dict[str, dict[str, Any]]:
    """Take the only episode out of every array; numbers become plain ones."""
    taken = {}
    for name, arrays in values.items():
        first = {key: array[0] for key, array in arrays.items()}
        taken[name] = {
            key: value if isinstance(value, np.ndarray) else value.item()
            for key, value in first.items()
        }
    return taken
