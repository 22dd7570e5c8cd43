"""What our policies change of stable-baselines3's: the network itself says what actions get."""

from __future__ import annotations

from typing import Any, ClassVar

from gymnasium import spaces
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.type_aliases import Schedule
from torch import Tensor, nn

from memenvs.envs.memorization.layout import Layout


class PassThrough(BaseFeaturesExtractor):
    """Hands the arrays of the observation on as they are; the layout is for those that add some."""

    def __init__(self, observation_space: spaces.Space[Any], layout: Layout | None = None) -> None:
        super().__init__(observation_space, features_dim=1)

    def forward(self, observations: dict[str, Tensor]) -> dict[str, Tensor]:
        """Give the observation."""
        return observations


class OwnLogits:
    """Mixed into a policy of stable-baselines3, before it: nothing stands behind the extractor.

    ``mlp_extractor`` gives the parameters of the actions' distribution. ``options`` are what a
    policy is built with beside SB3's own arguments; ``kept`` names those of SB3's that it takes.
    """

    kept: ClassVar[tuple[str, ...]] = ()
    extractor: ClassVar[type[BaseFeaturesExtractor]] = PassThrough

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Schedule,
        *,
        options: dict[str, Any],
        **settings: Any,
    ) -> None:
        self._options = options
        built: Any = super().__init__
        built(
            observation_space,
            action_space,
            lr_schedule,
            features_extractor_class=self.extractor,
            ortho_init=False,
            **settings,
        )

    def trained(self: Any) -> list[nn.Parameter]:
        """Parameters that the algorithm trains."""
        return list(self.parameters())

    def _build(self: Any, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)  # type: ignore[misc]
        _take_off_head(self, lr_schedule)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        base = super()._get_constructor_parameters()  # type: ignore[misc]
        always = ("observation_space", "action_space", "lr_schedule")
        names = (*always, *self.kept, "optimizer_class", "optimizer_kwargs")
        return {name: base[name] for name in names} | self._options


def _take_off_head(policy: Any, lr_schedule: Schedule) -> None:
    """Let a policy of stable-baselines3 that was just built act by its extractor alone."""
    policy.action_net = nn.Identity()
    policy.optimizer = policy.optimizer_class(
        policy.trained(),
        lr=lr_schedule(1),
        **policy.optimizer_kwargs,
    )
