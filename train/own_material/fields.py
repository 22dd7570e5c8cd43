"""Fields of messages and rows: asked for by any of their usual names, reported if nobody asks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memenvs.train.own_material.passages import Document

# Names without case, hyphens and underscores; of several in a record the first that has a value
# counts.
IDS = ("id", "messageid", "msgid", "uuid")
SPEAKERS = (
    *("name", "speaker", "speakername", "author", "authorname", "sender", "sendername", "nickname"),
    *("displayname", "username", "creator", "participant", "role", "from", "fromname", "user"),
    *("userid", "source", "who", "autor", "auteur", "autore", "absender", "remitente", "remetente"),
)
TEXTS = (
    *("content", "value", "text", "message", "body", "sentence", "claim", "note", "parts", "msg"),
    *("utterance", "transcript", "nachricht", "texte", "texto", "testo", "mensaje", "mensagem"),
)
TIMES = (
    *("time", "timestamp", "ts", "createdat", "createtime", "createddate", "creationtime"),
    *("createddatetime", "created", "date", "datetime", "dateunixtime", "sentat", "senttime"),
    *("sentdate", "sentdatetime", "timestampms", "timestampmillis", "postedat", "publishedat"),
    *("createdutc", "isotime", "when", "datum", "zeit", "fecha"),
)
GROUPS = (
    *("session", "sessionid", "conversationid", "conversation", "conversationname", "threadid"),
    *("thread", "threadname", "chatid", "chat", "chatname", "channel", "channelname", "channelid"),
    *("group", "groupname", "room"),
)
NAMES = (  # of a person, or of what else is an object with a name
    *("nickname", "nick", "displayname", "globalname", "realname", "fullname", "name", "username"),
    *("login", "handle", "title", "subject", "email", "emailaddress", "address", "role", "id"),
)
LABELS = ("id", "uuid", "type", "object", "contenttype", "mimetype", "tooluseid", "toolcallid")
WITHIN = ("user", "profile", "author", "person", "application", "member", "actor")


def fold(name: str) -> str:
    """Give a field's name without case, hyphens, underscores and blanks."""
    return re.sub(r"[-_\s]", "", name).casefold()


class Fields:
    """A record, and which of its fields have been read."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._record = record
        self._names = {fold(name): name for name in reversed(list(record))}
        self._read: set[str] = set()

    def take(self, *names: str) -> Any:
        """Give the value of the first of the names that has one; None without."""
        for name in names:
            value = self.peek(name)
            if value not in (None, "", [], {}):
                self._read.add(self._names[name])
                return value
        return None

    def peek(self, name: str) -> Any:
        """Give a field's value without reading it."""
        return self._record[self._names[name]] if name in self._names else None

    def has(self, *names: str) -> bool:
        """Whether one of the names is there, also without a value."""
        return any(name in self._names for name in names)

    def skip(self, *names: str) -> None:
        """Take fields for read that say what other fields say, or how the export is made."""
        self._read.update(self._names[name] for name in names if name in self._names)

    def report(self, document: Document) -> None:
        """Report the fields that have a value and were not read."""
        for name, value in self._record.items():
            if name not in self._read and value not in (None, "", [], {}):
                document.leave(f"field '{name}' is not read", " ".join(strings(value)))


def strings(value: Any) -> Iterator[str]:
    """Give all texts in a JSON value, but not its ids and the names of its kinds."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, part in value.items():
            if fold(name) not in LABELS:
                yield from strings(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from strings(part)


def name_of(value: Any) -> str:
    """Give the name of a person or a group, which may be an object; "" where it has none."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, list):
        return ", ".join(filter(None, map(name_of, value)))
    if not isinstance(value, dict):
        return ""
    fields = Fields(value)
    for name in NAMES[:-2]:
        found = fields.peek(name)
        if isinstance(found, (str, int)) and name_of(found):
            return name_of(found)
    inner = (name_of(fields.peek(name)) for name in WITHIN)
    return next(filter(None, inner), "") or name_of(fields.take(*NAMES[-2:]))


class People:
    """The names of people by their ids: one person is one source, also under a new name."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def name(self, value: Any, identifier: Any = None) -> str:
        """Give a person's name, the first that the same id was seen with."""
        if identifier is None and isinstance(value, dict):
            fields = Fields(value)
            inner = (fields.peek(name) for name in WITHIN)
            identifier = fields.take("id", "userid") or next(
                (Fields(v).take("id") for v in inner if isinstance(v, dict)), None
            )
        name = name_of(value)
        if not isinstance(identifier, (str, int)) or not name:
            return name
        return self._names.setdefault(str(identifier), name)
