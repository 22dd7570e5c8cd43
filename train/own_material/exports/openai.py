"""Logs of model providers: chat completions, Responses, batches of either, Anthropic's results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memenvs.errors import MaterialError
from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import Fields, strings
from memenvs.train.own_material.messages import SYSTEM, Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("choices", "output", "input", "body", "response", "request")
WRAPPERS = ("body", "request", "response", "result", "kwargs", "data", "inputs", "outputs")
TOLD = ("choices", "output", "input", "messages", "prompt")
SAID_TWICE = (
    *(
        "id",
        "object",
        "model",
        "usage",
        "created",
        "createdat",
        "customid",
        "method",
        "url",
        "status",
    ),
    *("statuscode", "requestid", "systemfingerprint", "type", "servicetier", "temperature", "topp"),
    *("outputtext", "maxtokens", "stream", "seed", "store", "completedat"),
)


def recognises(head: Head) -> bool:
    """Whether a record is a request, an answer, or wraps one."""
    return any(
        (_told(record) and not isinstance(record.get("messages"), list))
        or any(_told(record.get(w)) for w in WRAPPERS)
        for record in head.records()
    )


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give what was asked and answered; a record of the log is a conversation."""
    chats = Chats(document)
    for where, value in head.entries():
        if not isinstance(value, dict):
            raise MaterialError("is no record of a log", record=where)
        group = chats.group(
            value.get("custom_id") or value.get("conversation_id") or value.get("id")
        )
        before = sum(document.notes.values())
        passages = list(_record(chats, value, group, None))
        if not passages and sum(document.notes.values()) == before:
            document.leave("record without a message left out", " ".join(strings(value)))
        yield from passages


def _record(chats: Chats, value: Mapping[str, Any], group: str, moment: Any) -> Iterator[Passage]:
    fields = Fields(value)
    moment = fields.take("created", "createdat", "timestamp", "time") or moment
    fields.skip(*SAID_TWICE)
    instructions = fields.take("instructions", "system")
    if instructions is not None:
        chats.document.leave("system message left out", " ".join(strings(instructions)))
    for message in _messages(fields):
        if isinstance(message, str):
            message = {"role": "user", "content": message}
        if not isinstance(message, Mapping):
            continue
        kind = message.get("type")
        if kind == "reasoning":
            chats.document.leave("thought of a model left out", " ".join(strings(message)))
        elif kind in ("function_call_output", "custom_tool_call_output"):
            said = {"role": "tool", "content": message.get("output"), "id": message.get("id")}
            yield from chats.message({"time": moment, **said}, group)
        elif kind not in (None, "message") and "content" not in message:
            chats.document.leave("call of a tool left out", " ".join(strings(message)))
        else:
            yield from chats.message({"time": moment, **message}, group)
    for wrapper in WRAPPERS:
        inner = fields.take(wrapper)
        if isinstance(inner, Mapping):
            yield from _record(chats, inner, group, moment)
    if value.get("role") and value.get("role") not in SYSTEM and "content" in value:
        yield from chats.message({"time": moment, **value}, group)
    elif any(_told(value.get(name)) for name in WRAPPERS) or _told(value):
        fields.report(chats.document)


def _messages(fields: Fields) -> list[Any]:
    """Give the messages of a request (``messages``, ``input``) and of an answer."""
    found: list[Any] = []
    for name in ("messages", "prompt", "input", "output", "message"):
        listed = fields.take(name)
        found += listed if isinstance(listed, list) else [] if listed is None else [listed]
    for choice in fields.take("choices") or ():
        if isinstance(choice, Mapping):
            said = choice.get("message") or {"role": "assistant", "content": choice.get("text")}
            found.append(said)
    return found


def _told(value: Any) -> bool:
    """Whether an object is a request or an answer, or wraps one."""
    if not isinstance(value, Mapping):
        return False
    if any(isinstance(value.get(name), list) for name in TOLD):
        return True
    if value.get("object") == "response" or ("input" in value and "model" in value):
        return True
    if isinstance(value.get("message"), Mapping) and value.get("type") == "succeeded":
        return True
    return any(_told(value.get(name)) for name in WRAPPERS)
