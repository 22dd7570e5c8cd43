"""Where the policy of a `WriteMemory` stands: like an environment that knows what was read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.envs.memorization.live import Live
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.rules import HISTORY, Actions, Rules
from memenvs.material.records import Claim
from memenvs.policies import is_path, load, make, policy_class
from memenvs.policies.base import Policy
from memenvs.policies.learned.models import Interface, find_models
from memenvs.text.encoders import Encoder, HashingEncoder, make_encoder


class Place:
    """What a policy is built for in the place of an environment."""

    class materials:  # noqa: N801 - read as an environment's attribute
        """No material is known beforehand."""

        fixed = ()

    def __init__(self, seen: Interface, live: Live, claims: dict[int, Claim]) -> None:
        self.layout, self.rules, self.actions = seen.layout, seen.rules, seen.actions
        self.name = ""  # of the material, which has none
        self.claims = claims  # by number: those in view
        self._live = live

    def privileged_views(self) -> list[Privileged]:
        """Give the wordings in view, for a judge that is a language model."""
        words: Any = self
        slots = self._live.slots.claims.copy()
        return [Privileged(0, self._live.considered, slots, lambda: words)]


def how_shown(
    policy: str, capacity: int, claims: int, cues: Sequence[str], encoder: Encoder | None
) -> tuple[Interface, Encoder | None]:
    """Find how a policy is to be shown a stream: as in its training, or as at level 2.

    The encoder is None where the training materials brought vectors along.
    """
    if claims < 1:
        raise ValueError(f"claims={claims!r} is not a positive integer")
    if not is_path(policy):
        encoder = encoder or HashingEncoder()
        limits = Limits(claims, claims, encoder.dimension, tuple(sorted(cues)), texts=True)
        layout = Layout(limits, pool=False, priority=False, query_rows=HISTORY)
        rules = Rules(capacity=capacity, **LEVELS["2"])
        return Interface(layout, rules, Actions(capacity, rules.clears, 0)), encoder
    if cues or encoder is not None:
        raise ValueError("a model brings its own cues and encoder; leave them out")
    first, *others = find_models(policy)
    for model in others:
        if model.card.encoder != first.card.encoder:
            raise ValueError(f"{model.path}: has another encoder than {first.path}")
    described = first.card.encoder
    return first.interface(capacity, claims), make_encoder(described) if described else None


def build_policy(name: str, place: Place, seed: int, device: str) -> Policy:
    """Build the policy; raises ``ValueError`` for an oracle."""
    if is_path(name):
        return load(name, place, seed=seed, device=device)
    if policy_class(name).privileged:
        raise ValueError(f"'{name}' is an oracle: it reads what no agent may know")
    return make(name, place, seed=seed)
