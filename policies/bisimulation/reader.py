"""Readers: one step of an environment as the memory and the policy beside it see it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from gymnasium import spaces

from memenvs.policies.bisimulation.adapter import (
    Adapter,
    Endings,
    Look,
    Shortlister,
    adapter_for,
)
from memenvs.policies.bisimulation.situations import Situations, as_batch
from memenvs.policies.resolve import make
from memenvs.policies.rules.rule import Rule


class Reading(NamedTuple):
    """What is made of one observation."""

    look: Look
    shortlist: list[int]  # legal actions, the policy's own choice first


class StepReader(Endings, Protocol):
    """Reads the observations of one episode."""

    def read(self, observation: Any, info: dict[str, Any], state: Any) -> tuple[Reading, Any]:
        """Read one observation; ``state`` is None at the start of an episode."""
        ...

    def observe(self, executed: int, state: Any) -> Any:
        """Learn which action was executed; gives the next state."""
        ...


class PageReader:
    """An adapter and a policy, side by side."""

    def __init__(self, adapter: Adapter, policy: Shortlister) -> None:
        self._adapter = adapter
        self._policy = policy

    def read(self, observation: Any, info: dict[str, Any], state: Any) -> tuple[Reading, Any]:
        """Read one page."""
        shortlist, state = self._policy.shortlist(observation, info, state)
        return Reading(self._adapter.look(observation, info), shortlist), state

    def observe(self, executed: int, state: Any) -> Any:
        """Tell the policy."""
        return self._policy.observe(executed, state)

    def role(self, earned: float, steps: int, terminated: bool) -> int:
        """Ask the adapter."""
        return self._adapter.role(earned, steps, terminated)


class SituationReader:
    """Situations of a memorization environment, one by one."""

    def __init__(self, situations: Situations) -> None:
        self._situations = situations

    @property
    def level(self) -> float | None:
        """Share from which an episode is a success; None while it is not fitted."""
        return self._situations.level

    def fit(self, ended: Sequence[tuple[float, int]]) -> None:
        """Fit it to episodes."""
        self._situations.fit(ended)

    def read(self, observation: Any, info: dict[str, Any], state: Any) -> tuple[Reading, Any]:
        """Read one situation."""
        if state is None:
            state = self._situations.base.start(np.zeros(1, dtype=np.int64))
        batch = as_batch(observation)
        masks = batch["action_mask"].astype(bool)
        looks, shortlists, state = self._situations.read(batch, masks, state)
        return Reading(looks[0], shortlists[0]), state

    def observe(self, executed: int, state: Any) -> Any:
        """Leave the state: what was written shows in the next observation."""
        return state

    def role(self, earned: float, steps: int, terminated: bool) -> int:
        """Ask whether the settled share was enough."""
        return self._situations.role(earned, steps, terminated)


def reader_for(env: Any, policy: Any, adapter: Adapter | None = None) -> StepReader:
    """Build the reader of an environment for a policy, or for the name of one.

    A policy that gives shortlists stands beside the environment's adapter, or a given one; a write
    policy must score claims. Raises ``ValueError`` or ``TypeError`` for what cannot be read.
    """
    if isinstance(policy, str):
        policy = make(policy, env)
    if hasattr(policy, "shortlist") and hasattr(policy, "observe"):
        reader: StepReader = PageReader(adapter or adapter_for(env), policy)
    elif isinstance(policy, Rule):
        reader = SituationReader(Situations(policy))
    else:
        raise TypeError(
            f"a {type(policy).__name__} neither gives shortlists (methods "
            "shortlist and observe) nor scores claims"
        )
    if adapter is None and not isinstance(env.observation_space, spaces.Dict):
        raise ValueError(
            "the bisimulation memory reads a Dict of observations; put it inside of what changes "
            "them, or give an adapter"
        )
    return reader
