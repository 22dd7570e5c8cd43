"""What every write policy shares: it knows the layout of claims and slots."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from memenvs.counter import uniforms
from memenvs.envs.family import MEMORIZATION
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.rules import Actions, Rules
from memenvs.policies.predictor import Observation, Predictor, State, family_of

__all__ = ["Chance", "Observation", "Policy", "State", "attribute", "privileged"]


class Policy(Predictor):
    """Choose writes from observations; built for an environment, from which it takes the layout.

    A subclass answers ``act`` for a batch, and ``start`` with the state of new episodes. Raises
    ``ValueError`` for an environment that has no claims and slots.
    """

    family: ClassVar[str] = MEMORIZATION.name

    def __init__(self, env: Any, seed: int = 0) -> None:
        super().__init__(env, seed)
        try:
            if family_of(env) not in ("", self.family):
                raise TypeError
            self.layout: Layout = attribute(env, "layout")
            self.rules: Rules = attribute(env, "rules")
            self.actions: Actions = attribute(env, "actions")
        except (TypeError, AttributeError):
            kind = type(getattr(env, "unwrapped", env)).__name__
            raise ValueError(
                f"{kind} is no memorization environment: {type(self).__name__} decides about "
                "claims and slots, and there are none"
            ) from None

    def moved(self, env: Any, seed: int) -> Self:
        """Give the same for an environment like its own; raises ``ValueError`` for others."""
        own = self.layout, self.rules, self.actions
        same = own == tuple(attribute(env, name) for name in ("layout", "rules", "actions"))
        if self.privileged or not same:
            raise ValueError(
                f"this {type(self).__name__} was built for another environment; give its class, "
                "so that it is built for each one"
            )
        return self.anew(seed)


class Chance(Predictor):
    """A policy with chance of its own: it depends on its seed, the episode and the step alone.

    The state is a random key for each episode, ``(B,)``, and a counter that starts at 0; draws are
    ``uniforms(key, stream, counter)``.
    """

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Give the keys and counters of new episodes."""
        drawn = uniforms(np.uint64(self.seed), 0, episodes)
        return (drawn * 2.0**53).astype(np.uint64), np.zeros(len(episodes), dtype=np.int64)


def attribute(env: Any, name: str) -> Any:
    """Read an attribute of a Gymnasium environment, a vector of them, or an SB3 ``VecEnv``."""
    for owner in (env, getattr(env, "unwrapped", None)):
        if hasattr(owner, "layout"):  # by this we know our own: a VecEnv has "actions", too
            return getattr(owner, name)
    if hasattr(env, "get_attr"):
        return env.get_attr(name)[0]
    raise TypeError(f"{type(env).__name__} is no memorization environment: it has no '{name}'")


def privileged(env: Any) -> list[Privileged]:
    """Look into the running episodes of an environment or of a vector of them: oracles alone do."""
    inner = getattr(env, "unwrapped", env)
    if hasattr(inner, "privileged_views"):
        return list(inner.privileged_views())
    if hasattr(inner, "envs"):
        return [view for each in inner.envs for view in privileged(each)]
    raise ValueError(f"a policy that looks into the episodes cannot play in {type(env).__name__}")
