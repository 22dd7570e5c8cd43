"""The columns of an observation as data: lowest and highest value, and what each number says.

The tables stand in the order of the columns. "embedding", "cues" and "source_cues" are as wide as
the material's; the rest are single numbers. The documentation shows these tables.
"""

from __future__ import annotations

from typing import NamedTuple

from memenvs.material.records import FLOAT32_MAX

# Unit vectors and their products leave [-1, 1] by rounding.
UNIT = 1.001


class Column(NamedTuple):
    """One named column."""

    low: float
    high: float
    meaning: str


CLAIM_COLUMNS: dict[str, Column] = {
    "embedding": Column(-UNIT, UNIT, "vector of the claim, of length 1"),
    "cues": Column(-FLOAT32_MAX, FLOAT32_MAX, "the material's own cues, by name in `layout`"),
    "confidence": Column(0, 1, "confidence of the claim; 0.5 where none is given"),
    "cost": Column(0, FLOAT32_MAX, "what it takes of a budget"),
    "time": Column(-FLOAT32_MAX, FLOAT32_MAX, "since the first claim, in the material's unit"),
    "place": Column(0, FLOAT32_MAX, "earlier claims of its group, log(1 + n)"),
    "source": Column(
        -1, FLOAT32_MAX, "number of its source in order of appearance, -1 if it names none"
    ),
    "source_claims": Column(0, FLOAT32_MAX, "claims of its source up to this one, log(1 + n)"),
    "source_cues": Column(-FLOAT32_MAX, FLOAT32_MAX, "means of the cues over those claims"),
    "previous_similarity": Column(-UNIT, UNIT, "similarity to the claim before it"),
    "earlier_similarity": Column(-UNIT, UNIT, "largest similarity to a claim before it"),
    "credits": Column(0, FLOAT32_MAX, "its settled successes in this episode"),
    "debits": Column(0, FLOAT32_MAX, "its settled failures in this episode"),
    "source_credits": Column(0, FLOAT32_MAX, "successes of all claims of its source"),
    "source_debits": Column(0, FLOAT32_MAX, "failures of all claims of its source"),
    "frequency": Column(
        0, UNIT, "of its topic among the disclosed queries: mean positive similarity"
    ),
    "redundancy": Column(-UNIT, UNIT, "largest similarity to a (other) stored claim"),
    "age": Column(0, 1, "since it was written, as a share of the episode"),
    "valid": Column(0, 1, "0: an empty row"),
}
CUE_COLUMNS = ("cues", "source_cues")  # as many numbers as there are cues
TEXT_COLUMNS: dict[str, Column] = {  # of the words, where the materials have any
    "length": Column(0, FLOAT32_MAX, "characters of the text, log(1 + n)"),
    "digits": Column(0, FLOAT32_MAX, "digits in the text, log(1 + n)"),
    "capitals": Column(0, FLOAT32_MAX, "capitalised words within a sentence, log(1 + n)"),
    "time_words": Column(0, FLOAT32_MAX, "words such as 'yesterday' or 'May', log(1 + n)"),
    "first_person": Column(0, FLOAT32_MAX, "words such as 'I' or 'our', log(1 + n)"),
    "second_person": Column(0, FLOAT32_MAX, "words such as 'you', log(1 + n)"),
    "question": Column(0, 1, "1: the text has a question mark"),
}
POOL_COLUMNS: dict[str, Column] = {
    "stored": Column(0, 1, "1: the claim is in the memory"),
    "considered": Column(0, 1, "1: it is or was considered in this episode"),
}
READ_COLUMN: dict[str, Column] = {  # where a reader reads a part of the memory
    "reads": Column(0, FLOAT32_MAX, "settled queries for which it was read, answered or not"),
}
MEMORY_COLUMNS: dict[str, Column] = {  # of a slot, after the columns of its claim
    "similarity": Column(-UNIT, UNIT, "similarity to the considered claim"),
    "same_source": Column(0, 1, "1: of the considered claim's source"),
    "same_group": Column(0, 1, "1: of the considered claim's group"),
}
PRIORITY_COLUMN: dict[str, Column] = {
    "priority": Column(-1, 1, "priority that the claim was given"),
}
QUERY_COLUMNS: dict[str, Column] = {
    "embedding": Column(-UNIT, UNIT, "vector of the query, of length 1"),
    "weight": Column(0, 1, "its share of p_D where that is known, else 0"),
    "outcome": Column(-1, 1, "1: answered rightly, -1: not, 0: not settled"),
    "similarity": Column(-UNIT, UNIT, "similarity to the considered claim"),
    "valid": Column(0, 1, "0: an empty row"),
}
CONTEXT_COLUMNS: dict[str, Column] = {
    "decisions_left": Column(0, 1, "decisions left, as a share of the episode"),
    "next_settlement": Column(0, 1, "decisions until the next settlement, as a share"),
    "free_slots": Column(0, 1, "free share of the slots"),
    "free_budget": Column(0, 1, "free share of the budget; 1 without one"),
    "settled": Column(0, 1, "settled share of the scheduled queries"),
    "answered": Column(0, 1, "rightly answered share of the settled queries"),
    "choosing": Column(0, 1, "1: no claim is considered; one is to be picked"),
}
