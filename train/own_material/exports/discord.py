"""DiscordChatExporter's JSON: a channel of a guild, with its messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import Fields, name_of, strings
from memenvs.train.own_material.messages import Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("guild", "channel", "messages")
SPOKEN = ("Default", "Reply", "0", "19", "")
SAID_TWICE = ("id", "type", "timestamp", "ispinned", "inlineemojis", "mentions")


def recognises(head: Head) -> bool:
    """Whether a record is a channel of a guild."""
    return any(set(KEYS) <= set(record) for record in head.records())


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages; source = nickname, else name, the same under every role; group = channel.

    Joins, pins and other notices are left out, and so are attachments, embeds and reactions.
    """
    chats = Chats(document)
    for _, value in head.entries():
        names = (name_of(value.get("guild")), name_of(value.get("channel")))
        group = " > ".join(filter(None, names))
        for message in value.get("messages") or ():
            yield from _message(chats, group, message)
        outer = Fields(value)
        outer.skip("guild", "channel", "messages", "messagecount", "exportedat", "daterange")
        outer.report(document)


def _message(chats: Chats, group: str, value: dict[str, Any]) -> Iterator[Passage]:
    fields = Fields(value)
    text = str(fields.take("content") or "")
    if str(value.get("type", "")) not in SPOKEN:
        chats.document.leave("notice of Discord left out", text)
        return
    author = fields.take("author")
    fields.skip(*SAID_TWICE)
    for attachment in fields.take("attachments") or ():
        chats.document.leave("attachment left out", " ".join(strings(attachment)))
    fields.report(chats.document)
    if not text.strip():
        chats.document.note("message without text left out")
        return
    yield Passage(
        text,
        group=group,
        shared=True,
        source=chats.people.name(author),
        moment=value.get("timestamp"),
        id=str(value.get("id", "")),
        whole=True,
    )
