"""The bisimulation memory's equations a second time: exact fractions over plain loops."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

from hypothesis import strategies as st

from memenvs.policies.bisimulation import TransitionMemory

ROLES = ("success", "failure", "neither")
DISCOUNT, THRESHOLD = Fraction(4, 5), Fraction(3, 10)


class Step(NamedTuple):
    """One recorded transition; ``after`` is a page, or a role where the episode ended."""

    before: int
    action: int
    after: int | str


class Stream(NamedTuple):
    """Labels of pages 0, 1, ..., and episodes of steps, each from its first page on."""

    labels: list[int]
    episodes: list[list[Step]]


@st.composite
def streams(draw: Any, pages: int = 7, labels: int = 2, actions: int = 2) -> Stream:
    """Random walks over few pages, so that profiles repeat, contradict and come round."""
    size = draw(st.integers(2, pages))
    label = [draw(st.integers(0, labels - 1)) for _ in range(size)]
    episodes = []
    for _ in range(draw(st.integers(1, 6))):
        page, steps = draw(st.integers(0, size - 1)), []
        for _ in range(draw(st.integers(0, 6))):
            after = draw(st.one_of(st.integers(0, size - 1), st.sampled_from(ROLES)))
            steps.append(Step(page, draw(st.integers(0, actions - 1)), after))
            if isinstance(after, str):
                break
            page = after
        if not steps:
            steps.append(Step(page, 0, draw(st.integers(0, size - 1))))
        episodes.append(steps)
    return Stream(label, episodes)


def play(memory: TransitionMemory, stream: Stream, ask: Any = None) -> TransitionMemory:
    """Record a stream; ``ask(memory)`` is called after every step."""
    for episode in stream.episodes:
        first = episode[0].before
        memory.begin(first, stream.labels[first], frozenset({first}))
        for before, action, after in episode:
            if isinstance(after, str):
                memory.record(before, action, 0, 0, 0.0, True, ROLES.index(after))
            else:
                label, elements = stream.labels[after], frozenset({after})
                memory.record(before, action, after, label, 0.0, False, next_elements=elements)
            if ask:
                ask(memory)
    return memory


class Reference:
    """What the equations say of a stream, computed anew."""

    def __init__(self, stream: Stream, *, labelled: bool = True, by_action: bool = True) -> None:
        self.by_action = by_action
        self.steps = [s for episode in stream.episodes for s in episode]
        self.counts = Counter(self.steps)
        self.first = Counter(episode[0].before for episode in stream.episodes)
        self.pages: list[int] = []  # in the order in which they were met
        for episode in stream.episodes:
            for page in [episode[0].before, *(s.after for s in episode)]:
                if isinstance(page, int) and page not in self.pages:
                    self.pages.append(page)
        self.label = {p: stream.labels[p] if labelled else 0 for p in self.pages}
        self.after: dict[Any, set[Any]] = {}
        for step in self.counts:
            self.after.setdefault(step.before, set()).add(step.after)
        # Rows P(s' | s, a), actions told apart or not.
        rows: dict[Any, Counter[Any]] = {}
        for step, n in self.counts.items():
            key = step.before, step.action if by_action else 0
            rows.setdefault(key, Counter())[step.after] += n
        self.rows = rows
        self.tried = {p: {a for q, a in rows if q == p} for p in self.pages}

    def reaches(self, start: Any, goal: Any) -> bool:
        seen, frontier = {start}, [start]
        while frontier:
            node = frontier.pop()
            if node == goal:
                return True
            for following in self.after.get(node, ()):
                if following not in seen:
                    seen.add(following)
                    frontier.append(following)
        return False

    def grade(self, before: Any, after: Any) -> int:
        if before == after:
            return -1
        return 0 if self.reaches(after, before) else 1

    def outcomes(self, page: int, action: int) -> list[Fraction]:
        row = self.rows[page, action]
        total = sum(row.values())
        progress = sum(n for after, n in row.items() if self.grade(page, after) == 1)
        return [
            Fraction(row["success"], total),
            Fraction(row["failure"], total),
            Fraction(progress, total),
        ]

    def landing(self, page: int, action: int, block: dict[Any, Any]) -> dict[Any, Fraction]:
        row = self.rows[page, action]
        total, landed = sum(row.values()), {}
        for after, n in row.items():
            landed[block[after]] = landed.get(block[after], Fraction(0)) + Fraction(n, total)
        return landed

    def distance(self, s: int, t: int, block: dict[Any, Any] | None) -> Fraction | None:
        """Equation 4; None is infinite, and a missing partition is γ = 0."""
        shared = self.tried[s] & self.tried[t]
        if self.label[s] != self.label[t] or not shared:
            return None
        worst = Fraction(0)
        for action in shared:
            pairs = zip(self.outcomes(s, action), self.outcomes(t, action), strict=True)
            apart = sum((abs(x - y) for x, y in pairs), Fraction(0)) / 3
            if block is not None:
                p, q = self.landing(s, action, block), self.landing(t, action, block)
                variation = sum(
                    (abs(p.get(b, Fraction(0)) - q.get(b, Fraction(0))) for b in {*p, *q}),
                    Fraction(0),
                )
                apart += DISCOUNT * variation / 2
            worst = max(worst, apart)
        return worst

    def closed(
        self,
        block: dict[Any, Any] | None,
        threshold: Fraction = THRESHOLD,
        start: dict[Any, Any] | None = None,
        guarded: bool = False,
    ) -> dict[Any, Any]:
        """Union of pairs within the threshold, in increasing distance, from a partition."""
        active = [p for p in self.pages if self.tried[p]]
        merged = {p: p if start is None else ("old", start[p]) for p in active}
        pairs = []
        for i, j in combinations(range(len(active)), 2):
            apart = self.distance(active[i], active[j], block)
            if apart is not None:
                pairs.append((apart, i, j))
        far = {frozenset({active[i], active[j]}) for d, i, j in pairs if d > threshold}
        for apart, i, j in sorted(pairs):
            s, t = active[i], active[j]
            if apart > threshold or merged[s] == merged[t]:
                continue
            one = [p for p in active if merged[p] == merged[s]]
            two = [p for p in active if merged[p] == merged[t]]
            if guarded and any(frozenset({x, y}) in far for x in one for y in two):
                continue
            for p in two:
                merged[p] = merged[s]
        return merged

    def placed(self, merged: dict[Any, Any]) -> dict[Any, Any]:
        """Add the terminals, and the pages at which nothing was done."""
        whole = dict(merged) | {role: role for role in ROLES}
        for page in self.pages:
            if not self.tried[page]:
                whole[page] = self.place(page, merged)
        return whole

    def place(self, page: int, merged: dict[Any, Any]) -> Any:
        if page in self.first:
            votes: Counter[Any] = Counter()
            for other, n in self.first.items():
                if other in merged and self.label[other] == self.label[page]:
                    votes[merged[other]] += n
            if votes:
                return self.winner(votes, merged)
        seen = []
        for step in reversed(self.steps):
            if step.after == page and step not in seen:
                seen.append(step)
        for step in seen:
            votes = Counter()
            for other, n in self.counts.items():
                same = other.action == step.action or not self.by_action
                same &= merged[other.before] == merged[step.before]
                if same and other.after in merged and self.label[other.after] == self.label[page]:
                    votes[merged[other.after]] += n
            if votes:
                return self.winner(votes, merged)
        return ("alone", page)

    def winner(self, votes: Counter[Any], merged: dict[Any, Any]) -> Any:
        most = max(votes.values())
        ties = [block for block, n in votes.items() if n == most]
        return min(ties, key=lambda b: min(self.pages.index(p) for p in merged if merged[p] == b))

    def fixed_point(self, rounds: int = 6, guarded: bool = False) -> list[dict[Any, Any]]:
        """B0 and the partitions of the rounds after it, each closed from singletons."""
        found = [self.placed(self.closed(None, guarded=guarded))]
        for _ in range(rounds):
            found.append(self.placed(self.closed(found[-1], guarded=guarded)))
        return found

    def as_written(self, rounds: int = 6) -> list[dict[Any, Any]]:
        """Equation 6: each closure starts from the partition before it."""
        found = [self.placed(self.closed(None))]
        for _ in range(rounds):
            found.append(self.placed(self.closed(found[-1], start=found[-1])))
        return found


def blocks(partition: dict[Any, Any]) -> set[frozenset[int]]:
    """Give the blocks of pages."""
    found: dict[Any, set[int]] = {}
    for page, block in partition.items():
        if isinstance(page, int):
            found.setdefault(block, set()).add(page)
    return {frozenset(block) for block in found.values()}


def refines(fine: set[frozenset[int]], coarse: set[frozenset[int]]) -> bool:
    """Say whether every block of one partition lies within a block of the other."""
    return all(any(small <= large for large in coarse) for small in fine)
