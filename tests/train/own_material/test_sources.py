"""What a build makes of whole folders: poor files, names, times, encodings, and questions."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from commands import memenvs_cli
from documents import opened, pdf, texts, write_questions
from memenvs import MaterialError
from memenvs.train.own_material.arranging import Note, in_time, told_apart, with_questions
from memenvs.train.own_material.build import build
from memenvs.train.own_material.finding import find_documents

KEY = {"question": "Where is the key?", "answer": "under the pot"}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_questions(tmp_path / "qa.jsonl", KEY)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "key.md").write_text("# Home\nThe key is under the pot.\n")
    return tmp_path


POOR = {
    "empty.md": b"",
    "front.md": b"---\ntags: [x]\n---\n",
    "heads.md": b"# One\n## Two\n",
    "locked.pdf": pdf("x")[:99],
    "scan.pdf": pdf(""),
    "broken.docx": b"PK\x03\x04",
    "settings.json": b'{"theme": "dark"}',
    "list.json": b"[1, 2]",
    "deep.json": b"[" * 5000,
    "line.jsonl": b'{"role": "user", "content": "x"}\n{oops',
    "binary.txt": bytes(range(256)) * 4,
    "x.vtt": b"WEBVTT\n\nnothing\n",
    "mail.eml": b"\n\nno mail",
    "n.ipynb": b"{}",
}


def test_poor_files_of_a_folder_are_left_out_all_at_once(here):
    for name, content in POOR.items():
        (here / "notes" / name).write_bytes(content)
    built = build(["notes"], "qa.jsonl", "m")
    assert [claim.id for claim in built.material.claims] == ["key.md#1"]
    left = {note.document for note in built.notes if note.document.startswith("left out: ")}
    assert left == {f"left out: notes/{name}" for name in POOR}
    with pytest.raises(MaterialError, match=r"^binary.txt: is no text"):
        build(["notes"], "qa.jsonl", "m", strict=True)
    for name in POOR:
        with pytest.raises(MaterialError) as caught:
            build([f"notes/{name}", "notes"], "qa.jsonl", "m")
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)
    kept = build(["notes"], "qa.jsonl", "m", strict=True, exclude=[*POOR])
    assert kept.material.claims == built.material.claims


def test_what_is_no_file_of_a_folder_is_told(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "notes" / "key.md").write_text("The key is under the pot.\n")
    for link, to in (("folder", "other"), ("gone.md", "nowhere")):
        (tmp_path / "notes" / link).symlink_to(tmp_path / to)
    os.mkfifo(tmp_path / "notes" / "pipe.txt")
    found, left = find_documents([str(tmp_path / "notes")])
    assert [each.name for each in found] == ["key.md"]
    reasons = {Path(path).name: reason for path, reason in left.items()}
    assert reasons.pop("pipe.txt") == "no file"
    assert reasons.keys() == {"folder", "gone.md"}
    assert all("a link to a folder, or to nothing" in reason for reason in reasons.values())


def test_programs_are_no_archive_of_twitter(here):
    (here / "notes" / "app.js").write_text("window.alert('The key is under the pot.')")
    posts = '[{"tweet": {"full_text": "The code is 4711."}}]'
    (here / "notes" / "tweets.js").write_text(f"window.YTD.tweets.part0 = {posts}")
    found, left = find_documents(["notes"])
    assert [each.name for each in found] == ["key.md", "tweets.js"]
    assert left == {"notes/app.js": "of no kind that is read"}
    with pytest.raises(MaterialError, match="of no kind that is read"):
        find_documents(["notes/app.js"])


def zipped(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return str(path)


def test_a_zip_file_is_read_as_the_folder_in_it(here):
    said = {
        "type": "message",
        "user": "U1",
        "text": "The key is under the pot.",
        "ts": "1704110400.1",
    }
    user = {"id": "U1", "profile": {"real_name": "Ada Reed"}}
    zipped(
        here / "slack.zip",
        {
            "users.json": json.dumps([user]),
            "general/2024-01-01.json": json.dumps([said]),
            "random\\2024-01-01.json": json.dumps([{**said, "text": "The code is 4711."}]),
            "general/old.md": "The code was 4712.",
            "general/photo.jpg": b"x",
            "empty.md": "",
            "../outside.md": "The code was 4713.",
        },
    )
    built = build(["slack.zip"], "qa.jsonl", "m", exclude=["general/old.md"])
    again = build(["slack.zip", "slack.zip"], "qa.jsonl", "m", exclude=["general/old.md"])
    told = [(c.id, c.source, c.group, c.text) for c in built.material.claims]
    assert told == [
        ("slack.zip/general/2024-01-01.json#1", "Ada Reed", "general", "The key is under the pot."),
        ("slack.zip/random/2024-01-01.json#1", "Ada Reed", "random", "The code is 4711."),
    ]
    assert again.material.claims == built.material.claims
    left = {n.document: n.reason for n in built.notes if n.document.startswith("left out: ")}
    assert "list of users" in left.pop("left out: slack.zip/users.json")
    assert left == {
        "left out: slack.zip/general/photo.jpg": "of no kind that is read",
        "left out: slack.zip/general/old.md": "excluded by 'general/old.md'",
        "left out: slack.zip/empty.md": "is empty; leave it out",
        "left out: slack.zip/../outside.md": OUTSIDE,
    }
    assert not (here.parent / "outside.md").exists()


OUTSIDE = "a second file of its name, or one outside of the archive"


def test_a_poor_zip_file_is_refused_in_one_sentence(here, monkeypatch):
    (here / "none.zip").write_bytes(b"no archive")
    whole = Path(
        zipped(here / "good.zip", {"a.md": "The key is under the pot. " * 99})
    ).read_bytes()
    (here / "torn.zip").write_bytes(whole[:40] + b"\xff" * 9 + whole[49:])
    monkeypatch.setattr("memenvs.train.own_material.zipped.LONGEST", 10_000)
    zipped(here / "bomb.zip", {"a.md": "a" * 6_000, "b.md": "b" * 6_000})
    for name, problem in {
        "none.zip": "cannot be unpacked: File is not a zip file",
        "torn.zip": "cannot be unpacked: ",
        "bomb.zip": "unpacks to more than 10,000 bytes",
    }.items():
        with pytest.raises(MaterialError, match=problem) as caught:
            build([name], "qa.jsonl", "m")
        assert name in str(caught.value)
        assert "\n" not in str(caught.value)
    monkeypatch.setattr("memenvs.train.own_material.zipped.ENTRIES", 1)
    with pytest.raises(MaterialError, match="has more than 1 files"):
        build(["bomb.zip"], "qa.jsonl", "m")


def test_files_are_excluded_by_name_and_by_path(here):
    (here / "notes" / "old").mkdir()
    (here / "notes" / "old" / "b.md").write_text("The code is 4711.")
    (here / "notes" / "draft.txt").write_text("The code is 4712.")
    result = memenvs_cli(
        *("build", "notes", "--questions", "qa.jsonl", "--out", "m.jsonl", "--cache", "cache"),
        *("--exclude", "old/*", "--exclude", "draft.*"),
    )
    assert result.exit_code == 0
    assert "left out: notes/old/b.md: excluded by 'old/*'" in result.stderr
    assert "left out: notes/draft.txt: excluded by 'draft.*'" in result.stderr
    assert "1 claims from 1 documents" in result.stderr


def test_a_folder_of_poor_files_alone_says_why(here):
    (here / "notes" / "key.md").unlink()
    (here / "notes" / "settings.json").write_text('{"theme": "dark"}')
    with pytest.raises(MaterialError, match=r"no document to read.*settings.json.*theme"):
        build(["notes"], "qa.jsonl", "m")


def test_the_same_thing_of_many_documents_is_said_once(here):
    for n in range(5):
        (here / "notes" / f"{n}.md").write_text(f"---\na: b\n---\nFact {n}.\n")
    lines = build(["notes"], "qa.jsonl", "m").report().splitlines()
    assert lines[1:] == ["5 documents (0.md, ...): front matter left out: 5 x, 10 words"]


def test_encodings_can_be_told(here):
    polish = "Klucz leży pod niebieską doniczką."
    for name in ("cp1250", "iso8859_2", "utf-8", "utf-16"):
        (here / "a.txt").write_bytes(polish.encode(name))
        how = {"encoding": name} if name == "iso8859_2" else {}
        placed, document = opened(here, "a.txt", polish.encode(name), **how)
        assert texts(placed) == [polish]
        assert bool(document.notes) == (name == "cp1250")
    with pytest.raises(MaterialError, match=r"a.txt: is not of the encoding ascii"):
        opened(here, "a.txt", polish.encode("cp1250"), encoding="ascii")
    result = memenvs_cli(
        *("build", "notes", "--questions", "qa.jsonl", "--out", "m.jsonl", "--encoding", "klingon")
    )
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "'klingon' is no encoding" in result.stderr


LANGUAGES = {
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "cp1251": "Ключ под синим горшком.",
    "cp1253": "Το κλειδί είναι κάτω από τη γλάστρα.",
    "cp1254": "Anahtar mavi saksının altında. Şifre değişti.",
    "cp1255": "המפתח מתחת לעציץ הכחול",
    "cp1256": "المفتاح تحت الوعاء الأزرق",
    "cp1257": "Žodžiai ąčęėįšųū ir mėlynas vazonas.",
    "cp874": "กุญแจอยู่ใต้กระถาง",
    "koi8_r": "Ключ под синим горшком.",
    "mac_roman": "Émile a caché la clé sous le pot bleu.",
    "cp1252": "Émile a caché la clé sous le pot bleu.",
    "gb18030": "钥匙在花盆下。",
    "big5": "鑰匙在藍色花盆下面。",
    "cp932": "鍵は青い鉢の下にあります。",
    "euc_jp": "鍵は青い鉢の下にあります。",
    "cp949": "열쇠는 파란 화분 아래에 있습니다.",
    "utf-16-le": "The key is under the pot.",
}


@pytest.mark.parametrize("encoding", LANGUAGES)
def test_one_short_line_is_read_in_its_encoding(encoding, tmp_path):
    text = LANGUAGES[encoding]
    placed, document = opened(tmp_path, "a.txt", text.encode(encoding))
    assert " ".join(texts(placed)) == text
    assert document.notes


def test_what_may_be_another_encoding_is_warned_of(tmp_path):
    _, document = opened(tmp_path, "a.txt", "Gdańsk".encode("cp1250"))
    (warning,) = document.notes
    assert warning.startswith("warning: not UTF-8: read as cp1252, but it may be cp1250")


def test_ids_are_told_apart_by_document_and_conversation(here):
    one = {"id": "a", "messages": [{"id": 1, "role": "u", "content": "One."}]}
    two = {"id": "b", "messages": [{"id": 1, "role": "u", "content": "Two."}]}
    (here / "a.json").write_text(json.dumps([one, two]))
    (here / "b.csv").write_text(
        "id,text\n1,Three.\n2,Four.\n2,Five.\n7,The key is under the pot.\n"
    )
    asked = {"question": "What?", "evidence": "7"}, {"question": "Which?", "evidence": "2"}
    write_questions(here / "qa.jsonl", *asked)
    built = build(["a.json", "b.csv"], "qa.jsonl", "m")
    assert [claim.id for claim in built.material.claims] == [
        *("a.json, a#1", "a.json, b#1", "b.csv#1", "b.csv, b.csv#2", "b.csv, b.csv#2 (2)", "7")
    ]
    assert [(entry.question, entry.method) for entry in built.linked] == [
        ("q1", "evidence"),
        ("q2", None),
    ]
    assert built.linked[1].reason == (
        "its claim '2' is one of several: b.csv, b.csv#2, b.csv, b.csv#2 (2)"
    )
    assert "id given twice: told apart by a number" in built.report()


def test_names_of_claims_never_meet(tmp_path):
    """A message's own id may look like the name that a claim without one gets."""
    one, _ = opened(tmp_path, "a.csv", "id,text\na.csv#2,One.\n,Two.\nb.txt#1,Three.\n")
    two, _ = opened(tmp_path, "b.txt", "Four.")
    named = told_apart([*one, *two], [])
    assert len({p.claim.id for p in named}) == 4


def test_times_have_one_origin_and_claims_their_order(tmp_path):
    chat, _ = opened(
        tmp_path,
        "a.jsonl",
        '{"text": "Late.", "date": "2024-01-03"}\n{"text": "Undated."}\n'
        '{"text": "Early.", "date": "2024-01-01"}',
    )
    other, _ = opened(tmp_path, "b.csv", "text,date\nBetween.,2024-01-02\nFirst.,2023-12-31\n")
    film, _ = opened(tmp_path, "c.srt", "1\n00:00:43,200 --> 00:00:44,000\nHello.\n")
    notes: list[Note] = []
    told = [(p.claim.text, p.claim.time) for p in in_time([*chat, *other, *film], notes)]
    assert told == [
        *(("First.", 0.0), ("Undated.", None), ("Early.", 1.0), ("Between.", 2.0), ("Late.", 3.0)),
        ("Hello.", None),
    ]
    assert [note.document for note in notes] == ["c.srt"]
    assert [p.claim.time for p in in_time(film, [])] == [0.0005]  # alone, its own start counts


def test_the_order_of_numbers_in_dates_can_be_told(tmp_path):
    content = "text,date\nOne.,01/02/2024\nTwo.,02/02/2024\n"
    gaps = {}
    for order in (None, "dmy", "mdy"):
        placed, document = opened(tmp_path, "a.csv", content, dates=order)
        gaps[order] = placed[1].claim.time - placed[0].claim.time
        assert bool(document.notes) == (order is None)
    assert gaps == {None: 1.0, "dmy": 1.0, "mdy": 31.0}


def test_a_question_and_its_short_answer_become_one_claim(tmp_path):
    lines = "Ann: When is the dentist?", "Ben: Tuesday.", "Ann: Where?", "Ann: Here.", "Ben: I see."
    chat = "".join(f"1/13/24, 9:0{n} AM - {line}\n" for n, line in enumerate(lines))
    placed, _ = opened(tmp_path, "a.txt", chat)
    assert [(p.claim.source, p.claim.text) for p in with_questions(placed)] == [
        ("Ben", "When is the dentist? Tuesday."),
        ("Ann", "Where?"),
        ("Ann", "Here."),
        ("Ben", "I see."),
    ]


def test_equal_texts_in_two_unicode_forms_link(here):
    (here / "notes" / "cafe.txt").write_text("Zoe\u0308 sits in the cafe\u0301 at noon.")
    write_questions(here / "qa.jsonl", {"question": "Who?", "evidence": "Zoë sits in the café"})
    assert build(["notes"], "qa.jsonl", "m").linked[0].method == "evidence"


@pytest.mark.parametrize("by", [None, "sentence", "passage"])
def test_no_claim_passes_a_thousand_characters(by, tmp_path):
    long = " ".join(f"Sentence number {n} says a little." for n in range(90))
    endless = "word " * 900
    for name, content in (
        ("a.txt", f"{long}\n\n{endless}"),
        ("a.jsonl", json.dumps({"text": long}) + "\n" + json.dumps({"text": endless})),
        ("a.md", f"```\n{endless}\n```\n\n{long}"),
    ):
        placed, document = opened(tmp_path, name, content, by=by)
        assert max(map(len, texts(placed))) <= 1_000
        assert " ".join(texts(placed)).count("word") == 900
        assert document.notes


SQUAD = {
    "data": [
        {
            "title": "House",
            "paragraphs": [
                {
                    "context": "The key is under the pot. Rain fell.",
                    "qas": [
                        {"id": "a", "question": "Where is the key?", "is_impossible": False,
                         "answers": [{"text": "under the pot", "answer_start": 11},
                                     {"text": "the pot", "answer_start": 17}]},
                        {"id": "b", "question": "Why?", "is_impossible": True, "answers": []},
                    ],
                }
            ],
        }
    ]
}  # fmt: skip
RAGAS = {
    "user_input": KEY["question"],
    "reference": "under the pot",
    "response": "in the car",
    "reference_contexts": ["The key is under the pot."],
}
OLD_RAGAS = {
    "question": KEY["question"],
    "answer": "in the car",
    "ground_truths": ["under the pot"],
}
MULTIHOP = {
    "query": KEY["question"],
    "answer": "under the pot",
    "question_type": "inference_query",
    "evidence_list": [{"title": "t", "fact": "The key is under the pot."}],
}
NULL = {"query": "Why?", "answer": "Insufficient information.", "evidence_list": []}
HUB = {"id": "a", "title": "House", "context": "The key is under the pot.",
       "question": KEY["question"],
       "answers": {"text": ["under the pot"], "answer_start": [11]}}  # fmt: skip
QUALITY = {
    "article": "The key is under the pot. Rain fell.",
    "questions": [
        {"question": KEY["question"], "options": ["in the car", "under the pot"], "gold_label": 2}
    ],
}
NARRATIVE = {
    "document": {"id": "d"},
    "question": {"text": KEY["question"]},
    "answers": [{"text": "under the pot"}, {"text": "beneath it"}],
}
PERLTQA = {"Ann": {"events": {"e": [{"Question": KEY["question"], "Answer": "under the pot"}]}}}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(SQUAD),
        json.dumps([RAGAS]),
        json.dumps([OLD_RAGAS]),
        json.dumps([MULTIHOP, NULL]),
        json.dumps(HUB),
        json.dumps(QUALITY),
        json.dumps([NARRATIVE]),
        json.dumps([PERLTQA]),
        json.dumps({"query": KEY["question"], "answers": ["the kettle", "under the pot"]}),
        "question,answer,weight\nWhere is the key?,under the pot,2.0\n",
        'query;evidence\nWhere is the key?;"[""The key is under the pot.""]"\n',
    ],
    ids=(
        *("squad", "ragas", "ragas before 0.2", "multihop-rag", "squad rows", "quality"),
        *("narrativeqa", "perltqa", "alternatives", "csv", "csv with a list"),
    ),
)
def test_questions_of_many_shapes(content, here):
    name = "asked.csv" if content[0] not in "[{" else "asked.json"
    (here / name).write_text(content)
    (here / "notes" / "rain.md").write_text("Rain fell. It was in the car. Zed spoke.")
    built = build(["notes"], name, "m")
    (query,) = built.material.queries
    assert query.text == KEY["question"]
    assert built.material.items[0].supports == (("key.md#1",),)


def test_an_answer_is_sought_in_its_context(here):
    (here / "notes" / "other.md").write_text(
        "The key to the town is under the pot of gold, they say."
    )
    asked = {
        "question": "What is under the pot of gold?",
        "answer": "key",
        "context": "The key is under the pot.",
    }
    write_questions(here / "qa.jsonl", asked)
    built = build(["notes"], "qa.jsonl", "m", min_score=0.0)
    assert built.material.items[0].supports == (("key.md#1",),)
