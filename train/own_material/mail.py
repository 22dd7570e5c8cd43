"""Reader of mail: one letter (.eml), or a mailbox of them (.mbox)."""

from __future__ import annotations

import email
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import parseaddr
from pathlib import PurePath

from memenvs.errors import MaterialError
from memenvs.train.own_material.html import text_of_html
from memenvs.train.own_material.passages import Document, Passage

LETTER = re.compile(rb"^From [^\n]*\n", re.MULTILINE)  # begins each letter of a mailbox
REPLY = re.compile(r"^(?:(?:re|fwd?|aw|wg|sv|vs|antw|tr|rif|odp)\s*(?:\[\d+\])?\s*:\s*)+", re.I)
QUOTED = re.compile(r"^\s*>")
SAID = re.compile(
    r"^(?:On|Am|Le|El|Em|Il|Op|Den)\b.{5,200}(?::|wrote|schrieb|écrit|escribió)\s*:?\s*$"
)
FORWARDED = re.compile(r"^\s*-{3,}.*(?:Original|Forwarded|Weitergeleitet|Ursprüng).*-{3,}\s*$")
SIGNATURE = "-- "


def read_mail(document: Document) -> Iterator[Passage]:
    """Give the paragraphs of letters; source = who sent it, time = its date, group = the subject.

    Quoted text, signatures and what is attached are left out. Raises ``MaterialError`` where the
    file is no mail.
    """
    content = document.content
    if PurePath(document.name).suffix.lower() == ".mbox":
        letters = LETTER.split(content)[1:]
    else:
        letters = [content]
    read = 0
    for letter in letters:
        message = email.message_from_bytes(letter, policy=email.policy.default)
        if message["from"] or message["subject"]:
            read += 1
            yield from _letter(document, message)
    if not read:
        raise MaterialError("holds no mail: no sender and no subject", file=document.name)


def _letter(document: Document, message: EmailMessage) -> Iterator[Passage]:
    name, address = parseaddr(str(message["from"] or ""))
    subject = " ".join(REPLY.sub("", str(message["subject"] or "")).split())
    moment = str(message["date"] or "")
    body = message.get_body(preferencelist=("plain", "html"))
    text = _content(document, body)
    if body is not None and body.get_content_type() == "text/html":
        text = text_of_html(document, _without_quotes(document, text))
    for part in message.walk():
        if part.is_multipart() or part is body:
            continue
        if part.get_content_type() in ("text/plain", "text/html") and not part.get_filename():
            document.note("other form of a letter left out")
        else:
            document.leave("attachment left out", part.get_filename() or "")
    identifier = str(message["message-id"] or "").strip("<> ")
    own = list(_own(document, text))
    for place, paragraph in enumerate(own, start=1):
        yield Passage(
            paragraph,
            group=subject,
            shared=bool(subject),
            source=name or address,
            moment=moment,
            id=identifier if len(own) == 1 or not identifier else f"{identifier}.{place}",
        )


def _without_quotes(document: Document, text: str) -> str:
    """Leave out what a letter in HTML quotes of others."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(text)
    while (node := tree.css_first("blockquote, .gmail_quote")) is not None:
        document.leave("quoted letter left out", node.text(separator=" "))
        node.decompose()
    return tree.html or ""


def _content(document: Document, part: object) -> str:
    if not isinstance(part, EmailMessage):
        return ""
    try:
        return str(part.get_content())
    except (LookupError, UnicodeError):
        document.note("letter of an unknown encoding: read as cp1252")
        payload = part.get_payload(decode=True)
        return payload.decode("cp1252", "replace") if isinstance(payload, bytes) else ""


def _own(document: Document, text: str) -> Iterator[str]:
    """Give the paragraphs that the sender wrote, without what is quoted or signed."""
    lines = text.replace("\r\n", "\n").split("\n")
    kept: list[str] = []
    for n, line in enumerate(lines):
        if line in (SIGNATURE, SIGNATURE.strip()):
            document.leave("signature left out", "\n".join(lines[n + 1 :]))
            break
        if FORWARDED.match(line):
            document.leave("quoted letter left out", "\n".join(lines[n:]))
            break
        following = next((later for later in lines[n + 1 :] if later.strip()), "")
        if QUOTED.match(line) or (SAID.match(line) and QUOTED.match(following)):
            if line.strip("> "):
                document.leave("quoted line left out", line)
            line = ""
        kept.append(line)
    yield from filter(str.strip, re.split(r"\n\s*\n", "\n".join(kept)))
