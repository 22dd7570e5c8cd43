"""A memory at work across episodes: it explores first, then reranks, and records all of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from memenvs.policies.bisimulation.adapter import Fitted
from memenvs.policies.bisimulation.experience import Experience
from memenvs.policies.bisimulation.graph_view import Decision, graph_of
from memenvs.policies.bisimulation.memory import TransitionMemory
from memenvs.policies.bisimulation.pooling import Evidence
from memenvs.policies.bisimulation.reader import StepReader
from memenvs.policies.bisimulation.trail import Trail, detour

EPISODES = 20  # that explore, as in section 3 of the paper
DECISIONS = 1000  # overrides that are kept to be shown


class Choice(NamedTuple):
    """What became of an action."""

    action: int
    override: bool = False  # the memory took another than the given one
    evidence: int = 0  # transitions that the block had recorded under the shortlisted actions


class Learner:
    """What the episodes of one or many environments share.

    The first ``episodes`` of a memory leave the policy's first choice in a share ``rate`` of the
    decisions, and nothing is reranked there. Where what counts as a success must be ``Fitted``,
    they are kept aside and recorded when the last of them has ended. A memory that has seen as
    many episodes explores no more.
    """

    def __init__(
        self, memory: TransitionMemory, reader: StepReader, episodes: int, rate: float
    ) -> None:
        for name, value in (("explore", episodes), ("detour", rate)):
            if value < 0 or (name == "detour" and value > 1):
                raise ValueError(f"{name}={value!r} is out of range")
        self.memory = memory
        self.reader = reader
        self.rate = rate
        self.left = max(0, episodes - memory.graph.begun)  # episodes still to explore
        fits = isinstance(reader, Fitted) and reader.level is None
        self._wanted = self.left if fits else 0  # episodes kept aside until the level is fitted
        self._aside: list[tuple[Experience, int]] = []  # with how many steps they had
        self.names: dict[int, str] = {}  # of pages and of what was done there
        self.decisions: deque[Decision] = deque(maxlen=DECISIONS)

    @property
    def fitting(self) -> bool:
        """Whether it is still open what counts as a success."""
        return self._wanted > 0

    def graph(self) -> dict[str, Any]:
        """Describe the memory and its last overrides, for ``as_html`` and ``as_dot``."""
        return graph_of(self.memory, self.names, self.decisions)

    def begin(self, observation: Any, info: dict[str, Any]) -> Episode:
        """Begin an episode."""
        number = self.memory.graph.begun + len(self._aside) if self.left else None
        self.left = max(0, self.left - 1)
        return Episode(self, observation, info, number)

    def keep(self, experience: Experience, steps: int) -> None:
        """Keep an episode that has ended; record it as soon as its role can be told."""
        self._aside.append((experience, steps))
        self._wanted = max(0, self._wanted - 1)
        if self._wanted:
            return
        assert isinstance(self.reader, Fitted)
        if self.reader.level is None:
            self.reader.fit([(each.earned, length) for each, length in self._aside])
        for each, length in self._aside:
            each.replay(self.memory, self.reader.role(each.earned, length, True))
        self._aside.clear()


class Episode:
    """One episode, from reset to end."""

    def __init__(
        self, learner: Learner, observation: Any, info: dict[str, Any], number: int | None
    ) -> None:
        self._learner = learner
        self._number = number  # of an episode that explores
        self._reading, self._state = learner.reader.read(observation, info, None)
        self._steps = 0
        look = self._reading.look
        self._aside = Experience([look]) if learner.fitting else None
        self._trail = None if self._aside else Trail(learner.memory, look)

    @property
    def shortlist(self) -> list[int]:
        """The policy's shortlist for the page that is shown."""
        return self._reading.shortlist

    def choose(self, given: int, acts: bool) -> Choice:
        """Rank the given action first, and the policy's others behind it.

        An illegal action is left to the environment, which counts it.
        """
        if not acts or not self._reading.look.names(given):
            return Choice(given)
        shortlist = [given, *(action for action in self.shortlist if action != given)]
        if self._number is not None:
            rate = self._learner.rate
            return Choice(shortlist[detour(self._number, self._steps, len(shortlist), rate)])
        if self._trail is None:
            return Choice(given)
        found = self._trail.evidence(shortlist)
        place = self._trail.rerank(shortlist)
        if place > 0:
            self._note(shortlist[place])
            self._note(given)
            penalty = self._learner.memory.constants.rank_penalty
            decision = Decision(
                self._reading.look.signature,
                self._words(given),
                self._words(shortlist[place]),
                float(found.values[0]),
                float(found.values[place]) - penalty * place,
            )
            self._learner.decisions.append(decision)
        return Choice(shortlist[place], place > 0, int(found.counts.sum()))

    def _words(self, action: int) -> str:
        words = self._reading.look.words
        return words[action] if action < len(words) else f"action {action}"

    def _note(self, action: int) -> None:
        """Keep what a page and an action on it are called."""
        look = self._reading.look
        if look.title:
            self._learner.names[look.signature] = look.title
        if look.names(action) and look.words:
            self._learner.names[look.templates[action]] = self._words(action)

    def follow(self, action: int, reward: float, observation: Any, info: dict[str, Any]) -> None:
        """Record a step that led on."""
        self._note(action)
        reader = self._learner.reader
        self._state = reader.observe(action, self._state)
        self._reading, self._state = reader.read(observation, info, self._state)
        self._steps += 1
        if self._aside is not None:
            self._aside.actions.append(action)
            self._aside.looks.append(self._reading.look)
            self._aside.earned += reward
        if self._trail is not None:
            self._trail.follow(action, self._reading.look, reward)

    def end(self, action: int, reward: float, *, terminated: bool) -> None:
        """Record the last step."""
        self._note(action)
        if self._aside is not None:
            self._aside.actions.append(action)
            self._aside.earned += reward
            self._learner.keep(self._aside, self._steps + 1)
        if self._trail is not None:
            self._trail.end(action, reward, self._learner.reader, terminated=terminated)

    def evidence(self, actions: Sequence[int]) -> Evidence | None:
        """Give what is known of actions at the page that is shown; None while a level is fitted."""
        return None if self._trail is None else self._trail.evidence(actions)

    @property
    def actions(self) -> int:
        """Number of actions that the page could name."""
        return len(self._reading.look.templates)
