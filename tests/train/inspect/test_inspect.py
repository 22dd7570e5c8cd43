"""`memenvs inspect`: figures by hand, likely faults, a page that shows and escapes them."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commands import answer, memenvs_cli
from memenvs import Claim, Item, Material, Query, save_materials
from memenvs.materials.odyssey import odyssey, odyssey_noisy
from memenvs.objective import Objective
from memenvs.text.encoders import words
from memenvs.train.inspect import best, duplicates
from memenvs.train.inspect.inspection import inspect, summary_lines


def faulty():
    """Weights of 17: 12 and 2 need one claim (a false one), 2 need two, 1 has no answer."""
    claims = (
        Claim(id="c1", text="The key is under the mat."),
        Claim(id="c2", text="the KEY is under the mat"),
        Claim(id="c3", text="<script>alert(1)</script>", truth=False),
        Claim(id="c4", text="Water the ferns in the hall on every Sunday morning"),
        Claim(id="c5", text="Water the ferns in the hall on every Sunday"),
        Claim(id="c6", text="Ferns hate sun."),
    )
    items = (
        Item(id="n1", supports=(("c1",),), answers=("q1",)),
        Item(id="n2", supports=(("c3",),), answers=("q2",)),
        Item(id="n3", supports=(("c4", "c6"),), answers=("q3",)),
    )
    queries = tuple(
        Query(id=f"q{n + 1}", text=f"<b>{n}</b>?", weight=weight)
        for n, weight in enumerate((12, 2, 2, 1, 0))
    )
    return Material("a & <b>", claims, items, queries)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    faulty().save("m.jsonl")
    return tmp_path


def test_figures_by_hand(file):
    found = answer("inspect", "m.jsonl")
    assert (found["claims"], found["items"], found["queries"]) == (6, 3, 5)
    assert found["false_claims"] == 1
    assert not found["decomposable"]
    assert found["compositional"] == {
        "queries": 1,
        "mass": pytest.approx(2 / 17),
        "largest_support": 2,
    }
    assert found["duplicates"]["equal"] == [["c1", "c2"]]
    assert found["duplicates"]["near"] == [["c4", "c5"]]
    mass = found["mass"]
    assert (mass["largest"][0]["query"], mass["largest"][0]["mass"]) == (
        "q1",
        pytest.approx(12 / 17),
    )
    assert mass["effective_queries"] == pytest.approx(17**2 / (144 + 4 + 4 + 1))
    curve = found["frontier"]
    assert curve["capacities"] == [0, 1, 2, 3]
    assert curve["values"] == pytest.approx([0, 12 / 17, 12 / 17, 14 / 17])
    assert (curve["full_context"], curve["saturates"]) == (pytest.approx(14 / 17), 3)
    play = found["heuristics"]
    assert (play["capacity"], play["optimum"]) == (1, pytest.approx(12 / 17))
    assert all(0 <= value <= 12 / 17 + 1e-9 for value in play["utility"].values())
    assert found["levels"]["1a"] == ""
    assert found["levels"]["2"]


def test_faults_are_named_with_examples(file):
    found = answer("inspect", "m.jsonl")["faults"]
    told = {fault["what"]: fault["examples"] for fault in found}

    def examples(part):
        (match,) = [examples for what, examples in told.items() if part in what]
        return match

    assert examples("no claim answers (6% of the mass)") == ["q4: <b>3</b>?"]
    assert examples("only false claims answer (12% of the mass)") == ["q2: <b>1</b>?"]
    assert examples("One query has 71% of the mass") == ["q1: <b>0</b>?"]
    assert examples("weight 0") == ["q5: <b>4</b>?"]
    assert [text[:3] for text in examples("nobody asks about (33%)")] == ["c2:", "c5:"]
    assert len(examples("say the same and do not answer the same")) == 2


def test_a_material_without_faults_has_none():
    found = inspect(odyssey())
    faults = [fault["what"] for fault in found["faults"] if fault["severity"] == "fault"]
    assert [what.split("'")[0] for what in faults] == ["The rule "]  # one event of six is too easy
    assert max(found["heuristics"]["utility"].values()) == found["heuristics"]["optimum"]
    assert found["compositional"]["queries"] == 0
    assert found["decomposable"]


def test_what_a_limited_reader_finds_is_the_objective():
    """One item is read, so the lie hides what true claims answer: {e1, e3, e4, e6} is worth .60."""
    found = inspect(odyssey_noisy(), objective=Objective("end-to-end", "similarity:1"))
    best = found["frontier"]
    assert best["objective"] == found["heuristics"]["objective"] == "end-to-end similarity:1"
    assert best["full_context"] == pytest.approx(0.4)
    assert best["values"][best["capacities"].index(4)] == pytest.approx(0.6)
    assert best["capacities"][-1] == 7
    assert best["saturates"] is None
    assert dict(summary_lines(found))["compression"].endswith("more than all of them")


def test_links_of_a_build_are_read(file):
    links = [
        {"query": "q1", "support": 0, "claim": "c1", "method": "answer", "score": 0.9},
        {"query": "q2", "support": 0, "claim": "c3", "method": "similarity", "score": 0.55},
        {"query": "q9", "support": None, "reason": "no", "nearest": []},
    ]
    path = file / "m.jsonl.links.jsonl"
    path.write_text("".join(json.dumps(link) + "\n" for link in links))
    found = answer("inspect", "m.jsonl")
    assert found["links"]["methods"]["answer"] == {"queries": 1, "mean_score": 0.9}
    assert [link["query"] for link in found["links"]["low"]] == ["q2"]
    assert found["links"]["unlinked"] == 1
    told = [fault for fault in found["faults"] if "score below" in fault["what"]]
    assert told[0]["examples"] == ["q2 by similarity, 0.55"]
    path.write_text('{"query": 3}\n')
    result = memenvs_cli("inspect", "m.jsonl")
    assert result.exit_code == 2
    assert "m.jsonl.links.jsonl: line 1: is no link" in result.stderr


def test_a_file_of_many_and_what_is_left_out(file):
    save_materials([odyssey(), odyssey_noisy()], "pair.jsonl")
    found = answer("inspect", "pair.jsonl")
    assert [each["material"] for each in found] == ["odyssey", "odyssey-noisy"]
    assert all(each["levels"]["2"] == "" for each in found)
    result = memenvs_cli("inspect", "pair.jsonl", "--materials", "1", "--json")
    assert len(json.loads(result.stdout)) == 1
    assert "the first 1 of 2" in result.stderr


def test_the_page_is_whole_and_escapes_what_it_shows(file):
    result = memenvs_cli("inspect", "m.jsonl", "--html", "out/m.html")
    assert (result.exit_code, result.output) == (0, "")
    text = (file / "out" / "m.html").read_text()
    assert "a &amp; &lt;b&gt;" in text
    assert "<script" not in text
    assert "<b>0</b>?" not in text
    assert not re.search(r"(src|href)=\"(?!#)", text)  # nothing is loaded from elsewhere
    drawn = re.findall(r"<svg.*?</svg>", text, re.DOTALL)
    assert len(drawn) == 3
    for svg in drawn:
        ElementTree.fromstring(svg)
    memenvs_cli("inspect", "m.jsonl", "--html", "out/again.html")
    assert (file / "out" / "again.html").read_text() == text


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is not installed")
def test_a_browser_shows_the_page(file):
    memenvs_cli("inspect", "m.jsonl", "--html", "m.html")
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--dump-dom", f"file://{file / 'm.html'}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert shown.count("<svg") == 3
    assert "What a memory of S claims can be worth" in shown


def test_of_a_long_material_a_part_is_played_and_that_is_said(monkeypatch):
    monkeypatch.setattr(best, "PLAYED", 10)
    claims = tuple(Claim(id=f"c{n}", text=f"claim {n}") for n in range(40))
    asked = (3, 21, 22, 23, 39)
    items = tuple(Item(id=f"n{n}", supports=((f"c{n}",),), answers=(f"q{n}",)) for n in asked)
    long = Material("long", claims, items, tuple(Query(id=f"q{n}") for n in asked))
    found = inspect(long)
    play = found["heuristics"]
    assert play["claims"] == 10
    assert play["start"] <= 21 <= 23 < play["start"] + 10
    assert any("rules were played on claims" in fault["what"] for fault in found["faults"])
    assert found["frontier"]["saturates"] == 5  # of the whole


def test_a_coarse_frontier_still_finds_where_it_saturates(monkeypatch):
    monkeypatch.setattr(best, "WHOLE", 3)
    monkeypatch.setattr(best, "POINTS", 3)
    claims = tuple(Claim(id=f"c{n}") for n in range(9))
    shared = Item(id="n", supports=(("c8",),), answers=tuple(f"q{n}" for n in range(3)))
    single = tuple(Item(id=f"n{n}", supports=((f"c{n}",),), answers=(f"q{n}",)) for n in range(8))
    found = inspect(
        Material("m", claims, (*single, shared), tuple(Query(id=f"q{n}") for n in range(8)))
    )
    assert found["frontier"]["saturates"] == 6  # one claim for three queries, five for five


WORDS = st.lists(st.sampled_from("a b c d e f g 1".split()), max_size=7)
TEXTS = st.lists(WORDS.map(" ".join), max_size=9)


@given(TEXTS)
def test_near_pairs_are_all_pairs_that_share_four_fifths_of_their_words(texts):
    found = duplicates.find_duplicates(texts)
    first = {}
    for place, text in enumerate(texts):
        if text:
            first.setdefault(text, place)
    pairs = set()
    for one, other in itertools.combinations(sorted(first.values()), 2):
        a, b = set(words(texts[one])), set(words(texts[other]))
        if min(len(a), len(b)) >= 4 and 5 * len(a & b) >= 4 * len(a | b) and "1" not in a ^ b:
            pairs.add((one, other))
    assert set(found.near) == pairs
    assert found.complete
    assert {group[0] for group in found.equal} == {
        place for text, place in first.items() if texts.count(text) > 1
    }


def test_a_search_that_takes_too_long_is_cut_and_says_so(monkeypatch):
    monkeypatch.setattr(duplicates, "VISITS", 3)
    assert not duplicates.find_duplicates([f"a b c d {letter}" for letter in "efghij"]).complete


@pytest.mark.parametrize("conflicts", [(), ("c2",)])
def test_where_keeping_everything_is_worth_nothing_nothing_is_to_be_compressed(conflicts, tmp_path):
    claims = (Claim(id="c1", text="It is red", truth=bool(conflicts)), Claim(id="c2", text="It is"))
    items = (Item(id="n", supports=(("c1",),), answers=("q",), conflicts=conflicts),)
    Material("m", claims, items, (Query(id="q"),)).save(tmp_path / "m.json")
    result = memenvs_cli("inspect", str(tmp_path / "m.json"))
    assert "none: the full context is worth no more than an empty memory" in result.stdout
    page = tmp_path / "m.html"
    assert memenvs_cli("inspect", str(tmp_path / "m.json"), "--html", str(page)).exit_code == 0
    assert "All claims together are worth no more than an empty memory." in page.read_text()


def test_one_is_not_many_and_no_capacity_is_below_one(tmp_path):
    claims = (Claim(id="c1", text="It is red"), Claim(id="c2", text="It is red"))
    items = (Item(id="n", supports=(("c1",),), answers=("q",)),)
    queries = (Query(id="q"), Query(id="r", weight=0))
    Material("m", claims, items, queries).save(tmp_path / "m.json")
    printed = memenvs_cli("inspect", str(tmp_path / "m.json")).stdout
    assert "below 1 claim something must be given up" in printed
    assert "1 query of weight 0: never asked." in printed
    assert "1 group of texts that say the same" in printed
    assert "a capacity below" not in printed


def test_the_page_is_not_written_over_the_material(file):
    before = (file / "m.jsonl").read_bytes()
    result = memenvs_cli("inspect", "m.jsonl", "--html", "./m.jsonl")
    assert result.exit_code == 2
    assert "--html ./m.jsonl is what is inspected" in result.stderr
    assert (file / "m.jsonl").read_bytes() == before


def test_the_frontier_is_the_best_and_not_what_greed_finds(tmp_path, monkeypatch):
    methods = []

    class Told(best.Optima):
        def __init__(self, time_limit, method="exact"):
            methods.append(method)
            super().__init__(time_limit, method)

    monkeypatch.setattr(best, "Optima", Told)
    # Greed takes the claim of four queries first, and then has five of six; b and c have all.
    answered = {"a": "2345", "b": "123", "c": "456"}
    material = Material(
        "greedy",
        tuple(Claim(id=name, text=f"claim {name}") for name in answered),
        tuple(
            Item(id=f"n{name}", supports=((name,),), answers=tuple(f"q{n}" for n in numbers))
            for name, numbers in answered.items()
        ),
        tuple(Query(id=f"q{n}", text=f"What is {n}?") for n in range(1, 7)),
    )
    save_materials([material], tmp_path / "greedy.json")
    found = answer("inspect", str(tmp_path / "greedy.json"))["frontier"]
    values = dict(zip(found["capacities"], found["values"], strict=True))
    assert values[1] == pytest.approx(4 / 6)
    assert values[2] == pytest.approx(1.0)
    assert found["saturates"] == 2
    assert all(found["optimal"])
    assert methods == ["exact", "exact"]  # of the curve, and of the rules' optimum
