"""What scenarios are about, in words: entities, attributes, values, and how entries put them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FIRST = """Harrow Osten Velm Kettle Marrow Tansy Brindle Corvin Dunmore Elder Fallow Garnet Hollin
Ister Juniper Kestrel Linden Mallow Norwick Orrin Penhall Quarry Rowan Saltmere""".split()
LAST = """Bridge Mill Observatory Tunnel Harbour Library Reservoir Station Theatre Viaduct Museum
Lighthouse Foundry Aqueduct Archive Hospital""".split()
# What can be asked of an entity: the usual name, another wording, and the kind of its values.
ATTRIBUTES: tuple[tuple[str, str, str], ...] = (
    ("opening year", "year in which it was opened", "year"),
    ("closing year", "year in which it was shut", "year"),
    ("chief engineer", "person who led the works", "person"),
    ("first director", "person who ran it at first", "person"),
    ("main sponsor", "person who paid for most of it", "person"),
    ("construction cost", "sum spent on building it", "sum"),
    ("annual budget", "sum spent on it each year", "sum"),
    ("visitor count", "number of people who came", "number"),
    ("floor area", "size in square metres", "number"),
    ("staff size", "number of people employed", "number"),
)
PEOPLE = (
    "Ada Bram Clara Dov Edith Falk Greta Hugo Ines Jonas Karin Lars Mina Nils Olga Petra".split(),
    "Aldous Berg Carver Dahl Ekman Farrow Grieve Holt Iversen Jarvis Kern Lowell".split(),
)
LEADS: dict[str, tuple[str, ...]] = {
    "official": ("The official register", "The operator's own report"),
    "database": ("A reference database", "The catalogue of works"),
    "news": ("A newspaper article", "A press release"),
    "forum": ("A forum post", "A ranking blog"),
    "mirror": ("A mirror page", "A copied page"),
}
VERBS: dict[str, tuple[str, ...]] = {
    "observation": ("shows", "was seen to name"),
    "claim": ("claims", "asserts"),
    "tool": ("returned", "was parsed to give"),
}
PADDING = (
    " Several readers are said to have confirmed this.",
    " All other accounts are called out of date there.",
    " No correction of it has been published since.",
)


def question(attribute: str, entity: str) -> str:
    """Ask for an attribute."""
    return f"What is the {attribute} of {entity}?"


def draw_value(kind: str, taken: Sequence[str], generator: np.random.Generator) -> str:
    """Draw a value of a kind that is not among those ``taken``."""
    while True:
        if kind == "person":
            value = " ".join(str(generator.choice(names)) for names in PEOPLE)
        elif kind == "year":
            value = str(generator.integers(1790, 1990))
        elif kind == "sum":
            value = f"{generator.integers(11, 990)} thousand crowns"
        else:
            value = str(generator.integers(101, 9990))
        if value not in taken:
            return value


def entry_text(
    source: str,
    kind: str,
    attribute: tuple[str, str, str],
    entity: str,
    value: str,
    *,
    restated: bool,
    padded: bool,
    generator: np.random.Generator,
) -> str:
    """Word an entry; ``restated`` opens with the question, ``padded`` adds words of persuasion."""
    lead, verb = generator.choice(LEADS[source]), generator.choice(VERBS[kind])
    usual, other, _ = attribute
    wording = usual if generator.random() < 0.6 else other
    opening = f"{question(usual, entity)} " if restated else ""
    closing = str(generator.choice(PADDING)) if padded else ""
    return f"{opening}{lead} {verb} {value} as the {wording} of {entity}.{closing}"
