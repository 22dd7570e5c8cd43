"""The policies behind a name: one policy, or a model for each seed of a training."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from memenvs.policies import is_path, make, policy_class
from memenvs.policies.base import Policy
from memenvs.policies.learned.loading import build
from memenvs.policies.learned.models import ENSEMBLE, Model, find_models, unseen
from memenvs.policies.oracles.oracle import Optimal, Plan
from memenvs.policies.predictor import Predictor


@dataclass(frozen=True)
class Facts:
    """What a policy, or its training, was told beyond observations; tables mark it."""

    privileged: bool  # it reads what no agent may know
    knows: str  # what it is told besides observations
    taught_by: str  # teacher or privileged reward of its training


class NamedPolicy:
    """Plays one name in one environment; each material by models that were not trained on it.

    Where every model was trained on a material, all of them play it. Each material is played by as
    many members as the one with the fewest has. Raises ``ValueError`` for an unknown name, and for
    a model that does not fit.
    """

    def __init__(self, name: str, env: Any, seed: int, materials: Sequence[str]) -> None:
        self._env, self._seed = env, seed
        self._together = name.endswith(ENSEMBLE)
        self._built: dict[tuple[Model, ...], Policy] = {}
        self._members: dict[str, list[tuple[Model, ...]]] = {}  # of each material
        self._policy: Predictor | None = None
        if not is_path(name):
            self._policy, self.size, self.nested = make(name, env, seed=seed), 1, False
            return
        models = find_models(name)
        for material in materials:
            left = unseen(models, material)
            self._members[material] = [tuple(left)] if self._together else [(m,) for m in left]
        self.size = min(map(len, self._members.values()))
        chosen = {tuple(members[: self.size]) for members in self._members.values()}
        self.nested = len(chosen) > 1  # each material has models of its own
        for members in chosen:
            for member in members:
                self._player(member)  # what does not fit says so before anything is played

    def player(self, material: str, member: int) -> Predictor:
        """Give the policy that plays a material as the member of a number."""
        if self._policy is not None:
            return self._policy
        return self._player(self._members[material][member])

    @property
    def alone(self) -> bool:
        """Whether it plays one episode after another."""
        return bool(getattr(self._policy, "alone", False))

    @property
    def learns(self) -> bool:
        """Whether what it does depends on the episodes that it played before."""
        return bool(getattr(self._policy, "learns", False))

    def tell(self, plan: Plan) -> None:
        """Tell an oracle what is known of the best memories."""
        if isinstance(self._policy, Optimal):
            self._policy.known = plan

    def remark(self) -> str:
        """Say what a reader of the table should know of how it played, if anything."""
        remark = getattr(self._policy, "remark", None)
        return "" if remark is None else str(remark())

    def has_seen(self, material: str) -> bool | None:
        """Whether a model that plays a material was trained on it; None where that is not known."""
        if self._policy is not None:
            return self._policy.seen
        members = self._members.get(material, [])[: self.size]
        return any(model.has_seen(material) for member in members for model in member)

    def _player(self, member: tuple[Model, ...]) -> Policy:
        if member not in self._built:
            self._built[member] = build(member, self._env, seed=self._seed)
        return self._built[member]


def any_seen(seen: Iterable[bool | None]) -> bool | None:
    """Whether anything was seen, of what is known; None where nothing was, as far as is known."""
    told = set(seen)
    return True if True in told else None if None in told else False


def refusals(
    policies: Iterable[str], envs: Iterable[Any], materials: Sequence[str], seed: int
) -> dict[str, str]:
    """Say which policies cannot play in some environment: a reason by name."""
    found = {}
    for name, env in product(policies, envs):
        try:
            NamedPolicy(name, env, seed, materials)
        except ValueError as error:
            found[name] = str(error)
    return found


def facts(name: str) -> Facts:
    """Say what a policy, or a training, was allowed to know."""
    if not is_path(name):
        found = policy_class(name)
        return Facts(found.privileged, found.knows, "")
    settings = find_models(name)[0].card.settings
    imitation, shaping = settings.get("imitation") or {}, settings.get("shaping") or {}
    teachers = [t for t in (imitation.get("teacher"), shaping.get("wrapper")) if t]
    return Facts(False, "", ", ".join(teachers))
