"""Documents of our own making: the smallest files of their kinds."""

from __future__ import annotations

import json


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
