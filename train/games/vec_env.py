"""Games of several agents as vector environments of stable-baselines3, for one model."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices, VecEnvObs, VecEnvStepReturn

from memenvs.envs.family import MEMORIZATION
from memenvs.games.vector_game import VectorGame
from memenvs.material.material import Material
from memenvs.policies import make
from memenvs.policies.learned.mixture import Mixture
from memenvs.policies.learned.models import WRITER
from memenvs.policies.learned.saved import column_names
from memenvs.policies.opponents.opponents import make_opponent, opponent_columns
from memenvs.policies.predictor import Predictor
from memenvs.train.vec_env import FINAL

Arrays = dict[str, NDArray[Any]]


class GameVecEnv(VecEnv):
    """The agents that one model takes in B episodes of a game: agent k of episode i is row k B + i.

    Args:
        game: with autoreset.
        agents: agents that the model plays; all of them share one observation space.
        opponents: who plays the others: a policy or a mixture for each of these agents. They
            begin anew where a reset has a seed, so that it decides what happens.

    Masks stand in the observations and in ``env_method("action_masks")``; ``infos`` of an episode
    that ends are those of ``SB3VecEnv``, its truncation among them. A agent that finished early can
    only take its first action until the episode ends.
    """

    def __init__(
        self,
        game: VectorGame,
        agents: Sequence[str],
        opponents: Mapping[str, Predictor | Mixture] | None = None,
    ) -> None:
        self.game = game
        self.agents = tuple(agents)
        self.opponents = dict(opponents or {})
        unknown = set(self.agents) - set(game.possible_agents)
        missing = set(game.possible_agents) - set(self.agents) - set(self.opponents)
        if not game.autoreset or unknown or missing or not self.agents:
            raise ValueError(
                f"agents {', '.join(self.agents)} of {', '.join(game.possible_agents)}: every "
                "other agent needs an opponent, and the game autoreset=True"
            )
        first = self.agents[0]
        rows = game.num_envs * len(self.agents)
        self._materials: list[Material] | None = None  # of the next reset
        self._states: dict[str, Any] = dict.fromkeys(self.opponents)
        self._begun = np.ones(game.num_envs, dtype=bool)
        self._seen: dict[str, Arrays] = {}
        self._actions: NDArray[Any] = np.zeros(0)
        self._returns = np.zeros(rows)
        self._lengths = np.zeros(rows, dtype=np.int64)
        self._start = time.time()
        super().__init__(rows, game.observation_spaces[first], game.action_spaces[first])

    family = MEMORIZATION
    finals = FINAL

    @property
    def episodes(self) -> int:
        """How many episodes are played at once; each has a row for every agent."""
        return self.game.num_envs

    @property
    def decisions(self) -> int:
        """Most claims that an episode has: how long it lasts, an exam aside."""
        limit: int = self.game.layout.limits.claims
        return limit

    @property
    def columns(self) -> dict[str, list[str]]:
        """Names of the columns that the agents see."""
        if self.agents[0].startswith(WRITER):
            return column_names(self.game.layout)
        return opponent_columns(self.game)

    def teacher(self, name: str, seed: int) -> Predictor:
        """Build a policy that plays in these agents."""
        if self.agents[0].startswith(WRITER):
            return make(name, self.game, seed=seed)
        return make_opponent(name, self.game, seed)

    def give(self, materials: Sequence[Material], seeds: Sequence[int]) -> None:
        """Say which material and which seed each episode of the next reset has."""
        self._materials, self._seeds = list(materials), list(seeds)

    def reset(self) -> VecEnvObs:
        """Begin all episodes, with the seeds and materials that were set for this reset."""
        seeds = self._seeds[: self.episodes]
        options = {} if self._materials is None else {"material": self._materials}
        self._seen, _ = self.game.reset(seed=seeds, options=options)
        if seeds[0] is not None:
            self.opponents = {name: each.anew(seeds[0]) for name, each in self.opponents.items()}
        self._materials = None
        self._reset_seeds()
        self._reset_options()
        self._begun[:] = True
        self._states = dict.fromkeys(self.opponents)
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self._stacked(self._seen)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Note the actions ``(rows, ...)`` of the step to come."""
        self._actions = actions

    def step_wait(self) -> VecEnvStepReturn:
        """Let the model's agents and the opponents act."""
        episodes = self.game.num_envs
        taken: dict[str, NDArray[Any]] = {
            name: self._actions[k * episodes : (k + 1) * episodes]
            for k, name in enumerate(self.agents)
        }
        for name, policy in self.opponents.items():
            taken[name], self._states[name] = policy.predict(
                self._seen[name], self._states[name], self._begun
            )
        self._seen, rewards, _, truncated, infos = self.game.step(taken)
        late = np.logical_or.reduce([truncated[name] for name in self.game.possible_agents])
        ended = late | infos[self.agents[0]].get("final", np.zeros(episodes, dtype=bool))
        self._begun = ended
        earned = np.concatenate([rewards[name] for name in self.agents])
        self._returns += earned
        self._lengths += 1
        done = np.tile(ended, len(self.agents))
        each: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(len(done))]
        for row in done.nonzero()[0].tolist():
            name, i = self.agents[row // episodes], row % episodes
            each[row] = self._last(infos[name], row, i, late=bool(late[i]))
        self._returns[done] = 0.0
        self._lengths[done] = 0
        return self._stacked(self._seen), earned.astype(np.float32), done, each

    def close(self) -> None:
        """Do nothing: no resource is open."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Read an attribute of the game, once for each row."""
        value = getattr(self.game, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the game; raises ``ValueError`` for some of the rows."""
        if len(list(self._get_indices(indices))) < self.num_envs:
            raise ValueError(f"'{attr_name}' belongs to all episodes of a game; leave indices")
        setattr(self.game, attr_name, value)

    def env_method(
        self, method_name: str, *args: Any, indices: VecEnvIndices = None, **kwargs: Any
    ) -> list[Any]:
        """Give masks of the rows, or what a method of the game answers, once for each row."""
        chosen = list(self._get_indices(indices))
        if method_name == "action_masks":
            shown = self.game.masks()
            masks = np.concatenate([shown[name] for name in self.agents])
            return list(masks[chosen].astype(bool))
        answer = getattr(self.game, method_name)(*args, **kwargs)
        return [answer for _ in chosen]

    def has_attr(self, attr_name: str) -> bool:
        """Whether rows have an attribute; SB3 asks for ``action_masks``."""
        return attr_name == "action_masks" or hasattr(self.game, attr_name)

    def env_is_wrapped(
        self, wrapper_class: type[gym.Wrapper[Any, Any, Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Say yes of ``Monitor`` alone, whose statistics the infos hold."""
        known = issubclass(wrapper_class, Monitor)
        return [known for _ in self._get_indices(indices)]

    def _stacked(self, seen: Mapping[str, Arrays]) -> Arrays:
        names = seen[self.agents[0]]
        return {key: np.concatenate([seen[name][key] for name in self.agents]) for key in names}

    def _last(self, info: Arrays, row: int, episode: int, *, late: bool) -> dict[str, Any]:
        """Give the info of a row whose episode ends."""
        keys = self._seen[self.agents[0]]
        told: dict[str, Any] = {
            "TimeLimit.truncated": late,
            "terminal_observation": {key: info[f"final_{key}"][episode] for key in keys},
            "episode": {
                "r": round(float(self._returns[row]), 6),
                "l": int(self._lengths[row]),
                "t": round(time.time() - self._start, 6),
            },
        }
        told["illegal_action"] = info["final_illegal_action"][episode].item()
        return told | {n: info[n][episode].item() for n in FINAL if n in info and n not in told}
