"""A scenario as arrays, padded to the largest: what each prompt shows, and how it is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.poisoning.layout import (
    CONTEXT_COLUMNS,
    COUNT_UNIT,
    FIXED_COLUMNS,
    LAYOUT,
    MAX_PROMPTS,
    TOKEN_UNIT,
)
from memenvs.envs.poisoning.reasoner import cosines
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.poisoning.records import NO_SLOT, ROOT, Scenario
from memenvs.materials.poisoning.sets import MAX_ENTRIES


@dataclass(frozen=True, eq=False)
class Compiled:
    """Arrays over P prompts and E entries, both padded to their maxima."""

    prompts: int
    fixed: NDArray[np.float32]  # (P, E, FIXED_COLUMNS)
    context: NDArray[np.float32]  # (P, CONTEXT_COLUMNS); room and chosen are still empty
    recorded: BoolArray  # (P, E)
    critical: BoolArray  # (P,)
    owner: IntArray  # (P,) subtask of a critical prompt; ROOT of the final one
    relevance: FloatArray  # (P, E)
    offers: BoolArray  # (P, E) offers an answer to the prompt's question
    same_answer: BoolArray  # (E, E) the same answer to the same question
    other_answer: BoolArray  # (E, E)
    tokens: IntArray  # (E,)
    failed: BoolArray  # (E,)
    right: BoolArray  # (P, E) offers the true answer; no observation shows it
    poisoned: BoolArray  # (E,) likewise


def compile_scenario(scenario: Scenario) -> Compiled:
    """Lay a scenario out; what a prompt shows follows from what is recorded before it."""
    entries, prompts = scenario.entries, scenario.prompts
    n, p = len(entries), len(prompts)
    slot = np.array([entry.slot for entry in entries])
    value = np.array([entry.value for entry in entries])
    asked = np.array([prompt.slot for prompt in prompts])
    answer = np.array([scenario.slots[number].answer for number in asked])
    relevance = cosines(
        [scenario.slots[prompt.slot].text for prompt in prompts], [entry.text for entry in entries]
    )
    recorded = np.arange(n) < np.array([prompt.recorded for prompt in prompts])[:, None]
    paired = (slot[:, None] == slot) & (slot != NO_SLOT)
    same = paired & (value[:, None] == value) & ~np.eye(n, dtype=bool)
    other = paired & (value[:, None] != value)
    offers = asked[:, None] == slot
    fixed = _fixed(scenario, relevance, recorded, offers, same, other)
    context = np.zeros((p, len(CONTEXT_COLUMNS)), dtype=np.float32)
    for name, column in {
        "prompts_left": 1.0 - (np.arange(p) + 1) / p,
        "recorded": recorded.sum(axis=1) / COUNT_UNIT,
        "at_root": [float(prompt.subtask == ROOT) for prompt in prompts],
    }.items():
        context[:, LAYOUT.index(name, "context")] = column
    return Compiled(
        prompts=p,
        fixed=_padded(fixed, (MAX_PROMPTS, MAX_ENTRIES)),
        context=_padded(context, (MAX_PROMPTS,)),
        recorded=_padded(recorded, (MAX_PROMPTS, MAX_ENTRIES)),
        critical=_padded(np.array([prompt.critical for prompt in prompts]), (MAX_PROMPTS,)),
        owner=_padded(np.array([prompt.subtask for prompt in prompts]), (MAX_PROMPTS,)),
        relevance=_padded(relevance, (MAX_PROMPTS, MAX_ENTRIES)),
        offers=_padded(offers, (MAX_PROMPTS, MAX_ENTRIES)),
        same_answer=_padded(same, (MAX_ENTRIES, MAX_ENTRIES)),
        other_answer=_padded(other, (MAX_ENTRIES, MAX_ENTRIES)),
        tokens=_padded(np.array([entry.tokens for entry in entries]), (MAX_ENTRIES,)),
        failed=_padded(np.array([not entry.success for entry in entries]), (MAX_ENTRIES,)),
        right=_padded(offers & (value == answer[:, None]), (MAX_PROMPTS, MAX_ENTRIES)),
        poisoned=_padded(np.array([entry.poisoned for entry in entries]), (MAX_ENTRIES,)),
    )


def _fixed(
    scenario: Scenario,
    relevance: FloatArray,
    recorded: BoolArray,
    offers: BoolArray,
    same: BoolArray,
    other: BoolArray,
) -> NDArray[np.float32]:
    entries, prompts = scenario.entries, scenario.prompts
    n, p = len(entries), len(prompts)
    subtask = np.array([entry.subtask for entry in entries])
    active = np.array([prompt.subtask for prompt in prompts])
    superseding = np.zeros((n, n), dtype=bool)  # (by, of)
    for number in range(n):
        superseding[number, list(scenario.superseded(number))] = True
    fixed = np.zeros((p, n, len(FIXED_COLUMNS)), dtype=np.float32)
    known = recorded.astype(np.float64)
    count = known.sum(axis=1, keepdims=True)
    before = np.array([(subtask[:place] == subtask[place]).sum() for place in range(n)])
    columns: dict[str, NDArray[Any]] = {
        "valid": known,
        "relevance": relevance,
        "answers": offers,
        "success": np.array([entry.success for entry in entries]),
        "tokens": np.array([entry.tokens for entry in entries]) / TOKEN_UNIT,
        "same_subtask": active[:, None] == subtask,
        "age": (count - 1 - np.arange(n)) / np.maximum(count, 1),
        "place": before / COUNT_UNIT,
        "agreeing": known @ same / COUNT_UNIT,
        "differing": known @ other / COUNT_UNIT,
        "superseded": known @ superseding > 0,
        "confidence": np.array([entry.confidence for entry in entries]),
    }
    for name, column in columns.items():
        fixed[:, :, LAYOUT.index(name)] = column
    for place, entry in enumerate(entries):
        fixed[:, place, LAYOUT.index(entry.source)] = 1.0
        fixed[:, place, LAYOUT.index(entry.kind)] = 1.0
    return np.asarray(fixed * recorded[..., None], dtype=np.float32)


def _padded(array: NDArray[Any], lengths: tuple[int, ...]) -> NDArray[Any]:
    """Fill the leading axes up to ``lengths`` with zeros."""
    full = np.zeros((*lengths, *array.shape[len(lengths) :]), dtype=array.dtype)
    full[tuple(slice(length) for length in array.shape[: len(lengths)])] = array
    return full
