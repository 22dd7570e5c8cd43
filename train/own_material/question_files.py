"""Files of questions in the shapes people have, brought to one: question, answer, evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from memenvs.errors import MaterialError
from memenvs.strict_json import read_json_documents
from memenvs.train.own_material.fields import fold
from memenvs.train.own_material.passages import Document
from memenvs.train.own_material.tables import rows_of

# Names of the same, the first that is there counts. RAGAS keeps a model's reply in `answer`, and
# the right one in `ground_truth`.
ALIASES: dict[str, tuple[str, ...]] = {
    "id": ("id", "questionid", "qid", "uid"),
    "question": ("question", "query", "userinput", "q", "prompt"),
    "answer": (
        *("groundtruth", "groundtruths", "reference", "referenceanswer", "expectedanswer"),
        *("goldanswer", "goldanswers", "answer", "answers", "a"),
    ),
    "evidence": ("evidence", "supportingfacts"),
    "evidencelist": ("evidencelist",),
    "context": ("referencecontexts", "context", "contexts", "passage"),
    "weight": ("weight",),
}
EMPTY: tuple[Any, ...] = (None, "", [], {})


@dataclass(frozen=True)
class AskedQuestion:
    """A question as its file has it, under the names that are read here."""

    fields: Any
    where: str
    unread: tuple[str, ...] = ()
    unanswerable: str = ""  # why nothing answers it


def asked_in(file: str) -> Iterator[AskedQuestion]:
    """Give the questions of a file of JSON, JSON Lines or CSV: plain ones, or a data set's.

    Raises ``MaterialError`` that names the file and the place.
    """
    if PurePath(file).suffix.lower() in (".csv", ".tsv"):
        try:
            content = Path(file).read_bytes()
        except OSError as error:
            raise MaterialError(f"cannot be read: {error.strerror}", file=file) from None
        header, rows = rows_of(Document(file, content))
        for number, row in enumerate(rows, start=2):
            if any(cell.strip() for cell in row):
                cells = dict(zip(header, map(_cell, row), strict=False))
                cells = {name: cell for name, cell in cells.items() if cell != ""}
                yield _plain(cells, f"row {number}")
        return
    documents = read_json_documents(file)
    if len(documents) == 1 and isinstance(documents[0][1], list):
        documents = [(f"question {n}", value) for n, value in enumerate(documents[0][1])]
    for where, value in documents:
        yield from _record(value, where)


def _cell(text: str) -> Any:
    """Read a cell; a list or an object in it is JSON."""
    text = text.strip()
    if text[:1] in ("[", "{"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    try:
        return float(text) if text.replace(".", "", 1).isdigit() and "." in text else text
    except ValueError:
        return text


def _record(value: Any, where: str) -> Iterator[AskedQuestion]:
    """Give the question that a record is, or those in it."""
    if not isinstance(value, Mapping):
        yield AskedQuestion(value, where)
    elif isinstance(value.get("data"), list) and "question" not in value:
        for article in value["data"]:  # SQuAD
            yield from _article(article, where)
    elif isinstance(value.get("paragraphs"), list) and "question" not in value:
        yield from _article(value, where)
    elif isinstance(value.get("questions"), list) and "article" in value:
        for place, question in enumerate(value["questions"]):
            yield _quality(question, f"{where}, questions[{place}]".lstrip(", "))
    elif isinstance(value.get("question"), Mapping) and isinstance(value.get("answers"), list):
        answers = [a.get("text") for a in value["answers"] if isinstance(a, Mapping)]
        yield AskedQuestion({"question": value["question"].get("text"), "answer": answers}, where)
    elif isinstance(value.get("self_instruct"), Mapping):  # MSC with questions
        asked = value["self_instruct"]
        yield AskedQuestion({"question": asked.get("B"), "answer": asked.get("A")}, where)
    elif _perltqa(value):
        for place, question in enumerate(_perltqa(value)):
            fields = {"question": question["Question"], "answer": question.get("Answer")}
            yield AskedQuestion(fields, f"{where}, question {place}".lstrip(", "))
    else:
        yield _plain(value, where)


def _plain(value: Mapping[str, Any], where: str) -> AskedQuestion:
    names = {fold(name): name for name in reversed(list(value))}
    read: dict[str, Any] = {}
    used = set()
    for target, aliases in ALIASES.items():
        there = [names[alias] for alias in aliases if alias in names]
        found = next((name for name in there if value[name] not in EMPTY), None)
        if found is None and there and value[there[0]] is not None:
            found = there[0]
        if found is not None:
            read[target] = value[found]
            used.add(found)
    _answers(read)
    unanswerable = "it has no answer" if value.get("is_impossible") is True else ""
    if value.get("answerable") is False:
        unanswerable = "it has no answer"
    facts = read.pop("evidencelist", None)  # MultiHop-RAG
    if facts is not None:
        used.update(name for name in ("question_type",) if name in value)
        if not facts:
            unanswerable = "nothing answers it"
        read["evidence"] = [f["fact"] for f in facts if isinstance(f, Mapping) and "fact" in f]
    context = read.pop("context", None)
    if context is not None:
        listed = context if isinstance(context, list) else [context]
        read["context"] = [part for part in listed if isinstance(part, str) and part.strip()]
    unread = tuple(name for name in value if name not in used)
    return AskedQuestion(read, where, unread, unanswerable)


def _answers(read: dict[str, Any]) -> None:
    """Bring SQuAD's answers, columns of texts and starts, to a list; none is no answer."""
    answer = read.get("answer")
    if isinstance(answer, Mapping) and "text" in answer:
        answer = answer["text"]
    if isinstance(answer, list):
        answer = [part.get("text") if isinstance(part, Mapping) else part for part in answer]
    if answer is not None:
        read["answer"] = answer


def _article(article: Any, where: str) -> Iterator[AskedQuestion]:
    for place, paragraph in enumerate(article.get("paragraphs", ()) if article else ()):
        for asked in paragraph.get("qas", ()):
            label = f"{where}, '{article.get('title', '')}', paragraph {place}".lstrip(", ")
            yield _plain({"context": paragraph.get("context"), **_squad(asked)}, label)


def _squad(asked: Mapping[str, Any]) -> dict[str, Any]:
    dropped = ("plausible_answers",)
    return {name: value for name, value in asked.items() if name not in dropped}


def _quality(question: Mapping[str, Any], where: str) -> AskedQuestion:
    """Read a question of QuALITY: the right option is its answer."""
    options, label = question.get("options") or [], question.get("gold_label")
    if not isinstance(label, int) or not 1 <= label <= len(options):
        return AskedQuestion(
            {"question": question.get("question")}, where, (), "it has no right option"
        )
    fields = {"question": question.get("question"), "answer": options[label - 1]}
    if "question_unique_id" in question:
        fields["id"] = question["question_unique_id"]
    return AskedQuestion(fields, where)


def _perltqa(value: Any) -> list[Mapping[str, Any]]:
    """Give PerLTQA's questions, which stand under a person, a kind of memory, and an event."""
    if isinstance(value, Mapping):
        if "Question" in value:
            return [value]
        return [found for part in value.values() for found in _perltqa(part)]
    if isinstance(value, list):
        return [found for part in value for found in _perltqa(part)]
    return []
