"""What the file of a `WriteMemory` may say, field by field."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from memenvs.envs.memorization.rules import MAX_SLOTS
from memenvs.storage.strict import Strict

MOST = 2**53
MAX_CLAIMS = 2**20  # that a stream in a file is expected to have
Number = Annotated[int, Field(ge=0, le=MOST)]
Place = Annotated[int, Field(ge=-1, le=MOST)]  # of a group; -1 of none
Real = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Settings(Strict):
    """Arguments of ``WriteMemory``, but for what its user has to name."""

    capacity: Annotated[int, Field(ge=1, le=MAX_SLOTS)]
    claims: Annotated[int, Field(ge=1, le=MAX_CLAIMS)]
    cues: Annotated[list[str], Field(max_length=4096)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    reader: Annotated[str, Field(pattern="^(all|(similarity|bm25)(:[1-9][0-9]{0,8})?)$")] = "all"


class StoredClaim(Strict):
    """A claim in the memory."""

    id: Annotated[str, Field(pattern="^(0|[1-9][0-9]{0,15})$")]
    text: str
    source: str
    time: Real | None
    confidence: Share | None
    group: str
    cost: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    cues: dict[str, Real]


class Names(Strict):
    """Sources and groups that were heard, by the numbers that stand for them."""

    sources: dict[str, Number]
    groups: dict[str, Number]
    places: list[Annotated[tuple[Place, Number], Field(strict=False)]]
    heard: list[Annotated[tuple[Number, Number, list[Real]], Field(strict=False)]]
    start: Real | None


class Document(Strict):
    """The file's text."""

    policy: str  # of those that need no file and no server; else of what kind it was
    settings: Settings
    encoder: dict[str, Any] | None
    claims: Annotated[list[StoredClaim], Field(max_length=MAX_SLOTS)]
    names: Names
    models: Annotated[list[Digest], Field(max_length=1000)] | None
    arrays: dict[str, Digest]
