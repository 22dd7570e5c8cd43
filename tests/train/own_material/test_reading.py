"""Readers: what each kind of document gives, and what is refused."""

from __future__ import annotations

import zipfile

import pytest

from documents import pdf, read, texts
from memenvs import MaterialError
from memenvs.text.cache import Cache
from memenvs.train.own_material.finding import find_documents


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
        ("The key is under the mat.", "a.md, Home"),
        ("Ask Ida.", "a.md, Home"),
        ("one", "a.md, Home"),
        ("two", "a.md, Home"),
        ("a; b", "a.md, Home"),
        ("1; 2", "a.md, Home"),
        ("x = 1. y = 2", "a.md, Home"),
    ]
    assert notes == {"front matter left out": 1}


def test_html_is_read_by_blocks_without_menus(tmp_path):
    content = (
        "<title>t</title><style>p{}</style><nav>menu</nav><h2>Head</h2>"
        "<div>one <b>two</b><p>three. Four.</p>five<br>six</div><script>no()</script>"
        "<table><tr><td>a</td><td>b</td></tr></table>"
    )
    placed, _ = read(tmp_path, "a.html", content)
    assert texts(placed) == ["one two", "three.", "Four.", "five six", "a b"]
    assert {p.claim.group for p in placed} == {"a.html, Head"}


def test_markdown_nested_deep_is_read_to_its_end(tmp_path):
    outline = "".join(f"{'  ' * level}- Point {level}.\n" for level in range(30))
    placed, _ = read(tmp_path, "a.md", f"{outline}\nThe end.\n")
    assert texts(placed) == [*(f"Point {level}." for level in range(30)), "The end."]


def test_html_says_its_encoding(tmp_path):
    content = '<meta charset="windows-1251"><p>Привет, мир.</p>'.encode("cp1251")
    assert texts(read(tmp_path, "a.htm", content)[0]) == ["Привет, мир."]


def test_pdf_has_pages_and_joins_broken_words(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "cache")
    content = pdf("The exam-\nple is short. It ends.", "", "Page three.")
    placed, notes = read(tmp_path, "a.pdf", content, cache=cache)
    assert [(p.claim.text, p.claim.group) for p in placed] == [
        ("The example is short.", "a.pdf, page 1"),
        ("It ends.", "a.pdf, page 1"),
        ("Page three.", "a.pdf, page 3"),
    ]
    assert notes == {"page without text left out": 1}
    monkeypatch.setattr("pypdf.PdfReader", None)  # nothing is parsed a second time
    assert read(tmp_path, "a.pdf", content, cache=cache) == (placed, notes)


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
        ("a.jsonl", b'{"role": "user"}', "has the fields role; the nearest known shape is generic"),
        ("a.json", b'{"theme": "dark"}', "is no message: it has the fields theme"),
        ("a.json", b'[{"messages": [3]}]', "entry 0, .*: holds a number where a message"),
        ("a.json", b'{"content": {"a": 1}}', "holds an object where a text should be"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_sentence(name, content, problem, tmp_path):
    with pytest.raises(MaterialError, match=problem) as caught:
        read(tmp_path, name, content)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_word_documents_that_unpack_to_more_than_memory_holds_are_refused(tmp_path):
    kinds = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    with zipfile.ZipFile(tmp_path / "made.docx", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{relations}"><Relationship Id="r1" '
            f'Type="{kinds}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        archive.writestr("word/document.xml", "<document>" + "<p>word</p>" * 2**22)
    content = (tmp_path / "made.docx").read_bytes()
    assert len(content) < 2**20
    with pytest.raises(MaterialError, match=r"'word/document.xml' unpacks to 46,137,354 bytes"):
        read(tmp_path, "a.docx", content)


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
    assert texts(placed) == ["The train leaves at nine.", "Bring tea.", "Ann; window"]
    assert {p.claim.group for p in placed} == {"a.docx, Travel"}


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
        placed, notes = read(tmp_path, "a.txt", content, room=200_000)
        assert max(len(p.claim.text) for p in placed) <= 1_000
        assert sum(len(p.claim.text.split()) for p in placed) == 40_000_000
        assert sum(notes.values()) > 0


def test_a_folder_gives_its_files_in_order(tmp_path):
    for name in ("b.txt", "a/c.md", "a/z.exe", ".git/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    found, left = find_documents([str(tmp_path)])
    assert [f.name for f in found] == ["c.md", "b.txt"]
    assert left == {str(tmp_path / "a" / "z.exe"): "of no kind that is read"}
    (tmp_path / "a" / "b.txt").write_text("x")
    found, _ = find_documents([str(tmp_path), str(tmp_path / "b.txt")])
    assert [f.name for f in found] == [str(tmp_path / n) for n in ("a/b.txt", "a/c.md", "b.txt")]
    for path, problem in (("none.txt", "is not there"), ("a/z.exe", "is of no kind")):
        with pytest.raises(MaterialError, match=problem):
            find_documents([str(tmp_path / path)])
