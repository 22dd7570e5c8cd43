"""Questions to a language model on an OpenAI-compatible server: kept on disk, and counted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from memenvs.text.cache import Cache, content_key
from memenvs.text.model_server import ModelServer, ServerError, chat_body, chat_field, chat_message

T = TypeVar("T")

FOLDER = "MEMENVS_CACHE"  # of the environment: where replies are kept


@dataclass
class Usage:
    """What a conversation has cost so far."""

    answers: int = 0  # that the server sent, usable or not
    cached: int = 0  # that were on disk
    prompt_tokens: int = 0  # as the server counts them; 0 where it does not
    completion_tokens: int = 0

    def __str__(self) -> str:
        tokens = f"{self.prompt_tokens} + {self.completion_tokens} tokens"
        return f"{self.answers} answers of the server ({tokens}), {self.cached} from the cache"


class Chat:
    """Ask a model one thing at a time, at temperature 0; no question twice.

    ``base_url`` ends before "/chat/completions"; ``role`` names the server in errors; the
    ``options`` are those of ``ModelServer``. Raises ``ServerError`` that says in one line what was
    wrong.
    """

    def __init__(
        self, base_url: str, model: str, role: str, cache: Cache | None = None, **options: Any
    ) -> None:
        self._server = ModelServer(base_url, "/chat/completions", role, **options)
        self.url, self.model, self.usage = self._server.url, model, Usage()
        self._cache = Cache(None) if cache is None else cache

    def text(self, prompt: str) -> str:
        """Give what the model says, whatever that is: a refusal, or nothing, too."""
        return self.ask(prompt, _text)

    def field(self, prompt: str, field: str, kind: type[T]) -> T:
        """Give one field, of the type ``kind``, of the JSON that the model says."""

        def read(body: bytes) -> T:
            value, said = chat_field(body, field)
            if type(value) is not kind:
                raise ValueError(f"answered {said} where JSON with '{field}' was asked for")
            return value

        return self.ask(prompt, read)

    def ask(self, prompt: str, read: Callable[[bytes], T]) -> T:
        """Give what ``read`` makes of the answer; where it raises ``ValueError``, ask again."""
        body = chat_body(self.model, prompt)
        key = content_key("chat", self.url, body)
        kept = self._cache.get([key]).get(key)
        if kept is not None:
            self.usage.cached += 1
            return read(kept)

        def counted(answer: bytes) -> tuple[bytes, T]:
            self._count(answer)
            return answer, read(answer)

        answer, value = self._server.ask(body, counted)
        self._cache.put({key: answer})
        return value

    def _count(self, answer: bytes) -> None:
        self.usage.answers += 1
        try:
            told = json.loads(answer)["usage"]
            sent, said = told["prompt_tokens"], told["completion_tokens"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return
        if type(sent) is int and type(said) is int:
            self.usage.prompt_tokens += sent
            self.usage.completion_tokens += said


def configured_chat(role: str) -> Chat:
    """Give the server of the environment variables ``MEMENVS_ROLE_URL``, ``_MODEL`` and ``_KEY``.

    Replies are kept in the folder ``MEMENVS_CACHE``, by default the user's cache folder. Raises
    ``ServerError`` where no address is set.
    """
    prefix = f"MEMENVS_{role.upper()}"
    url = os.environ.get(f"{prefix}_URL")
    if not url:
        raise ServerError(
            f"no {role} is configured; set {prefix}_URL (and {prefix}_MODEL, {prefix}_KEY) to an "
            "OpenAI-compatible server"
        )
    model = os.environ.get(f"{prefix}_MODEL", "default")
    key = os.environ.get(f"{prefix}_KEY", "")
    return Chat(url, model, role, Cache(_folder()), key=key)


def _folder() -> Path:
    if given := os.environ.get(FOLDER):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memenvs" / "replies"


def _text(body: bytes) -> str:
    content, refusal = chat_message(body)
    said = content or refusal or ""
    if not isinstance(said, str):
        raise ValueError("did not answer in text")
    return said
