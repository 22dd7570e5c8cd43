"""Where the policy of a `WriteMemory` stands: like an environment that knows what was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gymnasium import spaces

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.columns import CUE_COLUMNS, TEXT_COLUMNS
from memenvs.envs.memorization.layout import Layout, Limits
from memenvs.envs.memorization.live import Live
from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.rules import HISTORY, Actions, Rules
from memenvs.errors import MaterialError
from memenvs.material.records import Claim
from memenvs.objective import Objective
from memenvs.policies.learned.loading import load
from memenvs.policies.learned.models import Interface, Model, find_models
from memenvs.policies.live.memory_file import same_encoder
from memenvs.policies.predictor import Predictor, spaces_of
from memenvs.policies.resolve import Given, is_path, label_of, make, observed, policy_class
from memenvs.reading.answers import ALL
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
        self.observation_space, self.action_space = spaces_of(self)

    def privileged_views(self) -> list[Privileged]:
        """Give the wordings in view, for a judge that is a language model."""
        words: Any = self
        live = self._live
        place = live.considered
        considered = None if place is None else int(live.stream.number[place])
        return [Privileged(0, considered, live.numbers(live.slots.claims), lambda: words)]


def how_shown(
    policy: Given,
    capacity: int,
    claims: int,
    cues: Sequence[str],
    encoder: Encoder | None,
    reader: str | None = None,
) -> tuple[Interface, Encoder | None]:
    """Find how a policy is to be shown a stream: as in its training, or as at level 2.

    The encoder is None where the training materials brought vectors along. Another ``reader`` than
    a model's own changes what is read, and not the columns that the model sees.
    """
    if claims < 1:
        raise ValueError(f"claims={claims!r} is not a positive integer")
    if not is_path(policy):
        encoder = encoder or HashingEncoder()
        rules = Rules(capacity=capacity, reader=reader or ALL, **LEVELS["2"])
        layout = _layout(claims, encoder.dimension, cues, texts=True)
        layout = replace(layout, reads=Objective.of(rules).limited)
        if (trained := observed(policy)) is not None:
            layout = _like(trained, claims, cues) or layout
            encoder = encoder if layout.limits.embedding == encoder.dimension else None
        return Interface(layout, rules, Actions(capacity, rules.clears, 0)), encoder
    if cues:
        raise ValueError("a model brings its own cues; leave them out")
    first, *others = find_models(policy)
    for model in others:
        if model.card.encoder != first.card.encoder:
            raise ValueError(f"{model.path}: has another encoder than {first.path}")
    seen = first.interface(capacity, claims)
    rules = replace(seen.rules, reader=reader or seen.rules.reader)
    return replace(seen, rules=rules), _own_encoder(first, encoder)


def _own_encoder(model: Model, given: Encoder | None) -> Encoder | None:
    """Give the encoder that a model was trained with, if its materials brought no vectors along."""
    described = model.card.encoder
    if given is not None:
        if not described or not same_encoder(given, described):
            raise ValueError(
                f"a model brings its own encoder; encoder= is not that of {model.path}"
            )
        return given
    if not described:
        return None
    try:
        return make_encoder(described)
    except MaterialError as error:
        raise error.within(str(model.path)) from None


def build_policy(given: Given, place: Place, seed: int, device: str) -> Predictor:
    """Build the policy; raises ``ValueError`` for an oracle."""
    if is_path(given):
        return load(given, place, seed=seed, device=device)
    if policy_class(given).privileged:
        raise ValueError(f"'{label_of(given)}' is an oracle: it reads what no agent may know")
    return make(given, place, seed=seed)


def _layout(claims: int, embedding: int, cues: Sequence[str], *, texts: bool) -> Layout:
    limits = Limits(claims, claims, embedding, tuple(sorted(cues)), texts)
    return Layout(limits, pool=False, priority=False, query_rows=HISTORY)


def _like(trained: spaces.Space[Any], claims: int, cues: Sequence[str]) -> Layout | None:
    """Find the layout of the streams that a network without a card was trained on.

    The widths of its arrays say how many numbers an embedding has, whether there were texts, and
    how many cues, though not their names: raises ``ValueError`` where another number is given.
    """
    known = trained.spaces if isinstance(trained, spaces.Dict) else {}
    shapes = [getattr(known.get(name), "shape", None) or (0,) for name in ("claim", "queries")]
    bare = _layout(claims, 1, (), texts=False)
    embedding = shapes[1][-1] - bare.queries.width + 1
    more = shapes[0][-1] - bare.claim.width - embedding + 1
    texts = more % 2 == 1  # a cue has two columns, and texts have an odd number of them
    wanted, odd = divmod(more - texts * len(TEXT_COLUMNS), len(CUE_COLUMNS))
    if embedding < 1 or wanted < 0 or odd:
        return None  # whoever builds the policy says how its spaces differ
    if wanted != len(cues):
        raise ValueError(
            f"the model was trained on claims with {wanted} cues, and {len(cues)} are named; name "
            "them as its materials do: cues="
        )
    return _layout(claims, embedding, cues, texts=texts)
