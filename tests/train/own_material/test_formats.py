"""Word, PDF, HTML, subtitles, mail and notebooks: what is easily lost or mixed up in them."""

from __future__ import annotations

import json

import pytest

from documents import opened, pdf, read, texts
from worded import paragraph, run, word_file


def word(tmp_path, body, **parts):
    placed, document = opened(tmp_path, "a.docx", word_file(body, **parts))
    return [(p.claim.group.removeprefix("a.docx, "), p.claim.text) for p in placed], document


def p(text, style=""):
    return paragraph(run(text), style)


@pytest.mark.parametrize("strict", [False, True])
def test_word_shows_what_its_reader_sees(strict, tmp_path):
    cell = f"<w:tc>{p('Ann')}<w:tbl><w:tr><w:tc>{p('inner one')}</w:tc></w:tr></w:tbl></w:tc>"
    body = (
        p("House", "H1")
        + f"<w:sdt><w:sdtContent>{p('In a control.')}</w:sdtContent></w:sdt>"
        + paragraph(
            f"{run('The code is ')}<w:ins>{run('4711')}</w:ins>"
            "<w:del><w:r><w:delText>4712 or so</w:delText></w:r></w:del><w:r><w:t>.</w:t></w:r>"
        )
        + f"<w:tbl><w:tr>{cell}<w:tc>{p('window')}</w:tc></w:tr></w:tbl>"
        + paragraph(
            f"<w:r><w:pict><v:textbox><w:txbxContent>{p('In a box.')}</w:txbxContent>"
            "</v:textbox></w:pict></w:r>"
        )
        + p("Empty", "Mine")
    )  # fmt: skip
    note = f"<w:footnote>{p('In a note.')}</w:footnote>"
    told, document = word(
        tmp_path, body, strict=strict, header=p("In a header.") * 2, footnotes=note
    )
    assert told == [
        ("House", "In a control."),
        ("House", "The code is 4711."),
        ("House", "Ann; window"),
        ("House", "inner one"),
        ("House", "In a box."),
        ("footnotes", "In a note."),
        ("header", "In a header."),
    ]
    assert document.words == {
        "deleted text (tracked change) left out": 3,
        "heading without text under it left out": 1,
        "header or footer again left out": 3,
    }


def test_a_comment_in_word_has_its_author_and_date(tmp_path):
    comment = f'<w:comment w:author="Ben" w:date="2024-01-02T00:00:00Z">{p("No.")}</w:comment>'
    placed, _ = read(tmp_path, "a.docx", word_file(p("Yes."), comments=comment))
    assert [(c.claim.source, c.claim.text, c.dated) for c in placed] == [
        ("a.docx", "Yes.", False),
        ("Ben", "No.", True),
    ]


def test_headings_are_groups_within_groups(tmp_path):
    placed, document = opened(
        tmp_path, "a.md", "# A\nOne.\n## B\n### C\nTwo.\n## D\n# E\nThree.\n# F\n"
    )
    assert [(p.claim.text, p.claim.group) for p in placed] == [
        ("One.", "a.md, A"),
        ("Two.", "a.md, A > B > C"),
        ("Three.", "a.md, E"),
    ]
    assert document.words == {"heading without text under it left out": 2}
    placed, _ = read(tmp_path, "a.rst", "Keys\n====\n\nOne.\n\nLocks\n-----\nTwo.\n")
    assert [(p.claim.text, p.claim.group) for p in placed] == [
        ("One.", "a.rst, Keys"),
        ("Two.", "a.rst, Keys > Locks"),
    ]
    placed, _ = read(tmp_path, "a.org", "* Keys\nOne.\n** Locks\nTwo.\n")
    assert [p.claim.group for p in placed] == ["a.org, Keys", "a.org, Keys > Locks"]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("It is state-of-the-\nart.", "It is state-of-the-art."),
        ("It is insu-\nlation.", "It is insulation."),
        ("It is well-\nknown.", "It is well-known."),
        ("A co-op. It is a co-\nop.", "A co-op. It is a co-op."),
        ("In Baden-\nBaden.", "In Baden-Baden."),
        ("It is self-\nreliant.", "It is self-reliant."),
        ("A poster. It is a post-\ner.", "A poster. It is a poster."),
    ],
)
def test_hyphens_at_the_ends_of_lines(lines, text, tmp_path):
    assert " ".join(texts(read(tmp_path, "a.pdf", pdf(lines))[0])) == text


def test_sentences_run_over_pages_and_running_heads_do_not_cut_them(tmp_path):
    pages = [
        "House rules\nKeep calm. The key is\n1 of 3",
        "House rules\nunder the pot. Wipe your feet.\n2 of 3",
        "House rules\nAsk Ann.\n3 of 3",
    ]
    placed, document = opened(tmp_path, "a.pdf", pdf(*pages))
    assert [(p.claim.text, p.claim.group[-1]) for p in placed] == [
        ("Keep calm.", "1"),
        ("The key is under the pot.", "1"),
        ("Wipe your feet.", "2"),
        ("Ask Ann.", "3"),
    ]
    assert document.words == {"running head or page number left out": 3 * 5}


def test_html_has_readings_pictures_and_details(tmp_path):
    content = (
        "<p>Ask <ruby>漢字<rt>kanji</rt></ruby> of <img alt='the red cat' src='x'>.</p>"
        "<details><summary>More</summary>Hidden fact.</details>"
        "<p>one<select><option>menu</select>two</p><!-- remark --><h1>End</h1>"
    )
    placed, document = opened(tmp_path, "a.html", content)
    assert texts(placed) == ["Ask 漢字 (kanji) of the red cat .", "More", "Hidden fact.", "one two"]
    assert document.words == {
        "choice of a form left out": 1,
        "comment of HTML left out": 1,
        "heading without text under it left out": 1,
    }


def test_html_keeps_words_apart_and_tells_of_templates(tmp_path):
    page = (
        "<body><p>Press<button>Save it</button>now.</p><video>No film.</video><object>A map."
        "</object><template><p>Unseen row</p></template></body>"
    )
    placed, document = opened(tmp_path, "a.html", page)
    assert [p.claim.text for p in placed] == ["Press Save it now.", "No film.", "A map."]
    assert document.words["template left out"] == 2


def test_rolling_captions_are_read_once(tmp_path):
    content = "WEBVTT\nKind: captions\n\n" + "\n\n".join(
        f"00:00:0{n}.000 --> 00:00:0{n + 1}.000 align:start\n{shown}"
        for n, shown in enumerate(
            [
                " \nthe<00:00:00.500><c> key is</c>",
                "the key is\nunder the pot",
                "under the pot\nby the door",
                "by the door",
            ]
        )
    )
    placed, document = opened(tmp_path, "a.vtt", content)
    assert texts(placed) == ["the key is under the pot by the door"]
    assert document.words["line that captions show again left out"] == 9


def test_substation_alpha_without_comments_and_drawings(tmp_path):
    lines = (
        "Ada,0,0,0,,{\\i1}The key{\\i0} is\\Nunder, the pot.",
        ",0,0,0,,{\\p1}m 0 0 l 9 9{\\p0}",
    )
    events = [f"Dialogue: 0,0:00:0{n}.00,0:00:0{n}.90,Default,{s}" for n, s in enumerate(lines, 1)]
    events += ["Comment: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,left out"]
    events += ["Dialogue: 0,0:00:07.00,0:00:09.00,Default,Ben,0,0,0,,Go --> there."]
    form = "Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"
    head = (
        "[Script Info]\nTitle: Two words\nScriptType: v4.00+\n\n[V4+ Styles]\n\n[Events]\n" + form
    )
    placed, document = opened(tmp_path, "a.ass", "\n".join([head, *events]))
    assert [(p.claim.source, p.claim.text) for p in placed] == [
        ("Ada", "The key is under, the pot."),
        ("Ben", "Go --> there."),
    ]
    assert document.words == {
        "title of the subtitles left out": 2,
        "comment left out": 2,
        "drawing left out": 6,
    }


def test_a_line_that_is_said_twice_is_read_twice(tmp_path):
    cues = ["Yes.", "Yes.", "No.", "Go.", "Stop.", "Run."]
    content = "\n\n".join(
        f"{n + 1}\n00:00:0{n},000 --> 00:00:0{n + 1},000\n{cue}" for n, cue in enumerate(cues)
    )
    assert texts(read(tmp_path, "a.srt", content)[0]) == cues


def test_speech_without_full_stops_is_cut_by_pauses_and_length(tmp_path):
    def cue(start, said):
        return f"00:00:{start:02}.000 --> 00:00:{start + 1:02}.000\n{said}"

    long = [cue(20 + n, f"then we talked about thing {n} and so on") for n in range(30)]
    content = "WEBVTT\n\n" + "\n\n".join([cue(1, "so"), cue(2, "hello"), cue(10, "later"), *long])
    placed, _ = read(tmp_path, "a.vtt", content)
    assert texts(placed)[:2] == ["so hello", "later"]
    assert max(map(len, texts(placed))) <= 300
    assert [round(p.claim.time * 86_400) for p in placed][:3] == [1, 10, 20]


def test_names_before_what_is_said_are_speakers(tmp_path):
    content = (
        "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\nAda Reed: The key is\n\n"
        "2\n00:00:02.000 --> 00:00:03.000\nAda Reed: under the pot.\n\n"
        "3\n00:00:03.000 --> 00:00:04.000\nBen Holt: Note: it is wet.\n"
    )
    placed, _ = read(tmp_path, "zoom.vtt", content)
    assert [(p.claim.source, p.claim.text) for p in placed] == [
        ("Ada Reed", "The key is under the pot."),
        ("Ben Holt", "Note: it is wet."),
    ]


MAIL = """From: =?utf-8?q?Zo=C3=AB?= <zoe@x.org>
Subject: Re: AW: The key
Date: Wed, 31 Jan 2024 10:05:00 +0100
Message-ID: <m1@x>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: multipart/alternative; boundary=c

--c
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

It is in the caf=E9. Ask Ben.

On Tue, Ann wrote:
> Where is it?
--=20
Zoe of X
--c
Content-Type: text/html

<p>It is in the caf&eacute;.</p>
--c--
--b
Content-Type: image/png
Content-Disposition: attachment; filename="plan.png"

xx
--b--
"""


def test_mail_has_a_sender_a_date_and_a_subject(tmp_path):
    placed, document = opened(tmp_path, "a.eml", MAIL)
    assert [(p.claim.id, p.claim.source, p.claim.group, p.claim.text) for p in placed] == [
        ("m1@x.1", "Zoë", "The key", "It is in the café."),
        ("m1@x.2", "Zoë", "The key", "Ask Ben."),
    ]
    assert placed[0].claim.time == pytest.approx(19_753 + (9 * 60 + 5) / 1440)
    assert document.notes == {
        "other form of a letter left out": 1,
        "attachment left out": 1,
        "quoted line left out": 2,
        "signature left out": 1,
    }
    other = "From: ben@x.org\nSubject: Hi\n\nHello.\n"
    box = f"From zoe Wed Jan 31\n{MAIL}\nFrom ben Thu Feb  1\n{other}"
    placed, _ = opened(tmp_path, "a.mbox", box)
    assert [p.claim.source for p in placed] == ["Zoë", "Zoë", "ben@x.org"]


def test_mail_in_html_without_what_it_quotes(tmp_path):
    letter = (
        "From: a@x.org\nSubject: Hi\nContent-Type: text/html\n\n<p>New.</p>"
        "<div class=gmail_quote>On Monday:<blockquote>Old text.</blockquote></div>"
    )
    placed, document = opened(tmp_path, "a.eml", letter)
    assert texts(placed) == ["New."]
    assert document.words == {"quoted letter left out": 4}


def test_notebooks(tmp_path):
    cells = [
        {"cell_type": "markdown", "source": ["# Keys\n", "They are here. Look."]},
        {"cell_type": "code", "source": "x = 1\ny = 2", "outputs": [{"text": ["three words out"]}]},
    ]
    placed, document = opened(tmp_path, "a.ipynb", json.dumps({"nbformat": 4, "cells": cells}))
    assert [(p.claim.text, p.claim.group) for p in placed] == [
        ("They are here.", "a.ipynb, Keys"),
        ("Look.", "a.ipynb, Keys"),
        ("x = 1 y = 2", "a.ipynb, Keys"),
    ]
    assert document.words == {"output of a cell left out": 3}
