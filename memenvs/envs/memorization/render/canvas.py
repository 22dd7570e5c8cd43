"""Drawing with Pillow: shapes, and text that is laid out once and then pasted."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

try:
    from PIL import Image, ImageDraw, ImageFont
except ImportError as missing:
    raise DependencyNotInstalled(
        "a picture of the environment needs Pillow: pip install 'memenvs[render]'"
    ) from missing

Colour = tuple[int, int, int]
Box = tuple[float, float, float, float]  # left, top, right, bottom

KEPT = 4096  # texts that stay laid out
# The font that comes with Pillow needs no file, and has these letters alone.
_DRAWN = frozenset(map(chr, range(32, 127))) | set("‘’“”…")
_ALIKE = str.maketrans({"–": "-", "—": "-", "·": "-", "×": "x", "ß": "ss", "ø": "o", "ł": "l"})


class Canvas:
    """A picture of ``width`` by ``height`` pixels."""

    def __init__(self, width: int, height: int, background: Colour) -> None:
        self.image = Image.new("RGB", (width, height), background)
        self._draw = ImageDraw.Draw(self.image)

    def pixels(self) -> NDArray[np.uint8]:
        """Give the picture as ``(height, width, 3)``."""
        return np.array(self.image)

    def box(
        self, box: Box, fill: Colour | None, outline: Colour | None = None, width: int = 1
    ) -> None:
        """Draw a rectangle."""
        self._draw.rectangle(box, fill=fill, outline=outline, width=width)

    def polygon(self, points: list[tuple[float, float]], fill: Colour) -> None:
        """Draw a filled polygon."""
        self._draw.polygon(points, fill=fill)

    def picture(self, left: int, top: int, pixels: NDArray[np.uint8]) -> None:
        """Paste pixels ``(h, w, 3)``."""
        self.image.paste(Image.fromarray(pixels), (left, top))

    def text(
        self, left: float, top: float, text: str, size: int, colour: Colour, align: str = "left"
    ) -> int:
        """Write one line with its top at ``top``; gives its width. ``align``: left or right."""
        mask, width = _mask(text, size)
        place = round(left) - (width if align == "right" else 0)
        self.image.paste(colour, (place, round(top)), mask)
        return width

    def mark(self, left: float, top: float, size: float, right: bool, colour: Colour) -> None:
        """Draw a tick or a cross in a square of ``size``."""

        def at(x: float, y: float) -> tuple[float, float]:
            return left + x * size, top + y * size

        stroke = max(2, round(size / 6))
        if right:
            self._draw.line(
                [at(0.05, 0.55), at(0.38, 0.9), at(0.95, 0.15)], colour, stroke, "curve"
            )
        else:
            self._draw.line([at(0.1, 0.1), at(0.9, 0.9)], colour, stroke)
            self._draw.line([at(0.1, 0.9), at(0.9, 0.1)], colour, stroke)


@lru_cache(KEPT)
def wrapped(text: str, size: int, width: int, lines: int) -> tuple[str, ...]:
    """Break a text at spaces into at most ``lines`` of ``width`` pixels; what is cut ends in …."""
    words, found = drawable(text).split(), list[str]()
    while words and len(found) < lines:
        last = len(found) == lines - 1
        taken = len(words) if last else max(_fitting(words, size, width), 1)
        found.append(_cut(" ".join(words[:taken]), size, width))
        words = words[taken:]
    return tuple(found)


@lru_cache(KEPT)
def drawable(text: str) -> str:
    """Replace letters that the font lacks: accents go, what remains unknown becomes a ?."""
    plain = unicodedata.normalize("NFKD", text.translate(_ALIKE))
    kept = (letter for letter in plain if not unicodedata.combining(letter))
    return "".join(
        letter if letter in _DRAWN else " " if letter.isspace() else "?" for letter in kept
    )


def _fitting(words: list[str], size: int, width: float) -> int:
    """Count the words that fit on a line, by their own widths."""
    space, used = _width("n n", size) - _width("nn", size), 0.0
    for place, word in enumerate(words):
        used += _width(word, size) + (space if place else 0.0)
        if used > width:
            return place
    return len(words)


def _cut(line: str, size: int, width: float) -> str:
    """Shorten a line that is too long."""
    if _width(line, size) <= width:
        return line
    while line and _width(line + "…", size) > width:
        line = line[: min(len(line) - 1, int(len(line) * width / _width(line + "…", size)) + 1)]
    return line.rstrip() + "…"


@lru_cache(KEPT)
def _width(text: str, size: int) -> float:
    return float(_font(size).getlength(text))


@lru_cache
def _font(size: int) -> Any:
    return ImageFont.load_default(size)


@lru_cache(KEPT)
def _mask(text: str, size: int) -> tuple[Image.Image, int]:
    """Lay out one line: how opaque each pixel is, and the width of the line."""
    line = drawable(text)
    width = round(_width(line, size))
    mask = Image.new("L", (width + 2, round(size * 1.4)))
    ImageDraw.Draw(mask).text((0, 0), line, fill=255, font=_font(size))
    return mask, width
