"""Documents of our own making: the smallest files of their kinds, and how they are read."""

from __future__ import annotations

import json

from memenvs.text.cache import Cache
from memenvs.train.own_material.reading import Reading, open_document, passages_of
from memenvs.train.own_material.segment import claims_of


def pdf(*pages: str) -> bytes:
    """Write a PDF with one line of ASCII text a page; an empty one has no text at all."""
    kids = " ".join(f"{3 + 2 * n} 0 R" for n in range(len(pages)))
    font = 3 + 2 * len(pages)
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
    ]
    for n, text in enumerate(pages):
        stream = "".join(
            f"BT /F1 12 Tf 72 {720 - 14 * line} Td ({words}) Tj ET\n"
            for line, words in enumerate(text.split("\n"))
            if words
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {4 + 2 * n} 0 R "
            f"/Resources << /Font << /F1 {font} 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    out, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n"
    out += "".join(f"{place:010} 00000 n \n" for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return out.encode()


def write_questions(path, *questions, newline="\n"):
    """Write questions as JSON Lines."""
    lines = [json.dumps(question, ensure_ascii=False) + newline for question in questions]
    path.write_bytes("".join(lines).encode())
    return path


def opened(tmp_path, name, content, by=None, language=None, room=1000, cache=None, **reading):
    """Write a document and read it; give its claims and the document with its notes."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    settings = Reading(**reading)
    document = open_document(name, path, settings.encoding)
    passages = passages_of(document, cache or Cache(None), settings)
    return claims_of(document, passages, by, language, room), document


def read(tmp_path, name, content, **how):
    """Write a document and read it; give its claims and what was noted."""
    placed, document = opened(tmp_path, name, content, **how)
    return placed, document.notes


def texts(placed):
    """Give the texts of claims."""
    return [p.claim.text for p in placed]
