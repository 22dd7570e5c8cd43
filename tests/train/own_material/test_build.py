"""`memenvs build` and `memenvs links` as a user runs them: files in, files out, a report."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gymnasium as gym
import numpy as np
import pytest

import memenvs
from commands import memenvs_cli
from documents import write_questions
from memenvs.text.encoder_files import encoder_of
from memenvs.train.own_material.build import build
from memenvs.train.own_material.measure import measure

HOME = """# Home
The spare key is under the blue mat. The boiler was serviced in March 2024 by Ines.
- Anna is allergic to hazelnuts
"""
WORK = "Stand-up is at 9:15.\r\nTom broke his wrist.\r\nLeyla Haddad replaces Tom.\r\n"
QUESTIONS = (
    {"question": "Where is the spare key?", "answer": "under the blue mat"},
    {"question": "What can Anna not eat?", "evidence": "anna is allergic to HAZELNUTS"},
    {"question": "Who stands in, and why?", "evidence": ["work.txt#2", "Leyla Haddad"]},
    {"question": "When is stand-up?", "answer": "a quarter past nine"},
    {"question": "What is the capital of France?", "answer": "Paris"},
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMENVS_JUDGE_URL", raising=False)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "home.md").write_text(HOME)
    (tmp_path / "notes" / "work.txt").write_bytes(WORK.encode())
    write_questions(tmp_path / "qa.jsonl", *QUESTIONS, newline="\r\n")
    return tmp_path


ARGUMENTS = ("build", "notes", "--questions", "qa.jsonl", "--out", "m.jsonl", "--cache", "cache")


def test_a_folder_of_notes_becomes_a_material_an_environment_plays(folder):
    result = memenvs_cli(*ARGUMENTS)
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines() == [
        "m: 6 claims from 2 documents; 4 of 5 questions linked: 1 by evidence, 1 by quote, "
        "1 by answer, 1 by similarity",
        result.stderr.splitlines()[1],
    ]
    assert result.stderr.splitlines()[1].startswith(
        "left out: q5: What is the capital of France?: no claim is likely enough to answer it"
    )
    material = memenvs.load_material("m.jsonl")
    assert material.name == "m"
    assert [query.id for query in material.queries] == ["q1", "q2", "q3", "q4"]
    assert [item.supports for item in material.items if item.answers] == [
        (("home.md#1",),),
        (("home.md#3",),),
        (("work.txt#2", "work.txt#3"),),
        (("work.txt#1",),),
    ]
    links = [json.loads(line) for line in (folder / "m.jsonl.links.jsonl").read_text().splitlines()]
    assert [(link["query"], link.get("claim"), link.get("method")) for link in links] == [
        ("q1", "home.md#1", "answer"),
        ("q2", "home.md#3", "quote"),
        ("q3", "work.txt#2", "evidence"),
        ("q3", "work.txt#3", "evidence"),
        ("q4", "work.txt#1", "similarity"),
        ("q5", None, links[5].get("method")),
    ]
    assert links[5]["reason"]
    assert all(0.5 <= link["score"] <= 1.0 for link in links[:5])
    encoder = encoder_of("m.jsonl")
    vectors = encoder.encode([claim.text for claim in material.claims])
    assert np.allclose(vectors, [claim.embedding for claim in material.claims])
    env = gym.make(memenvs.register_material("built-notes", "m.jsonl", capacity=2))
    env.reset(seed=0)
    assert env.unwrapped is not None


def test_equal_input_gives_equal_bytes(folder):
    assert memenvs_cli(*ARGUMENTS).exit_code == 0
    names = ("m.jsonl", "m.jsonl.links.jsonl", "m.jsonl.encoder.json")
    first = [(folder / name).read_bytes() for name in names]
    assert memenvs_cli(*ARGUMENTS[:-1], "elsewhere").exit_code == 0
    assert [(folder / name).read_bytes() for name in names] == first


def test_options_reach_what_they_are_for(folder):
    extra = ("--by", "passage", "--encoder", "hashing", "--dimension", "8", "--name", "mine")
    assert memenvs_cli(*ARGUMENTS, *extra, "--min-score", "0", "--language", "en").exit_code == 0
    material = memenvs.load_material("m.jsonl")
    assert material.name == "mine"
    assert len(material.claims[0].embedding) == 8
    assert len(material.queries) == 5  # nothing is too unlikely
    assert "The spare key is under the blue mat. The boiler" in material.claims[0].text


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"qa.jsonl": b""}, "qa.jsonl: is empty"),
        ({"qa.jsonl": b'{"question": "x"}'}, "qa.jsonl: line 1: has neither evidence nor answer"),
        ({"qa.jsonl": b'{"question": "Zz?", "answer": "qq"}'}, "none of its 1 questions"),
        (
            {"qa.jsonl": b'{"question": "x", "evidence": "notes", "weight": -1}'},
            "none of its 1 questions",
        ),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(change, problem, folder):
    for name, content in change.items():
        (folder / name).write_bytes(content)
    result = memenvs_cli(*ARGUMENTS)
    assert result.exit_code == 2
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(folder.glob("m.jsonl*"))


@pytest.mark.parametrize(
    ("out", "problem"),
    [
        ("qa.jsonl", "qa.jsonl: is there and holds no material"),
        ("notes/work.txt", "notes/work.txt: is there and holds no material"),
        ("notes", "notes: is a folder; name a file"),
        ("none/m.jsonl", "none/m.jsonl: the folder 'none' is not there; make it first"),
    ],
)
def test_nothing_that_is_read_is_written_over(out, problem, folder):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = memenvs_cli("build", "notes", "--questions", "qa.jsonl", "--out", out)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"memenvs: {problem}")
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_one_folder_may_hold_it_all_and_be_built_again(folder):
    (folder / "qa.jsonl").rename(folder / "notes" / "qa.jsonl")
    arguments = ("build", "notes", "--questions", "notes/qa.jsonl", "--out", "notes/m.jsonl")
    first, again = (memenvs_cli(*arguments, "--cache", "cache") for _ in range(2))
    assert (first.exit_code, again.exit_code) == (0, 0)
    assert "left out: notes/qa.jsonl: the questions" in first.stderr.splitlines()
    made = {"m.jsonl", "m.jsonl.links.jsonl", "m.jsonl.encoder.json"}
    told = {f"left out: notes/{name}: made by memenvs" for name in made}
    assert set(again.stderr.splitlines()) - set(first.stderr.splitlines()) == told


def test_a_file_that_is_named_twice_is_read_once(folder):
    (folder / "same.txt").symlink_to(folder / "notes" / "work.txt")
    documents = ["notes", "notes/work.txt", str(folder / "notes" / "work.txt"), "same.txt"]
    built = build(documents, folder / "qa.jsonl", "m")
    assert (built.documents, len(built.material.claims)) == (2, 6)


def test_weights_that_are_all_zero_name_the_questions(folder):
    write_questions(folder / "qa.jsonl", {**QUESTIONS[0], "weight": 0})
    result = memenvs_cli(*ARGUMENTS)
    assert result.stderr.startswith("memenvs: qa.jsonl: queries, field 'weight': are all zero")


def test_a_single_claim_is_built_without_a_warning(folder):
    (folder / "one.txt").write_text("The spare key is under the blue mat.")
    write_questions(folder / "qa.jsonl", QUESTIONS[0])
    built = build(["one.txt"], folder / "qa.jsonl", "m")  # warnings are errors here
    assert len(built.material.claims) == 1


def test_a_negative_weight_names_its_line(folder):
    write_questions(folder / "qa.jsonl", {"question": "?", "evidence": "work.txt#1", "weight": -1})
    result = memenvs_cli(*ARGUMENTS)
    assert "qa.jsonl: line 1, query 'q1', field 'weight': -1.0 is negative" in result.stderr


def test_what_was_left_out_is_told(folder):
    (folder / "notes" / "x.bin").write_bytes(b"\0")
    (folder / "notes" / "latin.txt").write_bytes("Der Bär schläft.".encode("latin-1"))
    write_questions(folder / "qa.jsonl", {**QUESTIONS[0], "category": 3})
    result = memenvs_cli(*ARGUMENTS)
    assert "left out: notes/x.bin: of no kind that is read" in result.stderr
    assert "latin.txt: not UTF-8: read as cp1252" in result.stderr
    assert "left out: qa.jsonl: field 'category' is not read" in result.stderr


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        self.server.asked.append(prompt)
        statements = json.loads(prompt.splitlines()[-1])["statements"]
        wanted = [int(n) for n, text in statements.items() if text.startswith("Leyla")]
        content = json.dumps({"claims": wanted, "confidence": 0.9})
        if len(self.server.asked) <= self.server.faults:
            content = '{"claims": [99], "confidence": 0.9}'
        sent = json.dumps({"choices": [{"message": {"content": content}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *args):
        pass


@pytest.fixture
def judge(monkeypatch):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.asked, server.faults = [], 0
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        monkeypatch.setenv("MEMENVS_JUDGE_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setattr("memenvs.text.model_server.time.sleep", lambda seconds: None)
        yield server
        server.shutdown()
        thread.join()


def test_a_judge_is_asked_about_the_rest_and_only_once(folder, judge):
    judge.faults = 1  # a claim that is not listed is asked for again
    result = memenvs_cli(*ARGUMENTS)
    assert "go to the judge at http://127.0.0.1" in result.stderr
    assert "1 by judge" in result.stderr
    assert len(judge.asked) == 2
    assert "capital of France" in judge.asked[0]
    material = memenvs.load_material("m.jsonl")
    assert [i.supports for i in material.items if i.answers][-1] == (("work.txt#3",),)
    memenvs_cli(*ARGUMENTS)
    assert len(judge.asked) == 2  # the reply was kept


def test_a_judge_that_is_gone_is_named(folder, judge, monkeypatch):
    monkeypatch.setenv("MEMENVS_JUDGE_URL", "http://127.0.0.1:9/v1")
    result = memenvs_cli(*ARGUMENTS)
    assert result.exit_code == 2
    assert "the judge at http://127.0.0.1:9/v1/chat/completions cannot be reached" in result.stderr
    assert not list(folder.glob("m.jsonl*"))


def test_hidden_supports_are_measured_by_hand(folder):
    """One right by answer, one wrong by similarity, one not linked; a support of two claims."""
    claims = ("Ida lives in Oslo.", "Rain fell in Bergen.", "Oslo has trams.")
    material = memenvs.Material(
        "m",
        tuple(memenvs.Claim(id=f"c{n}", text=text) for n, text in enumerate(claims)),
        (
            memenvs.Item(id="a", supports=(("c0", "c2"),), answers=("q1",)),
            memenvs.Item(id="b", supports=(("c2",),), answers=("q2",)),
            memenvs.Item(id="c", supports=(("c1",),), answers=("q3",)),
        ),
        (
            memenvs.Query(id="q1", text="Where does Ida live? Ida lives in a city.", answer="Oslo"),
            memenvs.Query(id="q2", text="Did rain fall in Bergen?", answer="it fell"),
            memenvs.Query(id="q3", text="Zzz?", answer="qqq"),
        ),
    )
    tallies = measure([material], min_score=0.0)
    counts = {n: (t.questions, t.linked, t.right, t.named, t.known) for n, t in tallies.items()}
    assert counts == {
        "answer": (1, 1, 1, 1, 2),
        "similarity": (1, 1, 0, 1, 1),
        "all": (3, 2, 1, 2, 4),
    }
    assert (tallies["all"].precision, tallies["all"].recall) == (0.5, 0.25)
    material.save(folder / "known.json")
    result = memenvs_cli("links", "known.json", "--min-score", "0", "--json")
    rows = json.loads(result.stdout)
    assert (rows["all"]["precision"], rows["all"]["recall"]) == (0.5, 0.25)
    assert "similarity" in memenvs_cli("links", "known.json", "--min-score", "0").stdout


def test_build_in_python_reports_progress(folder):
    steps = []

    def progress(what, total):
        return lambda done: steps.append((what, done, total))

    built = build(["notes"], "qa.jsonl", "m", progress=progress)
    assert len(built.material.claims) == 6
    assert [what for what, _, _ in steps] == ["reading"] * 2 + ["linking"] * 5
