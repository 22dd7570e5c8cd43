"""Held-out questions: the halves are disjoint, and grades are those of a count by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from memenvs import Material, MaterialError
from memenvs.material.files import save_lines
from memenvs.material.records import Claim, Item, Query
from memenvs.train.cli import main
from memenvs.train.held_out import halves, reached


def material(questions=7):
    """Claim n answers question n; the last claims are the longest."""
    claims = tuple(Claim(id=f"c{n}", text="x" * (n + 1)) for n in range(10))
    items = tuple(
        Item(id=f"n{n}", supports=((f"c{n}",),), answers=(f"q{n}",)) for n in range(questions)
    )
    return Material("letters", claims, items, tuple(Query(id=f"q{n}") for n in range(questions)))


def test_the_halves_share_all_claims_and_no_question():
    whole = material()
    first, second = halves(whole, seed=1)
    names = [{query.id for query in half.queries} for half in (first, second)]
    assert not names[0] & names[1]
    assert names[0] | names[1] == {query.id for query in whole.queries}
    assert sorted(map(len, names)) == [3, 4]
    assert first.claims == second.claims == whole.claims
    assert halves(whole, seed=1) == (first, second)


def test_grades_are_shares_of_the_questions_whose_claims_are_kept():
    whole = material()
    found = reached([whole], "longest", [4], seed=1)  # keeps c6 to c9, of which c6 is asked about
    shares = [[query.id == "q6" for query in half.queries] for half in halves(whole, seed=1)]
    by_hand = np.mean([np.mean(share) for share in shares])
    assert found.asked == pytest.approx([by_hand])
    assert found.never == pytest.approx([by_hand])
    assert found.static == pytest.approx([1 / 7])


def test_one_question_cannot_be_split():
    with pytest.raises(MaterialError, match="letters: has one question"):
        halves(material(1), seed=0)


def test_the_command_gives_differences_to_the_baseline(tmp_path):
    save_lines([material()], tmp_path / "letters.jsonl")
    line = ["held-out", str(tmp_path / "letters.jsonl"), "--capacity", "4", "--json"]
    result = CliRunner().invoke(main, [*line, "--policy", "fifo", "--policy", "longest"])
    assert result.exit_code == 0, result.output
    fifo, longest = json.loads(result.stdout)
    assert fifo["never_vs_baseline"] == pytest.approx(fifo["never"] - longest["never"])
    assert longest["never_vs_baseline"] == 0
