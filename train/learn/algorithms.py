"""The algorithms as one table: what each trains, and where its interface fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from gymnasium import spaces

from memenvs.envs.family import MEMORIZATION
from memenvs.policies.learned.models import WRITER
from memenvs.train.config_files import unknown
from memenvs.train.learn.settings import Training, dashed

MLP = "mlp"
SB3 = "sb3"  # models that Stable-Baselines3 saves
OF_WRITING = ("shaping", "feature_dropout")
OF_LEARNING_FROM_REWARDS = ("schedule", "shaping", "feature_dropout", "curriculum")


@dataclass(frozen=True)
class Interface:
    """How an environment is seen and acted in, as far as an algorithm must know."""

    family: str  # its name; empty for an environment from outside of memenvs
    actions: str  # name of the action space
    masked: bool  # whether some actions are illegal at times
    shows_mask: bool  # whether the observation has an `action_mask`
    arrays: bool  # whether the observation is a Dict of arrays

    @classmethod
    def of(cls, env: Any) -> Interface:
        """Read the interface of a batch for stable-baselines3."""
        family, seen = env.unwrapped.family, env.observation_space
        arrays = isinstance(seen, spaces.Dict)
        return cls(
            "" if family is None else family.name,
            type(env.action_space).__name__,
            env.has_attr("action_masks"),
            arrays and "action_mask" in seen.spaces,
            arrays,
        )

    @property
    def described(self) -> str:
        """Say how it is acted in: by the setting where there is one, else by the action space."""
        named = f"action='{WRITES[self.actions]}'" if self.actions in WRITES else ""
        return named if self.family == MEMORIZATION.name else f"actions of a {self.actions} space"


# How a memorization environment names its action spaces.
WRITES = {"Discrete": "slots", "Box": "priority"}
WRITING = Interface(MEMORIZATION.name, "Discrete", masked=True, shows_mask=True, arrays=True)
ANY = ("Discrete", "MultiDiscrete", "MultiBinary", "Box")


@dataclass(frozen=True)
class Algorithm:
    """One way to train."""

    path: str  # module:class
    actions: tuple[str, ...]  # names of the action spaces that it takes
    masks: bool = False  # whether it takes legal actions alone, whatever the network
    unmasked: str = ""  # module:class for environments where every action is legal, if another
    networks: bool = True  # whether it trains ours; else only `mlp`
    rollouts: bool = True  # whether it learns from whole rollouts, of `n_steps` each
    policy: str = "MultiInputPolicy"  # its own network, behind the name `mlp`
    writers: bool = False  # whether it trains writers of memorization environments alone
    kind: str = SB3  # of the models that it saves
    defaults: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)  # of its own network

    def load(self, interface: Interface = WRITING) -> Any:
        """Import the class."""
        return imported(self.path if interface.masked else self.unmasked or self.path)

    def takes(self, interface: Interface) -> bool:
        """Whether it can act in an environment, with a network that masks by itself if need be."""
        if self.writers and interface.family != MEMORIZATION.name:
            return False
        legal = self.masks or self.networks or not interface.masked or interface.actions == "Box"
        return interface.actions in self.actions and legal

    def own_policy(self, interface: Interface) -> Any:
        """Give the class or the name of its own network for an environment."""
        if ":" in self.policy and interface.masked:
            return imported(self.policy)
        named = "MultiInputPolicy" if ":" in self.policy else self.policy
        return named if interface.arrays else named.replace("MultiInput", "Mlp")


_PPO = {
    "learning_rate": 1e-3,
    "batch_size": 1024,
    "n_epochs": 4,
    "gamma": 1.0,  # an early write is paid late
    "ent_coef": 0.005,
}
_Q = {"learning_rate": 5e-4, "buffer_size": 50_000, "learning_starts": 2_000, "gamma": 1.0}
_Q |= {"batch_size": 256, "train_freq": 1, "gradient_steps": 1, "target_update_interval": 2_000}
_Q |= {"exploration_fraction": 0.3}

ALGORITHMS: dict[str, Algorithm] = {
    "maskable-ppo": Algorithm("sb3_contrib:MaskablePPO", ANY[:3], masks=True, defaults=_PPO),
    "ppo": Algorithm("stable_baselines3:PPO", ANY, defaults=_PPO),
    "a2c": Algorithm("stable_baselines3:A2C", ANY, defaults={"gamma": 1.0}),
    "dqn": Algorithm(
        "memenvs.train.learn.masked_q:MaskedDQN",
        ("Discrete",),
        unmasked="stable_baselines3:DQN",
        masks=True,
        networks=False,
        rollouts=False,
        policy="memenvs.train.learn.masked_q:MaskedDQNPolicy",
        defaults=_Q,
    ),
    "qr-dqn": Algorithm(
        "memenvs.train.learn.masked_q:MaskedQRDQN",
        ("Discrete",),
        unmasked="sb3_contrib:QRDQN",
        masks=True,
        networks=False,
        rollouts=False,
        policy="memenvs.train.learn.masked_q:MaskedQRDQNPolicy",
        defaults=_Q,
        options={"n_quantiles": 50},
    ),
    "recurrent-ppo": Algorithm(
        "sb3_contrib:RecurrentPPO",
        ANY,
        networks=False,
        policy="MultiInputLstmPolicy",
        defaults=_PPO,
    ),
    "estimator": Algorithm(
        "memenvs.policies.learned.networks.fitting:fit_estimator",
        ("Discrete", "Box"),
        masks=True,
        networks=False,
        rollouts=False,
        writers=True,
        kind="estimator",
    ),
    "reader-estimator": Algorithm(
        "memenvs.policies.learned.networks.reading_fitting:fit_reader",
        ("Discrete", "Box"),
        masks=True,
        networks=False,
        rollouts=False,
        writers=True,
        kind="reader-estimator",
    ),
}
# Those that are fitted to settlements, without a reward and without SB3.
ESTIMATORS = frozenset(name for name, each in ALGORITHMS.items() if each.kind != SB3)


def imported(path: str) -> Any:
    """Import ``module:attribute``."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


def networks(
    training: Training, interface: Interface = WRITING
) -> Mapping[str, tuple[str, Mapping[str, Any]]]:
    """Give the table of networks for who is trained: module:class, and arguments."""
    from memenvs.policies.learned.networks.table import FAMILIES, OPPONENTS

    return FAMILIES.get(interface.family, {}) if training.seat == WRITER else OPPONENTS


def own_algorithm(training: Training, interface: Interface = WRITING) -> str:
    """Give the algorithm that a network needs, module:class; empty where any does."""
    network = training.network
    built = None if network == MLP else imported(networks(training, interface)[network][0])
    return getattr(built, "algorithm", "")


def check_algorithm(training: Training, interface: Interface) -> Algorithm:
    """Give the algorithm; raises ``ValueError`` where it does not fit, and says which ones do."""
    name, network = training.algorithm, training.network
    if training.seat != WRITER:
        interface = WRITING  # an opponent, too, picks from a list, with masks
    if name not in ALGORITHMS:
        raise ValueError(f"algorithm '{name}' {unknown(name, ALGORITHMS)}")
    found = ALGORITHMS[name]
    _check_actions(name, found, interface)
    known = networks(training, interface)
    if network not in known and (network != MLP or training.seat != WRITER):
        raise ValueError(
            f"network '{network}' {unknown(network, [*known, MLP])}"
            if training.seat == WRITER
            else f"a {training.seat} is trained with network {_listed(known)}, not '{network}'"
        )
    if network != MLP and not found.networks:
        raise ValueError(
            f"{name} trains a network of its own and not '{network}'; take network 'mlp', or one "
            f"of {_listed(_fitting(interface, networks=True))}"
        )
    if network != MLP:
        writes = imported(known[network][0]).writes
        if writes != (decided := WRITES[interface.actions]):
            raise ValueError(f"network '{network}' decides by action='{writes}', not '{decided}'")
    if training.imitation is not None and not found.networks:
        raise ValueError(
            f"{name} cannot begin by imitation; leave 'imitation' out, or take "
            f"{_listed(_fitting(interface, networks=True))}"
        )
    for key in OF_LEARNING_FROM_REWARDS if name in ESTIMATORS else ():
        if getattr(training, key):
            raise ValueError(f"algorithm '{name}' does not use rewards; leave '{dashed(key)}' out")
    if training.game is not None:
        _check_game(training)
    if own_algorithm(training, interface) and name != "maskable-ppo":
        raise ValueError(f"network '{network}' is trained by maskable-ppo alone, not by {name}")
    if network == MLP and interface.masked and not found.masks and interface.actions != "Box":
        own = f", or one of the networks that mask by themselves: {_listed(known)}" if known else ""
        raise ValueError(
            f"{name} has no masks, and with the network 'mlp' it would act illegally; take "
            f"{_listed(n for n, a in ALGORITHMS.items() if a.masks)}{own}"
        )
    return found


def _check_actions(name: str, algorithm: Algorithm, interface: Interface) -> None:
    """Raise ``ValueError`` where an algorithm cannot act in an environment."""
    if not algorithm.takes(interface):
        raise ValueError(
            f"{name} does not take {interface.described}; {_listed(_fitting(interface))} do"
        )
    if algorithm.unmasked and interface.masked and not interface.shows_mask:
        raise ValueError(
            f"{name} reads masks from an array 'action_mask' of the observation, which this "
            "environment has not; take maskable-ppo"
        )


def _fitting(interface: Interface, *, networks: bool = False) -> list[str]:
    """Name the algorithms that take an environment, of those that train our networks if asked."""
    return [n for n, a in ALGORITHMS.items() if a.takes(interface) and (a.networks or not networks)]


def _check_game(training: Training) -> None:
    """Raise ``ValueError`` for what is not done in a game."""
    if training.algorithm in ESTIMATORS:
        raise ValueError("an estimator is fitted with a single writer; leave 'game' out")
    for key in ("shaping",) if training.seat == WRITER else OF_WRITING:
        if getattr(training, key):
            raise ValueError(
                f"'{dashed(key)}' cannot be used for the {training.seat} of a game; leave it out"
            )


def _listed(names: Any) -> str:
    return ", ".join(names)
