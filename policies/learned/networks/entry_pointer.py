"""The pointer policy of the poisoning environment: a score for each entry, and one to stop."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from memenvs.envs.memorization.rules import Action
from memenvs.envs.poisoning.layout import LAYOUT
from memenvs.policies.learned.networks.features import perceptron
from memenvs.policies.learned.networks.own_logits import OwnLogits
from memenvs.policies.learned.networks.pointer import Observed, PointerCore
from memenvs.policies.learned.networks.sets import pooled


class EntryPointer(PointerCore):
    """Actor and critic over one encoder of the recorded entries and of all of them together.

    The logit of an entry comes from it beside the whole, that of stopping from the whole alone.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__(hidden)
        entries, context = LAYOUT.entries.width, LAYOUT.context.width
        self._valid = LAYOUT.index("valid")
        self.entry = perceptron(entries + context, hidden, out=hidden)
        self.whole = perceptron(2 * hidden + context, hidden, out=hidden)
        self.stop = nn.Linear(hidden, 1)
        self.pick = perceptron(2 * hidden, hidden, out=1)
        self.value = nn.Linear(hidden, hidden)

    def encode(self, observation: Observed) -> tuple[Tensor, Tensor, Tensor]:
        """Encode: the recorded entries ``(R, h)``, their rows ``(R,)``, the whole ``(B, h)``.

        Only recorded entries are computed: a prompt has 6 of 24 on average.
        """
        entries, context = observation["entries"], observation["context"]
        valid = entries[..., self._valid] > 0
        row, place = valid.nonzero(as_tuple=True)
        one = torch.relu(self.entry(torch.cat([entries[row, place], context[row]], dim=-1)))
        spread = entries.new_zeros((*valid.shape, one.shape[-1]))
        spread[row, place] = one
        together = torch.cat([pooled(spread, valid), context], dim=-1)
        return one, row, torch.relu(self.whole(together))

    def logits(self, observation: Observed) -> Tensor:
        """Score to stop, then each entry: ``(B, 1 + E)``."""
        return self._scores(observation, *self.encode(observation))

    def forward_critic(self, observation: Observed) -> Tensor:
        """Give what the value is read from: ``(B, h)``."""
        return torch.relu(self.value(self.encode(observation)[2]))

    def forward(self, observation: Observed) -> tuple[Tensor, Tensor]:
        """Give both, from one encoding."""
        encoded = self.encode(observation)
        scores = self.legal(self._scores(observation, *encoded), observation)
        return scores, torch.relu(self.value(encoded[2]))

    def _scores(self, observation: Observed, one: Tensor, row: Tensor, whole: Tensor) -> Tensor:
        valid = observation["entries"][..., self._valid]
        scores = valid.new_zeros(valid.shape)
        scores[valid > 0] = self.pick(torch.cat([one, whole[row]], dim=-1))[:, 0]
        return torch.cat([self.stop(whole), scores], dim=1)


class EntryPointerPolicy(OwnLogits, MaskableMultiInputActorCriticPolicy):
    """SB3's policy around an ``EntryPointer``; it masks by the observation.

    Args:
        observation_space, action_space, lr_schedule: as SB3 gives them.
        hidden: width of the layers.
        use_sde: must stay False; SB3 gives it.
        settings: of SB3's policy: ``optimizer_class``, ``optimizer_kwargs``.
    """

    needs_history: ClassVar[bool] = False
    writes: ClassVar[Action] = "slots"  # one action of a list

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        hidden: int = 32,
        use_sde: bool = False,
        **settings: Any,
    ) -> None:
        options = {"hidden": hidden}
        super().__init__(observation_space, action_space, lr_schedule, options=options, **settings)

    def action_logits(self, observation: Observed) -> Tensor:
        """Score every action, legal or not: ``(B, 1 + E)``."""
        self.set_training_mode(False)
        logits: Tensor = self.mlp_extractor.logits(observation)
        return logits

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor: Any = EntryPointer(**self._options)  # SB3's name
