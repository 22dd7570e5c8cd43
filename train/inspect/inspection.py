"""Inspect materials: size, structure, mass, duplicates, what is possible, and likely faults."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.rules import MAX_POOL
from memenvs.material.material import Material
from memenvs.objective import Objective
from memenvs.train.inspect.best import frontier_of, heuristics_of
from memenvs.train.inspect.duplicates import Duplicates, find_duplicates
from memenvs.train.inspect.faults import find_faults
from memenvs.train.inspect.linked import links_of
from memenvs.train.inspect.structure import Structure, find_structure
from memenvs.train.statistics import COINCIDE

Record: TypeAlias = dict[str, Any]
PAYS = Objective()
TOP = 10  # queries that are named
PAIRS = 100  # duplicates that are named
STEPS = 101  # of the curve of cumulative mass


def inspect(
    material: Material,
    *,
    many: bool = False,
    file: Path | None = None,
    objective: Objective = PAYS,
    time_limit: float = 10.0,
) -> Record:
    """Inspect one material; gives what `memenvs inspect --json` prints.

    ``many`` says that its file holds others besides; ``file`` is where its links may lie beside;
    ``objective`` is what a memory is worth; ``time_limit`` is in seconds, for each of the two
    searches for an optimum.
    """
    structure = find_structure(material)
    duplicates = find_duplicates([claim.text for claim in material.claims])
    truth = material.incidence.truth
    found: Record = {
        "material": material.name,
        "claims": len(material.claims),
        "items": len(material.items),
        "queries": len(material.queries),
        "sources": len({claim.source for claim in material.claims} - {""}),
        "groups": len({claim.group for claim in material.claims} - {""}),
        "embedding": len(material.claims[0].embedding or ()),
        "levels": _levels(material, many),
        "decomposable": material.is_decomposable,
        "monotone": material.is_monotone,
        "compositional": _compositional(material, structure),
        "false_claims": int((truth == 0).sum()),
        "uncertain_claims": int(((truth > 0) & (truth < 1)).sum()),
        "claims_asked_about": int(structure.asked.sum()),
        "duplicates": _duplicates(material, duplicates),
        "mass": _mass(material),
        "frontier": frontier_of(material, objective, structure, time_limit),
        "heuristics": heuristics_of(material, objective, time_limit),
        "links": None if file is None or many else links_of(material, file),
    }
    return found | {"faults": find_faults(material, structure, duplicates, found)}


def _levels(material: Material, many: bool) -> dict[str, str]:
    """Say of each level why a material cannot be played at it; "" where it can."""
    reasons = dict.fromkeys(LEVELS, "")
    for level, preset in LEVELS.items():
        if preset["access"] == "pool" and len(material.claims) > MAX_POOL:
            reasons[level] = f"more than {MAX_POOL} claims"
    if not many:
        reasons["2"] = "one material; level 2 needs many"
    return reasons


def _compositional(material: Material, structure: Structure) -> Record:
    """Queries that no single claim answers, as a number and as a share of the mass."""
    several = structure.needed > 1
    return {
        "queries": int(several.sum()),
        "mass": structure.mass(several, material.incidence.probability),
        "largest_support": int(structure.needed.max()),
    }


def _duplicates(material: Material, found: Duplicates) -> Record:
    ids = material.claim_ids
    return {
        "equal_groups": len(found.equal),
        "equal_claims": sum(len(group) - 1 for group in found.equal),  # that could be spared
        "near_pairs": len(found.near),
        "equal": [[ids[claim] for claim in group] for group in found.equal[:PAIRS]],
        "near": [[ids[claim] for claim in pair] for pair in found.near[:PAIRS]],
        "complete": found.complete,
    }


def _mass(material: Material) -> Record:
    """How the query mass is spread."""
    probability = material.incidence.probability
    order = np.argsort(-probability, kind="stable")
    tenth = max(1, round(len(order) / 10))
    cumulative = np.cumsum(probability[order])
    shown = np.unique(np.linspace(0, len(order) - 1, STEPS).round().astype(int))
    return {
        "largest": [
            {
                "query": material.queries[query].id,
                "text": material.queries[query].text,
                "mass": float(probability[query]),
            }
            for query in order[:TOP].tolist()
        ],
        "largest_tenth": float(cumulative[tenth - 1]),
        "cumulative": [[place + 1, float(cumulative[place])] for place in shown.tolist()],
        # Equal queries of which the mass would be as concentrated: 1 / sum of squares.
        "effective_queries": float(1.0 / np.square(probability).sum()),
    }


def _compression(best: Record) -> str:
    saturates, full = best["saturates"], best["full_context"]
    if saturates == 0:
        return "none: the full context is worth no more than an empty memory"
    if max(best["values"]) > full + COINCIDE:
        value, claims = max(zip(best["values"], (-s for s in best["capacities"]), strict=True))
        return f"none: {-claims} claims reach {value:.3f}, more than all of them"
    if saturates is None:
        return "no number of claims that was tried reaches the full context"
    return f"below {saturates} {'claim' if saturates == 1 else 'claims'} something must be given up"


def summary_lines(found: Record) -> Sequence[tuple[str, str]]:
    """Give what was found in words: pairs of what and how much."""
    levels = [level for level, reason in found["levels"].items() if not reason]
    others = [f"not {level}: {reason}" for level, reason in found["levels"].items() if reason]
    mass, spare, best = found["mass"], found["duplicates"], found["frontier"]
    largest = mass["largest"][0]
    several, proved = found["compositional"], all(best["optimal"])
    lines = [
        (
            "size",
            f"claims {found['claims']}, items {found['items']}, queries {found['queries']}, "
            f"sources {found['sources']}, groups {found['groups']}",
        ),
        ("levels", ", ".join(levels) + (f" ({'; '.join(others)})" if others else "")),
        (
            "structure",
            f"{'' if found['decomposable'] else 'not '}decomposable, "
            f"{'' if found['monotone'] else 'not '}monotone",
        ),
        (
            "compositional",
            f"{several['queries']} of {found['queries']} queries ({several['mass']:.0%} of the "
            f"mass) need several claims together, at most {several['largest_support']}"
            if several["queries"]
            else "no query needs several claims together",
        ),
        (
            "truth",
            f"false claims {found['false_claims']}, uncertain ones {found['uncertain_claims']}",
        ),
        (
            "duplicates",
            f"claims that repeat another's words {spare['equal_claims']}, pairs that share most "
            f"of them {spare['near_pairs']}",
        ),
        (
            "query mass",
            f"the largest query has {largest['mass']:.1%}, the largest tenth "
            f"{mass['largest_tenth']:.0%}; as concentrated as {mass['effective_queries']:.1f} "
            "equal queries",
        ),
        ("full context", f"{best['full_context']:.3f} {best['objective']} with all claims"),
        (
            "compression",
            _compression(best),
        ),
    ]
    if not proved:
        lines.append(("frontier", "not proved at every capacity; shown with its upper bound"))
    return lines
