"""A simulated agent with a weighted tree, on long-horizon tasks: accuracy against tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from memenvs.counter import uniforms
from memenvs.material.incidence import FloatArray
from memenvs.policies.weighted_tree import COMPONENTS, PAPER, Constants, Context, WeightedTree
from memenvs.policies.weighted_tree.nodes import NONE, OBSOLETE, TASK
from memenvs.text.encoders import words
from memenvs.train.rendering import Column, Table, text_column
from memenvs.train.statistics import mean_interval
from memenvs.train.studies.study import Findings, Record, Tell
from memenvs.train.studies.tree_tasks import SEEDS, Fact, Part, Task, draw_task, schedule

BUDGET = 150  # tokens of a prompt
NOISE = 0.08  # scale of the Gumbel noise on the agent's scores
MIDDLE = 0.25  # share of its score that a memory in the middle of a prompt loses
DOUBT = 0.3  # what is left of the score of an action recorded as failed
SAID = 1000  # the first number of what the agent itself concluded, after those of the facts
TURNS = 3  # queries of a conversation

BASELINE = "full"
MEMORIES: Mapping[str, tuple[str, Constants]] = {
    **{name: (name, Constants()) for name in (*COMPONENTS, "a1")},
    "full, product": ("full", PAPER),
}
# What the sensitivity table varies, one at a time; the rest stays as it is.
VARIED: dict[str, tuple[float, ...]] = {
    "task": (0.3, 0.75),
    "summary": (0.3, 0.9),
    "action": (0.3, 0.5),
    "global_": (0.3, 0.9),
    "decay": (0.8, 0.95, 1.0),
    "global_decay": (0.8, 1.0),
    "streak": (1, 2, 5),
    "weight": (0.0, 0.5, 0.8, 1.0),
    "threshold": (-1.0, 0.1),
}


@dataclass(frozen=True)
class Played:
    """How a memory did on one task."""

    right: bool  # whether every part of the final answer was
    steps: float  # share of the questions on the way that were answered rightly
    prompts: int  # prompt tokens, then those of the questions to selector and summariser
    selector: int
    summarizer: int
    obsolete: int  # branches that were suppressed


class Agent:
    """Plays tasks with one memory: it acts as the task says, and answers from its prompts.

    An answer is the value of the fact with the highest cosine to the question, less in the middle
    of a prompt and where recorded as failed, plus Gumbel noise that depends on the task, the step
    and the fact alone. A summary offers the facts that it was built from and the agent's own
    result; the last observation is in view until the next.
    """

    def __init__(self, configuration: str, constants: Constants | None = None) -> None:
        self.tree = WeightedTree(configuration, constants)
        self._known: dict[int, tuple[int, Fact]] = {}  # by node: the fact and its number
        self._step = self._seen = 0  # of the running task: prompts and facts

    def play(self, task: Task) -> Played:
        """Play a task in a tree of its own; global memories of earlier ones stay."""
        tree, gone, before = self.tree, self._obsolete(), replace(self.tree.tokens)
        self._step = self._seen = 0
        root = tree.begin_task(task.query)
        nodes: dict[int, int] = {}  # of the subtasks
        asked: list[bool] = []
        for place, facts, ends in schedule(task.parts):
            part = task.parts[place]
            tree.return_to(nodes.get(place, root))
            if place not in nodes:
                nodes[place] = tree.begin_task(part.objective)
            last = self._act(part, facts)
            if not ends:
                continue
            answers = [self._answer(task, slot, self._prompt(slot), last) for slot in part.asked]
            asked += [a == task.truth[slot] for a, slot in zip(answers, part.asked, strict=True)]
            if part.finished:
                said = f"The {part.asked[0]} is {answers[0]}" if answers[0] else ""
                summary = tree.complete(result=said)
                if summary is not None and said:
                    result = Fact(said, part.asked[0], answers[0], "success", False)
                    self._known[summary] = SAID + place, result
        tree.return_to(root)
        context = self._prompt(" ".join(task.final))
        right = [self._answer(task, slot, context) == task.truth[slot] for slot in task.final]
        tree.complete()
        after = tree.tokens
        return Played(
            right=all(right),
            steps=float(np.mean(asked)) if asked else 1.0,
            prompts=after.prompts - before.prompts,
            selector=after.selector - before.selector,
            summarizer=after.summarizer - before.summarizer,
            obsolete=self._obsolete() - gone,
        )

    def _act(self, part: Part, facts: Sequence[Fact]) -> int:
        """Record what a stretch of a subtask observes, a prompt after each; gives the last node."""
        node = NONE
        for fact in facts:
            claimed = {"slot": fact.slot, "value": fact.value} if fact.value else {}
            node = self.tree.record_action(
                fact.text, fact.outcome, official=fact.official, **claimed
            )
            self._known[node] = self._seen, fact
            self._seen += 1
            self._prompt(part.objective)
        return node

    def _prompt(self, question: str) -> Context:
        self._step += 1
        return self.tree.context(question, BUDGET)

    def _answer(self, task: Task, slot: str, context: Context, last: int = NONE) -> str:
        """Give the value that the agent takes for a slot's; "" where no fact is in view."""
        best, found = -math.inf, ""
        shown = [*context.selected, *([] if last == NONE else [last])]
        for place, node in enumerate(shown):
            depth = place / max(len(shown) - 1, 1)
            for number, fact in self._offered(node):
                score = cosine(slot, fact.text) * (1 - MIDDLE * 4 * depth * (1 - depth))
                score *= DOUBT if fact.outcome == "failure" else 1.0
                draw = float(uniforms(np.uint64(task.seed), self._step, number))
                score -= NOISE * math.log(-math.log(draw or 0.5))
                if score > best:
                    best, found = score, fact.value
        return found

    def _offered(self, node: int) -> list[tuple[int, Fact]]:
        """Give the facts with a value that a node tells, each with its number."""
        told = [node, *sorted(self.tree.sources(node))]
        found = [self._known[each] for each in dict.fromkeys(told) if each in self._known]
        return [(number, fact) for number, fact in found if fact.value]

    def _obsolete(self) -> int:
        nodes = self.tree.nodes
        return int(((nodes.lifecycle == OBSOLETE) & (nodes.kind == TASK)).sum())


def cosine(first: str, second: str) -> float:
    """Cosine of the sets of words of two texts."""
    one, other = set(words(first)), set(words(second))
    return len(one & other) / math.sqrt(len(one) * len(other)) if one and other else 0.0


COLUMNS = (
    text_column("memory", "memory", "name"),
    Column("accuracy", "accuracy", "{:.3f}".format, ends=("low", "high")),
    Column("less full", "gap", "{:+.3f}".format, ends=("gap_low", "gap_high")),
    Column("steps", "steps", "{:.3f}".format),
    Column("tokens", "tokens", "{:,}".format),
    Column("prompts", "prompts", "{:,}".format),
    Column("obsolete", "obsolete", "{:.2f}".format),
)


def study(tell: Tell, *, split: str, tasks: int, sensitivity: bool) -> Findings:
    """Play tasks with parts of the tree, or with other constants, and lay out what was reached."""
    played = (vary if sensitivity else ablate)(split, tasks)
    rows = rows_of(played)
    return Findings(
        document={"split": split, "tasks": tasks, "rows": rows},
        tables=[Table(COLUMNS, rows)],
        notes=[
            "accuracy: tasks whose final answer is right; less full: its difference from the full "
            "tree's, paired by task; steps: questions on the way that were "
            "answered rightly; tokens: of all prompts and of the questions to selector and "
            "summariser; obsolete: suppressed branches of a task."
        ],
        scores=[
            {"memory": name, "split": split, "task": number, "seed": SEEDS[split] + number}
            | asdict(each)
            for name, own in played.items()
            for number, each in enumerate(own)
        ],
    )


def ablate(split: str, count: int) -> dict[str, list[Played]]:
    """Play the components of the paper, A1, and the paper's product on tasks of a split."""
    tasks = [draw_task(SEEDS[split] + number) for number in range(count)]
    return {name: [Agent(*each).play(task) for task in tasks] for name, each in MEMORIES.items()}


def vary(split: str, count: int) -> dict[str, list[Played]]:
    """Play the full tree with each constant varied by itself, in conversations of three queries.

    The summary of each finished query is a global memory of the next ones.
    """
    varied = [(name, value) for name, values in VARIED.items() for value in values]
    found = {}
    for changed in ({}, *({name: value} for name, value in varied)):
        played = []
        for first in range(0, count, TURNS):
            agent = Agent("full", Constants(**changed))  # type: ignore[arg-type]
            for number in range(first, min(first + TURNS, count)):
                played.append(agent.play(draw_task(SEEDS[split] + number)))
                agent.tree.promote()
        told = [f"{name}={value:g}" for name, value in changed.items()]
        found[told[0].replace("_=", "=") if told else "full"] = played
    return found


def rows_of(played: Mapping[str, Sequence[Played]]) -> list[Record]:
    """Sum up what each memory reached, and its accuracy less that of full, paired by task."""
    base = _right(played[BASELINE])
    rows = []
    for name, own in played.items():
        gaps = _right(own) - base
        low, high = mean_interval(gaps) or (float(gaps[0]), float(gaps[0]))
        gap = {"gap": float(gaps.mean()), "gap_low": low, "gap_high": high}
        rows.append({"memory": name} | _row(own) | gap)
    return rows


def _right(played: Sequence[Played]) -> FloatArray:
    return np.array([each.right for each in played], dtype=np.float64)


def _row(played: Sequence[Played]) -> Record:
    """Sum up the tasks that a configuration played; tokens are totals, as the paper's are."""
    right = _right(played)
    low, high = mean_interval(right) or (float(right[0]), float(right[0]))
    tokens = {
        name: sum(getattr(each, name) for each in played)
        for name in ("prompts", "selector", "summarizer")
    }
    return {
        "accuracy": float(right.mean()),
        "low": low,
        "high": high,
        "steps": float(np.mean([each.steps for each in played])),
        "tokens": sum(tokens.values()),
        **tokens,
        "obsolete": sum(each.obsolete for each in played) / len(played),
    }
