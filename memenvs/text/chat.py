"""Questions to a language model on an OpenAI-compatible server: kept on disk, and counted."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from memenvs.text.cache import Cache, content_key
from memenvs.text.completions import chat_body, chat_field, chat_message, shown
from memenvs.text.model_server import ModelServer, ServerError

T = TypeVar("T")

FOLDER = "MEMENVS_CACHE"  # of the environment: where replies are kept
REPLIES = "MEMENVS_REPLIES"  # of the environment: what becomes of them
KINDS = ("keep", "record", "replay", "off")
NO_NUMBERS = (math.inf, -math.inf)  # beside NaN, which equals nothing
TOGETHER = 4  # questions that wait at once


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
    """Ask a model; no question is asked twice, and several are asked at once.

    ``base_url`` ends before "/chat/completions"; ``role`` names the server in errors;
    ``parameters`` are sent with every question ("temperature", "max_tokens", "response_format");
    ``revision`` tells models of one name apart; ``together`` is how many questions wait at once;
    ``replies`` says what becomes of replies: ``"keep"`` them and ask what is not kept, ``"record"``
    them all anew, ``"replay"`` them and ask nothing, ``"off"``. The ``options`` are those of
    ``ModelServer``. Raises ``ServerError`` that says in one line what was wrong.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        role: str,
        cache: Cache | None = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        revision: str = "",
        together: int = TOGETHER,
        replies: str = "keep",
        **options: Any,
    ) -> None:
        self._server = ModelServer(base_url, "/chat/completions", role, **options)
        self.url, self.model, self.usage = self._server.url, model, Usage()
        self.revision, self.parameters = revision, dict(parameters or {})
        self._cache = Cache(None) if cache is None or replies == "off" else cache
        self._together, self._replies, self._lock = together, replies, Lock()

    def text(self, prompt: str) -> str:
        """Give what the model says, whatever that is: a refusal, or nothing, too."""
        return self.ask(prompt, _text)

    def field(self, prompt: str, field: str, kind: type[T]) -> T:
        """Give one field, of the type ``kind``, of the JSON that the model says."""
        return self.fields([prompt], field, kind)[0]

    def fields(self, prompts: Sequence[str], field: str, kind: type[T]) -> list[T]:
        """Give one field, of the type ``kind``, of what the model says to each prompt.

        A float is finite, and may be written as an integer.
        """

        def read(body: bytes) -> T:
            value, said = chat_field(body, field)
            if kind is float and type(value) is int and abs(value) < 2**53:
                value = float(value)
            if type(value) is not kind or value in NO_NUMBERS or value != value:
                raise ValueError(f"answered {said} where JSON with '{field}' was asked for")
            return value

        return self.ask_all(prompts, read)

    def ask(self, prompt: str, read: Callable[[bytes], T]) -> T:
        """Give what ``read`` makes of the answer; where it raises ``ValueError``, ask again."""
        return self.ask_all([prompt], read)[0]

    def ask_all(self, prompts: Sequence[str], read: Callable[[bytes], T]) -> list[T]:
        """Give what ``read`` makes of the answer to each prompt; equal prompts are asked once.

        An answer is kept as soon as it is there, also where another one fails.
        """
        keys = {prompt: self._key(prompt) for prompt in prompts}
        kept = {} if self._replies == "record" else self._cache.get(keys.values())
        values = {prompt: read(kept[key]) for prompt, key in keys.items() if key in kept}
        self.usage.cached += len(values)
        missing = [prompt for prompt in keys if prompt not in values]
        if missing and self._replies == "replay":
            raise ServerError(
                f"no reply of the {self._server.role} at {self.url} is recorded for "
                f"{shown(missing[0])}; record them with {REPLIES}=record"
            )

        def asked(prompt: str) -> T:
            def counted(answer: bytes) -> tuple[bytes, T]:
                with self._lock:
                    self._count(answer)
                return answer, read(answer)

            answer, value = self._server.ask(self._body(prompt), counted)
            self._cache.put({keys[prompt]: answer})
            return value

        if len(missing) > 1 and self._together > 1:
            with ThreadPoolExecutor(min(self._together, len(missing))) as pool:
                values |= zip(missing, pool.map(asked, missing), strict=True)
        else:
            values |= ((prompt, asked(prompt)) for prompt in missing)
        return [values[prompt] for prompt in prompts]

    def _body(self, prompt: str) -> dict[str, Any]:
        return chat_body(self.model, prompt, self.parameters)

    def _key(self, prompt: str) -> bytes:
        return content_key("chat", self.url, self.revision, self._body(prompt))

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


def configured_chat(role: str, cache: Cache | None = None) -> Chat:
    """Give the server of the environment variables ``MEMENVS_ROLE_URL``, ``_MODEL`` and ``_KEY``.

    ``_OPTIONS`` are parameters that are sent, as a JSON object, ``_REVISION`` tells models of one
    name apart, ``_TIMEOUT`` is in seconds and ``_TOGETHER`` a number of questions. Replies are kept
    in ``cache``, by default in the folder ``MEMENVS_CACHE`` or the user's cache folder, as
    ``MEMENVS_REPLIES`` says: keep, record, replay or off. Raises ``ServerError`` where no address
    is set, or a variable is none of these.
    """
    prefix = f"MEMENVS_{role.upper()}"
    url = os.environ.get(f"{prefix}_URL")
    if not url:
        raise ServerError(
            f"no {role} is configured; set {prefix}_URL (and {prefix}_MODEL, {prefix}_KEY) to an "
            "OpenAI-compatible server"
        )
    replies = os.environ.get(REPLIES) or "keep"
    if replies not in KINDS:
        raise ServerError(f"{REPLIES}={replies!a:.40} is none of {', '.join(KINDS)}")
    return Chat(
        url,
        os.environ.get(f"{prefix}_MODEL", "default"),
        role,
        Cache(_folder()) if cache is None else cache,
        key=os.environ.get(f"{prefix}_KEY", ""),
        parameters=_parameters(f"{prefix}_OPTIONS"),
        revision=os.environ.get(f"{prefix}_REVISION", ""),
        together=int(_number(f"{prefix}_TOGETHER", TOGETHER)),
        timeout=_number(f"{prefix}_TIMEOUT", 30.0),
        replies=replies,
    )


def _parameters(name: str) -> dict[str, Any]:
    given = os.environ.get(name) or "{}"
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or {"model", "messages"} & found.keys():
        raise ServerError(
            f'{name} is no JSON object of parameters to send, such as {{"temperature": 0}}'
        )
    return found


def _number(name: str, default: float) -> float:
    given = os.environ.get(name)
    try:
        found = float(given) if given else default
    except ValueError:
        found = 0.0
    if not 1 <= found < math.inf:
        raise ServerError(f"{name}={given!a:.40} is no number of 1 or more")
    return found


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
