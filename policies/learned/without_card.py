"""Networks that brought no card: models of SB3 and torch modules, which play by their spaces."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray

from memenvs.policies.adapters import Adapted, check_space
from memenvs.policies.learned.trained import Network, load_policy
from memenvs.policies.predictor import State, spaces_of

NOT_KNOWN = "it brought no card, so that what it was trained on is not known"


class SB3Policy(Adapted):
    """A model of SB3, or its policy: the best legal action, or what it gives by itself.

    Raises ``ValueError`` where the spaces of the environment are not those that it was trained
    with.
    """

    seen: ClassVar[bool | None] = None

    def __init__(self, env: Any, seed: int, inner: Any, label: str) -> None:
        super().__init__(env, seed, inner, label)
        own = getattr(inner, "policy", inner)
        observed, acted = spaces_of(env)
        check_space(label, "observation", own.observation_space, observed)
        check_space(label, "action", own.action_space, acted)
        own.set_training_mode(False)
        self._own = own
        self._network = Network(own)

    @classmethod
    def from_zip(
        cls, path: str, env: Any, seed: int, device: str = "auto", *, trust: bool = False
    ) -> Self:
        """Load what ``model.save(path)`` wrote; it holds pickles, and so has to be trusted."""
        return cls(env, seed, load_policy(path, device, trust=trust), path)

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Begin with recurrent states at zero."""
        return self._network.start(len(episodes))

    def act(
        self, observation: Any, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Take the legal action of highest probability or value."""
        space = self._own.action_space
        if isinstance(space, spaces.Discrete):
            preferred, after = self._network.prefer(observation, masks, state)
            best = np.where(masks, preferred, -np.inf).argmax(axis=1)
            return best + int(space.start), tuple(after)
        if self._network.arrays:
            preferred, after = self._network.prefer(observation, masks, state)
            return preferred.reshape(-1, *(space.shape or ())), tuple(after)
        if isinstance(self._own.observation_space, spaces.Dict):
            observation = {name: observation[name] for name in self._own.observation_space.spaces}
        return self._own.predict(observation, deterministic=True)[0], state

    @property
    def alone(self) -> bool:
        """Its state travels with each episode, so that it plays many at once."""
        return False

    def remark(self) -> str:
        """Say what is not known of it."""
        return NOT_KNOWN


class TorchPolicy(Adapted):
    """A torch module, or a function, from a batch of observations to logits ``(B, n)``.

    It is given float tensors with a leading axis B, in a dictionary where the observation is one;
    of several results the first counts. The legal action of the highest logit is taken; where
    actions are a box, what it gives is the action. Raises ``ValueError`` where its results have
    another shape.
    """

    seen: ClassVar[bool | None] = None

    def __init__(self, env: Any, seed: int, inner: Any, label: str) -> None:
        super().__init__(env, seed, inner, label)
        space = self.action_space
        if not isinstance(space, spaces.Discrete | spaces.Box):
            raise ValueError(f"{label}: gives logits, and actions here are of {space}")
        self._result = (int(space.n),) if isinstance(space, spaces.Discrete) else space.shape
        parameters = getattr(inner, "parameters", lambda: ())
        self._device = next((each.device for each in parameters()), torch.device("cpu"))
        self._logits(_zeros(spaces_of(env)[0]), 2)

    def act(
        self, observation: Any, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Take the legal action of the highest logit."""
        found = self._logits(observation, len(masks))
        space = self.action_space
        if isinstance(space, spaces.Discrete):
            return np.where(masks, found, -np.inf).argmax(axis=1) + int(space.start), state
        assert isinstance(space, spaces.Box)
        return np.clip(found, space.low, space.high).astype(space.dtype), state

    @property
    def alone(self) -> bool:
        """Its state travels with each episode, so that it plays many at once."""
        return False

    def remark(self) -> str:
        """Say what is not known of it."""
        return NOT_KNOWN

    def _logits(self, observation: Any, size: int) -> NDArray[Any]:
        given: Any
        if isinstance(observation, dict):
            given = {name: self._tensor(array) for name, array in observation.items()}
        else:
            given = self._tensor(observation)
        learns = getattr(self.inner, "training", False)
        if learns:
            self.inner.eval()
        try:
            with torch.no_grad():
                found = self.inner(given)
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self.label}: fails on a batch of observations of this environment: "
                f"{type(error).__name__}: {error}"
            ) from error
        finally:
            if learns:
                self.inner.train()
        if isinstance(found, tuple | list):
            found = found[0]
        if tuple(getattr(found, "shape", ())) != (size, *self._result):
            shape = tuple(getattr(found, "shape", ())) or type(found).__name__
            raise ValueError(
                f"{self.label}: gives {shape} for a batch of {size} observations, where "
                f"{(size, *self._result)} is due: one logit for each action"
            )
        return np.asarray(found.detach().cpu(), dtype=np.float64)

    def _tensor(self, array: Any) -> torch.Tensor:
        return torch.as_tensor(np.asarray(array), dtype=torch.float32, device=self._device)


def _zeros(space: spaces.Space[Any]) -> Any:
    """Give a batch of two observations of zeros, by which a module is tried."""
    if isinstance(space, spaces.Dict):
        return {name: np.zeros((2, *(each.shape or ()))) for name, each in space.spaces.items()}
    return np.zeros((2, *(space.shape or ())))
