"""Homer's Odyssey as a material, in the three forms of the paper's section 6.

Six events and eight queries; with a false claim that answers three of them; with three queries
that only two events together answer. The values to expect stand in the tests.
"""

from __future__ import annotations

from memenvs.material.material import Material
from memenvs.material.records import Claim, Item, Query

# Statement, and the facts that it alone entails, each with the query that the fact answers.
EVENTS: dict[str, tuple[str, dict[str, str]]] = {
    "e1": (
        "It took Odysseus ten years to sail home from Troy.",
        {"q1": "The voyage home lasted ten years.", "q2": "The voyage home began at Troy."},
    ),
    "e2": (
        "For seven years the nymph Calypso kept Odysseus on her island Ogygia.",
        {"q3": "Calypso kept Odysseus for seven years.", "q8": "Calypso was one detainer."},
    ),
    "e3": (
        "Circe turned his men into swine, and Odysseus stayed with her for a year.",
        {"q4": "Circe turned the crew into swine.", "q8": "Circe was one detainer."},
    ),
    "e4": (
        "The Phaeacians laid the sleeping Odysseus on the shore of Ithaca.",
        {"q6": "Odysseus came ashore on the island of Ithaca."},
    ),
    "e5": (
        "In Ithaca his wife Penelope waited for Odysseus for twenty years.",
        {"q5": "Penelope waited for twenty years."},
    ),
    "e6": (
        "Odysseus put out the eye of the Cyclops Polyphemus, a son of Poseidon.",
        {"q7": "Odysseus blinded a son of Poseidon."},
    ),
}

# Question, answer and probability mass.
QUERIES: dict[str, tuple[str, str, float]] = {
    "q1": ("How many years did Odysseus need to come home from Troy?", "ten", 0.20),
    "q2": ("Which city did Odysseus leave when he set out for home?", "Troy", 0.05),
    "q3": ("Which nymph kept Odysseus on her island for seven years?", "Calypso", 0.10),
    "q4": ("Who changed the companions of Odysseus into swine?", "Circe", 0.15),
    "q5": ("Who waited for Odysseus in Ithaca for twenty years?", "Penelope", 0.05),
    "q6": ("On which island did the journey of Odysseus end?", "Ithaca", 0.20),
    "q7": ("What had Odysseus done to anger Poseidon?", "blinded his son", 0.05),
    "q8": ("Who detained Odysseus on an island on his way?", "Calypso or Circe", 0.20),
}

FALSE_CLAIM = (
    "Odysseus, a prince of Troy, came to the island of Sparta after wandering for ten years.",
    {
        "q1": "The prince of Troy wandered for ten years.",
        "q2": "The prince set out from Troy, his own city.",
        "q6": "The wandering ended on the island of Sparta.",
    },
)

# Two events that only together entail a fact, the fact, and the query that it answers.
COMPOSITES: dict[str, tuple[tuple[str, str], str, str, str]] = {
    "q9": (
        ("e2", "e3"),
        "Enchantresses held Odysseus for eight years.",
        "For how many years altogether was Odysseus held by enchantresses?",
        "eight",
    ),
    "q10": (
        ("e4", "e5"),
        "Odysseus was back with Penelope after twenty years.",
        "After how many years did Odysseus see his wife again?",
        "twenty",
    ),
    "q11": (
        ("e6", "e1"),
        "The wrath of Poseidon stretched the voyage to ten years.",
        "Why was the way home so long?",
        "Poseidon's wrath",
    ),
}
# The paper gives the first composite query .05 "in a variant of the query distribution": we take
# it from q1 and give the other two nothing, so that the masses still sum to 1.
COMPOSITE_WEIGHTS = {"q1": 0.15, "q9": 0.05, "q10": 0.0, "q11": 0.0}


def odyssey() -> Material:
    """Six events that answer eight queries; decomposable, all true (Tables 3 and 4)."""
    return Material("odyssey", _events(), _facts(), _queries({}))


def odyssey_noisy() -> Material:
    """The same with a false claim that answers q1, q2 and q6, an apparent mass of .45."""
    text, facts = FALSE_CLAIM
    # Nothing observable sets it apart: the same source tells it.
    claim = Claim(id="f1", text=text, truth=False, time=6.0, group="the epic", source="the bard")
    return Material(
        "odyssey-noisy", (*_events(), claim), (*_facts(), *_items("f1", facts)), _queries({})
    )


def odyssey_composite() -> Material:
    """The same six events with three queries that only pairs of them answer; not decomposable."""
    items = tuple(
        Item(id=f"{'+'.join(pair)}:{query}", text=fact, supports=(pair,), answers=(query,))
        for query, (pair, fact, _, _) in COMPOSITES.items()
    )
    queries = tuple(
        Query(id=query, text=text, answer=answer, weight=COMPOSITE_WEIGHTS[query])
        for query, (_, _, text, answer) in COMPOSITES.items()
    )
    return Material(
        "odyssey-composite",
        _events(),
        (*_facts(), *items),
        (*_queries(COMPOSITE_WEIGHTS), *queries),
    )


def _events() -> tuple[Claim, ...]:
    return tuple(
        Claim(id=event, text=text, time=float(place), group="the epic", source="the bard")
        for place, (event, (text, _)) in enumerate(EVENTS.items())
    )


def _facts() -> tuple[Item, ...]:
    return tuple(item for event, (_, facts) in EVENTS.items() for item in _items(event, facts))


def _items(claim: str, facts: dict[str, str]) -> tuple[Item, ...]:
    return tuple(
        Item(id=f"{claim}:{query}", text=text, supports=((claim,),), answers=(query,))
        for query, text in facts.items()
    )


def _queries(weights: dict[str, float]) -> tuple[Query, ...]:
    return tuple(
        Query(id=query, text=text, answer=answer, weight=weights.get(query, mass))
        for query, (text, answer, mass) in QUERIES.items()
    )
