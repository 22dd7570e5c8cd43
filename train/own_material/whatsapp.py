"""WhatsApp's export of a chat: text, a message from its date on, over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memenvs.train.own_material.passages import Document, Passage

MARKS = "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
# Dates and times of all countries: three numbers, then hours and minutes, with words about them.
_NEXT = rf"[{MARKS}]*[./년年월月-]\s?[{MARKS}]*"
_DATE = rf"\d{{1,4}}{_NEXT}\d{{1,2}}{_NEXT}\d{{1,4}}[日일.]?"
_TIME = r"\d{1,2}[:.h]\d{2}(?:[:.]\d{2})?"
HEADER = re.compile(
    rf"[{MARKS}]*(?:\[(?P<a>{_DATE}[^\d\]\n]{{1,16}}{_TIME}[^\d\]\n]{{0,12}}"
    rf"|{_TIME}[^\d\]\n]{{1,12}}{_DATE})\]"  # as copied out of a browser
    rf"|(?P<b>{_DATE}[^\d\n]{{1,16}}{_TIME}[^\d\n]{{0,12}}?|{_TIME},?\s{_DATE})(?:\s[-–—]|,(?=\s[^\n]{{1,80}}?\s?:\s)))"
    rf"\s(?P<rest>.*)"
)
SAID = re.compile(r"(?P<who>[^:\n]{1,80}?)\s?:(?:\s(?P<text>.*)|$)", re.DOTALL)
ATTACHED = re.compile(
    rf"[{MARKS}]?<[^<>\n]{{3,80}}>|[{MARKS}]?\S+\.\w{{2,5}} \([^()\n]{{5,30}}\)|null"
)
EDITED = re.compile(rf"\s?[{MARKS}]?<[^<>\n]{{5,40}}>$")
DELETED = re.compile(
    r"(?:This message was deleted|You deleted this message|Diese Nachricht wurde gelöscht|"
    r"Du hast diese Nachricht gelöscht|Se eliminó este mensaje|Eliminaste este mensaje|"
    r"Ce message a été supprimé|Mensagem apagada|Questo messaggio è stato eliminato|"
    r"Dit bericht is verwijderd)\.?"
)
LOOKED_AT = 30  # lines at the head of a file


def recognises(text: str) -> bool:
    """Whether a text is a chat of WhatsApp: it begins with a message, and people speak in it."""
    lines = [line for line in text[:20_000].split("\n") if line.strip()][:LOOKED_AT]
    found = [HEADER.match(line) for line in lines]
    said = [match for match in found if match and SAID.match(match["rest"])]
    return bool(found and found[0]) and (len(said) > 1 or len(said) == len(lines))


def read(document: Document, text: str) -> Iterator[Passage]:
    """Give the messages; source = the person, whatever sign WhatsApp puts before the name."""
    moment, lines = "", list[str]()
    for line in text.replace("\r\n", "\n").split("\n"):
        match = HEADER.match(line)
        if match is None:
            lines.append(line)
            continue
        yield from _message(document, moment, "\n".join(lines))
        moment, lines = match["a"] or match["b"], [match["rest"]]
    yield from _message(document, moment, "\n".join(lines))


def _message(document: Document, moment: str, text: str) -> Iterator[Passage]:
    match = SAID.match(text)
    if match is None or not moment:
        if text.strip():
            document.leave("notice of WhatsApp left out", text)
        return
    said = (match["text"] or "").strip()
    if DELETED.fullmatch(said.strip(MARKS)):
        document.leave("deleted message left out", said)
        return
    if not ATTACHED.fullmatch(said) and not said.startswith(MARKS[0]):
        for found in EDITED.findall(said):
            document.leave("sign that a message was edited left out", found)
        said = EDITED.sub("", said)
    for found in ATTACHED.findall(said):
        if found != "null" or said == "null":
            document.leave("attachment left out", found)
            said = said.replace(found, "", 1).strip()
    if said.startswith(MARKS[0]):  # what WhatsApp says in a person's name
        document.leave("attachment or notice of WhatsApp left out", said)
        return
    if said.strip(MARKS + " \n"):
        who = match["who"].strip(MARKS + "~ \u202f\xa0").strip()
        yield Passage(
            said.translate(dict.fromkeys(map(ord, MARKS))), source=who, moment=moment, whole=True
        )
