"""Chat completions of OpenAI-compatible servers: what is asked, and what an answer says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

SHOWN = 100  # characters of a server's text in a message
# What a model thinks aloud before it answers; some servers leave out the opening tag.
THOUGHTS = re.compile(
    r"\A\s*(?:<(think|thinking|reasoning)>.*?</\1>|.*?</(?:think|thinking|reasoning)>)", re.DOTALL
)
# Ends of lines that JSON leaves alone, and what turns or hides text.
UNSEEN = re.compile(r"[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def chat_body(model: str, prompt: str, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Ask a model one thing; nothing is sent that was not asked for, no temperature either."""
    return {**(options or {}), "model": model, "messages": [{"role": "user", "content": prompt}]}


def chat_message(body: bytes) -> tuple[Any, Any]:
    """Read content and refusal of a completion; raises ``ValueError`` where it is none.

    Thoughts before the answer are no part of it.
    """
    try:
        message = json.loads(body)["choices"][0]["message"]
        content, refusal = message.get("content"), message.get("refusal")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise ValueError("did not send a chat completion") from None
    if isinstance(content, str):
        content = THOUGHTS.sub("", content, count=1).lstrip()
    return content, refusal


def chat_content(body: bytes) -> Any:
    """Read what a completion says; raises ``ValueError`` where it is none, or a refusal."""
    content, refused = chat_message(body)
    if refused:
        raise ValueError(f"refused to answer: {shown(refused)}")
    return content


def chat_field(body: bytes, field: str) -> tuple[Any, str]:
    """Read one field of the JSON that a completion holds, None if absent, and what was said.

    Of several objects it is the last that has the field. Raises ``ValueError`` where the body is no
    completion or a refusal.
    """
    content = chat_content(body)
    objects = objects_in(content) if isinstance(content, str) else []
    value = next((each[field] for each in reversed(objects) if field in each), None)
    return value, shown(content)


def objects_in(text: str) -> list[dict[str, Any]]:
    """Find the JSON objects in a text, whatever stands around them; none within another."""
    decoder, found, place = json.JSONDecoder(), [], text.find("{")
    while place >= 0:
        end = place + 1
        try:
            value, end = decoder.raw_decode(text, place)
            found.append(value)
        except (ValueError, RecursionError):
            pass
        place = text.find("{", end)
    return found


def quoted(value: Any) -> str:
    """Write what others said as JSON on one line, so that it stands in a prompt as data."""
    text = json.dumps(value, ensure_ascii=False)
    return UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def shown(sent: Any) -> str:
    """Quote what a server sent, in ASCII of bounded length."""
    try:
        text = ascii(sent)
    except RecursionError:
        return "deeply nested JSON"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}{text[0]}"
