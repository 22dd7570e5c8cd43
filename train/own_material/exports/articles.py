"""Texts of data sets: corpora of titled articles, and those that stand beside their questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import TIMES, Fields, name_of, strings
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("title", "body", "article", "context", "paragraphs")
BODIES = ("body", "article", "text", "articletext", "textcontent")
SAID = ("role", "sender", "from", "speaker", "sendername", "user")  # of a message, not an article


def recognises(head: Head) -> bool:
    """Whether a record is an article, or holds texts that questions are asked about."""
    return any(_reader(record) for record in head.records())


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the paragraphs of the texts, each once; group = title, source = who published it."""
    seen: set[tuple[str, str]] = set()
    for _, value in head.entries():
        reader = _reader(value)
        if reader is None:
            document.leave("record without a text left out", " ".join(strings(value)))
            continue
        for passage in reader(document, value):
            if (passage.group, passage.text) not in seen:  # a text comes with each of its questions
                seen.add((passage.group, passage.text))
                yield passage


def _reader(value: Any) -> Callable[[Document, Any], Iterator[Passage]] | None:
    if not isinstance(value, Mapping):
        return None
    fields = Fields(value)
    if isinstance(value.get("data"), list) and any("paragraphs" in _dict(a) for a in value["data"]):
        return _squad
    if isinstance(value.get("paragraphs"), list):
        return _paragraphs
    if isinstance(value.get("document"), Mapping) and "question" in value:
        return _narrative
    if isinstance(value.get("dialog"), list) and "personas" in value:
        return _sessions
    if value and all("profile" in _dict(person) for person in value.values()):
        return _people
    if isinstance(value.get("context"), str) and "question" in value:
        return _context
    titled = fields.has("title", "doctitle") and fields.has(*BODIES)
    return _article if titled and not fields.has(*SAID) else None


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _article(document: Document, value: Mapping[str, Any]) -> Iterator[Passage]:
    """An article of a corpus, as of MultiHop-RAG, HippoRAG or QuALITY."""
    fields = Fields(value)
    text, title = fields.take(*BODIES), fields.take("title", "doctitle")
    source, moment = name_of(fields.take("source", "author")), fields.take(*TIMES)
    fields.skip("questions", "idx", "id")
    yield from _passages(str(text or ""), name_of(title), source, moment)
    fields.report(document)


def _squad(document: Document, value: Mapping[str, Any]) -> Iterator[Passage]:
    for article in value["data"]:
        yield from _paragraphs(document, _dict(article))


def _paragraphs(document: Document, value: Mapping[str, Any]) -> Iterator[Passage]:
    """An article of SQuAD, or a question of MuSiQue with its paragraphs."""
    for paragraph in map(_dict, value.get("paragraphs") or ()):
        fields = Fields(paragraph)
        text = fields.take("context", "paragraphtext", "text")
        yield from _passages(str(text or ""), name_of(paragraph.get("title") or value.get("title")))


def _context(document: Document, value: Mapping[str, Any]) -> Iterator[Passage]:
    yield from _passages(value["context"], name_of(value.get("title")))


def _narrative(document: Document, value: Mapping[str, Any]) -> Iterator[Passage]:
    """A story of NarrativeQA: its text if it is there, else its summary."""
    story = Fields(value["document"])
    summary = _dict(story.peek("summary"))
    text = story.peek("text") or summary.get("text") or ""
    yield from _passages(str(text), name_of(summary.get("title") or story.peek("id")))


def _sessions(document: Document, value: Mapping[str, Any]) -> Iterator[Passage]:
    """A dialogue of MSC: its sessions in their order, each with how long ago it was."""
    before = [_dict(session) for session in value.get("previous_dialogs") or ()]
    name = name_of(_dict(value.get("metadata")).get("initial_data_id"))
    for number, session in enumerate([*before, value], start=1):
        group = " > ".join(filter(None, (name, f"session {number}")))
        for place, turn in enumerate(session.get("dialog") or ()):
            speaker = name_of(_dict(turn).get("id")) or f"Speaker {place % 2 + 1}"
            text = str(_dict(turn).get("text") or "")
            yield Passage(text, group, source=speaker, whole=True)
        if session.get("time_back"):
            document.leave("time of a session left out", str(session["time_back"]))
        document.leave("personas left out", " ".join(strings(session.get("personas"))))


def _people(document: Document, value: Mapping[str, Any]) -> Iterator[Passage]:
    """The memories of PerLTQA's people: profile, relationships, events, dialogues."""
    for person, memories in value.items():
        for kind, memory in _dict(memories).items():
            group = f"{person} > {kind}"
            if not isinstance(memory, Mapping):
                yield from _passages(str(memory), group)
                continue
            for name, entry in memory.items():
                if not isinstance(entry, Mapping):
                    yield Passage(f"{person}, {name}: {entry}", group, whole=True)
                    continue
                moment = entry.get("Creation Time")
                yield from _passages("\n".join(strings(entry)), f"{group} > {name}", "", moment)


def _passages(text: str, group: str, source: str = "", moment: Any = None) -> Iterator[Passage]:
    for paragraph in text.split("\n"):
        if paragraph.strip():
            yield Passage(paragraph, group, source=source, moment=moment)
