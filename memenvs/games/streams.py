"""Who reads which claims: the streams of several writers, and the order they are read in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

import numpy as np

from memenvs.material.incidence import IntArray
from memenvs.material.material import Material

Streams = Literal["source", "group", "turns"]
STREAMS: tuple[Streams, ...] = ("source", "group", "turns")


def owners(material: Material, writers: int, streams: Streams) -> IntArray:
    """Give the writer that reads each claim: ``(E,)``.

    The sources, or groups, are dealt out by the order of their names, so that the order of the
    claims does not matter; by ``"turns"`` claim i goes to writer i mod n.
    """
    if streams == "turns":
        return np.arange(len(material.claims)) % writers
    labels = [getattr(claim, streams) for claim in material.claims]
    rank = {label: place for place, label in enumerate(sorted(set(labels)))}
    return np.array([rank[label] % writers for label in labels])


def rounds(owner: IntArray, writers: int) -> IntArray:
    """Give the claims by round and writer ``(R, writers)``, -1 where a stream has ended."""
    read = [np.flatnonzero(owner == writer) for writer in range(writers)]
    table = np.full((max(map(len, read)), writers), -1)
    for writer, claims in enumerate(read):
        table[: len(claims), writer] = claims
    return table


def interleave(material: Material, writers: int, streams: Streams) -> Material:
    """Put the claims into the order in which they are read, round by round.

    What the observation tells of a claim in relation to earlier ones is then true of what was read.
    """
    table = rounds(owners(material, writers, streams), writers)
    order: Iterable[int] = table[table >= 0].tolist()
    return replace(material, claims=tuple(material.claims[place] for place in order))
