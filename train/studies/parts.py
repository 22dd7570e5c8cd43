"""What transfers, part by part: a learned rule of writing, a learned rule of reading, or both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from memenvs.envs.levels import LEVELS
from memenvs.materials.datasets.locomo import read_locomo
from memenvs.policies.learned.reranker import Memory, Reranker
from memenvs.reading.answers import reader_of
from memenvs.reading.readers import split_name
from memenvs.reading.utility import end_to_end
from memenvs.train.places import Instance, Place, place_of_id
from memenvs.train.playing import Playing
from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.statistics import mean_interval
from memenvs.train.studies.study import Findings, Record, Tell
from memenvs.train.units import units

FIXED, LEARNED = "fixed", "learned"
PARTS = tuple((write, read) for write in (FIXED, LEARNED) for read in (FIXED, LEARNED))
NOTES = (
    "value: query mass that is answered rightly from what is read of the final memory; gain: its "
    "difference to fixed writing and reading on the same materials, with 95% bootstrap intervals "
    "over materials; all: a memory of everything, read alike.",
    "Learned reading orders items by similarity, settled successes and failures of claim and "
    "source, and age, by weights that are fitted to settlements of each query at the end of "
    "episodes of the same writer on other materials.",
)


@dataclass(frozen=True)
class Setting:
    """Where the parts are compared: what is trained on, what is played, and who writes."""

    title: str
    reader: str
    writers: dict[str, str]  # by part
    training: Place  # of the reader; where it is the place of test, each material is left out
    test: Place


def study(tell: Tell, *, locomo: str | None, materials: int, model: str, seed: int) -> Findings:
    """Compare the four pairs in each setting."""
    rows: list[Record] = []
    for setting in settings(locomo, materials, model):
        tell(setting.title)
        rows += list(compared(setting, seed))
    shown = [summary(rows, title, seed) for title in dict.fromkeys(row["setting"] for row in rows)]
    return Findings(
        document={"rows": [row for part in shown for row in part]},
        tables=[_table(part) for part in shown],
        notes=NOTES,
        scores=rows,
    )


def settings(locomo: str | None, materials: int, model: str) -> Iterator[Setting]:
    """Give the settings: the tier of which one item is read, and conversations of which 5, 10."""
    tier = "memenvs/ReadLimited-v0"
    training, test = (place_of_id(tier, split=s, count=materials) for s in ("train", "test"))
    writers = {FIXED: "trust", LEARNED: model}
    yield Setting("ReadLimited, 1 item read", "similarity:1", writers, training, test)
    found = read_locomo(locomo).materials if locomo else ()
    for reader in ("similarity:5", "similarity:10") if found else ():
        arguments = {**LEVELS["1b"], "utility": "end-to-end", "reader": reader, "capacity": 100}
        instances = tuple(Instance(material.name, material) for material in found)
        place = Place("", {"material": list(found), **arguments}, instances)
        title = f"LoCoMo, {split_name(reader)[1]} items read"
        yield Setting(title, reader, {FIXED: "longest", LEARNED: "pretrained"}, place, place)


def compared(setting: Setting, seed: int) -> Iterator[Record]:
    """Play both writers; give a row for each test material and pair of parts."""
    plain = reader_of(setting.reader)
    k = split_name(setting.reader)[1]
    assert k is not None
    for write, policy in setting.writers.items():
        memories = played(setting.test, policy, seed)
        same = setting.training is setting.test
        others = memories if same else played(setting.training, policy, seed)
        rerankers: dict[str, Reranker] = {}  # by the material that was left out
        for name, memory in memories.items():
            without = name if same else ""
            if without not in rerankers:
                rest = [other for title, other in others.items() if title != without]
                rerankers[without] = Reranker.fit(rest, k, np.random.default_rng(seed))
            readers = {FIXED: plain, LEARNED: rerankers[without].reader(memory)}
            everything = np.ones(len(memory.material.claims), dtype=bool)
            for read, reader in readers.items():
                yield {
                    "setting": setting.title,
                    "material": name,
                    "write": write,
                    "read": read,
                    "policy": policy,
                    "value": float(end_to_end(memory.material, memory.stored, reader)),
                    "all": float(end_to_end(memory.material, everything, plain)),
                }


def played(place: Place, policy: str, seed: int) -> dict[str, Memory]:
    """Play a policy once on each material; give its final memories by name."""
    found = units(place.instances, 1, seed)
    layout = place.env.unwrapped.layout  # type: ignore[attr-defined]
    memories = {}
    for unit, ended in zip(found, Playing(place, episodes=64).all(policy, found), strict=True):
        assert ended.known is not None
        memories[unit.instance.name] = Memory(
            unit.instance.value, ended.known.claims, ended.known.rows, layout
        )
    return memories


def summary(rows: Sequence[Record], title: str, seed: int) -> list[Record]:
    """Give a row for each pair of parts in a setting: its mean, and its gain over fixed ones."""
    values: dict[tuple[str, str], Any] = {}
    for part in PARTS:
        own = [r for r in rows if (r["setting"], r["write"], r["read"]) == (title, *part)]
        own.sort(key=lambda row: row["material"])
        values[part] = np.array([row["value"] for row in own])
    base = values[FIXED, FIXED]
    everything = np.mean([row["all"] for row in rows if row["setting"] == title])
    policies = {row["write"]: row["policy"] for row in rows if row["setting"] == title}
    found = []
    for (write, read), own in values.items():
        low, high = mean_interval(own, seed) or (None, None)
        gain = (None, None) if own is base else mean_interval(own - base, seed) or (None, None)
        found.append(
            {
                "setting": title,
                "write": policies[write],
                "read": read,
                "materials": len(own),
                "value": float(own.mean()),
                "low": low,
                "high": high,
                "gain": None if own is base else float((own - base).mean()),
                "gain_low": gain[0],
                "gain_high": gain[1],
                "all": float(everything),
            }
        )
    return found


def _table(rows: Sequence[Record]) -> Table:
    return Table(
        (
            text_column("write", "write", "name"),
            text_column("read", "read"),
            Column("value", "value", ends=("low", "high")),
            Column("gain", "gain", ends=("gain_low", "gain_high")),
            Column("all", "all"),
        ),
        rows,
        rows[0]["setting"],
    )
