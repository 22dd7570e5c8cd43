"""A memory for a real agent: it keeps what a trained model, or a rule of thumb, would keep."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.live import Live
from memenvs.material.records import Claim
from memenvs.policies.learned.models import CLAIMS
from memenvs.policies.live.memory_file import Content, read_memory, write_memory
from memenvs.policies.live.memory_place import Place, build_policy, how_shown
from memenvs.policies.predictor import State
from memenvs.policies.resolve import Given, label_of
from memenvs.reading.utility import DECIMALS
from memenvs.text.encoders import Encoder, unit_rows


@dataclass(frozen=True)
class Entry:
    """A stored claim, and how often answers that it had a part in were right and wrong."""

    number: int  # as ``add`` gave it
    text: str
    source: str
    time: float | None
    confidence: float | None
    group: str
    credits: int
    debits: int


class WriteMemory:
    """Keep at most ``capacity`` of the claims that an agent reads, by a learned rule or another.

    Args:
        policy: what decides: the path of a trained model, as ``memenvs.policies.load`` takes it,
            the name of a policy that needs no truth (``"trust"``, ``"memorybank"``, ...), or one of
            your own, in any form that ``memenvs.policies.make`` takes.
        capacity: slots.
        claims: how many claims the stream is expected to have; of a longer one every further claim
            is taken for the last.
        cues: names of the numbers that ``add`` may be given; a model brings its own.
        encoder: of the texts, for a policy by name; a model brings its own.
        seed: of what the policy leaves to chance.
        device: of a model's network.

    Every claim is decided about on the observation that an environment would show. Raises
    ``ValueError`` for a policy that reads what no agent may know, or a model that does not fit.
    """

    def __init__(
        self,
        policy: Given,
        capacity: int,
        *,
        claims: int = CLAIMS,
        cues: Sequence[str] = (),
        encoder: Encoder | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.policy_name = label_of(policy)
        seen, self.encoder = how_shown(policy, capacity, claims, cues, encoder)
        self._live = Live(seen.rules, seen.actions, seen.layout, claims)
        self._claims: dict[int, Claim] = {}  # what is stored, and what has just arrived
        place = Place(seen, self._live, self._claims)
        self._policy = build_policy(policy, place, seed, device)
        self._given, self._layout = policy, seen.layout
        self._state: State = self._policy.start(np.array([seed]))
        self._settings = {"capacity": capacity, "claims": claims, "cues": list(cues), "seed": seed}

    def add(
        self,
        text: str,
        source: str | None = None,
        time: float | None = None,
        confidence: float | None = None,
        *,
        group: str = "",
        cost: float = 1.0,
        cues: Mapping[str, float] | None = None,
        embedding: Sequence[float] | None = None,
    ) -> int:
        """Read a claim, and keep it or not; gives its number, by which ``settled`` may name it.

        ``time`` is in any one unit; ``group`` names what belongs together, as a session;
        ``embedding`` stands in for the encoder's. Raises ``MaterialError`` for a value that no
        material may have, ``ValueError`` for an unknown cue.
        """
        live, layout = self._live, self._layout
        unknown = set(cues or ()) - set(layout.limits.cues)
        if unknown:
            known = ", ".join(layout.limits.cues) or "none"
            raise ValueError(f"the cue '{min(unknown)}' is unknown to the policy; it knows {known}")
        number = live.stream.count
        claim = Claim(
            id=str(number),
            text=text,
            source=source or "",
            time=time,
            confidence=confidence,
            group=group,
            cost=cost,
            cues=cues or {},
        )
        live.arrive(claim, self._vector(text, embedding))
        self._claims[number] = claim
        action, self._state = self._policy.predict(self.observation(), self._state)
        live.write(action)
        kept = live.slots.stored
        for gone in [each for each in self._claims if each not in kept]:
            del self._claims[gone]  # its words; its numbers stay, for later claims to compare with
        return number

    def settled(
        self,
        query: str,
        answered_rightly: bool,
        claims: Iterable[int] | None = None,
        *,
        embedding: Sequence[float] | None = None,
    ) -> None:
        """Learn that a query was answered rightly or wrongly, and from which stored claims.

        ``claims`` are numbers of stored claims, credited or debited; ``()`` says that the answer
        came from none. By default it is the stored claim most similar to the query (and its ties),
        which the environment's reasoner would name, if the two have anything in common. Raises
        ``ValueError`` for a claim that is not stored.
        """
        vector = self._vector(query, embedding)
        stored = self._live.slots.stored
        named = self._nearest(vector) if claims is None else list(claims)
        for number in named:
            if number not in stored:
                raise ValueError(f"claim {number} is not in the memory; contents() lists what is")
        self._live.settle(vector, bool(answered_rightly), sorted(set(named)))

    def contents(self) -> list[Entry]:
        """List the stored claims in the order they were read."""
        debits, credits = self._live.records.credits
        return [
            Entry(
                number,
                claim.text,
                claim.source,
                claim.time,
                claim.confidence,
                claim.group,
                int(credits[number]),
                int(debits[number]),
            )
            for number, claim in sorted(self._claims.items())
        ]

    def search(
        self, query: str, k: int = 5, *, embedding: Sequence[float] | None = None
    ) -> list[Entry]:
        """Give the ``k`` stored claims most similar to a query, the best first."""
        vectors = self._live.stream.embedding
        asked = self._vector(query, embedding)
        entries = self.contents()
        similarity = np.round([vectors[entry.number] @ asked for entry in entries], DECIMALS)
        return [entries[place] for place in np.argsort(-similarity, kind="stable")[:k]]

    def observation(self) -> dict[str, NDArray[Any]]:
        """Give what the policy sees, as an environment would show it."""
        return self._live.observation()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the memory to one file, whole or not at all; raises ``OSError``.

        A model stays where it is: the file holds its path and its digest.
        """
        settings = {"policy": self._given, **self._settings}
        claims = [_as_json(claim) for _, claim in sorted(self._claims.items())]
        names = self._live.stream.reader.as_names()
        content = Content(settings, claims, names, self._live.as_arrays(), self._state)
        write_memory(path, content, self.encoder)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        policy: Given | None = None,
        device: str = "auto",
    ) -> WriteMemory:
        """Open a memory that was saved; it goes on as if it had never been closed.

        ``policy`` says where its model is, if that was moved; a policy of your own has to be given
        again, since a file chooses no code. Raises ``ValueError`` for another
        file, and where the model is gone or has changed.
        """
        content = read_memory(path, policy)
        memory = cls(**content.settings, device=device)
        memory._live.restore(content.arrays)
        memory._live.stream.reader.restore(content.names)
        memory._claims.update({int(claim["id"]): Claim(**claim) for claim in content.claims})
        memory._state = content.state
        return memory

    def _vector(self, text: str, embedding: Sequence[float] | None) -> Float32:
        width = self._layout.limits.embedding
        if embedding is None:
            if self.encoder is None:
                raise ValueError(
                    f"the model reads vectors of {width} numbers that its materials brought along; "
                    "give embedding="
                )
            return np.asarray(self.encoder.encode([text])[0], dtype=np.float32)
        vector = np.asarray(embedding, dtype=np.float64)
        if vector.shape != (width,) or not np.isfinite(vector).all():
            raise ValueError(f"embedding is no vector of {width} finite numbers")
        return np.asarray(unit_rows(vector[None])[0], dtype=np.float32)

    def _nearest(self, vector: Float32) -> list[int]:
        """Stored claims most similar to a query, if they have anything in common."""
        stored = sorted(self._live.slots.stored)
        if not stored:
            return []
        similarity = np.round(self._live.stream.embedding[stored] @ vector, DECIMALS)
        best = similarity.max()
        return [n for n, s in zip(stored, similarity, strict=True) if s == best] if best > 0 else []


def _as_json(claim: Claim) -> dict[str, Any]:
    fields = ("id", "text", "source", "time", "confidence", "group", "cost")
    return {name: getattr(claim, name) for name in fields} | {"cues": dict(claim.cues)}
