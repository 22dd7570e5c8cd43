"""Ten small materials, each a way in which memories in use are reported to fail.

Every claim answers one query, unless said otherwise; what is false, or true no more, answers it
wrongly. Times are days. What a good memory keeps stands beside each, as data:
``memenvs study scenarios`` says of a policy whether it did.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query


class Told(NamedTuple):
    """One claim of a scenario, in the order in which it is offered."""

    id: str
    text: str
    asked: str  # id of the query that it answers; "" for none
    time: float
    truth: bool = True


class Expected(NamedTuple):
    """How many of these claims a good memory holds."""

    claims: tuple[str, ...]
    least: int
    most: int


@dataclass(frozen=True)
class Scenario:
    """A material, the slots it is played with, and what is to be kept."""

    name: str
    failure: str  # what goes wrong in practice
    good: str  # what a good memory does
    capacity: int
    told: tuple[Told, ...]
    queries: tuple[tuple[str, str, float], ...]  # id, question, mass
    expected: tuple[Expected, ...]
    example: tuple[str, ...]  # a memory of that kind, best for the material
    together: tuple[tuple[tuple[str, ...], str], ...] = ()  # claims that only together answer

    def material(self) -> Material:
        """Build the material, named "scenario-NAME"."""
        supports = [((told.id,), told.asked) for told in self.told if told.asked]
        return Material(
            f"scenario-{self.name}",
            tuple(
                Claim(id=t.id, text=t.text, time=t.time, truth=t.truth, source="the user")
                for t in self.told
            ),
            tuple(
                Item(id=f"{'+'.join(claims)}:{query}", supports=(claims,), answers=(query,))
                for claims, query in (*supports, *self.together)
            ),
            tuple(Query(id=id, text=text, weight=mass) for id, text, mass in self.queries),
        )

    def kept(self, memory: Iterable[str]) -> bool:
        """Whether a memory of these claims is what is expected of a good one."""
        held = set(memory)
        return all(e.least <= len(held.intersection(e.claims)) <= e.most for e in self.expected)


def _each(*ids: str) -> tuple[Expected, ...]:
    return tuple(Expected((id,), 1, 1) for id in ids)


def _none(*ids: str) -> Expected:
    return Expected(ids, 0, 0)


LIE = "The pharmacy on Market Square is open on Sundays until noon."
DENTIST = Told("dentist", "The dentist moved to 14 Harbour Lane.", "q-dentist", 2.0)
PIANO = Told("piano", "Lea's piano teacher is called Mr Okafor.", "q-piano", 1.0)
SPARE_KEY = Told("key", "A spare key lies under the blue flower pot.", "q-key", 3.0)
ASK_DENTIST = ("q-dentist", "Where is the dentist?", 1.0)
ASK_PIANO = ("q-piano", "Who teaches Lea the piano?", 1.0)
ASK_KEY = ("q-key", "Where is a spare key?", 1.0)

SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "repeated-lie",
        failure="One false claim is offered again and again, and crowds out what is true.",
        good="Learns from wrong answers that it is false, and keeps the three true claims.",
        capacity=3,
        told=(
            Told("lie-1", LIE, "q-pharmacy", 0.0, truth=False),
            PIANO,
            Told("lie-2", LIE, "q-pharmacy", 1.5, truth=False),
            DENTIST,
            Told("lie-3", LIE, "q-pharmacy", 2.5, truth=False),
            SPARE_KEY,
            Told("lie-4", LIE, "q-pharmacy", 4.0, truth=False),
            Told("lie-5", LIE, "q-pharmacy", 5.0, truth=False),
        ),
        queries=(("q-pharmacy", "Is the pharmacy open on Sundays?", 3.0),
                 ASK_PIANO, ASK_DENTIST, ASK_KEY),
        expected=(*_each("piano", "dentist", "key"),
                  _none("lie-1", "lie-2", "lie-3", "lie-4", "lie-5")),
        example=("piano", "dentist", "key"),
    ),
    Scenario(
        "duplicate",
        failure="A claim is offered a second time, word for word, and takes a second slot.",
        good="Keeps one of the two, and has room for both other claims.",
        capacity=3,
        told=(
            PIANO,
            DENTIST,
            Told("dentist-again", DENTIST.text, "q-dentist", 2.5),
            SPARE_KEY,
        ),
        queries=(ASK_PIANO, ASK_DENTIST, ASK_KEY),
        expected=(*_each("piano", "key"), Expected(("dentist", "dentist-again"), 1, 1)),
        example=("piano", "dentist", "key"),
    ),
    Scenario(
        "contradiction",
        failure="A new fact contradicts an old one: the old is deleted, the new never added.",
        good="Holds the new fact, not the old one, and the claim that has nothing to do with it.",
        capacity=2,
        told=(
            Told("lisbon", "Maria lives in Lisbon, near the old harbour.", "q-maria", 0.0, False),
            PIANO,
            Told("berlin", "Maria lives in Berlin, near the old harbour.", "q-maria", 9.0),
        ),
        queries=(("q-maria", "Where does Maria live?", 2.0), ASK_PIANO),
        expected=(*_each("berlin", "piano"), _none("lisbon")),
        example=("berlin", "piano"),
    ),
    Scenario(
        "stale-beside-current",
        failure="What was current once is kept beside what is current now.",
        good="Replaces each value by its successor.",
        capacity=3,
        told=(
            Told("version-old", "The current version of the service is 2.1.", "q-version", 0,
                 False),
            Told("version", "The current version of the service is 3.0.", "q-version", 1),
            Told("wifi-old", "The password of the guest network in the office is bluebird.",
                 "q-wifi", 2, False),
            Told("wifi", "The password of the guest network in the office is nightingale.",
                 "q-wifi", 3),
            Told("meeting-old", "The weekly meeting of the team takes place on Monday at nine.",
                 "q-meeting", 4, False),
            Told("meeting", "The weekly meeting of the team takes place on Thursday at nine.",
                 "q-meeting", 5),
        ),
        queries=(("q-version", "Which version runs?", 1.0),
                 ("q-wifi", "What is the password for guests?", 1.0),
                 ("q-meeting", "When does the team meet?", 1.0)),
        expected=(*_each("version", "wifi", "meeting"),
                  _none("version-old", "wifi-old", "meeting-old")),
        example=("version", "wifi", "meeting"),
    ),
    Scenario(
        "thirteen-wordings",
        failure="Five facts come in thirteen wordings, and the talkative ones fill the memory.",
        good="Holds one wording of each.",
        capacity=5,
        told=tuple(
            Told(id, text, f"q-{id[:-2]}", float(day))
            for day, (id, text) in enumerate((
                ("born-1", "Nadia was born in Tunis."),
                ("cat-1", "Her cat is called Basil."),
                ("born-2", "Nadia was born in the city of Tunis."),
                ("rent-1", "The rent is due on the fifth of the month."),
                ("cat-2", "Basil is the name of her cat."),
                ("rent-2", "On the fifth of the month the rent is due."),
                ("born-3", "In Tunis Nadia was born."),
                ("exam-1", "The exam in statistics takes three hours."),
                ("cat-3", "She calls her cat Basil."),
                ("rent-3", "The rent is due every month on the fifth."),
                ("exam-2", "Three hours is what the exam in statistics takes."),
                ("bus-1", "Bus 42 stops at the library."),
                ("exam-3", "For the exam in statistics there are three hours."),
            ))
        ),
        queries=(("q-born", "Where was Nadia born?", 1.0),
                 ("q-cat", "What is the cat called?", 1.0),
                 ("q-rent", "When is the rent due?", 1.0),
                 ("q-exam", "How long is the exam?", 1.0),
                 ("q-bus", "Which bus stops there?", 1.0)),
        expected=(Expected(("born-1", "born-2", "born-3"), 1, 1),
                  Expected(("cat-1", "cat-2", "cat-3"), 1, 1),
                  Expected(("rent-1", "rent-2", "rent-3"), 1, 1),
                  Expected(("exam-1", "exam-2", "exam-3"), 1, 1), *_each("bus-1")),
        example=("born-1", "cat-1", "rent-1", "exam-1", "bus-1"),
    ),
    Scenario(
        "compatible",
        failure="Two claims are worded alike and both true; one is taken for the other's update.",
        good="Holds both.",
        capacity=3,
        told=(
            Told("peanuts", "Tom is allergic to peanuts and must never eat them.", "q-peanuts", 0),
            PIANO,
            Told("walnuts", "Tom is allergic to walnuts and must never eat them.", "q-walnuts", 4),
        ),
        queries=(("q-peanuts", "May Tom eat peanuts?", 1.0),
                 ("q-walnuts", "May Tom eat walnuts?", 1.0), ASK_PIANO),
        expected=_each("peanuts", "walnuts", "piano"),
        example=("peanuts", "walnuts", "piano"),
    ),
    Scenario(
        "unseen-contradiction",
        failure="Of two contradictions the judge sees the one that is worded alike.",
        good="Replaces both old facts by the new ones.",
        capacity=3,
        told=(
            PIANO,
            Told("flight-old", "The flight to Oslo leaves at seven in the morning.", "q-flight", 2,
                 False),
            Told("diet-old", "Ben eats meat nearly every day.", "q-diet", 3, False),
            Told("flight", "The flight to Oslo leaves at nine in the morning.", "q-flight", 4),
            Told("diet", "Since spring he has been a vegetarian, Ben says.", "q-diet", 5),
        ),
        queries=(ASK_PIANO, ("q-flight", "When is the flight?", 1.0),
                 ("q-diet", "Does Ben eat meat?", 1.0)),
        expected=(*_each("piano", "flight", "diet"), _none("flight-old", "diet-old")),
        example=("piano", "flight", "diet"),
    ),
    Scenario(
        "late-old-fact",
        failure="An old fact arrives late, and is taken for news.",
        good="Goes by the time of a fact, not of its arrival: holds the later one.",
        capacity=2,
        told=(
            Told("boris", "The team lead of the data project is Boris now.", "q-lead", 30.0),
            Told("piano", PIANO.text, "q-piano", 31.0),
            Told("anna", "The team lead of the data project is Anna now.", "q-lead", 2.0, False),
        ),
        queries=(("q-lead", "Who leads the data project?", 2.0), ASK_PIANO),
        expected=(*_each("boris", "piano"), _none("anna")),
        example=("boris", "piano"),
    ),
    Scenario(
        "four-passages",
        failure="Four passages tell one fact, and the other fact has no room.",
        good="Holds one of the four, and the other fact.",
        capacity=2,
        told=(
            Told("museum-1", "The museum is closed on Mondays.", "q-museum", 0.0),
            SPARE_KEY,
            Told("museum-2", "On Mondays the museum is closed.", "q-museum", 4.0),
            Told("museum-3", "The museum is closed on all Mondays.", "q-museum", 5.0),
            Told("museum-4", "Note that the museum is closed on Mondays.", "q-museum", 6.0),
        ),
        queries=(("q-museum", "When is the museum closed?", 1.0), ASK_KEY),
        expected=(Expected(("museum-1", "museum-2", "museum-3", "museum-4"), 1, 1), *_each("key")),
        example=("museum-1", "key"),
    ),
    Scenario(
        "bridge",
        failure="A claim that answers nothing by itself goes before the question that needs it.",
        good="Keeps the bridge: with it, a question is answered that no claim answers alone.",
        capacity=3,
        told=(
            Told("owner", "The saw mill at Sandvik belongs to the Lund group.", "", 0.0),
            Told("ines", "Ines works at the saw mill at Sandvik.", "q-ines", 1.0),
            DENTIST,
            SPARE_KEY,
        ),
        queries=(("q-group", "For which group does Ines work?", 2.0),
                 ("q-ines", "Where does Ines work?", 1.0), ("q-dentist", "Where is he?", 2.0),
                 ASK_KEY),
        expected=_each("owner", "ines", "dentist"),
        example=("owner", "ines", "dentist"),
        together=((("owner", "ines"), "q-group"),),
    ),
)  # fmt: skip
