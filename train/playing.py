"""An environment with the policies that play it, in batches where that can be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.vector import VectorEnv

from memenvs.errors import MaterialError
from memenvs.reading.layer import Layer
from memenvs.train.named_policy import NamedPolicy
from memenvs.train.optima import Optima
from memenvs.train.places import Place
from memenvs.train.play import Ended, play, play_one
from memenvs.train.units import Unit

EPISODES = 256  # at once, of observations that take no more than
BYTES = 1 << 26  # together
PATIENCE = 5  # failures in a row after which a policy is not tried again
FAULTS = (MaterialError, ModuleNotFoundError, MemoryError)  # of what is played, not of who plays

Outcome: TypeAlias = Ended | Exception


class Playing:
    """Plays units of a place: all of a chunk at once, or what plays alone one after another.

    ``optima`` are shared with the oracles.
    """

    def __init__(
        self,
        place: Place,
        *,
        episodes: int,
        seed: int = 0,
        optima: Optima | None = None,
        layer: Layer | None = None,
    ) -> None:
        self.place, self.optima = place, optima
        self._episodes, self._seed, self._layer = episodes, seed, layer
        self._policies: dict[
            tuple[str, bool], NamedPolicy
        ] = {}  # by name, and whether in the batch
        self._failed: dict[tuple[str, int], int] = {}  # in a row, by name and member

    @cached_property
    def batch(self) -> VectorEnv[Any, Any, Any] | None:
        """The batch; None where pages are played one after another, in a browser."""
        if self.place.family is not None and not self.place.native:
            return None
        each = observation_bytes(self.place.env.observation_space)
        return self.place.batch(max(1, min(self._episodes, EPISODES, BYTES // each)))

    def named(self, name: str) -> NamedPolicy:
        """Find the policies behind a name; raises ``ValueError`` for an unknown one."""
        together = self._named(name, batched=self.batch is not None)
        return self._named(name, batched=False) if together.alone else together

    def play(self, name: str, member: int, units: Sequence[Unit]) -> Iterator[tuple[Unit, Outcome]]:
        """Play units as a member of who plays under a name; an episode that fails gives the error.

        What fails in a batch is played again by itself, so that it costs no other episode.
        """
        named = self.named(name)
        groups: dict[int, list[Unit]] = {}
        for unit in units:
            groups.setdefault(id(named.player(unit.instance.name, member)), []).append(unit)
        for own in groups.values():
            player = named.player(own[0].instance.name, member)
            if self.batch is None or named.alone:
                yield from self._one_by_one(name, member, player, own)
                continue
            for start in range(0, len(own), self.batch.num_envs):
                chunk = own[start : start + self.batch.num_envs]
                try:
                    found = play(self.batch, player, chunk, self._layer)
                except FAULTS:
                    raise
                except Exception:  # a policy may fail in any way
                    other = self._named(name, batched=False).player(chunk[0].instance.name, member)
                    yield from self._one_by_one(name, member, other, chunk)
                else:
                    yield from zip(chunk, found, strict=True)

    def all(self, name: str, units: Sequence[Unit], member: int = 0) -> list[Ended]:
        """Play units as ``play`` does, and give what they ended with in their order.

        Raises what a policy raised.
        """
        found: dict[int, Outcome] = {id(unit): out for unit, out in self.play(name, member, units)}
        ended = []
        for unit in units:
            outcome = found[id(unit)]
            if not isinstance(outcome, Ended):
                raise outcome
            ended.append(outcome)
        return ended

    def _one_by_one(
        self, name: str, member: int, player: Any, units: Sequence[Unit]
    ) -> Iterator[tuple[Unit, Outcome]]:
        last: Exception | None = None
        for unit in units:
            failed = self._failed.get((name, member), 0)
            if failed >= PATIENCE:
                reason = f"not tried after {failed} failures in a row, the last: {last}"
                yield unit, RuntimeError(reason)
                continue
            try:
                found = play_one(self.place.env, player, unit, self._layer)
            except FAULTS:
                raise
            except Exception as error:  # a policy may fail in any way
                last, self._failed[name, member] = error, failed + 1
                yield unit, error
            else:
                self._failed[name, member] = 0
                yield unit, found

    def _named(self, name: str, *, batched: bool) -> NamedPolicy:
        if (name, batched) not in self._policies:
            env: Any = self.batch if batched else self.place.env
            names = [instance.name for instance in self.place.instances]
            named = NamedPolicy(name, env, self._seed, names)
            if self.optima is not None:
                named.tell(self.optima.plan)
            self._policies[name, batched] = named
        return self._policies[name, batched]


def observation_bytes(space: spaces.Space[Any]) -> int:
    """Bytes of the arrays of one observation, at least 1."""
    if isinstance(space, spaces.Dict):
        return sum(map(observation_bytes, space.values()))
    if space.shape is None or space.dtype is None:
        return 1
    return max(1, int(np.prod(space.shape)) * space.dtype.itemsize)
