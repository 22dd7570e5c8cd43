"""What an agent can read of an episode: the wording of the considered claim and the stored ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memenvs.envs.memorization.slots import EMPTY
from memenvs.policies.base import privileged


@dataclass(frozen=True)
class Texts:
    """Wordings of one episode, as a person reads them; nothing of truth or queries."""

    claim: str | None  # None while none is considered
    stored: tuple[str | None, ...]  # (S,) by slot; None where it is free


def observable_texts(env: Any) -> list[Texts]:
    """Give the wordings in view, for each episode of an environment or of a vector of them.

    Observations hold vectors in their stead; a judge that is a language model needs the words.
    """
    found = []
    for view in privileged(env):
        claims = view.load().claims
        found.append(
            Texts(
                None if view.considered is None else claims[view.considered].text,
                tuple(None if slot == EMPTY else claims[slot].text for slot in view.slots.tolist()),
            )
        )
    return found
