"""The law of words: what a source holds is in the claims, or is counted among what is left out."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from documents import opened
from worded import KINDS, Words

WORD = re.compile(r"\w+")


def unreported(kind, seed, by=None):
    """Give the words of a generated document that are neither read nor counted, or both."""
    words = Words(random.Random(seed))
    name, content = kind(words)
    with tempfile.TemporaryDirectory() as folder:
        placed, document = opened(Path(folder), name, content, by=by)
    told = " ".join(
        " ".join((p.claim.text, p.claim.group, p.claim.source, p.claim.id)) for p in placed
    )
    held = set(WORD.findall(told))
    missing = [word for word in words.given if word not in held]
    left_out = sum(document.words.values()) - words.frame
    return len(missing) - left_out, missing, document.words


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), by=st.sampled_from([None, "sentence", "passage"]))
def test_every_word_is_a_claims_or_is_reported(kind, seed, by):
    assert unreported(kind, seed, by)[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_word_of_200_documents_of_each_kind(kind):
    assert [seed for seed in range(200) if unreported(kind, seed)[0]] == []
