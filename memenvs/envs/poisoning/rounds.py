"""B episodes of the poisoning environment as arrays; the scalar environment plays one of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memenvs.counter import MATERIAL, QUERY, uniforms
from memenvs.envs.poisoning.compiled import Compiled, compile_scenario
from memenvs.envs.poisoning.layout import (
    CHOICE_COLUMNS,
    COUNT_UNIT,
    FIXED_COLUMNS,
    LAYOUT,
    MAX_PROMPTS,
    TOKEN_UNIT,
)
from memenvs.envs.poisoning.reasoner import NOTHING, choose_line
from memenvs.material.incidence import BoolArray, FloatArray, IntArray
from memenvs.materials.poisoning import Scenario, Split
from memenvs.materials.poisoning.sets import MAX_ENTRIES

STOP = 0  # action that closes the context; action 1 + n puts entry n into it
LINES = 64  # random numbers of a prompt, one for each line that a context may hold
TABLES = ("fixed", "context", "recorded", "critical", "owner", "relevance", "offers")
ENTRIES = ("same_answer", "other_answer", "tokens", "failed", "right", "poisoned")

_compiled = lru_cache(maxsize=4096)(compile_scenario)


class Rounds:
    """Episodes by row: at which prompt each stands, and what its context holds."""

    def __init__(self, split: str, budget: int, price: float, rows: int) -> None:
        self.scenarios = Split(split)
        self.budget, self.price = budget, price
        self.playing: list[Scenario | None] = [None] * rows
        self.keys: NDArray[np.uint64] = np.zeros(rows, dtype=np.uint64)
        self.prompts: IntArray = np.ones(rows, dtype=np.int64)
        self.prompt: IntArray = np.zeros(rows, dtype=np.int64)
        self.chosen: BoolArray = np.zeros((rows, MAX_ENTRIES), dtype=bool)
        self.spent: IntArray = np.zeros(rows, dtype=np.int64)  # tokens in the context
        self.illegal: IntArray = np.zeros(rows, dtype=np.int64)
        # Sums over the closed prompts of an episode.
        self.right, self.wrong, self.used = np.zeros((3, rows), dtype=np.int64)
        self.poison, self.clean, self.touched = np.zeros((3, rows), dtype=np.int64)
        self.earned: FloatArray = np.zeros(rows)
        blank = _compiled(self.scenarios[0])
        self.tables: dict[str, NDArray[Any]] = {
            name: np.zeros((rows, *(table := getattr(blank, name)).shape), dtype=table.dtype)
            for name in (*TABLES, *ENTRIES)
        }

    def check_scenario(self, given: Any) -> Scenario:
        """Give a scenario, or the one of that number; raises ``ValueError`` where there is none."""
        if isinstance(given, int | np.integer) and 0 <= given < len(self.scenarios):
            return self.scenarios[int(given)]
        if not isinstance(given, Scenario):
            raise ValueError(
                f"scenario {given!r:.40} is none of the {len(self.scenarios)} of the split: give a "
                "number from 0, or a Scenario"
            )
        if len(given.entries) > MAX_ENTRIES or len(given.prompts) > MAX_PROMPTS:
            raise ValueError(
                f"the scenario {given.name} has {len(given.entries)} entries and "
                f"{len(given.prompts)} prompts; there is room for {MAX_ENTRIES} and {MAX_PROMPTS}"
            )
        return given

    def begin(
        self, rows: IntArray, keys: NDArray[np.uint64], chosen: Sequence[Scenario | None]
    ) -> None:
        """Begin episodes with scenarios that are given, or drawn."""
        for row, key, given in zip(rows.tolist(), keys, chosen, strict=True):
            scenario = given
            if scenario is None:
                scenario = self.scenarios[int(uniforms(key, MATERIAL, 0) * len(self.scenarios))]
            compiled: Compiled = _compiled(scenario)
            for name, table in self.tables.items():
                table[row] = getattr(compiled, name)
            self.playing[row], self.prompts[row] = scenario, compiled.prompts
        self.keys[rows] = keys
        sums = (self.right, self.wrong, self.used, self.poison, self.clean)
        for array in (*sums, self.touched, self.prompt, self.spent, self.illegal):
            array[rows] = 0
        self.earned[rows] = 0.0
        self.chosen[rows] = False

    def masks(self) -> BoolArray:
        """Legal actions ``(B, 1 + E)``: stop, and each recorded entry that still fits."""
        rows = np.arange(len(self.prompt))
        fits = self.tables["tokens"] <= (self.budget - self.spent)[:, None]
        free = self.tables["recorded"][rows, self._at] & ~self.chosen & fits
        open_ = (self.prompt < self.prompts)[:, None]
        return np.concatenate([np.ones((len(rows), 1), dtype=bool), free & open_], axis=1)

    def is_over(self) -> BoolArray:
        """Whether every prompt is closed: ``(B,)``."""
        return np.asarray(self.prompt >= self.prompts)

    def step(self, rows: IntArray, actions: IntArray) -> FloatArray:
        """Put an entry into the context of each row, or close it; gives the rewards ``(n,)``.

        An illegal action closes the context and is counted.
        """
        legal = self.masks()[rows]
        inside = (actions >= 0) & (actions < legal.shape[1])
        allowed = inside & legal[np.arange(len(rows)), np.where(inside, actions, 0)]
        self.illegal[rows] += ~allowed
        picking = allowed & (actions != STOP)
        rewards = np.zeros(len(rows))
        picked, entry = rows[picking], actions[picking] - 1
        if len(picked):
            tokens = self.tables["tokens"][picked, entry]
            self.chosen[picked, entry] = True
            self.spent[picked] += tokens
            rewards[picking] = -self.price * tokens / TOKEN_UNIT
        if not picking.all():
            rewards[~picking] += self._close(rows[~picking])
        self.earned[rows] += rewards
        return rewards

    def _close(self, rows: IntArray) -> FloatArray:
        """Let the reasoner answer, sum up, and go on to the next prompt."""
        at, here = self.prompt[rows], self.chosen[rows]
        line = self.answers(rows)
        given = line != NOTHING
        answered = given & self.tables["offers"][rows, at, line]
        right = given & self.tables["right"][rows, at, line]
        critical = self.tables["critical"][rows, at]
        poison = (here & self.tables["poisoned"][rows]).sum(axis=1)
        self.right[rows] += right & critical
        self.wrong[rows] += answered & ~right & critical
        self.used[rows] += self.spent[rows]
        self.poison[rows] += poison
        self.clean[rows] += here.sum(axis=1) - poison
        self.touched[rows] += poison > 0
        self.chosen[rows] = False
        self.spent[rows] = 0
        self.prompt[rows] += 1
        return np.asarray(critical * (2.0 * right - answered), dtype=np.float64)

    def answers(self, rows: IntArray) -> IntArray:
        """Entry that the reasoner answers from, ``NOTHING`` for an empty context: ``(n,)``."""
        at = self.prompt[rows]
        counters = (at * LINES)[:, None] + np.arange(MAX_ENTRIES)
        return choose_line(
            self.tables["relevance"][rows, at],
            self.tables["failed"][rows],
            self.tables["offers"][rows, at],
            self.chosen[rows],
            uniforms(self.keys[rows][:, None], QUERY, counters),
        )

    def true_answers(self) -> BoolArray:
        """Entries that answer the prompt's question truly ``(B, E)``; for oracles alone."""
        rows = np.arange(len(self.prompt))
        return np.asarray(self.tables["right"][rows, self._at])

    def observe(self) -> dict[str, NDArray[Any]]:
        """Give the observation of every row, in arrays of its own."""
        rows, at = np.arange(len(self.prompt)), self._at
        entries = np.empty((len(rows), MAX_ENTRIES, LAYOUT.entries.width), dtype=np.float32)
        over = self.is_over()
        width = len(FIXED_COLUMNS)
        entries[..., :width] = self.tables["fixed"][rows, at]
        counts = self.chosen[:, None].astype(np.float32) / COUNT_UNIT
        choices = (
            self.chosen,
            (counts @ self.tables["same_answer"])[:, 0],
            (counts @ self.tables["other_answer"])[:, 0],
        )
        valid = entries[..., LAYOUT.index("valid")]
        for place, column in enumerate(choices[: len(CHOICE_COLUMNS)]):
            entries[..., width + place] = column * valid
        entries[over] = 0.0
        context = self.tables["context"][rows, at].copy()
        context[:, LAYOUT.index("room", "context")] = (self.budget - self.spent) / TOKEN_UNIT
        context[:, LAYOUT.index("chosen", "context")] = self.chosen.sum(axis=1) / COUNT_UNIT
        context[over] = 0.0
        return {"entries": entries, "context": context, "action_mask": self.masks().astype(np.int8)}

    def finals(self, rows: IntArray) -> dict[str, NDArray[Any]]:
        """What episodes would end with now: ``(n,)`` each."""
        # Of an episode that is cut off, the prompts that are still open count as not answered.
        steps = self.tables["critical"][rows].sum(axis=1)
        taken = self.poison[rows] + self.clean[rows]
        return {
            "accuracy": self.right[rows] / steps,
            "attack_success_rate": self.wrong[rows] / steps,
            "poison_retrieval_rate": self.poison[rows] / np.maximum(taken, 1),
            "blast_radius": self.touched[rows] / self.prompts[rows],
            "prompt_tokens": self.used[rows] / self.prompts[rows],
            "utility": (self.right[rows] - self.wrong[rows]) / steps,
            "settled": self.earned[rows].copy(),
        }

    def describe(self, row: int) -> str:
        """Give an episode in words: the question, and the entries, those in the context starred."""
        scenario, at = self.playing[row], int(self._at[row])
        assert scenario is not None
        prompt = scenario.prompts[min(at, len(scenario.prompts) - 1)]
        question = scenario.slots[prompt.slot].text
        recorded = np.flatnonzero(self.tables["recorded"][row, at]).tolist()
        lines = [
            scenario.objective,
            f"prompt {int(self.prompt[row])} of {int(self.prompts[row])}: {question}",
            f"{int(self.budget - self.spent[row])} of {self.budget} tokens left",
        ]
        for number in recorded:
            entry = scenario.entries[number]
            star = "*" if self.chosen[row, number] else " "
            lines.append(f"{star} {number} [{entry.source}, {entry.tokens} tokens] {entry.text}")
        return "\n".join(lines)

    @property
    def _at(self) -> IntArray:
        return np.minimum(self.prompt, MAX_PROMPTS - 1)
