"""A material out of documents and questions, with an account of how each question was linked."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from memenvs.errors import MaterialError
from memenvs.material.items import items_of
from memenvs.material.material import Material
from memenvs.material.records import Claim, Query
from memenvs.text.cache import Cache
from memenvs.text.embedders.caching import CachedEncoder
from memenvs.text.embedders.named import DIMENSION
from memenvs.text.encoder_files import save_encoder
from memenvs.text.encoders import Encoder, HashingEncoder, embed
from memenvs.text.tfidf import TfidfEncoder
from memenvs.text.times import Order
from memenvs.train.own_material.arranging import Note, in_time, told_apart, with_questions
from memenvs.train.own_material.finding import Found, find_documents
from memenvs.train.own_material.judging import LinkJudge
from memenvs.train.own_material.linking import MIN_SCORE, Linker
from memenvs.train.own_material.links import METHODS, Linked, links_path, save_links
from memenvs.train.own_material.questions import Question, read_questions
from memenvs.train.own_material.reading import Reading, open_document, passages_of
from memenvs.train.own_material.segment import LIMIT, By, Placed, TooManyClaimsError, claims_of

Advance: TypeAlias = Callable[[int], None]
Progress: TypeAlias = Callable[[str, int], Advance]  # what is done, of how many: then, how many are
SHOWN = 80  # characters of a question in the report
FEW = 3  # documents that are told one by one where the same is to be said of them


def silent(what: str, total: int) -> Advance:
    """Report no progress."""
    return lambda done: None


@dataclass(frozen=True)
class Built:
    """The material, how each question was linked, the encoder, and what was left out."""

    material: Material
    linked: tuple[Linked, ...]
    encoder: Encoder
    documents: int
    notes: tuple[Note, ...]

    def report(self) -> str:
        """Say what was built, what supports the questions, and which are left out and why."""
        methods = Counter(entry.method for entry in self.linked if entry.method)
        failed = [entry for entry in self.linked if not entry.found]
        ways = [f"{methods[method]} by {method}" for method in METHODS if methods[method]]
        lines = [
            f"{self.material.name}: {len(self.material.claims)} claims from {self.documents} "
            f"documents; {len(self.linked) - len(failed)} of {len(self.linked)} questions linked: "
            f"{', '.join(ways)}"
        ]
        lines += _told(self.notes)
        lines += [
            f"linked by {entry.method}: {entry.question}: {entry.reason}"
            for entry in self.linked
            if entry.found and entry.reason
        ]
        return "\n".join([*lines, *(self._failure(entry) for entry in failed)])

    def _failure(self, entry: Linked) -> str:
        near = entry.nearest
        best = ""
        if near is not None:
            claims = ", ".join(self.material.claim_ids[claim] for claim in near.claims)
            best = f" (best: {claims} by {near.method}, {near.score:.2f})"
        text = " ".join(entry.text.split())
        shown = text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"
        return f"left out: {entry.question}: {shown}: {entry.reason}{best}"

    def save(self, out: str | os.PathLike[str]) -> None:
        """Write links and encoder beside the material, then the material itself, each whole."""
        save_links(self.linked, self.material.claim_ids, links_path(out))
        save_encoder(self.encoder, out)
        self.material.save(out)


def build(
    documents: Sequence[str],
    questions: str | os.PathLike[str],
    name: str,
    *,
    by: By | None = None,
    language: str | None = None,
    encoder: Encoder | None = None,
    dimension: int = DIMENSION,
    min_score: float = MIN_SCORE,
    cache: Cache | None = None,
    judge: LinkJudge | None = None,
    progress: Progress = silent,
    exclude: Sequence[str] = (),
    strict: bool = False,
    encoding: str | None = None,
    dates: Order | None = None,
    join_answers: bool = False,
) -> Built:
    """Read documents and questions, link them, and attach vectors.

    ``encoder`` None stands for TF-IDF: LSA of ``dimension`` fitted on the claims for the vectors,
    all its weights for links. A question that no claim supports is left out of the material, and
    told in the report; so is a file of a folder that cannot be read, unless ``strict``, and what
    fits a pattern of ``exclude``. ``encoding`` is that of texts that are not UTF-8, ``dates`` the
    order of day, month and year in numbers; ``join_answers`` makes one claim of a question and the
    short answer after it. Raises ``MaterialError`` that names the file, and the record; also where
    no question is linked.
    """
    cache = cache or Cache(None)
    reading = Reading(encoding, dates)
    asked, notes = read_questions(questions)
    with TemporaryDirectory(prefix="memenvs-") as room:  # for archives
        files, others = find_documents(documents, questions, exclude, Path(room))
        notes += [Note(f"left out: {path}", reason) for path, reason in others.items()]
        placed = _read(files, by, language, strict, reading, cache, notes, progress)
    documents_read = len({p.document for p in placed})
    placed = in_time(told_apart(placed, notes), notes)
    if join_answers:
        placed = with_questions(placed)
    claims = [p.claim for p in placed]
    if isinstance(encoder, HashingEncoder) or encoder is None:
        linking = None
    else:
        linking = CachedEncoder(
            encoder, cache, progress("encoding", 2 * len(claims) + 2 * len(asked))
        )
    advance = progress("linking", len(asked))
    linked = []
    for entry in Linker(placed, asked, linking, judge, min_score).linked():
        linked.append(entry)
        advance(1)
    material = _material(name, claims, asked, linked, os.fspath(questions))
    used = encoder or TfidfEncoder.fit([material], dimension)
    embedded = embed(material, linking or used)
    return Built(embedded, tuple(linked), used, documents_read, tuple(notes))


def _told(notes: Sequence[Note]) -> list[str]:
    """Say each note; what is to be said of many documents is said once."""
    by_reason: dict[str, list[Note]] = {}
    for note in notes:
        by_reason.setdefault(note.reason, []).append(note)
    lines = []
    for reason, same in by_reason.items():
        if len(same) <= FEW or same[0].document.startswith("left out: "):
            lines += [f"{note.document}: {reason}{_counted(note)}" for note in same]
        else:
            times, words = sum(note.times for note in same), sum(note.words for note in same)
            counted = _counted(Note("", reason, times, words))
            lines.append(f"{len(same)} documents ({same[0].document}, ...): {reason}{counted}")
    return lines


def _counted(note: Note) -> str:
    words = f", {note.words} words" if note.words else ""
    return f": {note.times} x{words}" if note.times > 1 or words else ""


def _read(
    files: Sequence[Found],
    by: By | None,
    language: str | None,
    strict: bool,
    reading: Reading,
    cache: Cache,
    notes: list[Note],
    progress: Progress,
) -> list[Placed]:
    """Read all files; what cannot be read of a folder is left out, and noted, unless ``strict``."""
    advance = progress("reading", len(files))
    placed: list[Placed] = []
    left: list[str] = []
    for found in files:
        try:
            document = open_document(found.name, found.path, reading.encoding)
            passages = passages_of(document, cache, reading)
            placed += claims_of(document, passages, by, language, LIMIT - len(placed))
        except TooManyClaimsError:
            raise
        except MaterialError as error:
            if found.given or strict:
                raise
            where = ", ".join(filter(None, (error.record, error.field)))
            reason = f"{where}: {error.problem}" if where else error.problem
            notes.append(Note(f"left out: {found.shown}", reason))
            left.append(f"{found.shown}: {reason}")
        else:
            notes += [
                Note(found.name, reason, times, document.words[reason])
                for reason, times in document.notes.items()
            ]
        advance(1)
    if not placed:
        why = f"; left out: {'; '.join(left)}" if left else ""
        raise MaterialError(
            f"there is no document to read; name files, or a folder that holds some{why:.500}"
        )
    return placed


def _material(
    name: str,
    claims: Sequence[Claim],
    questions: Sequence[Question],
    linked: Sequence[Linked],
    file: str,
) -> Material:
    supports: dict[str, list[tuple[str, ...]]] = {}
    queries = []
    for question, entry in zip(questions, linked, strict=True):
        if not entry.found:
            continue
        try:
            query = Query(
                id=question.id, text=question.text, answer=question.answer, weight=question.weight
            )
        except MaterialError as error:
            raise error.within(file, question.where) from None
        supports[query.id] = [
            tuple(claims[n].id for n in sorted(found.claims)) for found in entry.found
        ]
        queries.append(query)
    if not queries:
        reasons = Counter(entry.reason for entry in linked).most_common(1)
        raise MaterialError(
            f"none of its {len(linked)} questions could be linked to a claim, most because "
            f"{reasons[0][0]}; give evidence, or lower --min-score",
            file=file,
        )
    try:
        return Material(name, tuple(claims), items_of(claims, supports), tuple(queries))
    except MaterialError as error:
        raise error.within(file) from None
