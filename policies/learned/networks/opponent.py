"""The network of a writer's opponent: which query to ask, or to attack and as which source."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from memenvs.envs.memorization.rules import Action
from memenvs.policies.learned.networks.features import perceptron
from memenvs.policies.learned.networks.own_logits import OwnLogits
from memenvs.policies.learned.networks.pointer import ILLEGAL, SMALL, Observed
from memenvs.policies.learned.networks.sets import pooled

STEEP = 20.0  # first weight of how far the budget is behind the stream, as shares


class Opponent(nn.Module):
    """Actor and critic over queries, and over sources where there are any.

    The logit of attacking query q as source s at level l is a(q) + b(s) + c(l) + <u(q), v(s)>, that
    of asking q is a(q); no weight depends on the number of queries or sources. That of waiting is
    raised by the logarithm of how many others are legal, so that at first it is as likely as they
    together. A poisoner starts from attacks that are spread evenly: it rather waits where less is
    left of its budget than of the stream, the first columns of its context. The last column of
    queries and sources says which rows are valid.
    """

    def __init__(self, space: spaces.Dict, actions: int, hidden: int) -> None:
        super().__init__()
        (queries, query), (context,) = _shape(space, "queries"), _shape(space, "context")
        self._attacks = "sources" in space.spaces
        self.query = perceptron(query + context, hidden, out=hidden)
        width = 2 * hidden + context
        if self._attacks:
            sources, source = _shape(space, "sources")
            self.levels = (actions - 1) // (queries * sources)
            self.source = perceptron(source + context, hidden, out=hidden)
            self.as_source = perceptron(hidden + width, hidden, out=1, last=SMALL)
            self.pair = nn.Linear(hidden, hidden)
            self.level = perceptron(width, hidden, out=self.levels, last=SMALL)
        self.wait = perceptron(width, hidden, out=1, last=SMALL)
        self.about = perceptron(hidden + width, hidden, out=1, last=SMALL)
        self.value = perceptron(width, hidden, out=hidden)
        self.latent_dim_pi = 1  # SB3 asks for it and gets logits
        self.latent_dim_vf = hidden

    def scores(self, queries: Tensor, summary: Tensor, observation: Observed) -> Tensor:
        """Score every action, legal or not, by the encoded queries: ``(B, n)``."""
        beside = summary[:, None].expand(-1, queries.shape[1], -1)
        about = self.about(torch.cat([queries, beside], dim=-1))[..., 0]
        if self._attacks:
            sources, _ = self._encode(self.source, observation, "sources")
            beside = summary[:, None].expand(-1, sources.shape[1], -1)
            spoken = self.as_source(torch.cat([sources, beside], dim=-1))[..., 0]
            pair = self.pair(queries) @ sources.mT * SMALL / queries.shape[-1] ** 0.5
            scores = about[:, :, None] + spoken[:, None] + pair
            about = (scores[..., None] + self.level(summary)[:, None, None]).flatten(1)
        others = (observation["action_mask"][:, 1:] > 0).sum(dim=1, keepdim=True)
        wait = self.wait(summary) + others.clamp(min=1).log()
        if self._attacks:
            left, budget = observation["context"][:, :1], observation["context"][:, 1:2]
            wait = wait + STEEP * (left - budget)
        return torch.cat([wait, about], dim=1)

    def forward_actor(self, observation: Observed) -> Tensor:
        """Give the logits, those of illegal actions out of reach."""
        found: Tensor = self(observation)[0]
        return found

    def forward_critic(self, observation: Observed) -> Tensor:
        """Give what the value is read from: ``(B, hidden)``."""
        _, summary = self._encode(self.query, observation, "queries")
        found: Tensor = torch.relu(self.value(summary))
        return found

    def forward(self, observation: Observed) -> tuple[Tensor, Tensor]:
        """Give both."""
        queries, summary = self._encode(self.query, observation, "queries")
        scores = self.scores(queries, summary, observation)
        legal = observation["action_mask"] > 0
        return torch.where(legal, scores, ILLEGAL), torch.relu(self.value(summary))

    def _encode(self, layer: nn.Module, observation: Observed, name: str) -> tuple[Tensor, Tensor]:
        """Encode rows beside the context: ``(B, n, h)``, and a summary of the valid ones."""
        context = observation["context"]
        rows = torch.sign(observation[name]) * torch.log1p(observation[name].abs())  # of counts
        beside = context[:, None].expand(-1, rows.shape[1], -1)
        encoded = torch.relu(layer(torch.cat([rows, beside], dim=-1)))
        valid = observation[name][..., -1] > 0
        return encoded, torch.cat([pooled(encoded, valid), context], dim=-1)


class OpponentPolicy(OwnLogits, MaskableMultiInputActorCriticPolicy):
    """SB3's policy around an ``Opponent``.

    Args:
        observation_space, action_space, lr_schedule: as SB3 gives them.
        hidden: width of the layers.
        use_sde: must stay False; SB3 gives it.
        settings: of SB3's policy: ``optimizer_class``, ``optimizer_kwargs``.
    """

    writes: ClassVar[Action] = "slots"  # it picks from a list, with masks
    algorithm: ClassVar[str] = "sb3_contrib:MaskablePPO"

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Discrete,
        lr_schedule: Schedule,
        *,
        hidden: int = 64,
        use_sde: bool = False,
        **settings: Any,
    ) -> None:
        options = {"hidden": hidden}
        super().__init__(observation_space, action_space, lr_schedule, options=options, **settings)

    def action_logits(self, observation: Observed) -> Tensor:
        """Score every action: ``(B, n)``, best the likeliest attack, or question, or to wait.

        It waits where that is likelier than all others together.
        """
        self.set_training_mode(False)
        logits: Tensor = self.mlp_extractor.forward_actor(observation)
        others = logits[:, 1:]
        together, best = others.logsumexp(dim=1, keepdim=True), others.amax(dim=1, keepdim=True)
        return torch.cat([logits[:, :1], others - best + together], dim=1)

    def _build_mlp_extractor(self) -> None:
        assert isinstance(self.observation_space, spaces.Dict)
        assert isinstance(self.action_space, spaces.Discrete)
        actions = int(self.action_space.n)
        self.mlp_extractor: Any = Opponent(self.observation_space, actions, **self._options)


def _shape(space: spaces.Dict, name: str) -> tuple[int, ...]:
    shape = space.spaces[name].shape
    assert shape is not None
    return shape
