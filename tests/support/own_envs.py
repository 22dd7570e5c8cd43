"""Environments as a user writes them: of Gymnasium alone, with masks here or there or nowhere."""

from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium import spaces

LENGTH, SIDE = 6, 5  # steps of an episode; places of the corridor


class Corridor(gym.Env[Any, Any]):
    """Walk to the end of a corridor: 0 stays, 1 steps to the right, 2 to the left."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(self, start: int = 0) -> None:
        self.action_space: Any = spaces.Discrete(3)
        self.observation_space: Any = spaces.Box(0.0, 1.0, (SIDE,), np.float32)
        self.start = start

    def mask(self) -> np.ndarray:
        """Nobody walks through the walls."""
        return np.array([1, self.place < SIDE - 1, self.place > 0], dtype=np.int8)

    def seen(self) -> Any:
        return np.eye(SIDE, dtype=np.float32)[self.place]

    def info(self) -> dict[str, Any]:
        return {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.place, self.taken = self.start, 0
        return self.seen(), self.info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        move = self.move(action)
        self.place = int(np.clip(self.place + move, 0, SIDE - 1))
        self.taken += 1
        reward = float(self.place == SIDE - 1)
        return self.seen(), reward, self.taken >= LENGTH, False, self.info()

    def move(self, action: Any) -> int:
        assert self.mask()[action] or type(self) is Corridor, "an illegal action"
        return (0, 1, -1)[int(action)]


class MaskInInfo(Corridor):
    """Says in the info what is legal."""

    def info(self) -> dict[str, Any]:
        return {"action_mask": self.mask()}


class MaskByMethod(Corridor):
    """Answers `action_masks`, as sb3-contrib asks for it."""

    def action_masks(self) -> np.ndarray:
        return self.mask().astype(bool)


class MaskInObservation(Corridor):
    """Shows what is legal."""

    def __init__(self, start: int = 0) -> None:
        super().__init__(start)
        where = self.observation_space
        self.observation_space = spaces.Dict({"where": where, "action_mask": spaces.MultiBinary(3)})

    def seen(self) -> Any:
        return {"where": super().seen(), "action_mask": self.mask()}


class Continuous(Corridor):
    """Walks by a number: the sign is the direction."""

    def __init__(self, start: int = 0) -> None:
        super().__init__(start)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def move(self, action: Any) -> int:
        return int(np.sign(np.round(action[0])))


OWN = {each.__name__: each for each in (Corridor, MaskInInfo, MaskByMethod, MaskInObservation)}
OWN |= {"Continuous": Continuous}


def register_own(name: str) -> str:
    """Register one of them as a user does; gives its id."""
    id = f"Own{name}-v0"
    if id not in gym.registry:
        gym.register(id, entry_point=OWN[name], max_episode_steps=2 * LENGTH)
    return id
