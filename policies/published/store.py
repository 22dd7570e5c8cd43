"""What the memories in use today share: a verdict on each claim, and the write that follows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.policies.base import Observation, Policy, State
from memenvs.policies.published.books import Books, View
from memenvs.policies.published.judge import Judge, ObservableJudge, configured_judge
from memenvs.policies.rules.rule import as_priority

KEPT = len(Books._fields)
DIGITS = 9  # scores that differ by less are ties: the slot written first makes way


class Verdict(NamedTuple):
    """What a memory makes of the considered claim."""

    store: BoolArray  # (B,) whether it is written at all
    void: BoolArray  # (B, S) slots that the memory gives up
    slots: FloatArray  # (B, S) worth of keeping each; the lowest makes way
    claim: FloatArray | None = None  # (B,) worth of the claim; None: the newest always enters


class Today(Policy):
    """Judge the claim that arrives against what is stored, by the rule of a system in use.

    None of these systems was made for S slots. What a rule gives up (a flushed page, an invalidated
    fact) counts as free: it is overwritten first, the oldest first, and the memory's own reader
    does not read it. It stays in its slot till then, since the environment writes one claim for
    each decision; clearing a slot would cost the claim under decision and is never done. Where
    nothing is given up and no slot is free, the claim of lowest worth goes. A claim counts as used
    (recalled, accessed) when a settlement credited or debited it. In a pool the claims are
    considered as they stand. Under ``action="priority"`` a rule cannot choose what goes: a claim
    keeps the worth that it had on arrival (where the rule goes by order, the newest is worth most),
    and has priority -1 if the rule would not write it.

    ``variant`` is one of ``variants``, by default the first; ``judge`` takes the decisions for
    which the system asks a language model, by default as ``configured_judge`` says.
    """

    name: ClassVar[str]
    variants: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self, env: Any, seed: int = 0, *, variant: str | None = None, judge: Judge | None = None
    ) -> None:
        super().__init__(env, seed)
        if variant is not None and variant not in self.variants:
            known = f"choose from {', '.join(self.variants)}" if self.variants else "it has none"
            raise ValueError(f"the policy '{self.name}' has no variant '{variant}'; {known}")
        self.variant = variant or (self.variants[0] if self.variants else "")
        self.judge = judge or configured_judge()
        self._env = env

    @property
    def alone(self) -> bool:
        """Whether a language model judges."""
        return not isinstance(self.judge, ObservableJudge)

    @abstractmethod
    def decide(self, view: View, own: State) -> tuple[Verdict, State]:
        """Judge the considered claim; ``own`` are the rule's own arrays."""

    def own(self, size: int) -> State:
        """Give the rule's own arrays ``(size, ...)`` at the beginning of episodes."""
        return ()

    def start(self, episodes: IntArray) -> State:
        """Give empty books, and the rule's own arrays."""
        decisions = self.rules.length(self.layout.limits.claims)
        size = len(episodes)
        return (*Books.start(size, self.rules.capacity, decisions), *self.own(size))

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Write, overwrite or pass by the verdict."""
        state = self._restarted(observation, state)
        books, fresh = Books(*state[:KEPT]).update(observation, self.layout)
        view = View(observation, self.layout, books, fresh, self._env)
        verdict, own = self.decide(view, state[KEPT:])
        void = view.stored & (books.void | (verdict.void & view.reading[:, None]))
        after = (*books._replace(void=void), *own)
        if self.rules.action == "priority":
            return self._priority(observation, verdict), after
        legal = masks[:, 1 : 1 + self.actions.slots]
        place, certain, weakest = _place(legal, view.stored, void, verdict.slots, books.written)
        enters = certain
        if verdict.claim is None:
            enters = certain | legal.any(axis=1)
        else:
            enters = certain | (legal.any(axis=1) & (np.round(verdict.claim, DIGITS) >= weakest))
        actions = np.where(verdict.store & view.reading & enters, 1 + place, self.actions.PASS)
        if self.layout.pool:
            following = self._next(observation, masks)
            actions = np.where(view.reading, actions, following)
        return actions, after

    def held(self, observation: Observation, state: State) -> BoolArray:
        """Say which slots the memory itself holds valid, and reads: ``(B, S)``."""
        books, _ = Books(*state[:KEPT]).update(observation, self.layout)
        stored = observation["memory"][..., self.layout.index("valid")] == 1
        return np.asarray(stored & ~books.void)

    def _restarted(self, observation: Observation, state: State) -> State:
        """Restart episodes at their first decision, whatever ``episode_start`` said.

        The first observation after an autoreset on the next step is not the one for which SB3's
        loop, ``episode_start=done``, tells of a beginning. What has just begun is left as it is.
        """
        begins = observation["context"][:, self.layout.index("decisions_left", "context")] == 1
        if not begins.any():
            return state
        fresh = self.start(np.zeros(len(begins), dtype=np.int64))
        return tuple(
            np.where(begins.reshape(-1, *[1] * (old.ndim - 1)), new, old)
            for old, new in zip(state, fresh, strict=True)
        )

    def _next(self, observation: Observation, masks: NDArray[np.bool_]) -> IntArray:
        """Pick the first claim of a pool that was not considered yet; stop after the last."""
        considered = observation["claims"][..., self.layout.index("considered")] == 1
        legal = masks[:, self.actions.first_consider :] & ~considered
        first = self.actions.first_consider + legal.argmax(axis=1)
        return np.where(legal.any(axis=1), first, self.actions.PASS)

    def _priority(self, observation: Observation, verdict: Verdict) -> NDArray[np.float32]:
        left = observation["context"][:, self.layout.index("decisions_left", "context")]
        worth = 1.0 - left if verdict.claim is None else verdict.claim
        return np.where(verdict.store[:, None], as_priority(worth), np.float32(-1.0))


def _place(
    legal: BoolArray, stored: BoolArray, void: BoolArray, worth: FloatArray, written: IntArray
) -> tuple[IntArray, BoolArray, FloatArray]:
    """Find the slot to write into: free, or given up, or else of lowest worth; the oldest first.

    Gives it ``(B,)``, whether it is free or given up, and the lowest worth.
    """
    order = np.where(stored, np.where(void, -1e6, np.round(worth, DIGITS)), -1e7)
    order = np.where(legal, order, np.inf)
    lowest = order.min(axis=1)
    among = np.where(order == lowest[:, None], written, np.iinfo(np.int64).max)
    return among.argmin(axis=1), lowest <= -1e6, lowest
