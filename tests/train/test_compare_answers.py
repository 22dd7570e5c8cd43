"""The end-to-end layer in a comparison: a column, its options, and when they are refused."""

import sys
from pathlib import Path

import pytest

from commands import answer, memenvs_cli
from memenvs import Claim, Item, Material, Query

PROGRAM = Path(__file__).parents[1] / "support" / "memory_process.py"

COMMON = ("--capacity", "1", "--episodes", "1", "--policy", "fifo", "--policy", "optimal")


@pytest.fixture
def shop(tmp_path):
    texts = ("Anna ordered the blue kettle", "Bob sold a red car")
    material = Material(
        "shop",
        tuple(Claim(id=f"c{n}", text=text) for n, text in enumerate(texts)),
        tuple(Item(id=f"n{n}", supports=((f"c{n}",),), answers=(f"q{n}",)) for n in range(2)),
        (
            Query(id="q0", text="What did Anna order?", weight=3, answer="the blue kettle"),
            Query(id="q1", text="What did Bob sell?", weight=1, answer="a car"),
        ),
    )
    material.save(tmp_path / "shop.json")
    return str(tmp_path / "shop.json")


def answered(*arguments):
    found = answer("compare", *arguments, *COMMON)
    return [row["answered"] for row in found["rows"]]


def test_it_is_measured_where_the_utility_is_end_to_end(shop):
    assert answered("--material", shop) == [None, None]
    assert answered("--material", shop, "--utility", "end-to-end") == [0.25, 0.75]
    tiers = answer(
        "compare", "--env", "memenvs/EndToEnd-v0", "--materials", "1", "--policy", "fifo"
    )
    assert tiers["rows"][0]["answered"] == tiers["rows"][0]["utility"]


def test_by_words(shop):
    words = ("--utility", "end-to-end", "--reader", "bm25:5", "--reasoner", "span")
    # optimal keeps the kettle: right; fifo "sold a red car": 2·1/(3 + 1) of one in four.
    assert answered("--material", shop, *words) == pytest.approx([0.25 * 0.5, 0.75])
    assert answered("--material", shop, *words, "--correct", "exact") == [0, 0.75]


def test_the_table_says_how(shop):
    words = ("--utility", "end-to-end", "--reader", "bm25:5", "--reasoner", "span")
    shown = memenvs_cli("compare", "--material", shop, *words, *COMMON).stdout
    assert "answ" in shown.splitlines()[2]
    told = " ".join(shown.split())
    assert "answered from the memory: reader bm25:5, reasoner span, right by f1." in told


def test_a_configuration_may_name_them(tmp_path, shop):
    settings = "utility: end-to-end\nreader: oracle\nreasoner: span\npolicy: optimal\ncapacity: 1\n"
    (tmp_path / "mine.yaml").write_text(f"material: {shop}\nepisodes: 1\n{settings}")
    (row,) = answer("compare", str(tmp_path / "mine.yaml"))["rows"]
    assert row["answered"] == 0.75


def test_a_long_name_takes_no_room_from_the_numbers(shop):
    name = f"process:{sys.executable} {PROGRAM}"
    shown = memenvs_cli("compare", "--material", shop, *COMMON, "--policy", name).stdout
    assert len(name) > 40
    assert name in shown
    assert "…" not in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--reader", "bm25"), "--reader belongs to --utility end-to-end; give that, too"),
        (("--utility", "end-to-end", "--reader", "x"), "no reader is named 'x'"),
        (("--utility", "end-to-end", "--correct", "f1"), "the reasoner 'best' does not go with"),
    ],
)
def test_what_does_not_fit_is_refused(shop, options, said):
    result = memenvs_cli("compare", "--material", shop, *options, *COMMON)
    assert result.exit_code == 2
    assert said in result.stderr
