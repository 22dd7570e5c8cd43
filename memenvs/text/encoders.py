"""Text encoders, and the vectors of a material's claims, items and queries."""

from __future__ import annotations

import hashlib
import importlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.incidence import FloatArray, IntArray
from memenvs.material.material import Material

WORD = re.compile(r"\w+")
UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
GRAM = 3  # letters: long enough to mean something, short enough to see through an ending

WIDEST = 2**16  # numbers of a vector that a description may ask for
LONGEST_VALUE = 2048  # characters of a value of a description, but for a fitted encoder

# What a description names by "kind"; strings, so that no kind imports another's packages.
ENCODERS: dict[str, str] = {
    "hashing": "memenvs.text.encoders:HashingEncoder",
    "tfidf": "memenvs.text.tfidf:TfidfEncoder",
    "sentence-transformers": "memenvs.text.embedders.local:SentenceTransformersEncoder",
    "model2vec": "memenvs.text.embedders.local:Model2VecEncoder",
    "onnx": "memenvs.text.embedders.onnx:OnnxEncoder",
    "endpoint": "memenvs.text.embedders.endpoint:EndpointEncoder",
}


class Encoder(Protocol):
    """Turns texts into vectors of one length; hashable, since results are kept by encoder."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows of length 1; zeros for a text without known words."""
        ...

    def __hash__(self) -> int: ...


@runtime_checkable
class DescribedEncoder(Encoder, Protocol):
    """An encoder that JSON can hold: ``from_description(describe())`` encodes alike elsewhere."""

    kind: ClassVar[str]  # its name in ``ENCODERS``

    def describe(self) -> dict[str, Any]:
        """Give what another process needs to make the same encoder, as JSON values."""
        ...

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Encoder:
        """Make the encoder again; raises ``KeyError``, ``TypeError`` or ``ValueError``."""
        ...


def encoder_description(encoder: Encoder) -> dict[str, Any]:
    """Describe an encoder in JSON values, so that ``make_encoder`` makes an equal one elsewhere.

    A fitted encoder is held whole; a model on disk by its digest; an endpoint by its address
    and model, never its key. Raises ``ValueError`` for an encoder of another kind.
    """
    if not isinstance(encoder, DescribedEncoder):
        raise ValueError(
            f"{type(encoder).__name__} has no description; "
            f"use one of the kinds {', '.join(ENCODERS)}, or give it kind and describe()"
        )
    return {"kind": encoder.kind, **encoder.describe()}


def make_encoder(description: Mapping[str, Any]) -> Encoder:
    """Make the encoder that ``encoder_description`` described.

    A description may come from a file of others, so it does not say where a model or a server is:
    these are the ones that the user named. Raises ``MaterialError`` for an unknown kind, a
    description that lacks something, a model or a server that this user never named, and a model
    that is not what it was.
    """
    kind = description.get("kind")
    if not isinstance(kind, str) or kind not in ENCODERS:
        raise MaterialError(
            f"{kind!r:.60} is no kind of encoder; known are {', '.join(ENCODERS)}",
            record="encoder",
            field="kind",
        )
    module, _, name = ENCODERS[kind].partition(":")
    made: type[DescribedEncoder] = getattr(importlib.import_module(module), name)
    _check_description(description, kind)
    try:
        return made.from_description(description)
    except MaterialError:
        raise
    except KeyError as error:
        raise MaterialError(
            "is missing; add it", record=f"encoder '{kind}'", field=str(error.args[0])
        ) from None
    except (TypeError, ValueError) as error:
        raise MaterialError(str(error), record=f"encoder '{kind}'") from None


def _check_description(description: Mapping[str, Any], kind: str) -> None:
    """Raise ``MaterialError`` for a value that no description has; what is missing shows later."""
    for name, value in description.items():
        if name == "dimension":
            right = type(value) is int and 1 <= value <= WIDEST
        else:
            right = isinstance(value, str) and (name == "npz" or len(value) <= LONGEST_VALUE)
        if not right:
            raise MaterialError(
                f"is no text of at most {LONGEST_VALUE} characters, and no dimension from 1 to "
                f"{WIDEST}",
                record=f"encoder '{kind}'",
                field=name,
            )


@dataclass(frozen=True)
class HashingEncoder:
    """Signed feature hashing of lower-cased words and their letter trigrams; needs no fitting.

    Equal texts have equal vectors on every machine: the hash is BLAKE2, and all sums are of whole
    numbers. Raises ``ValueError`` where ``dimension`` is not positive.
    """

    dimension: int = 64
    kind: ClassVar[str] = "hashing"

    def __post_init__(self) -> None:
        """Refuse an impossible length."""
        if self.dimension < 1:
            raise ValueError(f"dimension is {self.dimension}; give at least 1")

    def describe(self) -> dict[str, Any]:
        """Give its length."""
        return {"dimension": self.dimension}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> HashingEncoder:
        """Make it of the length described."""
        return cls(int(description["dimension"]))

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows of length 1; zeros for a text without words."""
        rows = np.zeros((len(texts), self.dimension))
        for row, text in zip(rows, texts, strict=True):
            for word, count in Counter(words(text)).items():
                places, signs = _features(word, self.dimension)
                np.add.at(row, places, count * signs)
        return unit_rows(rows)


@lru_cache(maxsize=1 << 16)
def _features(word: str, dimension: int) -> tuple[IntArray, FloatArray]:
    """Give the places and signs of a word and of the trigrams of it between its borders."""
    framed = f"<{word}>"
    grams = {framed[i : i + GRAM] for i in range(len(framed) - GRAM + 1)}
    digests = [
        int.from_bytes(hashlib.blake2b(feature.encode(), digest_size=8).digest(), "little")
        for feature in sorted({word, *grams})
    ]
    places = np.array([(digest >> 1) % dimension for digest in digests])
    return places, np.array([1.0 if digest & 1 else -1.0 for digest in digests])


def words(text: str) -> list[str]:
    """Split a text into its words, case folded; what is written without spaces, into pairs."""
    found = WORD.findall(text.casefold())
    if text.isascii() or not UNSPACED.search(text):
        return found
    return [part for word in found for part in _parts(word)]


def _parts(word: str) -> list[str]:
    """Split a run of letters where its script has no spaces: "他昨天 abc" needs no dictionary."""
    parts: list[str] = []
    end = 0
    for match in UNSPACED.finditer(word):
        parts += [word[end : match.start()]] if match.start() > end else []
        run, end = match[0], match.end()
        parts += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    return parts + ([word[end:]] if end < len(word) else [])


def unit_rows(rows: FloatArray) -> FloatArray:
    """Scale each row to length 1; rows of zeros stay."""
    largest = np.abs(rows).max(axis=-1, keepdims=True, initial=0.0)
    scaled = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    norms = np.linalg.norm(scaled, axis=-1, keepdims=True)  # of scaled rows: no under- or overflow
    unit: FloatArray = np.divide(scaled, norms, out=np.zeros_like(rows), where=norms > 0)
    return unit


def embed(material: Material, encoder: Encoder) -> Material:
    """Return the material with the encoder's vectors on its claims and queries.

    Items get none: an item stands for the mean of its first support's claims.
    """
    claims = encoder.encode([claim.text for claim in material.claims]).tolist()
    queries = encoder.encode([query.text for query in material.queries]).tolist()
    return Material(
        material.name,
        tuple(replace(c, embedding=tuple(v)) for c, v in zip(material.claims, claims, strict=True)),
        tuple(replace(item, embedding=None) for item in material.items),
        tuple(
            replace(q, embedding=tuple(v)) for q, v in zip(material.queries, queries, strict=True)
        ),
    )


def embeddings(
    material: Material, encoder: Encoder | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give the unit vectors of claims ``(E, d)``, items ``(N, d)`` and queries ``(Q, d)``.

    They are the material's own where it has them, else those of ``encoder`` (default
    ``HashingEncoder()``). An item without one has the mean of the unit vectors of its first
    support's claims. The arrays are computed once for each material and encoder, and read-only.
    """
    encoder = None if material.has_embeddings else encoder or HashingEncoder()
    key = ("embeddings", encoder)
    if key not in material.derived:
        material.derived[key] = _embeddings(material, encoder)
    vectors: tuple[FloatArray, FloatArray, FloatArray] = material.derived[key]
    return vectors


def _embeddings(
    material: Material, encoder: Encoder | None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    if encoder is None:
        claims = _matrix(claim.embedding for claim in material.claims)
        queries = _matrix(query.embedding for query in material.queries)
    else:
        claims = encoder.encode([claim.text for claim in material.claims])
        queries = encoder.encode([query.text for query in material.queries])
    units_of_claims = unit_rows(
        claims
    )  # so that no claim outweighs another by the length of a vector
    items = np.zeros((len(material.items), claims.shape[1]))
    incidence = material.incidence
    for n, item in enumerate(material.items):
        if item.embedding is not None:
            items[n] = item.embedding
        else:
            first = incidence.supports[incidence.item_supports[n][0]]
            items[n] = units_of_claims[first].mean(axis=0)
    units = (units_of_claims, unit_rows(items), unit_rows(queries))
    for unit in units:
        unit.setflags(write=False)
    return units


def _matrix(vectors: Iterable[tuple[float, ...] | None]) -> FloatArray:
    return np.array(list(vectors), dtype=np.float64)
