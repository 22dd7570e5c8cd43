"""From a name, a class, an object or a function to what plays in an environment."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from gymnasium import spaces

from memenvs.policies.adapters import FunctionPolicy, ObjectPolicy
from memenvs.policies.base import Policy
from memenvs.policies.learned.loading import load
from memenvs.policies.learned.models import is_model, lacks_card
from memenvs.policies.names import ELSEWHERE, GROUP, NAMES, OUTSIDE, POLICIES
from memenvs.policies.predictor import Predictor, family_of, spaces_of
from memenvs.policies.user_code import find_code, is_code

Given = (
    Any  # a name, the path of a model, a class, an object with ``predict``, a network, a function
)

_given: ContextVar[Mapping[str, Given]] = ContextVar("given")


@contextmanager
def given_names(policies: Mapping[str, Given] | None) -> Iterator[None]:
    """Let names stand for policies of a user's own for a while.

    Raises ``ValueError`` for a name that is one of ours.
    """
    for name in policies or {}:
        if name.partition(":")[0] in NAMES:
            raise ValueError(f"'{name}' is the name of a policy of memenvs; choose another one")
    before = _given.set({**_given.get({}), **(policies or {})})
    try:
        yield
    finally:
        _given.reset(before)


def is_path(given: Given) -> bool:
    """Tell the path of models with cards from everything else that may be given."""
    if not isinstance(given, str | os.PathLike):
        return False
    name = os.fspath(given)
    head = name.partition(":")[0]
    if name in _given.get({}) or head in NAMES:
        return False
    return is_model(name) and not lacks_card(name)


def policy_class(given: Given) -> type[Predictor]:
    """Give the class of what plays under a name, or for an object.

    Raises ``ValueError`` that lists the names where there is none.
    """
    if is_path(given):
        from memenvs.policies.learned.trained import Trained

        return Trained
    return _class_of(find(given), label_of(given))


def make(given: Given, env: Any, *, seed: int = 0, **options: Any) -> Predictor:
    """Build the policy of that name for an environment, or for a vector of environments.

    ``given`` may be

    - NAME or NAME:VARIANT, of ours or of a package's entry point in the group "memenvs.policies",
    - the path of trained models, as ``load`` takes it, or of a zip file that SB3 saved,
    - MODULE:NAME or FILE.py:NAME of a class, object or function of your own, or that itself:
    - a class, which is called with the environment and a seed, as far as it takes them,
    - an object with SB3's ``predict``, or a model of SB3,
    - a torch module, from a batch of observations to logits,
    - a function from an observation and its mask to an action.

    A zip file of SB3 holds pickles: it is refused unless it was trusted once, or ``trust=True``.
    ``options`` are the policy's own, as ``judge`` of the memories in use today. Raises
    ``ValueError`` for an unknown name or variant, and for what does not fit the environment.
    """
    if is_path(given):
        return load(given, env, seed=seed, **options)
    found = find(given)
    if isinstance(given, str):
        name, colon, variant = given.partition(":")
        if colon and name in NAMES:
            if not hasattr(found, "variants"):
                raise ValueError(f"the policy '{name}' has no variant '{variant}'; it has none")
            options["variant"] = variant
    return _built(found, env, seed, given, options)


def label_of(given: Given) -> str:
    """Give what to call a policy: the name or path that was given, or that of an object."""
    if isinstance(given, str | os.PathLike):
        return os.fspath(given)
    return str(getattr(given, "__name__", type(given).__name__))


def observed(given: Given) -> spaces.Space[Any] | None:
    """Give the observations that a model of SB3 without a card takes; None of everything else."""
    found = find(given)
    if isinstance(found, _Zip):
        from memenvs.policies.learned.trained import load_policy

        found = load_policy(str(found), "cpu")
    space = getattr(found, "observation_space", None)
    return space if isinstance(space, spaces.Space) else None


def find(given: Given) -> Given:
    """Give what stands under a name; what is no name stands for itself.

    Raises ``ValueError`` that lists the names.
    """
    if not isinstance(given, str | os.PathLike):
        return given
    name = os.fspath(given)
    head = name.partition(":")[0]
    if name in (own := _given.get({})):
        return own[name]
    if head in NAMES:
        module, _, attribute = NAMES[head].partition(":")
        return getattr(import_module(module), attribute)
    if name in (installed := _installed()):
        return installed[name].load()
    missing = ""
    if is_code(name):
        try:
            return find_code(name)
        except ModuleNotFoundError as error:
            missing = f"; there is no module '{error.name}'"
    elif lacks_card(name):
        return _Zip(name)
    known = ", ".join((*POLICIES, *OUTSIDE, *installed))
    raise ValueError(
        f"no policy is named '{head}'; choose from {known}, or name the folder or file of a "
        f"trained model, or code of your own as MODULE:NAME or FILE.py:NAME{missing}"
    )


class _Zip(str):
    """The path of a model that brought no card."""

    __slots__ = ()


def _class_of(found: Given, label: str) -> type[Predictor]:
    """Give the class of what plays for an object or a class."""
    kind = found if isinstance(found, type) else type(found)
    if issubclass(kind, Predictor):
        return kind
    if issubclass(kind, (_Zip, *_loaded("stable_baselines3.common.base_class:BaseAlgorithm"))):
        return _without_card("SB3Policy")
    if issubclass(kind, _loaded("stable_baselines3.common.policies:BasePolicy")):
        return _without_card("SB3Policy")
    if callable(getattr(found, "predict", None)):
        return ObjectPolicy
    if issubclass(kind, _loaded("torch.nn:Module")):
        return _without_card("TorchPolicy")
    if callable(found) and (found is not kind or any("__call__" in vars(k) for k in kind.__mro__)):
        return FunctionPolicy
    raise ValueError(
        f"'{label}' cannot play: it is of type {kind.__name__}; give a class or an object with "
        "predict(observation, ...), a torch module, or a function of (observation, mask)"
    )


def _built(found: Given, env: Any, seed: int, given: Given, options: dict[str, Any]) -> Predictor:
    """Build what plays for a class or an object."""
    kind = _class_of(found, label_of(given))
    _check_family(kind, env, given)
    if isinstance(found, type):
        made = _called(found, env, seed, options)
        return made if isinstance(made, Predictor) else _built(made, env, seed, given, {})
    if isinstance(found, Predictor):
        return found.moved(env, seed)
    if isinstance(found, _Zip):
        trust = bool(options.pop("trust", False))
    if options:
        raise ValueError(f"'{label_of(given)}' takes no options, and not '{min(options)}'")
    if isinstance(found, _Zip):
        from_zip: Callable[..., Predictor] = kind.from_zip  # type: ignore[attr-defined]
        return from_zip(str(found), env, seed, trust=trust)
    return kind(env, seed, found, label_of(given))  # type: ignore[call-arg]


def _called(kind: type, env: Any, seed: int, options: dict[str, Any]) -> Any:
    """Call a class with the environment and the seed, as far as it takes them."""
    if issubclass(kind, Policy):
        return kind(env, seed, **options)
    if not issubclass(kind, Predictor):
        env = OneOfMany(env) if hasattr(env, "single_action_space") else env
    takes = inspect.signature(kind)
    for arguments in ((env, seed), (env,), ()):
        try:
            takes.bind(*arguments, **options)
        except TypeError:
            continue
        return kind(*arguments, **options)
    raise ValueError(
        f"the class {kind.__name__} cannot be made with (env, seed), with (env) or with nothing; "
        "give a class that can, or an object"
    )


class OneOfMany:
    """A vector of environments as a class of a user's own knows them: with the spaces of one."""

    def __init__(self, envs: Any) -> None:
        self._envs = envs
        self.observation_space, self.action_space = spaces_of(envs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._envs, name)


def _check_family(kind: type[Predictor], env: Any, given: Given) -> None:
    family = family_of(env)
    if kind.family in ("", family):
        return
    place = type(getattr(env, "unwrapped", env)).__name__
    here = ["random", *(n for n in ELSEWHERE if _class_of(find(n), n).family == family)]
    raise ValueError(
        f"{place} is no {kind.family} environment, the only kind that the policy "
        f"'{label_of(given)}' plays; choose {', '.join(here)}, a trained model or a policy of your "
        "own"
    )


def _installed() -> dict[str, EntryPoint]:
    """List the policies that installed packages name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def _loaded(path: str) -> tuple[type, ...]:
    """Give a class of a package that an object may come from, if that was imported at all."""
    module, _, name = path.partition(":")
    return (getattr(sys.modules[module], name),) if module in sys.modules else ()


def _without_card(name: str) -> type[Predictor]:
    found: type[Predictor] = getattr(import_module("memenvs.policies.learned.without_card"), name)
    return found


def from_torch(module: Any, env: Any, *, seed: int = 0) -> Predictor:
    """Let a torch module play: from a batch of observations, float tensors, to logits ``(B, n)``.

    ``module`` may also be a function of such a batch, as ``lambda seen: agent.actor(seen)``. Masks
    are applied. Raises ``ValueError`` where its results do not fit the environment.
    """
    return _without_card("TorchPolicy")(env, seed, module, label_of(module))  # type: ignore[call-arg]
