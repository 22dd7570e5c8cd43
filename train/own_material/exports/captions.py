"""Transcripts of speech as JSON: YouTube's json3, Whisper's segments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.passages import Document, Passage
from memenvs.train.own_material.subtitles import Cue, spoken

KEYS = ("segments", "events", "start", "end", "text")


def recognises(head: Head) -> bool:
    """Whether a record holds segments with a start and a text, or YouTube's events."""
    return any(True for record in head.records() for _ in _cues(record))


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the sentences; time = days from the start."""
    cues = [cue for _, value in head.entries() if isinstance(value, dict) for cue in _cues(value)]
    yield from spoken(document, cues)


def _cues(value: dict[str, Any]) -> Iterator[Cue]:
    for event in _objects(value.get("events")):
        if isinstance(event.get("tStartMs"), int):
            text = "".join(str(part.get("utf8", "")) for part in _objects(event.get("segs")))
            start = event["tStartMs"] / 1000
            if text.strip():
                yield Cue(start, start + event.get("dDurationMs", 0) / 1000, (text,))
    for segment in _objects(value.get("segments")):
        begins, said = segment.get("start"), segment.get("text")
        if isinstance(begins, (int, float)) and isinstance(said, str):
            ends = float(segment.get("end", begins))
            yield Cue(float(begins), ends, (said,), str(segment.get("speaker") or ""))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []
