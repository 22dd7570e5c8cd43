"""Systems as policies: each claim is added to the system, and the slots follow what it holds."""

from __future__ import annotations

import importlib
import inspect
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.privileged import Privileged
from memenvs.envs.memorization.slots import EMPTY
from memenvs.policies.base import Observation, Policy, State, privileged
from memenvs.policies.systems.process import ProcessSystem, command
from memenvs.policies.systems.protocol import FaultySystemError, System
from memenvs.policies.systems.running import Running
from memenvs.policies.user_code import import_from_here


class SystemPolicy(Policy):
    """Adds each claim to a system of its own for each episode, and writes what it holds.

    The environment takes one write a decision. So where the system gives up several claims at once
    their slots are overwritten as claims arrive, and ``kept`` alone says what it really holds. A
    claim that the system gave up and took back is not written again.
    """

    variants: ClassVar[tuple[str, ...]] = ()
    usage: ClassVar[str]

    def __init__(self, env: Any, seed: int = 0, *, variant: str | None = None) -> None:
        super().__init__(env, seed)
        kind = self.usage.partition(":")[0]
        if not variant:
            raise ValueError(f"the policy '{kind}' needs a system to be named: {self.usage}")
        self.name = f"{kind}:{variant}"
        if self.rules.access == "pool" or self.rules.action == "priority":
            raise ValueError(
                f"'{self.name}' reads a stream and writes slots; it plays neither access='pool' "
                "nor action='priority'"
            )
        if not self.layout.limits.texts:
            raise ValueError(f"'{self.name}' needs claims with a text; these have none")
        self._env = env
        self._open = self._opener(variant)
        self._running: dict[int, Running] = {}
        self._begun = 0
        self._entries = self._unmatched = self._beyond = 0  # at the ends of episodes

    @property
    def alone(self) -> bool:
        """Always: a system is asked one text after another."""
        return True

    @abstractmethod
    def _opener(self, variant: str) -> Callable[[], System]:
        """Find what makes a system; raises ``ValueError`` that says what is wrong with it."""

    def start(self, episodes: NDArray[np.int64]) -> State:
        """Give the numbers of new systems, which are made when they are needed."""
        numbers = self._begun + np.arange(len(episodes))
        self._begun += len(numbers)
        return (numbers,)

    def act(
        self, observation: Observation, masks: NDArray[np.bool_], state: State
    ) -> tuple[NDArray[Any], State]:
        """Add the considered claims, and follow what the systems made of them."""
        views = privileged(self._env)
        actions = [
            self._follow(self._system(int(number)), view, mask)
            for number, view, mask in zip(state[0], views, masks, strict=True)
        ]
        return np.array(actions), state

    def kept(self, state: State) -> list[list[int]]:
        """Give the claims that each system holds within the capacity, by number."""
        return [self._system(int(number)).kept() for number in np.atleast_1d(state[0])]

    def search(self, state: State) -> Callable[[str, int], list[int]] | None:
        """Give the search of the first episode's system, if it has one."""
        running = self._system(int(np.atleast_1d(state[0])[0]))
        return running.search if running.searches else None

    def conclude(self, state: State, earned: float) -> None:
        """Count what was stored, and let the systems go."""
        for number in np.atleast_1d(state[0]).tolist():
            running = self._running.pop(number, None)
            if running is not None:
                self._entries += running.entries
                self._unmatched += running.unmatched
                self._beyond += running.beyond
                running.close()

    def remark(self) -> str:
        """Say what of the entries counted for nothing."""
        return (
            f"of {self._entries} entries at the ends of episodes {self._unmatched} matched no "
            f"claim, {self._beyond} were beyond the capacity"
        )

    def _system(self, number: int) -> Running:
        if number not in self._running:
            self._running[number] = Running(
                self._open(), self.name, self.rules.capacity, self.rules.allowance
            )
        return self._running[number]

    def _follow(self, running: Running, view: Privileged, mask: NDArray[np.bool_]) -> int:
        claim = view.considered
        if claim is None:
            return self.actions.PASS
        running.add(view.load().claims[claim], claim)
        kept = running.kept()
        stale = (view.slots != EMPTY) & ~np.isin(view.slots, kept)
        if claim in kept:
            legal = mask[1 : 1 + self.actions.slots]
            for wanted in (legal & (view.slots == EMPTY), legal & stale):
                if wanted.any():
                    return 1 + int(wanted.argmax())
        elif self.actions.clears and stale.any():
            return self.actions.first_clear + int(stale.argmax())
        return self.actions.PASS


class PythonSystem(SystemPolicy):
    """What a class or factory of Python makes, with `add`, `contents` and perhaps `search`."""

    usage: ClassVar[str] = "system:MODULE:CLASS_OR_FACTORY"

    def _opener(self, variant: str) -> Callable[[], System]:
        module, _, attribute = variant.partition(":")
        try:
            import_from_here()
            made: Any = importlib.import_module(module)
        except (ModuleNotFoundError, ValueError) as error:
            missing = getattr(error, "name", None) or module
            if module != missing and not module.startswith(f"{missing}."):
                raise  # the module is there, and lacks something
            raise ValueError(
                f"there is no module '{module}' for '{self.name}'; name it as {self.usage}, and "
                "let it lie in the working directory or where PYTHONPATH reaches"
            ) from None
        for part in attribute.split("."):
            made = getattr(made, part, None)
        if not callable(made):
            raise ValueError(
                f"the module '{module}' has no class or factory '{attribute}'; name it as "
                f"{self.usage}"
            )
        told = {"capacity": self.rules.capacity} if _takes_capacity(made) else {}

        def build() -> System:
            try:
                system: Any = made(**told)
            except ModuleNotFoundError:
                raise
            except Exception as error:
                said = f"{type(error).__name__}: {error}"
                raise FaultySystemError(f"'{self.name}' cannot be made: {said:.200}") from error
            for call in ("add", "contents"):
                if not callable(getattr(system, call, None)):
                    raise ValueError(
                        f"what '{self.name}' makes, a {type(system).__name__}, has no '{call}'; "
                        "a system has add(text, **facts) and contents()"
                    )
            return system  # type: ignore[no-any-return]

        return build


class Process(SystemPolicy):
    """A program that reads and writes lines of JSON: a system in any language."""

    usage: ClassVar[str] = "process:COMMAND"

    def _opener(self, variant: str) -> Callable[[], System]:
        words = command(variant)
        return lambda: ProcessSystem.start(words, self.rules.capacity)


def _takes_capacity(made: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(made).parameters.values()
    except (TypeError, ValueError):  # a class in C may not tell
        return False
    return any(parameter.name == "capacity" for parameter in parameters)
