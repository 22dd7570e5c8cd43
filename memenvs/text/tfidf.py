"""TF-IDF and truncated SVD: vectors of texts, fitted on the claims of training materials."""

from __future__ import annotations

import base64
import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from memenvs.errors import MaterialError
from memenvs.material.incidence import FloatArray
from memenvs.material.material import Material
from memenvs.storage import archives
from memenvs.storage.archives import Archive, array_entries, digests_of, packed
from memenvs.storage.reading import read_bounded, read_sealed, sealed
from memenvs.storage.whole import write_whole
from memenvs.text.encoders import WIDEST, unit_rows, words

FORMAT, TEXT = "memenvs.tfidf/2", "encoder.json"
LONGEST = 2**29  # bytes that a fitted encoder unpacks to


@dataclass(frozen=True, eq=False)
class TfidfEncoder:
    """Latent semantic vectors (TF-IDF, then truncated SVD); fit with ``TfidfEncoder.fit``.

    A word's weight is (1 + ln tf) · ln((1 + n) / df)². The square keeps common words from filling
    the first components: on conversations, five turns read then hold twice as many answers.
    Encoding needs numpy alone; fitting needs scikit-learn.
    """

    terms: tuple[str, ...]  # V known words
    idf: FloatArray  # (V,) squared already
    components: FloatArray  # (V, d)
    kind: ClassVar[str] = "tfidf"

    @classmethod
    def fit(cls, materials: Iterable[Material], dimension: int = 64, seed: int = 0) -> TfidfEncoder:
        """Fit on the claims of ``materials``.

        Their queries are left out: a question's words would tell which claims will be asked for.
        Where the claims give fewer than ``dimension`` components, the rest are zero, so that
        the length of a vector never depends on the data. Raises ``ValueError`` where there are
        fewer than two different words, or ``dimension`` is not positive.
        """
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.preprocessing import normalize

        texts = [claim.text for material in materials for claim in material.claims]
        if dimension < 1:
            raise ValueError(f"dimension is {dimension}; give at least 1")
        if len({word for text in texts for word in words(text)}) < 2:
            raise ValueError("the claims hold fewer than two different words; give others to fit")
        counter = TfidfVectorizer(analyzer=words, sublinear_tf=True, use_idf=False, norm=None)
        damped = counter.fit_transform(texts)
        idf = np.log((1 + len(texts)) / np.bincount(damped.indices)) ** 2
        matrix = normalize(damped.multiply(idf).tocsr())
        with np.errstate(invalid="ignore"):  # of claims that are all alike no variance is explained
            svd = TruncatedSVD(min(dimension, *matrix.shape), random_state=seed).fit(matrix)
        components = np.zeros((matrix.shape[1], dimension))
        components[:, : len(svd.components_)] = svd.components_.T
        return cls(tuple(counter.get_feature_names_out().tolist()), idf, components)

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return int(self.components.shape[1])

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Give ``(n, dimension)`` rows of length 1; zeros for a text without known words."""
        rows = np.zeros((len(texts), self.dimension))
        for row, text in zip(rows, texts, strict=True):
            counts = Counter(word for word in words(text) if word in self._place)
            places = [self._place[word] for word in counts]
            damped = 1.0 + np.log(np.array(list(counts.values()), dtype=np.float64))
            row[:] = (damped * self.idf[places]) @ self.components[places]
        return unit_rows(rows)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {term: place for place, term in enumerate(self.terms)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the encoder as ``.npz`` without pickles, whole or not at all; may raise OSError."""
        write_whole(Path(path), self._bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TfidfEncoder:
        """Read what ``save`` wrote; raises ``MaterialError`` for any other file."""
        file = os.fspath(path)
        try:
            return cls._from_bytes(read_bounded(path, LONGEST))
        except MaterialError as error:
            raise error.within(file) from None

    def describe(self) -> dict[str, Any]:
        """Give the whole encoder, as the text of its file."""
        return {"npz": base64.b64encode(self._bytes()).decode()}

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> TfidfEncoder:
        """Read what ``describe`` gave."""
        return cls._from_bytes(base64.b64decode(description["npz"], validate=True))

    def _bytes(self) -> bytes:
        # One text of all terms: an array of strings takes the longest one's room for each.
        terms = np.frombuffer("\n".join(self.terms).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {"terms": terms, "idf": self.idf, "components": self.components}
        entries = array_entries(arrays.items())
        text = json.dumps(sealed({"format": FORMAT, "entries": digests_of(entries)}))
        return packed({TEXT: text.encode(), **entries})

    @classmethod
    def _from_bytes(cls, content: bytes) -> TfidfEncoder:
        archive = Archive(content, LONGEST, "encoder", "")
        document = read_sealed(archive.read(TEXT, archives.TEXT), FORMAT, "encoder", "")
        archive.check(document.get("entries"), TEXT)
        arrays = archive.arrays()
        try:
            terms = tuple(arrays["terms"].tobytes().decode().split("\n"))
            idf, components = arrays["idf"], arrays["components"]
        except (KeyError, UnicodeDecodeError):
            raise MaterialError("is no encoder that this version saved") from None
        if (
            idf.shape != (len(terms),)
            or components.ndim != 2
            or not 1 <= components.shape[1] <= WIDEST
            or len(components) != len(terms)
            or not all(a.dtype == np.float64 and np.isfinite(a).all() for a in (idf, components))
        ):
            raise MaterialError("has words and numbers that do not go together")
        return cls(terms, idf, components)
