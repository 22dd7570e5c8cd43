"""Claude's conversations.json: conversations with chat_messages."""

from __future__ import annotations

from collections.abc import Iterator

from memenvs.train.own_material.content import said_in
from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import Fields, strings
from memenvs.train.own_material.messages import Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("uuid", "name", "created_at", "chat_messages")


def recognises(head: Head) -> bool:
    """Whether a record is a conversation with Claude."""
    return any(isinstance(record.get("chat_messages"), list) for record in head.records())


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages; group = the conversation's name.

    What was attached is left out, and so are thoughts and calls of tools.
    """
    chats = Chats(document)
    for _, value in head.entries():
        conversation = Fields(value)
        conversation.skip("chatmessages", "createdat", "updatedat", "account")
        group = chats.group(conversation.take("name", "title") or conversation.peek("uuid"))
        conversation.skip("uuid")
        conversation.report(document)
        for message in value["chat_messages"]:
            fields = Fields(message)
            parts = list(said_in(document, fields.take("content")))
            if not any(text.strip() for _, text in parts):
                parts = [("", str(fields.peek("text") or ""))]
            fields.skip("text", "updatedat", "index", "parentmessageuuid", "stopreason")
            moment, identifier = fields.take("createdat"), fields.take("uuid", "id")
            speaker = chats.people.name(fields.take("sender", "role"))
            for attached in fields.take("attachments") or ():
                document.leave("attachment left out", " ".join(strings(attached)))
            fields.report(document)
            told = [(who, text) for who, text in parts if text.strip()]
            if not told:
                document.note("message without text left out")
            for place, (who, text) in enumerate(told, start=1):
                yield Passage(
                    text,
                    group=group,
                    source=who or speaker,
                    moment=moment,
                    id=f"{identifier or ''}"
                    + (f".{place}" if len(told) > 1 and identifier else ""),
                    whole=True,
                )
