"""Rules for sources of unknown reliability: the cautious one, and the one that probes.

Both believe in a source by its record and keep what is worth most by that belief. The cautious rule
weighs an unheard source by the chance that it is reliable. The probing rule grants it more while
decisions are left, so that one claim of it is stored and settled, and the source known when it
speaks again (section 5.1 of the paper). Their difference is what exploration is worth.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memenvs.materials.generator.cues import ESTABLISHED_STYLE
from memenvs.materials.generator.tiers import Tier
from memenvs.policies.base import Observation
from memenvs.policies.rules.rule import Rule


class Cautious(Rule):
    """Keep the claims of highest expected worth.

    Privileged: it knows the rates and the world of the tier, which must have one (and claims of an
    established source, as in ``probe``); of the episode it reads the observation alone.

    Args:
        env: an environment over materials of the tier.
        seed: unused.
        tier: the tier whose rates it knows.
        evidence: log odds that a settled success of a source adds, and a failure takes.
        overlap: similarity from which two claims are held to answer the same queries.
    """

    privileged: ClassVar[bool] = True

    def __init__(
        self,
        env: Any,
        seed: int = 0,
        *,
        tier: Tier,
        evidence: float = 3.0,
        overlap: float = 0.15,
    ) -> None:
        super().__init__(env, seed)
        if tier.world is None:
            raise ValueError(f"'{tier.name}' has no one world whose topics could be known")
        self.rates, self.world = tier.parameters, tier.world
        self.evidence, self.overlap = evidence, overlap

    def score(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Chance of being true, by mass of the topic and importance, less what is redundant."""
        reliable = self.reliable(rows, observation)
        established = self._column(rows, "cues.style") < ESTABLISHED_STYLE / 2
        reliable = np.where(established, 1.0, reliable)
        true = reliable * self.rates.honest + (1 - reliable) * self.rates.dishonest
        near = rows[..., self.layout.slice("embedding")] @ self.world.centres.T
        mass = self.world.masses[near.argmax(axis=-1)]
        importance = np.clip(self._column(rows, "cues.importance"), 0.1, 0.9)
        repeated = 1 - self._column(rows, "redundancy")
        fresh = np.clip(repeated / (1 - self.overlap), 0.01, 1.0)
        worth: NDArray[Any] = true * mass * np.sqrt(importance) * fresh
        return worth

    def reliable(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Chance that the source of each claim is reliable, by its record."""
        record = self._column(rows, "source_credits") - self._column(rows, "source_debits")
        prior = np.log((1 - self.rates.unreliable) / self.rates.unreliable)
        chance: NDArray[Any] = 1 / (1 + np.exp(-(prior + self.evidence * record)))
        return chance

    def _column(self, rows: NDArray[Any], name: str) -> NDArray[Any]:
        values: NDArray[Any] = rows[..., self.layout.index(name)]
        return values


class Probing(Cautious):
    """The cautious rule, but one claim of each unheard source is given more credit.

    Args:
        env, seed, tier, evidence, overlap: as for ``Cautious``.
        optimism: chance of being reliable that an unheard source is granted.
        until: share of decisions left below which it is not: nothing would be learned in time.
    """

    def __init__(
        self,
        env: Any,
        seed: int = 0,
        *,
        tier: Tier,
        evidence: float = 3.0,
        overlap: float = 0.65,
        optimism: float = 0.7,
        until: float = 0.55,
    ) -> None:
        super().__init__(env, seed, tier=tier, evidence=evidence, overlap=overlap)
        self.optimism, self.until = optimism, until

    def reliable(self, rows: NDArray[Any], observation: Observation) -> NDArray[Any]:
        """Chance by the record, or what an unheard source is granted for its first stored claim."""
        chance = super().reliable(rows, observation)
        heard = self._column(rows, "source_credits") + self._column(rows, "source_debits") > 0
        left = observation["context"][:, None, self.layout.index("decisions_left", "context")]
        granted = ~heard & (left > self.until)
        if rows is not observation["memory"]:  # a source that is being probed needs no second probe
            probed = observation["memory"][..., self.layout.index("same_source")] == 1
            granted &= ~probed.any(axis=1, keepdims=True)
        return np.where(granted, np.maximum(chance, self.optimism), chance)
