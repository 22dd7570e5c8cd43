"""A language model behind an OpenAI-compatible server, as selector and as summariser."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from memenvs.policies.weighted_tree.selector import LexicalSelector, Pool
from memenvs.policies.weighted_tree.summarizer import Branch
from memenvs.policies.weighted_tree.tokens import count_tokens
from memenvs.text.completions import chat_body, chat_field
from memenvs.text.model_server import ModelServer, ServerError

T = TypeVar("T")


class _Asked(ModelServer):
    """Counts its requests: a retried prompt is paid for again."""

    requests = 0

    def _post(self, body: dict[str, Any]) -> bytes:
        self.requests += 1
        return super()._post(body)


class _Model:
    """One model; what it does not answer is done without it, and a warning is logged."""

    def __init__(self, base_url: str, model: str, role: str, **options: Any) -> None:
        self._server = _Asked(base_url, "/chat/completions", role, **options)
        self._model, self._role = model, role
        self._charged = 0  # tokens of the last question, each try of it

    def _ask(self, prompt: str, read: Callable[[bytes], T], otherwise: Callable[[], T]) -> T:
        before = self._server.requests
        try:
            return self._server.ask(chat_body(self._model, prompt), read)
        except ServerError as error:
            logging.getLogger("memenvs").warning(f"{error}; going on without the {self._role}")
            return otherwise()
        finally:
            self._charged = (self._server.requests - before) * count_tokens(prompt)


class OpenAISelector(_Model):
    """Let a model choose, by a chat completion.

    The model is shown what the paper's is: each candidate's content, type, lifecycle, retention
    and branch priority. ``base_url`` ends before "/chat/completions"; the ``options`` are those of
    ``ModelServer``. Where the server is absent, late, refuses, or names what is no candidate,
    ``LexicalSelector`` chooses, and a warning is logged.
    """

    def __init__(self, base_url: str, model: str, **options: Any) -> None:
        super().__init__(base_url, model, "selector", **options)

    def rank(self, pool: Pool) -> Iterable[int]:
        """Give the node numbers that the model names, in its order."""
        known = set(pool.ids.tolist())

        def read(body: bytes) -> list[int]:
            value, said = chat_field(body, "selected")
            if not isinstance(value, list) or not all(type(n) is int for n in value):
                raise ValueError(f"answered {said} where JSON with 'selected' was asked for")
            if len(set(value)) < len(value) or not known.issuperset(value):
                raise ValueError(f"answered {said}, which are not the numbers of candidates")
            return value

        return self._ask(pool.question(), read, lambda: list(LexicalSelector().rank(pool)))

    def tokens(self, pool: Pool) -> int:
        """Count the prompt tokens of the last question, each try of it."""
        return self._charged


class OpenAISummarizer(_Model):
    """Let a model summarise completed branches; arguments as for ``OpenAISelector``.

    Where it gives none, ``PlainSummarizer`` writes the summary, and a warning is logged.
    """

    def __init__(self, base_url: str, model: str, **options: Any) -> None:
        super().__init__(base_url, model, "summariser", **options)

    def summarize(self, branch: Branch) -> str:
        """Give the model's summary."""

        def read(body: bytes) -> str:
            value, said = chat_field(body, "summary")
            if not isinstance(value, str) or not value.strip():
                raise ValueError(f"answered {said} where JSON with 'summary' was asked for")
            return value.strip()

        return self._ask(branch.request(), read, branch.plain)

    def tokens(self, branch: Branch) -> int:
        """Count the prompt tokens of the last request, each try of it."""
        return self._charged
