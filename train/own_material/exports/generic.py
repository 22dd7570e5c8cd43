"""Messages and conversations under usual names: OpenAI's shape, ShareGPT's, and plain messages."""

from __future__ import annotations

from collections.abc import Iterator

from memenvs.errors import MaterialError
from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import GROUPS, Fields
from memenvs.train.own_material.messages import Chats, is_message, nested_in
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("role", "content")


def recognises(head: Head) -> bool:
    """Whether some record is a message, or holds messages."""
    if any(isinstance(entry, list) for _, entry in head.entries()):
        return True
    return any(is_message(record) or nested_in(record) for record in head.records())


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages; a list of them is one conversation, unless they name theirs."""
    chats = Chats(document)
    listed = len(head.values) == 1 and isinstance(head.values[0][1], list)
    own = any(Fields(record).has(*GROUPS) for record in head.records())
    one = listed and not own and all(map(is_message, head.values[0][1]))
    alone = chats.group(None) if one else ""
    for where, value in head.entries():
        try:
            nested = nested_in(value)
            if isinstance(value, list):
                yield from chats.conversation({"messages": value}, "messages")
            elif nested:
                yield from chats.conversation(value, nested)
            else:
                yield from chats.message(value, alone)
        except MaterialError as error:
            raise error.within("", where) from None
