"""A system in one episode: what it was given, what it holds, and which claims these are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memenvs.material.records import Claim
from memenvs.policies.systems.protocol import (
    FaultySystemError,
    Known,
    Matcher,
    System,
    cut,
    known_entries,
)

FACTS = ("source", "group", "time", "confidence")


class Running:
    """Feeds a system, and reads what it holds.

    Raises ``FaultySystemError`` for what it does wrong.
    """

    def __init__(self, system: System, name: str, capacity: int, allowance: float) -> None:
        self.system, self.name = system, name
        self._capacity, self._allowance = capacity, allowance
        self._matcher = Matcher()
        self._cost: dict[int, float] = {}
        self.entries = self.unmatched = self.beyond = 0  # as it was looked at last

    def add(self, claim: Claim, number: int) -> None:
        """Give it a claim, and what an observer knows of it."""
        given = {name: getattr(claim, name) for name in FACTS}
        facts = {name: value for name, value in given.items() if value not in (None, "")}
        identifier = str(number)
        self._matcher.read(identifier, claim.text, number)
        self._cost[number] = claim.cost
        self._call("add", claim.text, id=identifier, **facts)

    def kept(self) -> list[int]:
        """Give the claims it holds, by number: of its entries those listed last that fit.

        An entry that is no claim takes a place, and costs nothing of a budget.
        """
        claims = self._claims("contents", self._call("contents"))
        costs = [0.0 if claim is None else self._cost[claim] for claim in claims]
        fitting = cut(costs, self._capacity, self._allowance)
        kept = claims[len(claims) - fitting :]
        self.entries, self.beyond = len(claims), len(claims) - fitting
        self.unmatched = claims.count(None)
        return sorted({claim for claim in kept if claim is not None})

    def search(self, query: str, k: int) -> list[int]:
        """Give the claims among what it finds for a query."""
        found = self._claims("search", self._call("search", query, k))
        return [claim for claim in found[:k] if claim is not None]

    @property
    def searches(self) -> bool:
        """Whether it can be asked."""
        return callable(getattr(self.system, "search", None))

    def close(self) -> None:
        """Let it go, where it wants to be told."""
        if callable(getattr(self.system, "close", None)):
            self._call("close")

    def _claims(self, call: str, given: object) -> list[int | None]:
        entries: Sequence[Known] = known_entries(given, self.name, call)
        return self._matcher.match(entries)

    def _call(self, call: str, *given: Any, **facts: Any) -> Any:
        try:
            return getattr(self.system, call)(*given, **facts)
        except (FaultySystemError, ModuleNotFoundError):
            raise
        except Exception as error:
            said = f"{type(error).__name__}: {' '.join(str(error).split()):.200}"
            raise FaultySystemError(f"the system '{self.name}' failed in {call}: {said}") from error
