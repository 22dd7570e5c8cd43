"""The observation: what the agent may know, and nothing else; of an episode or of a real stream."""

from __future__ import annotations

import numpy as np

from memenvs.envs.memorization.features import Float32
from memenvs.envs.memorization.layout import Layout
from memenvs.envs.memorization.slots import record_columns
from memenvs.envs.memorization.writing import Writing


def observe(episode: Writing, layout: Layout) -> dict[str, np.ndarray]:
    """Give every array but the mask; each is the caller's own."""
    claim = episode.considered
    rows = {
        "claim": np.zeros(layout.claim.width, dtype=np.float32),
        "memory": episode.slots.observe(
            episode.records, claim, episode.decision, episode.decisions
        ),
        "queries": _queries(episode, layout),
        "context": _context(episode, layout),
    }
    if episode.pool:
        rows["claims"] = np.zeros((layout.limits.claims, layout.claim.width), dtype=np.float32)
        rows["claims"][: len(episode.seen)] = _claims(episode, layout, np.arange(len(episode.seen)))
        if claim is not None:
            rows["claim"][:] = rows["claims"][claim]
    elif claim is not None:
        rows["claim"][:] = _claims(episode, layout, np.array([claim]))[0]
    return rows


def _claims(episode: Writing, layout: Layout, claims: np.ndarray) -> Float32:
    """Features of claims that are in view: ``(len(claims), width)``."""
    columns, features, slots = layout.claim.slices, episode.features, episode.slots
    rows: Float32 = features.claims[claims]
    for column, values in record_columns(episode.records).items():
        rows[:, columns[column].start] = values[claims]
    stored = slots.claims[slots.occupied]
    if len(stored):
        similarity = features.embedding[claims] @ features.embedding[stored].T
        similarity[claims[:, None] == stored] = -np.inf  # a stored claim repeats others, not itself
        largest = similarity.max(axis=1)
        rows[:, columns["redundancy"].start] = np.where(np.isfinite(largest), largest, 0.0)
    if episode.pool:
        rows[:, columns["stored"].start] = np.isin(claims, stored)
        rows[:, columns["considered"].start] = episode.seen[claims]
    return rows


def _queries(episode: Writing, layout: Layout) -> Float32:
    rows = episode.records.queries.copy()
    if episode.considered is not None:
        columns = layout.queries.slices
        vector = episode.features.embedding[episode.considered]
        rows[:, columns["similarity"].start] = rows[:, columns["embedding"]] @ vector
    return rows


def _context(episode: Writing, layout: Layout) -> Float32:
    rules, slots = episode.rules, episode.slots
    # Quotients of whole numbers: single and double precision round them alike.
    values = {
        "decisions_left": (episode.decisions - episode.decision) / episode.decisions,
        "next_settlement": rules.until_next(episode.decision, episode.decisions)
        / episode.decisions,
        "free_slots": (rules.capacity - slots.occupied.sum()) / rules.capacity,
        "free_budget": 1.0 if rules.budget is None else max(0.0, 1 - slots.cost / rules.budget),
        "settled": min(episode.settled / episode.scheduled, 1.0),
        "answered": 0.0 if rules.feedback == "none" else episode.answered / max(episode.settled, 1),
        "choosing": float(episode.considered is None),
    }
    return np.array([values[name] for name in layout.context.slices], dtype=np.float32)
