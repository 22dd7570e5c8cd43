"""What stands for a completed branch: the interface of a summariser, and one without a model."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from memenvs.policies.weighted_tree.quoting import PARTS, quoted, quoted_part
from memenvs.policies.weighted_tree.tokens import count_tokens

REQUEST = (
    "Summarise this completed task in at most two sentences: its objective, result, supporting "
    "evidence, unresolved issues and warnings about what failed. Reply with JSON alone: "
    '{{"summary": "..."}}.\n{}'
)


class Branch(NamedTuple):
    """What a fold keeps of a branch; texts."""

    objective: str
    result: str
    evidence: tuple[str, ...]
    unresolved: tuple[str, ...]
    warnings: tuple[str, ...]

    def plain(self) -> str:
        """Lay the parts side by side, the empty ones left out; no text can add one."""
        texts = (self.objective, self.result, *map("; ".join, self[2:]))
        parts = zip(PARTS, map(quoted_part, texts), strict=True)
        return " | ".join(f"{name}: {text}" for name, text in parts if text)

    def request(self) -> str:
        """Give the prompt by which a language model is asked."""
        return REQUEST.format(quoted(self.plain()))


class Summarizer(Protocol):
    """Writes the summary of a completed branch."""

    def summarize(self, branch: Branch) -> str:
        """Give the text of the summary."""
        ...

    def tokens(self, branch: Branch) -> int:
        """Count the prompt tokens of the last ``summarize(branch)``."""
        ...


class PlainSummarizer:
    """Put the parts side by side; asks no model, and is charged with the question to one."""

    def summarize(self, branch: Branch) -> str:
        """Give the parts, labelled."""
        return branch.plain()

    def tokens(self, branch: Branch) -> int:
        """Count the tokens of the request that a model would have been sent."""
        return count_tokens(branch.request())
