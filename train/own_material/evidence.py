"""Evidence that the user gave, found in the claims: by id, offset, or quote."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product

from memenvs.text.encoders import words
from memenvs.train.own_material.links import ALTERNATIVES, Found, Method
from memenvs.train.own_material.questions import Evidence, Question
from memenvs.train.own_material.segment import Placed

QUOTED = 0.95  # score of a quote that is found only without case and punctuation
GIVEN = 1.0


@dataclass(frozen=True)
class Sought:
    """What came of a question's evidence: claims, or candidates where it stands in several."""

    found: tuple[Found, ...] = ()
    among: tuple[int, ...] = ()  # the only claims it can mean
    reason: str = ""


class EvidenceIndex:
    """Finds given evidence in claims; a quote may run over several claims of a document."""

    def __init__(self, placed: Sequence[Placed]) -> None:
        self._placed = placed
        self._ids = {p.claim.id: n for n, p in enumerate(placed)}
        self._documents: dict[str, list[int]] = {}
        self._own: dict[str, list[int]] = {}  # claims by the ids that their documents give them
        for n, p in enumerate(placed):
            if p.own and p.own != p.claim.id:
                self._own.setdefault(p.own, []).append(n)
            self._documents.setdefault(p.document, []).append(n)
        texts = [p.claim.text for p in placed]
        self._plain = {d: _Joined([texts[n] for n in ns]) for d, ns in self._documents.items()}
        self._words = {
            d: _Joined([" ".join(words(texts[n])) for n in ns]) for d, ns in self._documents.items()
        }

    def seek(self, question: Question) -> Sought:
        """Resolve all pieces of a question's evidence, or say which could not be."""
        resolved: list[list[tuple[int, ...]]] = []
        score = GIVEN
        for part in question.evidence:
            places, how, reason = self._part(part)
            if not places:
                return Sought(reason=reason)
            if self._ambiguous(places):
                reason = f"{reason} in {len(places)} places"
                if len(question.evidence) > 1:
                    return Sought(reason=reason)
                return Sought(among=tuple(n for place in places for n in place), reason=reason)
            score = min(score, how)
            resolved.append(places)
        # Repetitions of one piece are alternatives, also where it is needed with others.
        sets = dict.fromkeys(
            tuple(sorted({n for place in chosen for n in place}))
            for chosen in islice(product(*resolved), ALTERNATIVES)
        )
        return Sought(tuple(Found(claims, _method(score), score) for claims in sets))

    def _part(self, part: Evidence) -> tuple[list[tuple[int, ...]], float, str]:
        """Give the places a piece of evidence can mean, the score, and what to say of it."""
        if isinstance(part, int):
            if len(self._documents) > 1:
                return [], 0.0, f"its offset {part} does not say in which document"
            return self._span(next(iter(self._documents)), part, part + 1)
        if isinstance(part, dict):
            document = part.get("document")
            if document is not None and document not in self._documents:
                return [], 0.0, f"its document '{document}' is not among those read"
            if "start" in part:
                return self._span(part["document"], part["start"], part["end"])
            if "claim" in part:
                place = self._ids.get(part["claim"])
                there: list[tuple[int, ...]] = [] if place is None else [(place,)]
                reason = self._namesakes(part["claim"])
                return there, GIVEN, reason or f"its claim '{part['claim']}' is not there"
            return self._quote(part["quote"], [document] if document else list(self._documents))
        if part in self._ids:
            return [(self._ids[part],)], GIVEN, ""
        places, how, reason = self._quote(part, list(self._documents))
        return places, how, (not places and self._namesakes(part)) or reason

    def within(self, quotes: Sequence[str]) -> tuple[int, ...]:
        """Give the claims that any of the quotes runs over."""
        found = [self._quote(quote, list(self._documents))[0] for quote in quotes]
        return tuple(sorted({n for places in found for place in places for n in place}))

    def _namesakes(self, name: str) -> str:
        """Say that an id is not unique, and what the claims are called that have it."""
        named = [self._placed[n].claim.id for n in self._own.get(name, ())]
        return f"its claim '{name}' is one of several: {', '.join(named)}" if named else ""

    def _span(
        self, document: str, start: int, end: int
    ) -> tuple[list[tuple[int, ...]], float, str]:
        inside = [
            n
            for n in self._documents[document]
            if (p := self._placed[n]).start is not None
            and p.end is not None
            and p.start < max(end, start + 1)
            and p.end > start
        ]
        reason = f"its offset {start} lies in no claim of '{document}'"
        if all(self._placed[n].start is None for n in self._documents[document]):
            reason = f"'{document}' is no plain text, so offsets mean nothing in it: quote it"
        return [tuple(inside)] if inside else [], GIVEN, reason

    def _quote(self, quote: str, documents: list[str]) -> tuple[list[tuple[int, ...]], float, str]:
        for joined, text, score in (
            (self._plain, " ".join(quote.split()), GIVEN),
            (self._words, " ".join(words(quote)), QUOTED),
        ):
            places = [
                tuple(self._documents[d][n] for n in place)
                for d in documents
                for place in joined[d].find(text, whole_words=score == QUOTED)
            ]
            if places:
                return list(dict.fromkeys(places)), score, "its quote stands"
        return [], 0.0, "its quote is found nowhere"

    def _ambiguous(self, places: list[tuple[int, ...]]) -> bool:
        """Whether several places say different things: repetitions are alternatives."""
        texts = {tuple(self._placed[n].claim.text for n in place) for place in places}
        return len(texts) > 1


class _Joined:
    """Texts as one, in which a stretch is found and told in terms of them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._starts = [0]
        for text in texts:
            self._starts.append(self._starts[-1] + len(text) + 1)
        self._text = " ".join(texts)

    def find(self, text: str, whole_words: bool) -> list[tuple[int, ...]]:
        """Give the texts that each occurrence touches."""
        places, start = [], self._text.find(text) if text else -1
        while start >= 0:
            end = start + len(text)
            bounded = self._text[start - 1 : start] in ("", " ") and self._text[end : end + 1] in (
                "",
                " ",
            )
            if bounded or not whole_words:
                first = bisect_right(self._starts, start) - 1
                last = bisect_right(self._starts, end - 1) - 1
                places.append(tuple(range(first, last + 1)))
            start = self._text.find(text, start + 1)
        return places


def _method(score: float) -> Method:
    return "evidence" if score == GIVEN else "quote"
