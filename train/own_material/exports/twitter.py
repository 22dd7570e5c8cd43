"""Twitter's (X's) archive: posts, notes and direct messages, a file of JavaScript each."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from memenvs.train.own_material.exports import ASSIGNED, Head
from memenvs.train.own_material.fields import Fields, strings
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("tweet", "noteTweet", "dmConversation")
JAVASCRIPT, BEGINS = ".js", b"window.YTD."
SAID_TWICE = ("id", "idstr", "entities", "lang", "truncated", "displaytextrange", "retweeted")
COUNTS = ("favorited", "favoritecount", "retweetcount", "possiblysensitive", "editinfo", "source")
ANSWERED = ("inreplytostatusid", "inreplytostatusidstr", "inreplytouserid", "inreplytouseridstr")


def is_twitter_file(path: Path) -> bool:
    """Whether a file of JavaScript holds data of an archive, and no program."""
    try:
        with path.open("rb") as stream:
            return stream.read(64).lstrip().startswith(BEGINS)
    except OSError:
        return False


def recognises(head: Head) -> bool:
    """Whether the records are posts, notes or conversations of Twitter."""
    return any(isinstance(record.get(key), dict) for record in head.records() for key in KEYS)


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give posts and messages; the account's name stands in account.js, of others the id alone."""
    identifier, name = _account(document.path.parent) if document.path else ("", "")
    for _, record in head.entries():
        value = record if isinstance(record, dict) else {}
        if isinstance(value.get("tweet"), dict):
            yield from _post(document, value["tweet"], name)
        elif isinstance(value.get("noteTweet"), dict):
            yield from _note(document, value["noteTweet"], name)
        elif isinstance(value.get("dmConversation"), dict):
            yield from _conversation(document, value["dmConversation"], {identifier: name})
        else:
            document.leave("record that is no message left out", " ".join(strings(record)))


def _post(document: Document, value: dict[str, Any], name: str) -> Iterator[Passage]:
    fields = Fields(value)
    text, moment = fields.take("fulltext", "text"), fields.take("createdat")
    fields.skip(*SAID_TWICE, *COUNTS, *ANSWERED)
    yield from _said(document, text, name, moment, "", str(value.get("id_str") or ""))
    fields.report(document)


def _note(document: Document, value: dict[str, Any], name: str) -> Iterator[Passage]:
    fields = Fields(value)
    inside, moment = Fields(fields.take("core") or {}), fields.take("createdat")
    identifier = str(fields.take("notetweetid") or "")
    fields.skip("updatedat", "lifecycle")
    yield from _said(document, inside.take("text"), name, moment, "", identifier)
    inside.report(document)
    fields.report(document)


def _conversation(
    document: Document, value: dict[str, Any], names: dict[str, str]
) -> Iterator[Passage]:
    conversation = Fields(value)
    group = str(conversation.take("name", "conversationid") or "")
    messages = conversation.take("messages") or ()
    conversation.report(document)
    for record in messages if isinstance(messages, list) else ():
        message = record.get("messageCreate") if isinstance(record, dict) else None
        if not isinstance(message, dict):
            document.leave("notice of Twitter left out", " ".join(strings(record)))
            continue
        fields = Fields(message)
        text, moment = fields.take("text"), fields.take("createdat")
        sender, identifier = str(fields.take("senderid") or ""), str(fields.take("id") or "")
        fields.skip("recipientid", "urls")
        source = names.get(sender) or sender
        yield from _said(document, text, source, moment, group, identifier)
        fields.report(document)


def _said(
    document: Document, text: Any, source: str, moment: Any, group: str, identifier: str
) -> Iterator[Passage]:
    if not isinstance(text, str) or not text.strip():
        document.note("message without text left out")
        return
    yield Passage(
        html.unescape(text), group, source=source, moment=moment, id=identifier, whole=True
    )


@lru_cache(maxsize=64)
def _account(folder: Path) -> tuple[str, str]:
    """Give id and name of the account that an archive is of; "" where they are not told."""
    try:
        content = (folder / "account.js").read_text(encoding="utf-8")
        account = Fields(json.loads(ASSIGNED.sub("", content))[0]["account"])
    except (OSError, ValueError, LookupError, TypeError):
        return "", ""
    name = account.take("accountdisplayname", "username")
    return str(account.take("accountid") or ""), str(name or "")
