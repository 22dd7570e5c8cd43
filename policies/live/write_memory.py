"""A memory for a real agent: it keeps what a trained model, or a rule of thumb, would keep."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.live import Live
from memenvs.envs.memorization.slots import EMPTY
from memenvs.errors import MaterialError
from memenvs.material.records import Claim
from memenvs.objective import Objective
from memenvs.policies.learned.models import CLAIMS
from memenvs.policies.live.memory_file import Content, claim_as_json, read_memory, write_memory
from memenvs.policies.live.memory_place import Place, build_policy, how_shown
from memenvs.policies.live.ranking import Index, check_reader
from memenvs.policies.live.said import Messages, Time, what_is_said
from memenvs.policies.live.stored import Stored, not_stored
from memenvs.policies.predictor import State
from memenvs.policies.resolve import Given, label_of
from memenvs.storage.handles import Guard, one_at_a_time
from memenvs.text.encoders import Encoder

CAPACITY = 100


class WriteMemory(Stored):
    """Keep at most ``capacity`` of the claims that an agent reads, by a learned rule or another.

    Args:
        policy: what decides; by default weights that come with the package. Others are the path of
            a trained model, as ``memenvs.policies.load`` takes it, the name of a policy that needs
            no truth (``"trust"``, ``"memorybank"``, ...), or one of your own, in any form that
            ``memenvs.policies.make`` takes.
        capacity: slots.
        claims: how many claims the stream is expected to have; each time that it proves longer,
            as many again as were read are expected.
        cues: names of the numbers that ``add`` may be given; a model brings its own.
        encoder: of the texts; a model brings its own, unless that is a server, or a model on disk,
            that the user's environment does not name.
        reader: how the memory is read for a query: ``"all"``, or the K stored claims that rank
            highest, ``"similarity:K"`` or ``"bm25:K"``; a model's own by default.
        seed: of what the policy leaves to chance.
        device: of a model's network.

    Every claim is decided about on the observation that an environment would show. Threads may
    share a memory; neither time nor room grows with what it has read. Raises ``ValueError`` for a
    policy that reads what no agent may know, or a model that does not fit.
    """

    def __init__(
        self,
        policy: Given = "pretrained",
        capacity: int = CAPACITY,
        *,
        claims: int = CLAIMS,
        cues: Sequence[str] = (),
        encoder: Encoder | None = None,
        reader: str | None = None,
        seed: int = 0,
        device: str = "auto",
    ) -> None:
        self.policy_name = label_of(policy)
        reader = reader and check_reader(reader)
        seen, self.encoder = how_shown(policy, capacity, claims, cues, encoder, reader)
        self._live = Live(seen.rules, seen.actions, seen.layout, claims)
        self._claims: dict[int, Claim] = {}  # what is stored, and what has just arrived
        self._index = Index()
        place = Place(seen, self._live, self._claims)
        self._policy = build_policy(policy, place, seed, device)
        self._given, self._layout = policy, seen.layout
        self._state: State = self._policy.start(np.array([seed]))
        self.guard = Guard()
        self._settings = {
            "capacity": capacity,
            "claims": claims,
            "cues": list(cues),
            "seed": seed,
            "reader": seen.rules.reader,
        }

    def __bool__(self) -> bool:
        return True  # an empty memory is one

    def __repr__(self) -> str:
        held, capacity = len(self), self._settings["capacity"]
        return f"WriteMemory({self.policy_name!r}, {held} of {capacity} claims)"

    @overload
    def add(
        self,
        text: str,
        source: str | None = None,
        time: Time = None,
        confidence: float | None = None,
        *,
        group: str = "",
        cost: float = 1.0,
        cues: Mapping[str, float] | None = None,
        embedding: Sequence[float] | None = None,
    ) -> int: ...

    @overload
    def add(
        self,
        text: Messages,
        source: str | None = None,
        time: Time = None,
        confidence: float | None = None,
        *,
        group: str = "",
        cost: float = 1.0,
        cues: Mapping[str, float] | None = None,
    ) -> list[int]: ...

    @one_at_a_time
    def add(
        self,
        text: str | Messages,
        source: str | None = None,
        time: Time = None,
        confidence: float | None = None,
        *,
        group: str = "",
        cost: float = 1.0,
        cues: Mapping[str, float] | None = None,
        embedding: Sequence[float] | None = None,
    ) -> int | list[int]:
        """Read a claim, and keep it or not; gives its number, by which ``settled`` may name it.

        Instead of a text it may be a list of messages as chats have them, ``{"role": ...,
        "content": ...}``; their numbers are given, and nothing is read if one of them is refused.
        Of a message ``name``, else the ``source`` given, else ``role`` is the source, and ``time``
        its time; one without text is passed over.

        ``time`` is a number in any one unit, or a date, which becomes days since 1970 as in
        ``memenvs build``; ``group`` names what belongs together, as a session;
        ``embedding`` stands in for the encoder's. Raises ``MaterialError`` for a value that no
        material may have, ``ValueError`` for an unknown cue and for what is no message.
        """
        known = self._layout.limits.cues
        unknown = set(cues or ()) - set(known)
        if unknown:
            names = ", ".join(known) or "none"
            raise ValueError(f"the cue '{min(unknown)}' is unknown to the policy; it knows {names}")
        several = isinstance(text, (list, tuple))
        if several and embedding is not None:
            raise ValueError("embedding= is of one text, and not of a list of messages")
        claims = [
            Claim(
                id=str(number),
                text=said.text,
                source=said.source,
                time=said.time,
                confidence=confidence,
                group=group,
                cost=cost,
                cues=cues or {},
            )
            for number, said in enumerate(what_is_said(text, source, time), self._live.read)
        ]
        vectors = [self._vector(claim.text, embedding) for claim in claims]
        for claim, vector in zip(claims, vectors, strict=True):
            self._decide(claim, vector)
        numbers = [int(claim.id) for claim in claims]
        return numbers if several else numbers[0]

    def _decide(self, claim: Claim, vector: Float32) -> None:
        live = self._live
        live.arrive(claim, vector)
        self._claims[int(claim.id)] = claim
        action, self._state = self._policy.predict(self.observation(), self._state)
        live.write(action)
        kept = set(live.numbers(live.slots.claims).tolist())
        for gone in [each for each in self._claims if each not in kept]:
            del self._claims[gone]  # its words; its numbers stay, for later claims to compare with

    @one_at_a_time
    def update(self, number: int, text: str, *, embedding: Sequence[float] | None = None) -> None:
        """Replace the text of a stored claim; raises ``ValueError`` where it is not stored.

        Its slot, number, source, time and records stay; its vector, and what the policy sees of
        the words, are those of the new text.
        """
        if number not in self._claims:
            raise not_stored(number)
        claim = replace(self._claims[number], text=text)
        vector = self._vector(claim.text, embedding)
        self._live.reword(self._places()[number], claim.text, vector)
        self._claims[number] = claim

    @one_at_a_time
    def forget(self, number: int) -> None:
        """Take a stored claim out; raises ``ValueError`` where it is not stored.

        Its slot is free for the next claim. What the policy has learnt of its source stays.
        """
        if number not in self._claims:
            raise not_stored(number)
        self._live.slots.clear(
            int(np.flatnonzero(self._live.slots.claims == self._places()[number])[0])
        )
        del self._claims[number]

    @one_at_a_time
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
        came from none. By default it is, of the claims that the reader reads, the one most similar
        to the query (and its ties), which the environment's reasoner would name, if the two have
        anything in common. A limited reader's policy also hears which claims were read. Raises
        ``ValueError`` for a claim that is not stored.
        """
        vector = self._vector(query, embedding)
        places = self._places()
        limited = Objective.of(self._live.rules).limited
        read = self._read(query, vector) if limited else sorted(places)
        named = self._nearest(vector, read) if claims is None else list(claims)
        for number in named:
            if number not in places:
                raise not_stored(number)
        behind = sorted(places[number] for number in set(named))
        told = sorted(places[number] for number in read) if limited else []
        self._live.settle(vector, bool(answered_rightly), behind, told)

    @one_at_a_time
    def observation(self) -> dict[str, NDArray[Any]]:
        """Give what the policy sees, as an environment would show it."""
        return self._live.observation()

    @one_at_a_time
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the memory to one file, whole or not at all; raises ``OSError``.

        A model stays where it is: the file holds its digest. What only its user may name (a model,
        a command, a server) is no part of it, and is given to ``load`` again.
        """
        claims = [claim_as_json(claim) for _, claim in sorted(self._claims.items())]
        told = claims, self._live.stream.reader.as_names(), self._live.as_arrays(), self._state
        write_memory(path, Content(self._given, self._settings, self.encoder, *told))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        policy: Given | None = None,
        device: str = "auto",
        *,
        encoder: Encoder | None = None,
    ) -> WriteMemory:
        """Open a memory that was saved; it goes on as if it had never been closed.

        A file is data, and may be a stranger's. So it names no trained model, no command and no
        server: ``policy`` says where the model is, or what else decided unless that was a rule of
        this package; ``encoder`` is needed where the texts' vectors come from a server or a model
        that the user's environment does not name. Raises ``ValueError`` that says which argument is
        missing, for a file that was changed or damaged, and for another model than it was
        written with.
        """
        content = read_memory(path, policy, encoder)
        memory = cls(content.policy, **content.settings, encoder=content.encoder, device=device)
        try:
            memory._restore(content)
        except (LookupError, TypeError, ValueError, OverflowError) as error:
            raise MaterialError(
                f"does not go together with its policy: {error}", file=os.fspath(path)
            ) from None
        return memory

    def _restore(self, content: Content) -> None:
        """Take up what was read; raises ``ValueError`` where its parts contradict each other."""
        fresh = self._state
        kinds = [(array.shape, array.dtype) for array in content.state]
        if kinds != [(array.shape, array.dtype) for array in fresh]:
            raise ValueError("the policy's state is of another shape or kind")
        names = content.names
        cues = len(self._layout.limits.cues)
        if any(len(totals) != cues for _, _, totals in names["heard"]):
            raise ValueError("sources have other cues")
        self._live.restore(content.arrays)
        self._live.stream.reader.restore(names)
        self._claims.update({int(claim["id"]): Claim(**claim) for claim in content.claims})
        stored = self._live.numbers(self._live.slots.claims)
        if sorted(self._claims) != sorted(stored[stored != EMPTY].tolist()):
            raise ValueError("other claims are stored than it tells")
        self._state = content.state
