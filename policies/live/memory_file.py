"""The file of a `WriteMemory`: what it holds, written whole and checked when it is read."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from memenvs.errors import MaterialError
from memenvs.material.records import Claim
from memenvs.policies.learned.models import find_models
from memenvs.policies.live.memory_schema import Document
from memenvs.policies.names import POLICIES
from memenvs.policies.predictor import State
from memenvs.policies.resolve import Given, is_path, label_of, policy_class
from memenvs.storage import archives
from memenvs.storage.archives import array_entries, digests_of, packed, read_archive
from memenvs.storage.messages import clipped
from memenvs.storage.reading import checked, read_sealed, sealed
from memenvs.storage.whole import write_whole
from memenvs.text.encoders import Encoder, encoder_description, make_encoder

FORMAT = "memenvs.memory/2"
TEXT = "memory.json"  # the first entry of the zip file; the others are arrays
STATE = "state."  # how the names of a policy's state arrays begin
LONGEST = 2**29  # bytes that a file unpacks to
MODEL = "model"  # what stands for the path of one


@dataclass(frozen=True)
class Content:
    """What is written of a memory."""

    policy: Given
    settings: dict[str, Any]  # other arguments of ``WriteMemory``
    encoder: Encoder | None
    claims: list[dict[str, Any]]  # the stored ones
    names: dict[str, Any]  # sources and groups that were heard
    arrays: dict[str, NDArray[Any]]
    state: State  # of the policy


def write_memory(path: str | os.PathLike[str], content: Content) -> None:
    """Write a memory, whole or not at all; raises ``OSError``."""
    states = {f"{STATE}{place}": array for place, array in enumerate(content.state)}
    entries = array_entries((content.arrays | states).items())
    model = is_path(content.policy)
    document = {
        "format": FORMAT,
        "policy": MODEL if model else _written_name(label_of(content.policy)),
        "settings": content.settings,
        "encoder": None if content.encoder is None else encoder_description(content.encoder),
        "claims": content.claims,
        "names": content.names,
        "models": _digests(content.policy) if model else None,
        "arrays": digests_of(entries),
    }
    text = json.dumps(sealed(json.loads(json.dumps(document)))).encode()
    write_whole(Path(path), packed({TEXT: text, **entries}))


def read_memory(
    path: str | os.PathLike[str],
    policy: Given | None = None,
    encoder: Encoder | None = None,
) -> Content:
    """Read what ``write_memory`` wrote; raises ``MaterialError`` for another file, or model.

    A file names no model, no command and no server: where the memory needs one, it is given.
    """
    file = os.fspath(path)
    archive = read_archive(path, LONGEST, "memory")
    found = read_sealed(archive.read(TEXT, archives.TEXT), FORMAT, "memory", file)
    document = checked(Document, found, file)
    archive.check(document.arrays, TEXT)
    chosen = _policy(document, policy, file)
    arrays = archive.arrays()
    states = sum(name.startswith(STATE) for name in arrays)
    try:
        state = tuple(arrays.pop(f"{STATE}{place}") for place in range(states))
    except KeyError:
        raise MaterialError("lacks a part of the policy's state", file=file) from None
    return Content(
        chosen,
        document.settings.model_dump(),
        _encoder(document, encoder, file),
        [claim.model_dump() for claim in document.claims],
        document.names.model_dump(),
        arrays,
        state,
    )


def same_encoder(encoder: Encoder, described: dict[str, Any]) -> bool:
    """Tell whether an encoder is the one that was described, wherever its model or server is."""
    own = encoder_description(encoder)
    return {**own, "url": ""} == {**described, "url": ""}


def _policy(document: Document, given: Given | None, file: str) -> Given:
    """Choose the policy: the one that was given, or a rule of our own that the file names."""
    if document.models is not None:
        if given is None:
            raise MaterialError(
                "was written with a trained model, which a file must not name; give policy= its "
                "path",
                file=file,
            )
        if not is_path(given) or _digests(given) != document.models:
            raise MaterialError(
                f"is not the model that {clipped(file)} was written with; its decisions would not "
                "go together",
                file=label_of(given),
            )
        return given
    if given is None and not _is_own_rule(document.policy):
        raise MaterialError(
            f"was written with the policy '{clipped(document.policy)}', which a file must not "
            "choose; give policy= what it was",
            file=file,
        )
    return document.policy if given is None else given


def _encoder(document: Document, given: Encoder | None, file: str) -> Encoder | None:
    if document.encoder is None or document.models is not None:
        return given  # a model's card describes its own
    if given is None:
        try:
            return make_encoder(document.encoder)
        except MaterialError as error:
            raise error.within(file) from None
    if not same_encoder(given, document.encoder):
        raise MaterialError("was written with another encoder than encoder=", file=file)
    return given


def _is_own_rule(name: str) -> bool:
    """Tell a rule of this package, or a listed variant of it, from what runs or reads others'."""
    base, colon, variant = name.partition(":")
    if base not in POLICIES:
        return False
    variants = getattr(policy_class(base), "variants", ())
    return not colon or (not isinstance(variants, str) and variant in variants)


def _written_name(policy: str) -> str:
    """Name a policy in a file: of what runs or reads others' the kind alone."""
    return policy if _is_own_rule(policy) else policy.partition(":")[0]


def _digests(policy: Given) -> list[str]:
    return [hashlib.sha256(m.path.read_bytes()).hexdigest() for m in find_models(policy)]


def claim_as_json(claim: Claim) -> dict[str, Any]:
    """Give what a file holds of a stored claim."""
    fields = ("id", "text", "source", "time", "confidence", "group", "cost")
    return {name: getattr(claim, name) for name in fields} | {"cues": dict(claim.cues)}
