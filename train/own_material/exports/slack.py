"""Slack: a folder a channel, a file a day, beside users.json and channels.json."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import Fields, strings
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("type", "user", "text", "ts")
DIRECTORIES = {"users.json": "users", "org_users.json": "users", "channels.json": "channels"} | {
    "groups.json": "channels",
    "dms.json": "channels",
    "mpims.json": "channels",
    "integration_logs.json": "events",
}
MENTION = re.compile(r"<([@#!])([^>|]+)(?:\|([^>]*))?>")
LINK = re.compile(r"<((?:https?|mailto|tel):[^>|]+)(?:\|([^>]*))?>")
SPOKEN = (None, "bot_message", "thread_broadcast", "file_share", "me_message", "file_comment")
INLINE = ("text", "link", "user", "channel", "emoji", "broadcast", "date")  # parts of one line
SAID_TWICE = ("type", "ts", "blocks", "team", "clientmsgid", "userteam", "sourceteam", "subtype")


def recognises(head: Head) -> bool:
    """Whether the records are Slack's messages, users or channels."""
    return any(
        _is_message(record) or _is_user(record) or _is_channel(record) for record in head.records()
    )


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages; names stand in the folder above, the channel is the folder's name.

    Joins and other notices are left out, and so are lists of users and channels.
    """
    names = _names(document.path.resolve().parent if document.path else None)
    channel = document.path.resolve().parent.name if document.path else ""
    for _, value in head.entries():
        if _is_message(value):
            yield from _message(document, value, names, channel)
        elif _is_user(value) or _is_channel(value):
            document.note("list of users or channels: no message")
        else:
            document.leave("record that is no message left out", " ".join(strings(value)))


def _message(
    document: Document, value: dict[str, Any], names: dict[str, str], channel: str
) -> Iterator[Passage]:
    fields = Fields(value)
    text = str(fields.take("text") or "") or _words(value.get("blocks"))
    for attachment in fields.take("attachments") or ():
        document.leave("attachment left out", " ".join(strings(attachment)))
    if value.get("subtype") not in SPOKEN:
        document.leave("notice of Slack left out", text)
        return
    for shared in map(Fields, filter(_is_object, fields.take("files") or ())):
        document.leave("file left out", str(shared.take("title", "name") or ""))
    if not text.strip():
        document.note("message without text left out")
        return
    profile = Fields(value.get("user_profile") or {})
    user = str(fields.take("user", "botid") or "")
    name = names.get(user) or profile.take("realname", "displayname", "name")
    fields.skip("userprofile", "botprofile", *SAID_TWICE)
    yield Passage(
        _plain(text, names),
        group=channel,
        shared=True,
        source=str(name or fields.take("username") or user),
        moment=value.get("ts"),
        whole=True,
    )
    fields.report(document)


def _words(blocks: Any) -> str:
    """Give the words of a message that apps built of blocks and gave no text."""
    if isinstance(blocks, list):
        inline = all(_is_object(part) and part.get("type") in INLINE for part in blocks)
        return ("" if inline else " ").join(filter(None, map(_words, blocks)))
    if not isinstance(blocks, dict):
        return ""
    text = blocks.get("text")
    if isinstance(text, str):
        return text
    if isinstance(blocks.get("user_id"), str):
        return f"<@{blocks['user_id']}>"
    if isinstance(blocks.get("url"), str) and blocks.get("type") == "link":
        return f"<{blocks['url']}>"
    if isinstance(blocks.get("name"), str) and blocks.get("type") == "emoji":
        return f":{blocks['name']}:"
    if isinstance(blocks.get("alt_text"), str):
        return " ".join(filter(None, [_words(blocks.get("title")), blocks["alt_text"]]))
    parts = (blocks.get("elements"), blocks.get("fields"), blocks.get("accessory"))
    return " ".join(filter(None, [_words(text), *map(_words, parts)]))


def _plain(text: str, names: dict[str, str]) -> str:
    """Spell out mentions, channels and links, and undo the escapes."""

    def mention(match: re.Match[str]) -> str:
        sign, identifier, label = match.groups()
        if sign == "!":
            return label or f"@{identifier.split('^')[0]}"
        name = names.get(identifier) or label or identifier
        return name if sign == "@" else f"#{name}"

    text = MENTION.sub(mention, text)
    text = LINK.sub(lambda match: " ".join(filter(None, (match[2], match[1]))), text)
    return html.unescape(text)


@lru_cache(maxsize=256)
def _names(folder: Path | None) -> dict[str, str]:
    """Give names by id from the lists of users and channels, here or in the folder above."""
    names: dict[str, str] = {}
    for place in (folder.parent, folder) if folder else ():
        for file in DIRECTORIES:
            try:
                listed = json.loads((place / file).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            for entry in listed if isinstance(listed, list) else ():
                if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                    names[entry["id"]] = _name(entry)
    return names


def _name(entry: dict[str, Any]) -> str:
    fields, profile = Fields(entry), Fields(entry.get("profile") or {})
    name = fields.take("realname") or profile.take("realname", "displayname") or fields.take("name")
    return str(name or entry["id"])


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict) or "ts" not in value:
        return False
    told = value.keys() & {"user", "subtype", "bot_id", "client_msg_id", "team", "blocks"}
    return value.get("type") == "message" and bool(told)


def _is_user(value: Any) -> bool:
    return isinstance(value, dict) and "id" in value and isinstance(value.get("profile"), dict)


def _is_channel(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("members"), list) and "id" in value
