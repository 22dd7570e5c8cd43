"""What a rendering shows of an episode, gathered once for text and picture alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memenvs.envs.memorization.episode import Episode
from memenvs.envs.memorization.reward import Settled
from memenvs.envs.memorization.rules import Rules
from memenvs.envs.memorization.slots import EMPTY
from memenvs.material.incidence import BoolArray, IntArray
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.optimal.curve import frontier

FRONTIER_SECONDS = 1.0  # for each objective of a material; past that its upper bound is shown
KNOWN = 64  # queries of those known beforehand, the ones of largest mass


@dataclass(frozen=True)
class Slot:
    """One place of the memory."""

    number: int
    claim: int | None  # None: empty
    credits: int = 0
    debits: int = 0
    fresh: bool = False  # written by the last decision
    outcome: int = 0  # of the last settlement: 1 mostly credited, -1 mostly debited, 0 neither


@dataclass(frozen=True)
class Question:
    """A query that was settled, or one that is known beforehand."""

    text: str
    right: bool | None = None  # settled: the outcome; known: whether the memory answers it now
    claims: tuple[str, ...] = ()  # ids of the claims behind it
    mass: float | None = None  # known: p_D
    fresh: bool = False  # settled by the last decision
    times: int = 1  # how often it was settled with this outcome


@dataclass(frozen=True)
class Best:
    """The frontier at the capacity of an episode."""

    value: float  # the optimum, or its upper bound
    proved: bool
    memory: tuple[str, ...]  # claim ids of the best memory found


@dataclass(frozen=True)
class Measure:
    """A utility of the memory in expectation, beside the best possible."""

    name: str
    value: float
    best: Best


@dataclass(frozen=True)
class Scene:
    """One moment of an episode; ``measures`` is empty in what a player may see."""

    material: Material
    source: IntArray  # (E,) number of each claim's source, -1 where none is named
    stored: BoolArray  # (E,)
    seen: BoolArray  # (E,) decided about before
    considered: int | None
    pool: bool
    decision: int
    decisions: int
    slots: tuple[Slot, ...]
    settled: tuple[Question, ...]  # newest first
    known: tuple[Question, ...]  # largest mass first
    outcomes: tuple[bool, ...]  # of every settled query, in order
    earned: float
    utility: str
    measures: tuple[Measure, ...] = ()

    @property
    def reveals(self) -> bool:
        """Whether truth and expectation are shown."""
        return bool(self.measures)

    def words(self, claim: int) -> str:
        """Give a claim's text, or what else can be observed of it."""
        return self.material.claims[claim].text or self.facts(claim)

    def facts(self, claim: int) -> str:
        """Name what can be observed of a claim beside its text."""
        record = self.material.claims[claim]
        known = {"by": record.source, "in": record.group, "confidence": record.confidence}
        known |= {"cost": None if record.cost == 1 else f"{record.cost:g}"} | dict(record.cues)
        return ", ".join(
            f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {value}"
            for name, value in known.items()
            if value not in (None, "")
        )


def player_scene(episode: Episode) -> Scene:
    """Gather what an agent may know, in words."""
    told = episode.rules.feedback != "none"
    return _scene(episode, told=told, named=episode.rules.feedback == "claims", measures=())


def spectator_scene(episode: Episode) -> Scene:
    """Gather everything, truth and expectation included."""
    return _scene(episode, told=True, named=True, measures=_measures(episode))


def best_memory(
    material: Material, rules: Rules, objective: str | Objective, load: float | None = None
) -> Best:
    """Solve the frontier at a load, by default all that the rules allow; kept with the material.

    The load is a number of claims or, under a budget, their summed cost. What is not proved in
    about a second is an upper bound, and the best memory found.
    """
    if load is None:
        load = rules.capacity if rules.budget is None else rules.budget
    key = ("best memory", objective, load, rules.capacity, rules.budget is None)
    if key not in material.derived:
        solved = frontier(
            material,
            objective,
            [load],
            costs=np.ones(len(material.claims)) if rules.budget is None else None,
            max_claims=rules.capacity,
            time_limit=FRONTIER_SECONDS,
        )
        material.derived[key] = Best(
            float(solved.upper_bounds[0]), bool(solved.optimal[0]), solved.memories[0]
        )
    best: Best = material.derived[key]
    return best


def _scene(episode: Episode, *, told: bool, named: bool, measures: tuple[Measure, ...]) -> Scene:
    log = episode.log if told else []
    first_fresh = len(log) - episode.fresh
    latest = [
        Question(
            text=_query_label(episode, settled.query),
            right=settled.answered,
            claims=_ids(episode, settled) if named else (),
            fresh=place >= first_fresh,
        )
        for place, settled in enumerate(log)
    ]
    read = np.arange(len(episode.seen)) < episode.decision
    return Scene(
        material=episode.prepared.material,
        source=episode.prepared.features.source,
        stored=episode.memory,
        seen=episode.seen if episode.pool else read,
        considered=episode.considered,
        pool=episode.pool,
        decision=episode.decision,
        decisions=episode.decisions,
        slots=_slots(episode, log[first_fresh:] if named else []),
        settled=_grouped(latest),
        known=_known(episode, answers=bool(measures)),
        outcomes=tuple(settled.answered for settled in log),
        earned=episode.earned if told else 0.0,
        utility=episode.rules.utility,
        measures=measures,
    )


def _grouped(questions: Sequence[Question]) -> tuple[Question, ...]:
    """Put equal outcomes of one question together, the newest first."""
    times = Counter(reversed(questions))
    return tuple(replace(question, times=count) for question, count in times.items())


def _slots(episode: Episode, fresh: Sequence[Settled]) -> tuple[Slot, ...]:
    debits, credits = episode.records.credits
    balance = np.zeros(len(debits), dtype=np.int64)
    for settled in fresh:
        balance[list(settled.claims)] += 1 if settled.answered else -1
    return tuple(
        Slot(number, None)
        if claim == EMPTY
        else Slot(
            number=number,
            claim=claim,
            credits=int(credits[claim]),
            debits=int(debits[claim]),
            fresh=bool(episode.slots.written[number] == episode.decision - 1),
            outcome=int(np.sign(balance[claim])),
        )
        for number, claim in enumerate(episode.slots.claims.tolist())
    )


def _known(episode: Episode, *, answers: bool) -> tuple[Question, ...]:
    """Give the queries that were disclosed before the first write."""
    probability = episode.prepared.material.incidence.probability
    if episode.known_query is not None:
        masses = {episode.known_query: 1.0}
    elif episode.rules.disclosure == "all":
        order = np.argsort(-probability, kind="stable")[:KNOWN].tolist()
        masses = {query: float(probability[query]) for query in order}
    else:
        return ()
    questions = [
        Question(_query_label(episode, query), mass=mass) for query, mass in masses.items()
    ]
    if answers:
        stored = episode.slots.stored
        now = [episode.account.settle(query, stored) for query in masses]
        questions = [
            replace(question, right=settled.answered, claims=_ids(episode, settled))
            for question, settled in zip(questions, now, strict=True)
        ]
    return tuple(questions)


def _ids(episode: Episode, settled: Settled) -> tuple[str, ...]:
    ids = episode.prepared.material.claim_ids
    return tuple(ids[claim] for claim in sorted(settled.claims))


def _query_label(episode: Episode, query: int) -> str:
    record = episode.prepared.material.queries[query]
    return record.text or record.id


def _measures(episode: Episode) -> tuple[Measure, ...]:
    memory = episode.memory
    material, rules = episode.prepared.material, episode.rules
    result = material.evaluate(memory)
    precision = best_memory(material, rules, "precision")
    measures: tuple[Measure, ...] = (
        Measure("coverage", float(result.coverage), best_memory(material, rules, "coverage")),
        Measure("precision", float(result.precision), precision),
    )
    objective = episode.account.objective
    if objective.name not in ("coverage", "precision"):
        best = best_memory(material, rules, objective)
        measures += (Measure(objective.name, episode.account.expected(memory), best),)
    return measures
