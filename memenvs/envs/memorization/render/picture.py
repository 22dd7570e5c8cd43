"""An episode as a picture: the stream, the memory, the settled queries, utility and frontier."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from memenvs.envs.memorization.render.canvas import Canvas, Colour, wrapped
from memenvs.envs.memorization.render.scene import Question, Scene, Slot

WIDTH, HEIGHT = 1024, 640  # multiples of 16, as video encoders like them
MARGIN = 16
SPLIT = 664  # where the memory ends and the queries begin

INK: Colour = (31, 41, 55)
GREY: Colour = (107, 114, 128)
PALE: Colour = (209, 213, 219)
PAPER: Colour = (248, 250, 252)
WHITE: Colour = (255, 255, 255)
GREEN: Colour = (22, 163, 74)
RED: Colour = (220, 38, 38)
BLUE: Colour = (37, 99, 235)
ROSE: Colour = (254, 242, 242)
HONEY: Colour = (254, 249, 195)
SKY: Colour = (224, 231, 255)
# Colours of sources; further ones begin again.
SOURCES: tuple[Colour, ...] = (
    (78, 121, 167), (242, 142, 43), (118, 183, 178), (237, 201, 72), (176, 122, 161),
    (156, 117, 95), (255, 157, 167), (89, 161, 79), (134, 188, 182), (127, 127, 200),
)  # fmt: skip


def as_picture(scene: Scene) -> NDArray[np.uint8]:
    """Paint a spectator's scene: ``(640, 1024, 3)``."""
    canvas = Canvas(WIDTH, HEIGHT, PAPER)
    _header(canvas, scene)
    _stream(canvas, scene)
    _considered(canvas, scene)
    _memory(canvas, scene)
    _measures(canvas, scene)
    _queries(canvas, scene)
    return canvas.pixels()


def _source_colour(source: int) -> Colour:
    return GREY if source < 0 else SOURCES[source % len(SOURCES)]


def _colour(scene: Scene, claim: int) -> Colour:
    return _source_colour(int(scene.source[claim]))


def _header(canvas: Canvas, scene: Scene) -> None:
    canvas.box((0, 0, WIDTH, 40), INK)
    (name,) = wrapped(scene.material.name, 20, 480, 1) or ("",)
    canvas.text(MARGIN, 8, name, 20, WHITE)
    over = scene.decision >= scene.decisions
    words = "the episode is over" if over else f"decision {scene.decision + 1} of {scene.decisions}"
    paid = f"{words}   -   paid for {scene.utility}: {scene.earned:.2f} so far"
    canvas.text(WIDTH - MARGIN, 11, paid, 15, PALE, "right")


def _stream(canvas: Canvas, scene: Scene) -> None:
    """Show every claim as a tick: tall where stored, pale where still to come."""
    left, top, height = MARGIN, 72, 30
    width = WIDTH - 2 * MARGIN
    name = f"the {'pool' if scene.pool else 'stream'}: {len(scene.source)} claims"
    key = "coloured by source, tall: stored, red foot: false"
    canvas.text(left, 48, f"{name}   ({key})", 13, GREY)
    _legend(canvas, scene)
    canvas.picture(left, top, _ticks(scene, width, height))
    if scene.considered is not None:
        step = width / len(scene.source)
        middle = left + (scene.considered + 0.5) * step
        half = max(step / 2, 2)
        canvas.box((middle - half, top - 2, middle + half, top + height + 1), None, INK, 2)
        tip = top + height + 4
        canvas.polygon([(middle, tip), (middle - 6, tip + 8), (middle + 6, tip + 8)], INK)


def _legend(canvas: Canvas, scene: Scene) -> None:
    """Name the sources, from the right, as many as fit."""
    names = dict.fromkeys(claim.source for claim in scene.material.claims if claim.source)
    place, drawn = WIDTH - MARGIN, list(enumerate(names))[:8]
    for number, name in reversed(drawn):
        (short,) = wrapped(name, 12, 90, 1) or ("",)
        place -= canvas.text(place, 49, short, 12, GREY, "right") + 14
        canvas.box((place, 52, place + 9, 61), _source_colour(number))
        place -= 12


def _ticks(scene: Scene, width: int, height: int) -> NDArray[np.uint8]:
    """Colour each pixel column by its claim: ``(height, width, 3)``."""
    claims = len(scene.source)
    colours = np.array([_source_colour(s) for s in scene.source.tolist()], dtype=np.float64)
    shade = np.where(scene.stored, 1.0, np.where(scene.seen, 0.45, 0.25))[:, None]
    tops = np.where(scene.stored, 0, np.where(scene.seen, height // 2, height // 3))
    column = np.arange(width) * claims // width
    pixels = np.full((height, width, 3), PAPER, dtype=np.uint8)
    shaded = (colours * shade + 255.0 * (1 - shade)).astype(np.uint8)
    filled = np.arange(height)[:, None] >= tops[column]
    pixels[filled] = np.broadcast_to(shaded[column], pixels.shape)[filled]
    false = scene.material.incidence.truth == 0.0
    pixels[-4:, false[column]] = RED
    if width >= 4 * claims:
        pixels[:, np.flatnonzero(np.diff(column, prepend=-1))] = PAPER
    return pixels


def _considered(canvas: Canvas, scene: Scene) -> None:
    box = (MARGIN, 116, WIDTH - MARGIN, 178)
    canvas.box(box, WHITE, PALE)
    if scene.considered is None:
        over = scene.decision >= scene.decisions
        words = "Every decision is taken." if over else "Which claim is to be considered next?"
        canvas.text(MARGIN + 16, 136, words, 16, GREY)
        return
    claim = scene.considered
    record = scene.material.claims[claim]
    canvas.box((MARGIN, 116, MARGIN + 6, 178), _colour(scene, claim))
    _truth(canvas, MARGIN + 16, 124, record.truth, 14)
    facts = ", ".join(part for part in (f"considering {record.id}", scene.facts(claim)) if part)
    (line,) = wrapped(facts, 13, WIDTH - 80, 1)
    canvas.text(MARGIN + 38, 122, line, 13, GREY)
    for place, words in enumerate(wrapped(record.text or record.id, 16, WIDTH - 70, 2)):
        canvas.text(MARGIN + 16, 138 + 19 * place, words, 16, INK)


def _truth(canvas: Canvas, left: float, top: float, truth: float, size: int) -> None:
    """Mark a claim as true or false, or write its probability in between."""
    if truth in (0.0, 1.0):
        canvas.mark(left, top, size, bool(truth), GREEN if truth else RED)
    else:
        canvas.text(left - 2, top, f"{truth:.1f}"[1:], size, GREY)


def _memory(canvas: Canvas, scene: Scene) -> None:
    stored, slots = int(scene.stored.sum()), len(scene.slots)
    canvas.text(MARGIN, 186, f"memory: {stored} of {slots} slots", 14, INK)
    place = SPLIT - 16
    for words, colour in (("debited", RED), ("just credited", GREEN), ("just written", BLUE)):
        place -= canvas.text(place, 187, words, 12, GREY, "right") + 15
        canvas.box((place, 189, place + 10, 199), None, colour, 2)
        place -= 14
    columns = _columns(slots)
    rows = math.ceil(slots / columns)
    width, height = (SPLIT - 16 - MARGIN) / columns, min((HEIGHT - 12 - 208) / rows, 96)
    for slot in scene.slots:
        column, row = divmod(slot.number, rows)
        left, top = MARGIN + column * width, 208 + row * height
        gap = 1 if height < 20 else 4
        _slot(canvas, scene, slot, left, top, width - gap, height - gap)


def _columns(slots: int) -> int:
    """Columns of the grid: texts as wide as the number of slots allows, then tiles."""
    for most, columns in ((8, 1), (26, 2), (60, 3), (112, 4)):
        if slots <= most:
            return columns
    return math.ceil(math.sqrt(slots * 1.5))


def _slot(
    canvas: Canvas, scene: Scene, slot: Slot, left: float, top: float, width: float, height: float
) -> None:
    box = (left, top, left + width, top + height)
    if slot.claim is None:
        canvas.box(box, None, PALE)
        return
    record = scene.material.claims[slot.claim]
    canvas.box(box, ROSE if record.truth == 0.0 else WHITE, PALE)
    band = min(6.0, width / 4)
    canvas.box((left, top, left + band, top + height), _colour(scene, slot.claim))
    if height >= 12 and width >= 100:
        _card(canvas, scene, slot, left + band, top, width - band, height)
    elif min(height, width) >= 16:
        _truth(canvas, left + band + 4, top + 4, record.truth, min(int(height) - 8, 12))
    framed = {1: GREEN, -1: RED}.get(slot.outcome, BLUE if slot.fresh else None)
    if framed is not None:
        canvas.box(box, None, framed, 2)


def _card(
    canvas: Canvas, scene: Scene, slot: Slot, left: float, top: float, width: float, height: float
) -> None:
    """Write what a slot holds: its number, truth, words, record and, where there is room, facts."""
    assert slot.claim is not None
    record = scene.material.claims[slot.claim]
    size = 17 if height > 60 else 14 if height > 36 else 12 if height > 19 else 10
    step, inset = size * 1.25, 5 if height > 36 else 2
    number = canvas.text(left + 6, top + inset, str(slot.number), size - 2, GREY)
    mark = left + 12 + max(number, size - 2)
    _truth(canvas, mark, top + inset + 1, record.truth, size - 2)
    end = left + width - 6
    room = end - _credit(canvas, slot, end, top + inset, size - 1)
    start = mark + size + 4
    below = height > 60 and bool(record.text)  # room for a line of facts
    lines = max(int((height - inset - (18 if below else 2)) // step), 1)
    words = wrapped(f"{record.id}  {scene.words(slot.claim)}", size, int(room - start - 6), lines)
    for place, line in enumerate(words):
        canvas.text(start, top + inset + place * step, line, size, INK)
    if below:
        for line in wrapped(scene.facts(slot.claim), 12, int(end - start), 1):
            canvas.text(start, top + height - 19, line, 12, GREY)


def _credit(canvas: Canvas, slot: Slot, right: float, top: float, size: int) -> int:
    """Write the settled successes and failures; gives the width taken."""
    taken = 0
    for count, sign, colour in ((slot.debits, "-", RED), (slot.credits, "+", GREEN)):
        if count:
            taken += canvas.text(right - taken, top, f"{sign}{count}", size, colour, "right") + 6
    return taken


def _measures(canvas: Canvas, scene: Scene) -> None:
    """Draw each utility from 0 to 1 with the best possible; what false claims bought is red."""
    left, width = SPLIT, WIDTH - MARGIN - SPLIT
    coverage, precision = scene.measures[0].value, scene.measures[1].value
    for place, measure in enumerate(scene.measures):
        top = 190 + 46 * place
        words = f"{measure.name} {measure.value:.2f}"
        solid = measure.value
        if measure.name == "coverage" and coverage - precision > 1e-9:
            words += f", {coverage - precision:.2f} of it by false claims"
            solid = precision
        canvas.text(left, top, words, 14, INK)
        best = f"{'best' if measure.best.proved else 'at most'} {measure.best.value:.2f}"
        canvas.text(left + width, top + 1, best, 13, GREY, "right")
        canvas.box((left, top + 20, left + width, top + 32), PALE)
        canvas.box((left, top + 20, left + width * measure.value, top + 32), RED)
        canvas.box((left, top + 20, left + width * solid, top + 32), BLUE)
        at = left + width * measure.best.value
        canvas.box((at - 1, top + 16, at + 1, top + 36), INK)


def _queries(canvas: Canvas, scene: Scene) -> None:
    top: float = 190 + 46 * len(scene.measures)
    count, right = len(scene.outcomes), sum(scene.outcomes)
    shown = scene.settled or scene.known
    if scene.settled:
        title = f"settled queries: {right} of {count} right"
    elif scene.known:
        title = "known queries, and which the memory answers"
    else:
        title = "no query is settled yet"
    canvas.text(SPLIT, top, title, 14, INK)
    top += 22
    if scene.settled:
        top = _outcomes(canvas, scene, top)
    for question in shown:
        room = WIDTH - MARGIN - SPLIT - 30
        room -= 30 if question.mass is not None or question.times > 1 else 0
        lines = wrapped(question.text, 13, room, 2)
        height = 5 + 17 * max(len(lines), 1)
        if top + height > HEIGHT - 8:
            break
        _question(canvas, question, lines, top, height)
        top += height + 2


def _outcomes(canvas: Canvas, scene: Scene, top: float) -> float:
    """Show every outcome as a square, the newest last; gives where to go on."""
    step, size = 9, 7
    across = (WIDTH - MARGIN - SPLIT) // step
    for place, right in enumerate(scene.outcomes[-2 * across :]):
        row, column = divmod(place, across)
        left, at = SPLIT + column * step, top + row * step
        canvas.box((left, at, left + size - 1, at + size - 1), GREEN if right else RED)
    return top + step * math.ceil(min(len(scene.outcomes), 2 * across) / across) + 6


def _question(
    canvas: Canvas, question: Question, lines: tuple[str, ...], top: float, height: float
) -> None:
    right_edge = WIDTH - MARGIN
    if question.fresh:
        canvas.box((SPLIT, top, right_edge, top + height), HONEY)
    if question.mass is not None:  # its share of p_D, behind the words
        share = (right_edge - SPLIT) * question.mass
        canvas.box((SPLIT, top, SPLIT + share, top + height), SKY)
        canvas.text(right_edge - 4, top + 3, f"{question.mass:.2f}", 12, GREY, "right")
    elif question.times > 1:
        canvas.text(right_edge - 4, top + 3, f"x{question.times}", 12, GREY, "right")
    canvas.mark(SPLIT + 5, top + 5, 11, bool(question.right), GREEN if question.right else RED)
    ink = INK if question.fresh or question.mass is not None else GREY
    for place, line in enumerate(lines):
        canvas.text(SPLIT + 24, top + 2 + 17 * place, line, 13, ink)
