"""Reader of PDF: pages without their running heads, as one text."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memenvs.errors import MaterialError
from memenvs.text.normal import halves, normal_text
from memenvs.train.own_material.passages import WORD, Document, Passage
from memenvs.train.own_material.segment import language_of

HYPHENS = "\u2010-"  # the common one last, as a class of characters wants it
SOFT = "\xad"  # a hyphen that shows at the end of a line alone
BROKEN = re.compile(rf"([^\W_]+)([{HYPHENS}])\s*\n\s*([^\W\d_]\w*)")
COMPOUND = re.compile(rf"\w+(?:[{HYPHENS}]\w+)+")
# First parts that English writes with a hyphen where the document has the word nowhere else.
PARTS = frozenset(
    "all anti cross ex half high long low mid multi non post pre self semi short single so two "
    "three well world".split()
)
EDGE = 3  # lines at the head and the foot of a page among which running heads are sought
SHARE = 0.5  # of the pages, on which a running head stands
HEAD = 60  # characters of a running head at most
NUMBER = re.compile(r"\d+")
ENDED = re.compile(r"""[.!?…。！？؟।:;]["'”’»)\]]*\s*$""")


def read_pdf(document: Document) -> Iterator[Passage]:
    """Give the text of the pages; a sentence that runs over pages stands on its first.

    Words broken at a line's end are joined, a compound keeps its hyphen. Running heads and page
    numbers are left out. Raises ``MaterialError`` where the file is damaged, locked or holds
    pictures of text alone.
    """
    pages = [[line.strip() for line in page.split("\n")] for page in _pages(document)]
    empty = sum(not any(page) for page in pages)
    if empty == len(pages):
        raise MaterialError(
            "holds no text, perhaps pictures of it; recognise the text (OCR) first",
            file=document.name,
        )
    if empty:
        document.note("page without text left out", empty)
    texts = ["\n".join(page) for page in _without_running_heads(document, pages)]
    joined = Hyphens("\n".join(texts))
    begun = ""  # the end of a page, if its sentence goes on
    page = 0  # on which that stands
    for number, text in enumerate(texts, start=1):
        if begun and text.strip() and _goes_on(begun, text):
            rest = text.lstrip()
            sentence = next(iter(_sentences(rest)))
            yield Passage(joined.join(f"{begun}\n{sentence}"), group=f"page {page}")
            begun, text = "", rest[len(sentence) :]
        elif begun and text.strip():
            yield Passage(joined.join(begun), group=f"page {page}")
            begun = ""
        if number < len(texts) and text.strip() and not ENDED.search(text):
            begun = _sentences(text)[-1]
            text, page = text[: len(text) - len(begun)], number
        for part in re.split(r"\n\s*\n", text):
            if part.strip():
                yield Passage(joined.join(part), group=f"page {number}")
    if begun:
        yield Passage(joined.join(begun), group=f"page {page}")


class Hyphens:
    """Words that were broken at the ends of lines, put together as the document has them."""

    def __init__(self, text: str) -> None:
        unbroken = BROKEN.sub(" ", text)
        self._compounds = {match[0].casefold() for match in COMPOUND.finditer(unbroken)}
        self._words = {word.casefold() for word in WORD.findall(unbroken)}

    def join(self, text: str) -> str:
        """Join broken words; a compound keeps its hyphen."""
        joined = BROKEN.sub(lambda match: self._one(text, match), text)
        return joined if joined == text else self.join(joined)

    def _one(self, text: str, match: re.Match[str]) -> str:
        first, _, second = match.groups()
        begun = _ending(text[: match.start()])  # of the word, which may have a hyphen already
        whole = f"{begun}{first}-{second}".replace("\u2010", "-").casefold()
        joined = f"{first}{second}".casefold()
        kept = (
            not second[0].islower()  # Baden-Baden
            or begun.endswith(("-", "\u2010"))
            or whole in self._compounds
            or (joined not in self._words and (first.casefold() in PARTS or first.isdigit()))
        )
        return f"{first}-{second}" if kept else first + second


def _ending(text: str) -> str:
    """Give the letters and hyphens at the end of a text."""
    end = len(text)
    while end and (text[end - 1].isalnum() or text[end - 1] in HYPHENS):
        end -= 1
    return text[end:]


def _pages(document: Document) -> list[str]:
    from pypdf import PdfReader

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports what it mends
    try:
        reader = PdfReader(io.BytesIO(document.content), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise MaterialError("is locked by a password; unlock it first", file=document.name)
        pages = [page.extract_text() for page in reader.pages]
    except MaterialError:
        raise
    except Exception as error:  # damage shows itself in any part of the parser
        said = " ".join(str(error).split()) or type(error).__name__
        raise MaterialError(f"cannot be read as PDF: {said:.120}", file=document.name) from None
    broken = sum(map(halves, pages))
    if broken:
        document.note("half a character replaced by \ufffd", broken)
    return [normal_text(page.replace(f"{SOFT}\n", "")) for page in pages]


def _without_running_heads(document: Document, pages: list[list[str]]) -> list[list[str]]:
    """Leave out lines at the edges of pages that most pages have, but for the page's number."""
    edges = [{n: _forms(page[n], number) for n in _edge(page)} for number, page in enumerate(pages)]
    told = Counter(
        form for edge in edges for form in {form for forms in edge.values() for form in forms}
    )
    needed = max(2, SHARE * sum(any(page) for page in pages))
    kept = []
    for page, edge in zip(pages, edges, strict=True):
        heads = {n for n, forms in edge.items() if any(told[form] >= needed for form in forms)}
        for n in sorted(heads):
            document.leave("running head or page number left out", page[n])
        kept.append([line for n, line in enumerate(page) if n not in heads])
    return kept


def _edge(page: Sequence[str]) -> list[int]:
    """Give the places of the first and the last lines with text, if there are several."""
    written = [n for n, line in enumerate(page) if line]
    inner = [n for n in written[:EDGE] + written[-EDGE:] if n == written[0] or not _broken(page, n)]
    return inner if len(written) > 1 else []


def _broken(page: Sequence[str], place: int) -> bool:
    """Whether a line ends a word that the line before it began."""
    return page[place - 1][-1:] in tuple(HYPHENS)


def _forms(line: str, number: int) -> set[str]:
    """Give a line as other pages may have it: as it is, or with a number that counts the pages."""
    if not line or len(line) > HEAD:
        return set()
    forms = {" ".join(line.split())}
    for match in NUMBER.finditer(line):
        if len(match[0]) <= 5:
            offset = int(match[0]) - number
            forms.add(f"{line[: match.start()]}<{offset}>{line[match.end() :]}")
    return forms


def _goes_on(begun: str, text: str) -> bool:
    """Whether a page goes on with the sentence that the page before left open."""
    last, first = begun.rstrip()[-1:], text.lstrip()[:1]
    return last in f",;–{HYPHENS}" or not (first.isupper() or first in "•*")


def _sentences(text: str) -> list[str]:
    import sentencex

    return [s for s in sentencex.segment(language_of(text), text) if s] or [text]
