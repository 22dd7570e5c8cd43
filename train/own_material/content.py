"""What a message says: a text, or the parts of it that providers of models and chats know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from memenvs.errors import MaterialError
from memenvs.strict_json import json_type
from memenvs.train.own_material.fields import Fields, strings
from memenvs.train.own_material.html import text_of_html
from memenvs.train.own_material.passages import Document

SPOKEN = ("text", "content", "value", "parts", "body", "output", "result")  # of a part
TOOL = "tool"  # who speaks in what a tool gave back
RESULTS = ("tool_result", "function_call_output", "tool_response", "functionresponse")
CALLS = ("tool_use", "tool_call", "function_call", "server_tool_use", "functioncall")
THOUGHTS = ("thinking", "reasoning", "thoughts", "redacted_thinking", "reasoning_recap")


def said_in(document: Document, content: Any) -> Iterator[tuple[str, str]]:
    """Give who speaks, "" for the message's own speaker, and each text of a message's content.

    Calls of tools, thoughts, pictures and other files are left out and reported. Raises
    ``MaterialError`` where the content is neither text nor parts.
    """
    if content is None or isinstance(content, str):
        yield "", content or ""
    elif isinstance(content, (int, float)) and not isinstance(content, bool):
        yield "", str(content)
    elif isinstance(content, list):
        yield from _joined(part for entry in content for part in _part(document, entry))
    elif isinstance(content, dict):
        parts = list(_part(document, content))
        if not parts and not Fields(content).has("type", "contenttype", *SPOKEN):
            raise MaterialError(
                f"holds {json_type(content)} where a text should be", field="content"
            )
        yield from _joined(iter(parts))
    else:
        raise MaterialError(f"holds {json_type(content)} where a text should be", field="content")


def _joined(parts: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Put parts of one speaker that follow one another together."""
    speaker, texts = "", list[str]()
    for who, text in parts:
        if who != speaker and texts:
            yield speaker, "\n".join(texts)
            texts = []
        speaker = who
        texts.append(text)
    if texts:
        yield speaker, "\n".join(texts)


def _part(document: Document, part: Any) -> Iterator[tuple[str, str]]:
    if isinstance(part, str):
        yield "", part
        return
    if not isinstance(part, dict):
        document.leave("part of a message that is no text left out", " ".join(strings(part)))
        return
    kind = str(part.get("type") or part.get("content_type") or part.get("contentType") or "")
    if kind in THOUGHTS or part.get("thought") is True:
        document.leave("thought of a model left out", " ".join(strings(part)))
        return
    if kind in CALLS or "functionCall" in part or "function_call" in part:
        document.leave("call of a tool left out", " ".join(strings(part)))
        return
    if "functionResponse" in part:
        yield TOOL, json.dumps(part["functionResponse"], ensure_ascii=False)
        return
    fields = Fields(part)
    value = fields.take(*SPOKEN)
    if isinstance(value, str) and kind.casefold() == "html":
        yield "", text_of_html(document, value)
    elif isinstance(value, str):
        yield TOOL if kind in RESULTS else "", value
    elif isinstance(value, (list, dict)) and value:
        for who, text in said_in(document, value):
            yield TOOL if kind in RESULTS else who, text
    else:
        document.leave("part of a message that is no text left out", " ".join(strings(part)))
        return
    others = Fields({k: v for k, v in part.items() if k not in ("id", "uuid", "tool_use_id")})
    others.skip("type", "contenttype", "mimetype", *(n for n in SPOKEN if fields.peek(n) is value))
    others.report(document)
