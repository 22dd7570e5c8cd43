"""Readers: what each kind of document gives, and what is refused."""

from __future__ import annotations

import json

import pytest

from documents import pdf
from memenvs import MaterialError
from memenvs.cache import Cache
from memenvs.train.build.reading import find_documents, passages_of, read_document
from memenvs.train.build.segment import claims_of, since_the_first


def read(tmp_path, name, content, by=None, language=None, room=1000, cache=None):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    cache = cache or Cache(None)
    document, kept = read_document(name, path, cache)
    passages = passages_of(document, kept, cache)
    return claims_of(document, passages, by, language, room), document.notes


def texts(placed):
    return [p.claim.text for p in placed]


def test_text_is_cut_where_it_is_meant_to_be(tmp_path):
    content = (
        "This paragraph was broken by a margin, so that its first\r\n"
        "sentence goes on. Mr. Bell paid $3.50 for it!\r\n\r\n"
        "- buy milk\n- call Ann about the\nrent\n"
    )
    placed, notes = read(tmp_path, "a.txt", content)
    assert texts(placed) == [
        "This paragraph was broken by a margin, so that its first sentence goes on.",
        "Mr. Bell paid $3.50 for it!",
        "- buy milk",
        "- call Ann about the",
        "rent",
    ]
    assert not notes
    assert [p.claim.id for p in placed][:2] == ["a.txt#1", "a.txt#2"]
    for p in placed:  # a place in the text is a place in the text
        assert " ".join(content[p.start : p.end].split()) == p.claim.text
    assert [dict(p.claim.cues)["position"] for p in placed] == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_markdown_keeps_headings_lists_tables_and_code(tmp_path):
    content = (
        "---\ntitle: x\n---\nBefore.\n# Home\nThe *key* is [under](u) the mat. Ask\nIda.\n\n"
        "- one\n- `two`\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1. y = 2\n```\n"
    )
    placed, notes = read(tmp_path, "a.md", content)
    assert [(p.claim.text, p.claim.group) for p in placed] == [
        ("Before.", "a.md"),
        ("Home", "Home"),
        ("The key is under the mat.", "Home"),
        ("Ask Ida.", "Home"),
        ("one", "Home"),
        ("two", "Home"),
        ("a; b", "Home"),
        ("1; 2", "Home"),
        ("x = 1. y = 2", "Home"),
    ]
    assert notes == {"front matter left out": 1}


def test_html_is_read_by_blocks_without_menus(tmp_path):
    content = (
        "<title>t</title><style>p{}</style><nav>menu</nav><h2>Head</h2>"
        "<div>one <b>two</b><p>three. Four.</p>five<br>six</div><script>no()</script>"
        "<table><tr><td>a</td><td>b</td></tr></table>"
    )
    placed, _ = read(tmp_path, "a.html", content)
    assert texts(placed) == ["Head", "one two", "three.", "Four.", "five six", "a b"]
    assert {p.claim.group for p in placed} == {"Head"}


def test_html_says_its_encoding(tmp_path):
    content = '<meta charset="windows-1251"><p>Привет, мир.</p>'.encode("cp1251")
    assert texts(read(tmp_path, "a.htm", content)[0]) == ["Привет, мир."]


def test_pdf_has_pages_and_joins_broken_words(tmp_path):
    cache = Cache(tmp_path / "cache")
    content = pdf("The exam-\nple is short. It ends.", "", "Page three.")
    placed, notes = read(tmp_path, "a.pdf", content, cache=cache)
    assert [(p.claim.text, p.claim.group) for p in placed] == [
        ("The example is short.", "page 1"),
        ("It ends.", "page 1"),
        ("Page three.", "page 3"),
    ]
    assert notes == {"page without text left out": 1}
    again, kept = read_document("a.pdf", tmp_path / "a.pdf", cache)
    assert kept is not None  # nothing is parsed a second time
    assert (claims_of(again, kept, None, None, 10), again.notes) == (placed, notes)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.pdf", pdf("Whole.")[:200], "cannot be read as PDF"),
        ("a.pdf", b"%PDF-1.7 nothing else", "cannot be read as PDF"),
        ("a.pdf", pdf(""), "holds no text, perhaps pictures"),
        ("a.docx", b"PK\x03\x04 broken", "cannot be read as DOCX"),
        ("a.srt", b"no subtitles here", "holds no subtitles"),
        ("a.txt", bytes(range(256)) * 4, "is no text"),
        ("a.txt", b"\xff\xfe\x00", "begins as utf-16 but is not"),
        ("a.txt", b" \n\t", "is empty"),
        ("a.txt", b"--- *** ...", "holds no text"),
        ("a.jsonl", b'{"role": "user", "content": "hi"}\n{oops', "line 2: is not valid JSON"),
        ("a.jsonl", b'{"role": "user"}', "is no message"),
        ("a.json", b'[{"messages": [3]}]', "entry 0: holds a number where a message"),
        ("a.json", b'{"content": {"a": 1}}', "holds an object where a text should be"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(name, content, problem, tmp_path):
    with pytest.raises(MaterialError, match=problem) as caught:
        read(tmp_path, name, content)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_locked_pdf_is_refused(tmp_path):
    from pypdf import PdfReader, PdfWriter

    (tmp_path / "open.pdf").write_bytes(pdf("Secret."))
    writer = PdfWriter(PdfReader(tmp_path / "open.pdf"))
    writer.encrypt("word", algorithm="RC4-128")
    writer.write(tmp_path / "locked.pdf")
    with pytest.raises(MaterialError, match="is locked by a password"):
        read(tmp_path, "locked.pdf", (tmp_path / "locked.pdf").read_bytes())


def test_docx_has_headings_and_tables(tmp_path):
    import docx

    made = docx.Document()
    made.add_heading("Travel", 1)
    made.add_paragraph("The train leaves at nine. Bring tea.")
    row = made.add_table(1, 2).rows[0]
    row.cells[0].text, row.cells[1].text = "Ann", "window"
    made.save(str(tmp_path / "b.docx"))
    placed, _ = read(tmp_path, "a.docx", (tmp_path / "b.docx").read_bytes())
    assert texts(placed) == ["Travel", "The train leaves at nine.", "Bring tea.", "Ann; window"]
    assert {p.claim.group for p in placed} == {"Travel"}


def test_subtitles_join_cues_and_keep_time(tmp_path):
    srt = (
        "1\n00:00:01,000 --> 00:00:02,000\nHello my\n\n"
        "2\n00:00:02,000 --> 00:00:03,000\n<i>friend</i>.\n\n"
        "3\n00:00:43,200 --> 00:00:44,000\nBye\n"
    )
    vtt = "WEBVTT\n\n" + srt.replace(",", ".")
    for name, content in (("a.srt", srt), ("a.vtt", vtt), ("b.srt", srt.replace("\n", "\r\n"))):
        placed, _ = read(tmp_path, name, content)
        assert texts(placed) == ["Hello my friend.", "Bye"]
        assert [p.claim.time for p in placed] == pytest.approx([1 / 86_400, 0.0005])


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_table_with_a_text_column(delimiter, tmp_path):
    rows = [["Speaker", "Text", "Date", "Session"], ["Ann", "Hi. There", "2024-01-02", "s1"]]
    rows += [["Bob", "Yes", "2024-01-03T12:00:00Z", "s2"], ["Bob", "", "soon", "s2"]]
    content = "\r\n".join(delimiter.join(row) for row in rows)
    placed, notes = read(tmp_path, "a.csv", content)
    claims = since_the_first(placed)
    assert [(c.text, c.source, c.group, c.time) for c in claims] == [
        ("Hi. There", "Ann", "s1", 0.0),
        ("Yes", "Bob", "s2", 1.5),
    ]
    assert notes == {"row without text left out": 1}


def test_a_table_without_a_text_column_reads_by_columns(tmp_path):
    placed, notes = read(tmp_path, "a.csv", "city,people\nOslo,700000\n,,3\nBergen,\n")
    assert texts(placed) == ["city: Oslo; people: 700000", "3", "city: Bergen"]
    assert notes == {"row with more cells than columns": 1}


OPENAI = {"messages": [{"role": "system", "content": "Be kind."}]}
OPENAI["messages"] += [
    {"role": "user", "content": [{"type": "text", "text": "Look."}, {"type": "image_url"}]},
    {"role": "assistant", "content": None, "tool_calls": []},
    {"role": "assistant", "content": "I see. A cat.", "id": "m7"},
]
SHAREGPT = {"id": "talk", "conversations": [{"from": "human", "value": "Hi."}]}
SINGLE = {"role": "user", "content": "Alone.", "timestamp": 1_700_000_000, "session": "s"}


@pytest.mark.parametrize("lines", [True, False])
def test_chats_of_all_shapes(lines, tmp_path):
    values = [OPENAI, SHAREGPT, SINGLE, {**SINGLE, "timestamp": 1_700_086_400_000}]
    content = "\r\n".join(map(json.dumps, values)) if lines else json.dumps(values)
    placed, notes = read(tmp_path, "a.jsonl", content)
    claims = since_the_first(placed)
    assert [(c.id, c.text, c.source, c.group, c.time) for c in claims] == [
        ("a.jsonl#1", "Look.", "user", "conversation 1", None),
        ("m7", "I see. A cat.", "assistant", "conversation 1", None),
        ("a.jsonl#3", "Hi.", "human", "talk", None),
        ("a.jsonl#4", "Alone.", "user", "s", 0.0),
        ("a.jsonl#5", "Alone.", "user", "s", 1.0),  # milliseconds
    ]
    assert notes == {
        "system message left out": 1,
        "message without text left out": 1,
        "part of a message that is no text left out": 1,
    }
    sentences, _ = read(tmp_path, "a.jsonl", content, by="sentence")
    assert [p.claim.id for p in sentences][1:3] == ["m7.1", "m7.2"]


def test_a_list_of_messages_is_one_conversation(tmp_path):
    content = json.dumps([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}])
    placed, _ = read(tmp_path, "a.json", content)
    assert [p.claim.group for p in placed] == ["conversation 1"] * 2


def test_other_scripts_end_their_sentences_in_their_way(tmp_path):
    content = (
        "他昨天来了。今天又走了！真的吗？\n\nذهب إلى السوق. هل اشترى شيئا؟ نعم.\n\nהוא הלך. מה קרה?"
    )
    placed, _ = read(tmp_path, "a.txt", content)
    assert texts(placed) == [
        *("他昨天来了。", "今天又走了！", "真的吗？"),
        *("ذهب إلى السوق.", "هل اشترى شيئا؟", "نعم."),
        *("הוא הלך.", "מה קרה?"),
    ]


def test_mixed_encodings_are_read_line_by_line(tmp_path):
    content = "café grün\n".encode() + "naïve Übung\n".encode("cp1252") + b"plain\n"
    placed, notes = read(tmp_path, "a.txt", content)
    assert texts(placed) == ["café grün", "naïve Übung", "plain"]
    assert notes == {"line not UTF-8, as others are: read as cp1252": 1}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "cp1251", "shift_jis"])
def test_whole_files_of_other_encodings(encoding, tmp_path):
    text = {
        "shift_jis": "今日は晴れです。明日は雨でしょう。週末は山に行きます。" * 3,
    }.get(encoding, "Привет, мир. Это длинный русский текст для проверки чтения. " * 3)
    placed, notes = read(tmp_path, "a.txt", text.encode(encoding))
    assert "".join(texts(placed)).replace(" ", "") == text.replace(" ", "")
    assert bool(notes) == (encoding in ("cp1251", "shift_jis"))


def test_too_much_is_refused_and_not_swallowed(tmp_path):
    with pytest.raises(MaterialError, match="more claims than a material may hold"):
        read(tmp_path, "a.txt", "One. " * 200, room=100)


@pytest.mark.slow
@pytest.mark.parametrize("line", ["A sentence of seven words stands here.\n", "word "])
def test_a_text_of_200_megabytes(line, tmp_path):
    content = line * (200_000_000 // len(line))
    if line.endswith("\n"):
        with pytest.raises(MaterialError, match="more claims than a material may hold"):
            read(tmp_path, "a.txt", content, room=100_000)
    else:  # a single sentence that never ends is cut
        placed, notes = read(tmp_path, "a.txt", content, room=100_000)
        assert max(len(p.claim.text) for p in placed) <= 4_000
        assert sum(len(p.claim.text.split()) for p in placed) == 40_000_000
        assert sum(notes.values()) > 0


def test_a_folder_gives_its_files_in_order(tmp_path):
    for name in ("b.txt", "a/c.md", "a/z.exe", ".git/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found, unread = find_documents([str(tmp_path)])
    assert [name for name, _ in found] == ["c.md", "b.txt"]
    assert unread == [str(tmp_path / "a" / "z.exe")]
    (tmp_path / "a" / "b.txt").write_text("x")
    found, _ = find_documents([str(tmp_path), str(tmp_path / "b.txt")])
    assert [name for name, _ in found] == [
        str(tmp_path / n) for n in ("a/b.txt", "a/c.md", "b.txt")
    ]
    for path, problem in (("none.txt", "is not there"), ("a/z.exe", "is of no kind")):
        with pytest.raises(MaterialError, match=problem):
            find_documents([str(tmp_path / path)])
