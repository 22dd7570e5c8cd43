"""Messages of any program that gives them usual names, and of conversations that hold such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from memenvs.errors import MaterialError
from memenvs.strict_json import json_type
from memenvs.train.own_material.content import said_in
from memenvs.train.own_material.fields import (
    GROUPS,
    IDS,
    SPEAKERS,
    TEXTS,
    TIMES,
    Fields,
    People,
    fold,
    name_of,
    strings,
)
from memenvs.train.own_material.passages import Document, Passage

# Fields that hold the messages of a conversation: OpenAI's, ShareGPT's, and others'.
NESTED = (
    *("messages", "conversations", "conversation", "turns", "dialog", "dialogue"),
    *("history", "utterances", "contents", "chat", "items"),
)
PAGES = ("value", "data", "samples", "results")  # of an answer of a server, if messages are in it
CALLS = ("toolcalls", "functioncall")
SYSTEM = ("system", "developer")


@dataclass
class Chats:
    """The conversations of a document while they are read: their names, and the people in them."""

    document: Document
    people: People = field(default_factory=People)
    _groups: dict[str, int] = field(default_factory=dict)
    _count: int = 0

    def group(self, name: Any) -> str:
        """Name a conversation; a name met again, or none, is numbered."""
        self._count += 1
        text = name_of(name) or f"conversation {self._count}"
        self._groups[text] = self._groups.get(text, 0) + 1
        return text if self._groups[text] == 1 else f"{text} ({self._groups[text]})"

    def message(self, value: Any, group: str = "", shared: bool = False) -> Iterator[Passage]:
        """Give the texts of a message, which is an object; without a ``group`` it names its own."""
        if not isinstance(value, Mapping):
            raise MaterialError(f"holds {json_type(value)} where a message should be")
        fields = Fields(value)
        if not fields.has(*TEXTS, *CALLS):
            self.document.leave("record that is no message left out", " ".join(strings(value)))
            return
        content = fields.take(*TEXTS)
        speaker = fields.take(*SPEAKERS)
        moment = fields.take(*TIMES)
        own = fields.take(*GROUPS) if not group else None
        identifier = fields.take(*IDS)
        fields.skip("type", "object", "role" if speaker == fields.peek("role") else "")
        call = fields.take(*CALLS)
        if call is not None:
            self.document.leave("call of a tool left out", " ".join(strings(call)))
        if fields.peek("role") in SYSTEM or speaker in SYSTEM:
            self.document.leave("system message left out", " ".join(strings(content)))
            fields.report(self.document)
            return
        parts = [(who, text) for who, text in said_in(self.document, content) if text.strip()]
        if not parts:
            self.document.note("message without text left out")
        person = fields.take("authorid", "senderid", "fromid", "userid")
        name = self.people.name(speaker, person)
        if speaker is not None and not name:
            self.document.leave("speaker without a name left out", " ".join(strings(speaker)))
        for place, (who, text) in enumerate(parts, start=1):
            known = str(identifier) if isinstance(identifier, (str, int)) else ""
            yield Passage(
                text,
                group=group or name_of(own),
                shared=shared or not group,
                source=who or name,
                moment=moment,
                id=known if len(parts) == 1 or not known else f"{known}.{place}",
                whole=True,
            )
        fields.report(self.document)

    def conversation(self, value: Mapping[str, Any], nested: str) -> Iterator[Passage]:
        """Give the messages in the field ``nested`` of a conversation, which may have a name."""
        fields = Fields(value)
        fields.skip("type", "object")
        fields.skip(fold(nested))
        own = (name for name in GROUPS if name != fold(nested))
        group = self.group(fields.take("title", "name", "subject", "id", *own))
        system = fields.take("system", "systemprompt", "systeminstruction")
        if system is not None:
            self.document.leave("system message left out", " ".join(strings(system)))
        for place, message in enumerate(value[nested]):
            try:
                inner = nested_in(message)
                if inner:
                    yield from self.conversation(message, inner)
                else:
                    yield from self.message(message, group)
            except MaterialError as error:
                raise error.within("", f"{nested}[{place}]") from None
        fields.report(self.document)


def nested_in(value: Any) -> str:
    """Give the field of an object that holds a list of messages; "" where none does."""
    if not isinstance(value, Mapping):
        return ""
    listed = next((n for n in NESTED if isinstance(value.get(n), list)), "")
    return listed or next((n for n in PAGES if _holds_messages(value.get(n))), "")


def _holds_messages(value: Any) -> bool:
    return isinstance(value, list) and any(is_message(v) or nested_in(v) for v in value)


def is_message(value: Any) -> bool:
    """Whether a JSON value has the fields of a message."""
    return isinstance(value, Mapping) and not nested_in(value) and Fields(value).has(*TEXTS, *CALLS)
