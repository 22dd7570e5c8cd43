"""A person at an environment: what is shown, what may be done, and how it went."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import memenvs
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.render.ansi import as_text, claim_words
from memenvs.envs.memorization.render.scene import (
    Best,
    best_memory,
    player_scene,
    spectator_scene,
)
from memenvs.material.incidence import BoolArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.policies.oracles.oracle import Optimal

WIDTH = 96


class Adviser(Optimal):
    """The optimal policy, with the plan that can be found while a person waits."""

    def _solve(self, material: Material, objective: Objective) -> BoolArray:
        found = best_memory(material, self.rules, objective)
        return material.mask(found.memory)


class Player:
    """One episode of a memorization environment, decided about in words."""

    def __init__(self, env: gym.Env[Any, Any], seed: int) -> None:
        inner = env.unwrapped
        assert isinstance(inner, MemorizationEnv)
        self.env = inner
        self._oracle = Adviser(inner)
        self._observation, _ = inner.reset(seed=seed)
        self._priorities = inner.rules.action == "priority"

    @property
    def _episode(self) -> Any:
        return self.env.episode

    def is_over(self) -> bool:
        """Whether every decision was taken."""
        return bool(self._episode.is_over())

    def view(self) -> str:
        """Give what an agent may know, as text."""
        return as_text(player_scene(self._episode), slots=len(self._episode.slots.claims))

    def choices(self) -> str:
        """List the legal actions, one a line."""
        if self._priorities:
            return "legal\n     a priority from -1 to 1; the highest are kept"
        legal = np.flatnonzero(self.env.action_masks()).tolist()
        return "\n".join(["legal", *(f"{a:>4}   {self.name(a)}" for a in legal)])

    def question(self) -> str:
        """Give the prompt."""
        return f"{'priority' if self._priorities else 'action'} (? for the optimum, q to quit)"

    def name(self, action: int) -> str:
        """Say in words what an action does now."""
        actions, episode = self.env.actions, self._episode
        scene = player_scene(episode)
        choosing = episode.considered is None
        if action == actions.PASS:
            return "stop" if choosing else "pass"
        if action >= actions.first_consider:
            claim = action - actions.first_consider
            again = " (again)" if episode.seen[claim] else ""
            return f"consider{again} {claim_words(scene, claim, WIDTH - 24)}"
        clears = actions.clears and action >= actions.first_clear
        slot = action - (actions.first_clear if clears else actions.first_write)
        held = scene.slots[slot].claim
        if held is None:
            return f"write into slot {slot}, which is free"
        words = claim_words(scene, held, WIDTH - 34)
        return f"clear slot {slot}: {words}" if clears else f"write into slot {slot}, over {words}"

    def take(self, answer: str) -> str | None:
        """Take the decision that was typed; gives what is wrong with it, if anything."""
        try:
            action: Any = [float(answer)] if self._priorities else int(answer)
        except ValueError:
            return f"'{answer}' is no number; type one of those listed, ? or q"
        if self._priorities:
            if not -1 <= action[0] <= 1:
                return f"{answer} is no number from -1 to 1"
        elif not (0 <= action < self.env.actions.n and self.env.action_masks()[action]):
            return f"{answer} is not legal here; type one of those listed, ? or q"
        self._observation, *_ = self.env.step(action)
        return None

    def hint(self) -> str:
        """Say what the optimal policy would do now, and what can be reached."""
        action, _ = self._oracle.predict(self._observation)
        if self._priorities:
            words = f"priority {float(action[0]):g}"
        else:
            words = f"{int(action)}: {self.name(int(action))}"
        best, objective = self._best(), self._episode.account.objective.name
        lines = [
            f"the optimal policy, which knows truth and queries, would take {words}",
            f"best {objective} {_bound(best)}, by {' '.join(best.memory) or 'nothing'}",
            as_text(spectator_scene(self._episode)),
        ]
        return "\n".join(lines)

    def summary(self) -> str:
        """Compare the memory with the frontier, in expectation under truth and p_D."""
        episode, rules = self._episode, self.env.rules
        result = self.env.material.evaluate(self.env.memory)
        values = {"coverage": float(result.coverage), "precision": float(result.precision)}
        own = self._best(len(episode.slots.stored) if rules.budget is None else episode.slots.cost)
        loss = own.value - episode.account.expected(self.env.memory)
        scene = spectator_scene(episode)
        stored = [
            f"     {claim_words(scene, slot.claim, WIDTH - 5)}"
            for slot in scene.slots
            if slot.claim is not None
        ]
        return "\n".join(
            [
                f"{'the end' if self.is_over() else 'stopped'} after {episode.decision} of "
                f"{episode.decisions} decisions",
                f"memory           {len(stored)} of {len(scene.slots)}",
                *stored,
                f"settled          {episode.settled}, right {episode.answered}, "
                f"earned {episode.earned:.2f}",
                f"coverage         {values['coverage']:.4f}",
                f"precision        {values['precision']:.4f}",
                f"frontier         {_bound(own)} at this size, {_bound(self._best())} at capacity",
                f"efficiency loss  {'' if own.proved else 'at most '}{loss:.4f}",
            ]
        )

    def _best(self, load: float | None = None) -> Best:
        rules = self.env.rules
        return best_memory(self.env.material, rules, self._episode.account.objective, load)


def make_registered(env_id: str, arguments: dict[str, Any]) -> gym.Env[Any, Any]:
    """Make a registered environment; raises ``ValueError`` where that cannot be played."""
    try:
        return gym.make(env_id, **arguments)
    except (gym.error.Error, ImportError, TypeError) as error:
        raise ValueError(f"{env_id}: {error}") from None


def make_material(name: str, arguments: dict[str, Any]) -> gym.Env[Any, Any]:
    """Make a stream with hidden queries: a tier's own preset on its test split, else level 1b."""
    for row in memenvs.registered_envs():
        if row.level == "2" and "generated" in row.tags and row.kwargs["material"] == name:
            return gym.make(row.id, split="test", **arguments)
    return MemorizationEnv(name, **{**LEVELS["1b"], "access": "stream", **arguments})


def _bound(best: Best) -> str:
    return f"{'' if best.proved else 'at most '}{best.value:.4f}"
