"""What stands between environments and the memory, which knows integers alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from memenvs.policies.bisimulation.memory import UNKNOWN, Elements


@dataclass(frozen=True)
class Look:
    """One page or situation, as the memory sees it."""

    signature: int  # tells pages apart
    label: int  # what it offers; pages of one signature carry one label
    templates: Sequence[int]  # name of each action, by its number; UNKNOWN: it is not legal here
    resolved: Sequence[bool]  # whether the name means that action alone, here
    elements: Elements = frozenset()  # what the rule "observation" compares
    title: str = ""  # of the page, for people
    words: Sequence[str] = ()  # what each action is, by its number, for people

    def named(self, actions: Sequence[int]) -> list[int]:
        """Give the templates of actions, UNKNOWN where one does not resolve."""
        return [self.templates[a] if self.resolved[a] else UNKNOWN for a in actions]

    def names(self, action: int) -> bool:
        """Say whether an action is one of this page, legal and with a name."""
        return 0 <= action < len(self.templates) and self.templates[action] != UNKNOWN


class Endings(Protocol):
    """Turns the end of an episode into its role."""

    def role(self, earned: float, steps: int, terminated: bool) -> int:
        """Say how an episode ended: SUCCESS, FAILURE, or NEITHER where it was cut.

        ``earned`` is its summed reward, ``steps`` its length.
        """
        ...


@runtime_checkable
class Fitted(Endings, Protocol):
    """Endings that must have seen episodes to say which are a success."""

    @property
    def level(self) -> float | None:
        """What is known so far."""
        ...

    def fit(self, ended: Sequence[tuple[float, int]]) -> None:
        """Set the level by what episodes earned, each in so many steps."""
        ...


class Adapter(Endings, Protocol):
    """Turns what an environment shows into looks."""

    def look(self, observation: Any, info: dict[str, Any]) -> Look:
        """Read one observation."""
        ...


class Shortlister(Protocol):
    """A policy that names alternatives to its first choice."""

    def shortlist(
        self, observation: Any, info: dict[str, Any], state: Any
    ) -> tuple[list[int], Any]:
        """Give distinct legal actions, its own choice first, and the next state.

        ``state`` is None at the start of an episode.
        """
        ...

    def observe(self, executed: int, state: Any) -> Any:
        """Learn which action was executed, its own choice or another; gives the next state."""
        ...


# By class of environment: how it is read. A class is built for the environment.
ADAPTERS: dict[str, str] = {
    "GuiEnv": "memenvs.policies.gui.adapter:GuiAdapter",
    "PanelsVectorEnv": "memenvs.policies.gui.adapter:GuiAdapter",
}


def adapter_for(env: Any) -> Adapter:
    """Build the adapter of an environment; raises ``TypeError`` where there is none."""
    for kind in type(env.unwrapped).__mro__:
        if kind.__name__ in ADAPTERS:
            module, _, name = ADAPTERS[kind.__name__].partition(":")
            found: Adapter = getattr(import_module(module), name)(env)
            return found
    raise TypeError(f"the bisimulation memory cannot read a {type(env.unwrapped).__name__}")
