"""Reader of subtitles and transcripts with times: WebVTT, SubRip, SubStation Alpha and others."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memenvs.errors import MaterialError
from memenvs.text.times import SECONDS
from memenvs.train.own_material.decoding import decoded
from memenvs.train.own_material.passages import Document, Passage

TIMING = re.compile(
    r"\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})"
)
VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
TAG = re.compile(r"</?[A-Za-z0-9][^<>]*>|\{\\[^{}]*\}")
SAID_BY = re.compile(r"([^\W\d_][\w .'’()-]{0,40}?):\s+(?=\S)")
ENDED = re.compile(r"""[.!?…。！？؟।]["'”’»)\]]*$""")
SAID_OF_ALL = (  # fields of SubStation Alpha in which people write
    *("Title", "Original Script", "Original Translation", "Original Editing", "Original Timing"),
    *("Script Updated By", "Update Details"),
)
PAUSE = 2.0  # seconds of silence that end what has no full stop
LONGEST = 300  # characters, about twenty seconds of speech
ROLLING = 0.3  # share of cues that repeat a line of the cue before them
NAMED = 0.5  # share of cues that begin with a name


@dataclass(frozen=True)
class Cue:
    """What one person says from ``start`` to ``end``, in seconds."""

    start: float
    end: float
    lines: tuple[str, ...]
    speaker: str = ""


def read_subtitles(document: Document) -> Iterator[Passage]:
    """Give sentences over as many cues as they take; time = days from the start.

    Source = who speaks, where voices are marked or most cues begin with a name. What has no full
    stops is cut by pauses, and by length. Lines that rolling captions show again are read once.
    Raises ``MaterialError`` where the file holds no subtitles.
    """
    text = decoded(document).replace("\r\n", "\n").replace("\r", "\n")
    cues = list(_timed(document, text)) if TIMING.search(text) else _others(document, text)
    if not cues:
        raise MaterialError("holds no subtitles", file=document.name)
    yield from spoken(document, cues)


def spoken(document: Document, cues: Iterable[Cue]) -> Iterator[Passage]:
    """Give the sentences of cues, whose times say when they were begun."""
    ordered = _named(_once(document, sorted(cues, key=lambda cue: cue.start)))
    begun: list[str] = []
    start = end = 0.0
    speaker = ""
    for cue in ordered:
        said = " ".join(" ".join(cue.lines).split())
        if not said:
            continue
        length = sum(map(len, begun))
        if begun and (
            cue.speaker != speaker or cue.start - end > PAUSE or length + len(said) > LONGEST
        ):
            yield Passage(" ".join(begun), source=speaker, time=start / SECONDS)
            begun = []
        if not begun:
            speaker, start = cue.speaker, cue.start
        begun.append(said)
        end = cue.end
        if ENDED.search(said):
            yield Passage(" ".join(begun), source=speaker, time=start / SECONDS)
            begun = []
    if begun:
        yield Passage(" ".join(begun), source=speaker, time=start / SECONDS)


def _timed(document: Document, text: str) -> Iterator[Cue]:
    """Read WebVTT or SubRip: a line of times, then the lines that are shown until a blank one.

    The line before the times names the cue; what else stands between cues shows nothing.
    """
    # In WebVTT a line of blanks is shown; in SubRip it ends a cue as an empty one does.
    webvtt = text.startswith("WEBVTT")
    lines = [line if webvtt or line.strip() else "" for line in text.split("\n")]
    times = {n: match for n, line in enumerate(lines) if (match := TIMING.match(line))}
    n = 0
    while n < len(lines):
        if n in times:
            begin = n = n + 1
            while n < len(lines) and lines[n] and n not in times:
                n += 1
            until = n - 1 if n in times and n > begin and lines[n - 1].strip().isdigit() else n
            yield from _voices(times[begin - 1], lines[begin:until])
            continue
        if lines[n].strip() and n + 1 not in times and n:
            reason = "note between cues left out"
            document.leave(reason, lines[n].removeprefix("NOTE"))
        elif n == 0 and webvtt:
            document.leave("title of the subtitles left out", lines[0].removeprefix("WEBVTT"))
        elif lines[n].strip() and not lines[n].strip().isdigit():
            document.leave("name of a cue left out", lines[n])
        n += 1
    for reason in [reason for reason, words in document.words.items() if not words]:
        del document.words[reason], document.notes[reason]


def _voices(times: re.Match[str], lines: Sequence[str]) -> Iterator[Cue]:
    """Split a cue by the voices that are marked in it; tags and character references go."""
    start, end = _seconds(times[1]), _seconds(times[2])
    parts = VOICE.split("\n".join(lines))
    speakers = ["", *(html.unescape(name).strip() for name in parts[1::2])]
    for speaker, said in zip(speakers, parts[::2], strict=True):
        shown = tuple(
            " ".join(html.unescape(TAG.sub("", line)).split()) for line in said.split("\n")
        )
        if any(shown):
            yield Cue(start, end, tuple(filter(None, shown)), speaker)


def _seconds(stamp: str) -> float:
    total = 0.0
    for part in stamp.replace(",", ".").split(":"):
        total = total * 60 + float(part)
    return total


def _others(document: Document, text: str) -> list[Cue]:
    """Read what else pysubs2 knows; comments show nothing, and drawings no words."""
    import pysubs2

    try:
        file = pysubs2.SSAFile.from_string(text)
    except (pysubs2.exceptions.Pysubs2Error, ValueError) as error:
        raise MaterialError(f"holds no subtitles: {error!s:.120}", file=document.name) from None
    cues = []
    head = " ".join(value for name, value in file.info.items() if name in SAID_OF_ALL)
    if head:
        document.leave("title of the subtitles left out", head)
    for event in file:
        if event.is_comment:
            document.leave("comment left out", event.plaintext)
        elif event.is_drawing:
            document.leave("drawing left out", event.plaintext)
        else:
            lines = tuple(event.plaintext.split("\n"))
            cues.append(Cue(event.start / 1000, event.end / 1000, lines, event.name))
    return cues


def _once(document: Document, cues: list[Cue]) -> list[Cue]:
    """Take lines out of rolling captions that the cue before showed already."""
    if len(cues) < 3:
        return cues
    repeats = sum(
        _shared(before.lines, cue.lines) > 0 or _goes_on(before.lines, cue.lines)
        for before, cue in pairwise(cues)
    )
    if repeats < ROLLING * (len(cues) - 1):
        return cues
    kept, before = [], Cue(0.0, 0.0, ())
    for cue in cues:
        shared = _shared(before.lines, cue.lines)
        rest = list(cue.lines[shared:])
        for line in cue.lines[:shared]:
            document.leave("line that captions show again left out", line)
        if not shared and _goes_on(before.lines, cue.lines):
            last = before.lines[-1]
            document.leave("line that captions show again left out", last)
            rest[0] = rest[0][len(last) + 1 :]
        if rest:
            kept.append(replace(cue, lines=tuple(rest)))
        before = cue
    return kept


def _shared(before: Sequence[str], lines: Sequence[str]) -> int:
    """Count the lines at the end of a cue with which the next begins."""
    for count in range(min(len(before), len(lines)), 0, -1):
        if tuple(before[-count:]) == tuple(lines[:count]):
            return count
    return 0


def _goes_on(before: Sequence[str], lines: Sequence[str]) -> bool:
    """Whether a cue begins with the last line of the one before, and adds to it."""
    return bool(before and lines) and lines[0].startswith(f"{before[-1]} ")


def _named(cues: list[Cue]) -> list[Cue]:
    """Take names from the beginning of cues, where most begin with one and it comes again."""
    found = [SAID_BY.match(" ".join(cue.lines)) for cue in cues]
    names = [match[1] for match in found if match]
    if (
        any(cue.speaker for cue in cues)
        or len(names) < NAMED * len(cues)
        or (len(set(names)) == len(names) and len(names) > 2)
    ):
        return cues
    named, speaker = [], ""
    for cue, match in zip(cues, found, strict=True):
        text = " ".join(cue.lines)
        if match:
            speaker = match[1]
            text = text[match.end() :]
        named.append(replace(cue, lines=(text,), speaker=speaker))
    return named
