"""Generated documents of each kind in which every word is unique, so that a lost one is seen."""

from __future__ import annotations

import io
import json
import re
import zipfile
from xml.sax.saxutils import escape

from documents import pdf

LETTERS = "bcdfgklmnprstvz"


class Words:
    """Gives words that were never given before, in phrases, and keeps them."""

    def __init__(self, random):
        self.random = random
        self.given = []
        self.frame = 0  # other words, of which it is known that they are left out

    def word(self):
        """Give one word."""
        number, letters = len(self.given) + 1, ""
        while number:
            number, digit = divmod(number, len(LETTERS))
            letters += LETTERS[digit] + "aeiou"[digit % 5]
        self.given.append(f"wu{letters}")
        return self.given[-1]

    def framed(self, count, text):
        """Give a text in which ``count`` words are not unique, and will be left out."""
        self.frame += count
        return text

    def keep(self, text):
        """Forget the words that a text has not."""
        there = set(re.findall(r"\w+", text))
        self.given = [word for word in self.given if word in there]

    def phrase(self, least=1, most=6):
        """Give some words, with a full stop after most."""
        words = [self.word() for _ in range(self.random.randint(least, most))]
        return " ".join(words) + self.random.choice([".", ".", "", "?", "…"])

    def some(self, part, most=3):
        """Give a part up to ``most`` times."""
        return [part() for _ in range(self.random.randint(1, most))]

    def one_of(self, *parts):
        """Give one of the parts."""
        return self.random.choice(parts)()


def text(w):
    """Paragraphs, bullets, an underlined title."""

    def title():
        line = w.phrase(1, 3).rstrip(".?…")
        return f"{line}\n{'=' * len(line)}\n"

    blocks = w.some(
        lambda: w.one_of(
            lambda: "\n".join(w.some(w.phrase)), lambda: f"- {w.phrase()}\n- {w.phrase()}", title
        ),
        6,
    )
    return "a.txt", "\n\n".join([*blocks, w.phrase()])


def markdown(w):
    """Front matter, headings, lists, tables, code, HTML, pictures, links, footnotes."""

    def block():
        return w.one_of(
            w.phrase,
            lambda: f"{'#' * w.random.randint(1, 4)} {w.phrase()}",
            lambda: f"- {w.phrase()}\n  - {w.phrase()}\n1. {w.phrase()}",
            lambda: f"| {w.word()} | {w.word()} |\n|---|---|\n| {w.word()} | **{w.word()}** |",
            lambda: f"```{w.word()}\n{w.phrase()}\n```",
            lambda: f"<div>{w.phrase()}<p>{w.phrase()}</p></div>",
            lambda: f'![{w.phrase()}](p.png) [{w.phrase()}](<> "{w.word()}")',
            lambda: f"<!-- {w.phrase()} -->",
            lambda: (
                f"{w.word()} <b>{w.word()}</b> <img alt=\"{w.word()}\" src=''> <!-- {w.word()} -->"
            ),
            lambda: f"> {w.phrase()}\n> {w.phrase()}",
            lambda: f"{w.word()}[^1]\n\n[^1]: {w.phrase()}",
        )

    front = f"---\n{w.word()}: {w.phrase()}\n---\n" if w.random.random() < 0.5 else ""
    return "a.md", front + "\n\n".join([*w.some(block, 7), w.phrase()])


def html(w):
    """Blocks in blocks, tables in tables, ruby, alt, details, and what nobody sees."""

    def block(depth=0):
        parts = [
            lambda: f"{w.phrase()} ",
            lambda: f"<p>{w.phrase()}<br>{w.phrase()} <i>{w.word()}</i></p>",
            lambda: f"<h{w.random.randint(1, 6)}>{w.phrase()}</h2>",
            lambda: f" <ruby>{w.word()}<rt>{w.word()}</rt></ruby> ",
            lambda: f" <ruby>{w.word()}<rp>(</rp><rt>{w.word()}</rt><rp>)</rp></ruby> ",
            lambda: f"<p>{w.word()}<img src='' alt='{w.phrase()}'>{w.word()}</p>",
            lambda: f"<details><summary>{w.phrase()}</summary>{w.phrase()}</details>",
            lambda: f"<nav>{w.phrase()}</nav><script>{w.word()}</script>",
            lambda: f"<!-- {w.phrase()} -->",
            lambda: f"<dl><dt>{w.word()}<dd>{w.phrase()}</dl>",
            lambda: f"<select><option>{w.word()}<option>{w.word()}</select>",
            lambda: f"<button>{w.word()}</button><input type=submit value={w.word()}>",
        ]
        if depth < 3:
            parts += [
                lambda: f"<div>{block(depth + 1)}{block(depth + 1)}</div>",
                lambda: f"<ul><li>{block(depth + 1)}<li>{w.phrase()}</ul>",
                lambda: (
                    f"<table><caption>{w.word()}</caption><tr><th>{w.word()}<td>{block(depth + 1)}"
                    f"<tr><td>{w.word()}<td>{w.word()}</table>"
                ),
            ]
        return w.one_of(*parts)

    return "a.html", (
        f"<html><head><title>{w.phrase()}</title></head><body>"
        f"{''.join(w.some(block, 6))}<p>{w.phrase()}</p></body></html>"
    )


MAIN = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def word_file(body, strict=False, **parts):
    """Put together a Word document of a body and of parts beside it, such as ``header``."""
    spaces = SPACES.replace(SPACES.split('"')[1], STRICT) if strict else SPACES
    relation = "http://purl.oclc.org/ooxml/officeDocument/relationships" if strict else MAIN
    files = {"word/document.xml": f"<w:document {spaces}><w:body>{body}</w:body></w:document>"}
    related = []
    for kind, content in {"styles": STYLES, **parts}.items():
        root = {"header": "hdr", "footer": "ftr"}.get(kind, kind)
        files[f"word/{kind}.xml"] = f"<w:{root} {spaces}>{content}</w:{root}>"
        related.append(f'<Relationship Id="{kind}" Type="{relation}/{kind}" Target="{kind}.xml"/>')
    files["word/_rels/document.xml.rels"] = f"<Relationships>{''.join(related)}</Relationships>"
    files["_rels/.rels"] = (
        f'<Relationships><Relationship Id="r" Type="{relation}/officeDocument" '
        'Target="word/document.xml"/></Relationships>'
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


STYLES = (
    '<w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H1"/></w:style>'
    '<w:style w:styleId="T1"><w:name w:val="toc 1"/></w:style>'
)


def run(words):
    """Give a run of text, cut in two as Word does."""
    half = len(words) // 2
    return (
        f"<w:r><w:t>{escape(words[:half])}</w:t></w:r><w:r><w:t>{escape(words[half:])}</w:t></w:r>"
    )


def paragraph(content, style=""):
    """Give a paragraph."""
    said = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{said}{content}</w:p>"


def docx(w):
    """Content controls, tracked changes, text boxes, nested tables, notes, comments, headers."""

    def plain():
        return paragraph(run(w.phrase()))

    def box():
        return (
            "<w:r><mc:AlternateContent><mc:Choice><w:drawing><wp:docPr descr='"
            f"{w.word()}'/><w:txbxContent>{plain()}</w:txbxContent></w:drawing></mc:Choice>"
            "<mc:Fallback><w:pict/></mc:Fallback></mc:AlternateContent></w:r>"
        )

    def table(depth=0):
        def cell():
            inner = table(depth + 1) if depth < 2 and w.random.random() < 0.3 else ""
            return f"<w:tc>{plain()}{inner}{w.one_of(plain, lambda: control(plain()))}</w:tc>"

        return f"<w:tbl><w:tr>{cell()}{cell()}</w:tr>{control(f'<w:tr>{cell()}</w:tr>')}</w:tbl>"

    def control(content):
        return f"<w:sdt><w:sdtPr/><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    def gone():
        return f"<w:del><w:r><w:delText>{w.phrase()}</w:delText></w:r></w:del>"

    def block():
        return w.one_of(
            plain,
            table,
            lambda: control(plain() + plain()),
            lambda: paragraph(run(w.phrase()), w.random.choice(["H1", "Mine", "T1"])),
            lambda: paragraph(run(w.word()) + box()),
            lambda: paragraph(f"{run(w.word() + ' ')}<w:ins>{run(w.word())}</w:ins>{gone()}"),
            lambda: paragraph(run(w.word() + " ") + control(run(w.word()))),
            lambda: paragraph(
                f"<w:hyperlink>{run(w.word())}</w:hyperlink><w:tab/><w:moveFrom>{run(w.word())}"
                f"</w:moveFrom><w:moveTo>{run(w.word())}</w:moveTo>"
            ),
            lambda: paragraph(
                f"<w:r><w:ruby><w:rt>{run(w.word())}</w:rt><w:rubyBase>{run(w.word())}"
                "</w:rubyBase></w:ruby></w:r>"
            ),
        )

    body = "".join([*w.some(block, 6), plain()])
    parts = {
        "header": plain() + plain(),
        "footer": table(),
        "footnotes": f"<w:footnote>{plain()}</w:footnote>",
        "endnotes": f"<w:endnote>{plain()}</w:endnote>",
        "comments": f'<w:comment w:author="Ann" w:date="2024-01-02">{plain()}</w:comment>',
    }
    chosen = {kind: part for kind, part in parts.items() if kind in body or w.random.random() < 0.5}
    w.keep(_letters(body + "".join(chosen.values())))
    return "a.docx", word_file(body, w.random.random() < 0.3, **chosen)


def _letters(xml):
    """Take the cuts between runs out of XML, so that words stand in it whole."""
    return xml.replace("</w:t></w:r><w:r><w:t>", "")


def pdf_pages(w):
    """Pages with running heads and numbers, sentences over pages, words broken at lines."""
    head = w.phrase(1, 3).rstrip(".?…")
    pages = []
    for number in range(w.random.randint(1, 4)):
        lines = [head]
        for _ in range(w.random.randint(1, 4)):
            line = w.phrase(2, 5)
            if w.random.random() < 0.3:
                word = w.word()
                line = f"{line} {word[:3]}-\n{word[3:]}"
            lines.append(line.replace("…", "..."))
        pages.append("\n".join([*lines, str(number + 1)]))
    if len(pages) > 1:  # on one page nothing runs
        w.framed(len(pages) + (len(pages) - 1) * len(head.split()), "")
    return "a.pdf", pdf(*pages)


def captions(w):
    """Cues with names, voices, tags, notes, and gaps."""
    blocks, at = [f"WEBVTT {w.word()}"], 0

    def stamp(seconds):
        return f"00:{seconds // 60:02}:{seconds % 60:02}.000"

    for _ in range(w.random.randint(1, 6)):
        at += w.random.randint(0, 6)
        name = w.framed(2, f"{w.word()}/1-{at}\n") if w.random.random() < 0.4 else ""
        said = w.one_of(
            w.phrase,
            lambda: f"<v Ann>{w.phrase()}</v>",
            lambda: f"<v.loud Ben>{w.phrase()}\n<v Ann>{w.phrase()}",
            lambda: f"{w.phrase()}\n<i>{w.phrase()}</i> <c.red>{w.word()}</c> &amp; {w.word()}",
        )
        blocks.append(f"{name}{stamp(at)} --> {stamp(at + 2)} align:start\n{said}")
        at += 2
        if w.random.random() < 0.3:
            blocks.append(f"NOTE {w.phrase()}\n{w.phrase()}")
    return "a.vtt", "\n\n".join(blocks) + "\n"


def table(w):
    """Rows with a text, a speaker, and columns that nothing reads."""
    rows = [["author", "text", "colour", "date"]]
    for _ in range(w.random.randint(1, 5)):
        rows.append([w.word(), w.phrase(), w.word(), "2024-01-02"])
        if w.random.random() < 0.3:
            rows[-1].append(w.word())
    return "a.csv", "\n".join(",".join(f'"{cell}"' for cell in row) for row in rows)


def bare_table(w):
    """Rows without a text: their columns are read by name."""
    header = [w.word(), w.word()]
    rows = [[w.word(), w.word()] for _ in range(w.random.randint(1, 4))]
    return "a.csv", "\n".join(",".join(row) for row in [header, *rows])


def messages(w):
    """Messages with parts, calls of tools, thoughts, system messages and unknown fields."""

    def message():
        content = w.one_of(
            w.phrase,
            lambda: [{"type": "text", "text": w.phrase()}, w.phrase()],
            lambda: [
                {"type": "thinking", "thinking": w.phrase()},
                {"type": "text", "text": w.word()},
            ],
            lambda: [{"type": "tool_use", "id": "t", "name": w.word(), "input": {"a": w.word()}}],
            lambda: [{"type": "tool_result", "tool_use_id": "t", "content": w.phrase()}],
            lambda: [{"type": "text", "text": w.word(), "cite": w.word()}],
        )
        made = {"role": w.random.choice(["user", "system", "assistant"]), "content": content}
        if w.random.random() < 0.3:
            made["mood"] = w.phrase()
        if w.random.random() < 0.2:
            made["tool_calls"] = [{"function": {"name": w.word()}}]
        return made

    last = {"role": "user", "content": w.phrase()}
    value = w.one_of(
        lambda: {"title": w.phrase(), "messages": [*w.some(message, 5), last], "extra": w.word()},
        lambda: [*w.some(message, 5), last],
        lambda: [{"id": w.word(), "messages": [*w.some(message, 3), last]} for _ in range(2)],
    )
    return "a.json", json.dumps(value)


def whatsapp(w):
    """Messages over lines, notices, attachments."""
    lines = ["1/2/24, 9:00 AM - Ann: " + w.phrase(), "1/2/24, 9:01 AM - Ben: " + w.phrase()]
    for minute in range(w.random.randint(1, 6)):
        lines.append(
            f"1/13/24, 9:{minute:02} AM - "
            + w.one_of(
                lambda: f"Ann: {w.phrase()}",
                lambda: f"Ben: {w.phrase()}\n{w.phrase()}\n\n{w.phrase()}",
                w.phrase,
                lambda: f"Ann: <{w.word()} {w.word()}>",
                lambda: f"Ben: {w.phrase()} <{w.word()} {w.word()} {w.word()}>",
            )
        )
    return "chat.txt", "\n".join(lines)


def telegram(w):
    """A whole account: chats with formatted texts, notices and fields that nothing reads."""

    def message(number):
        made = {"id": number, "type": "message", "date": "2024-01-02T03:04:05", "from": "Ann"}
        made |= w.one_of(
            lambda: {"text": w.phrase()},
            lambda: {"text": [w.word(), {"type": "bold", "text": f" {w.word()} "}, w.phrase()]},
            lambda: {"type": "service", "text": w.phrase()},
            lambda: {"text": w.phrase(), "media_type": w.word()},
            lambda: {"text": "", "photo": w.word()},
        )
        return made

    chats = [
        {
            "name": w.word(),
            "type": "personal_chat",
            "id": n,
            "messages": list(map(message, range(5))),
        }
        for n in range(2)
    ]
    for chat in chats:
        chat["messages"].append({**message(9), "type": "message", "text": w.phrase()})
    about = w.phrase()
    w.keep(json.dumps([chats, about]))
    return "result.json", json.dumps({"about": about, "chats": {"about": "", "list": chats}})


def letters(w):
    """A mailbox: replies with quotes and signatures, HTML, what is attached."""
    made = []
    for number in range(w.random.randint(1, 3)):
        body = w.one_of(
            lambda: f"{w.phrase()}\n\n{w.phrase()}\n> {w.phrase()}\n-- \n{w.phrase()}",
            lambda: w.framed(4, f"{w.phrase()}\n\nOn Monday, Ann wrote:\n> {w.phrase()}"),
        )
        made.append(
            f"From ann@x Mon Jan  1 00:00:00 2024\nFrom: Ann <ann@x.org>\nTo: ben@x.org\n"
            f"Subject: Re: {w.phrase()}\nDate: Mon, 01 Jan 2024 0{number}:00:00 +0000\n\n{body}\n"
        )
    return "a.mbox", "\n".join(made)


def notebook(w):
    """Cells of Markdown and of code, with outputs."""
    cells = []
    for _ in range(w.random.randint(1, 4)):
        cells.append(
            w.one_of(
                lambda: {"cell_type": "markdown", "source": [f"# {w.phrase()}\n", w.phrase()]},
                lambda: {
                    "cell_type": "code",
                    "source": w.phrase(),
                    "outputs": [{"output_type": "stream", "text": [w.phrase()]}],
                },
            )
        )
    return "a.ipynb", json.dumps({"nbformat": 4, "cells": cells})


KINDS = (
    *(text, markdown, html, docx, pdf_pages, captions, table, bare_table, messages, whatsapp),
    *(telegram, letters, notebook),
)
