"""Dates as people and programs write them, read as days since 1970."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

Order: TypeAlias = Literal["dmy", "mdy", "ymd"]
ORDERS: tuple[Order, ...] = get_args(Order)

SECONDS = 86_400  # of a day, the unit of time
YEARS = (1000, 2999)  # what four digits alone may mean
# Seconds since 1970, from 1990 to 2100, and the same in smaller units: the ranges do not overlap.
PLAUSIBLE = (631_152_000, 4_102_444_800)
UNITS = (1, 1_000, 1_000_000, 1_000_000_000)  # s, ms, µs, ns
MONTH_FOR_DAY = 40  # times longer at most is a chat whose days are taken for months
BUDDHIST = 543  # years that Thailand counts more
PERSIAN = re.compile("[۰-۹]")  # digits of Iran, whose years begin at the equinox of spring
JALALI = (1300, 1450)  # years of Iran from 1921 to 2071
LATIN_JALALI = (1380, 1410)  # of them those that are taken for such in other digits: 2001 to 2031

NUMBER = re.compile(r"[+-]?\d+(\.\d+)?", re.ASCII)
SIGNS = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")  # show nothing
# Three numbers, with a sign or the words for year, month and day between them.
NUMERIC = re.compile(
    r"(?<!\d)(\d{1,4})\s?([./-]|年|년)\s?(\d{1,2})\s?([./-]|月|월)\s?(\d{1,4})(?!\d)\s?[日일.]?"
)
CLOCK = re.compile(
    r"(?<![\d.+-])(\d{1,2})(?:[:h時시]|\.(?=\d\d(?!\d)))(\d{2})(?:[:.](\d{2})([.,]\d+)?)?(?![\d])"
)
BEFORE_NOON = re.compile(r"(?i)(?<![^\W\d_])(a\.?\s?m\.?|上午|午前|오전|πμ|π\.μ\.|ص)(?![^\W\d_])")
AFTER_NOON = re.compile(r"(?i)(?<![^\W\d_])(p\.?\s?m\.?|下午|午後|오후|μμ|μ\.μ\.|م)(?![^\W\d_])")
ZONE = re.compile(
    r"(?:UTC|GMT|Z|\s|(?<=\d))\s?([+-])(\d{2}):?(\d{2})(?!\d)|(?<=\d)\s?(Z|UTC|GMT)\b(?!\s?[+-]\d)"
)
DAY = re.compile(r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.|º|er)?(?!\d)")
YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
WORD = re.compile(r"[^\W\d_]+")
# The first letters of months in languages of Latin, Greek and Cyrillic script, each told from the
# others of its language; the longer one counts ("juin" and "juil").
MONTHS = (
    "jan ene gen janv januar sty led sij oca ian tammi янв січ ιαν",
    "feb fév fev feb lut úno vel şub helmi фев лют φεβ",
    "mar mär mrz maa mars már бер мар маρ μαρ",
    "apr abr avr avril kwi dub tra nis huhti апр кві απρ",
    "may mai mei maj mag mayo kvě svi touko май мая тра μαι",
    "jun juin giu cze čer lip haz kesä июн чер ιουν",
    "jul juil lug lip čerc srp tem heinä июл лип ιουλ",
    "aug ago août aoû sie srp ağu elo авг сер αυγ",
    "sep set wrz zář ruj eyl syys сен вер σεπ",
    "oct okt ott out paź říj lis eki loka окт жов οκτ",
    "nov lis stu kas marras ноя лис νοε",
    "dec dez dic déc des gru pro ara joulu дек гру δεκ",
)
MONTH = {
    name: number
    for number, names in reversed(list(enumerate(MONTHS, start=1)))  # the earlier month of two
    for name in names.split()
}


@dataclass(frozen=True)
class Dates:
    """How the dates of one document are read: an order, and whether it is a guess."""

    order: Order = "dmy"
    doubt: str = ""  # a date that another order would read otherwise, where nothing decides

    @classmethod
    def of(cls, values: Iterable[Any]) -> Dates:
        """Choose the order in which dates are valid, run forward, and lie close together.

        ``values`` are all the dates of a document as they stand, in its order. Where only their
        closeness decides, ``doubt`` is such a date.
        """
        texts = [SIGNS.sub("", value) for value in values if isinstance(value, str)]
        found = [(text, match) for text in texts if (match := NUMERIC.search(text))]
        open_ones = [(text, m) for text, m in found if len(m[1]) <= 2]
        if not open_ones:
            return cls()
        ranks: dict[Order, tuple[int, int, int]] = {}  # invalid dates, steps back, days in all
        for order in ORDERS:
            days = [_numeric(match, order) for _, match in open_ones]
            read = [(day - datetime(1970, 1, 1)).days for day in days if day is not None]
            span = max(read, default=0) - min(read, default=0)
            # The newest may come first.
            back = sum(later < earlier for earlier, later in pairwise(read))
            ranks[order] = (len(days) - len(read), min(back, len(read) - 1 - back), span)
        text, first = open_ones[0]
        dotted = first[2] != "/"
        american = not dotted and not first[1].startswith("0") and len(first[5]) == 2
        usual: tuple[Order, ...] = ("mdy", "dmy") if american else ("dmy", "mdy")
        best = min(usual, key=ranks.__getitem__)
        if ranks["ymd"][:2] < ranks[best][:2]:  # years of two digits come first in few countries
            best = "ymd"
        rivals: list[Order] = [
            order
            for order in ORDERS[:2]
            if order != best
            and ranks[order][:2] == ranks[best][:2]
            and ranks[order][0] == 0
            and ranks[order][2] <= MONTH_FOR_DAY * (ranks[best][2] + 1)
        ]
        doubtful = (
            rivals and not (dotted and first[2] == ".") and not _same(open_ones, best, rivals)
        )
        return cls(best, text.strip() if doubtful else "")

    def days(self, value: Any) -> float | None:
        """Give days since 1970 of a date or an epoch (s, ms, µs, ns); None if it is neither."""
        moment = self.read(value)
        if moment is None:
            return None
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1)

    def read(self, value: Any) -> datetime | None:
        """Read a date, of which a number is one sooner than an epoch; UTC where it says no zone."""
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=UTC)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return None
        text = " ".join(SIGNS.sub("", str(value)).split())
        try:
            if NUMBER.fullmatch(text):
                return _number(text)
            return _iso(text) or self._written(text)
        except (ValueError, OverflowError):  # the thirtieth of February
            return None

    def _written(self, text: str) -> datetime | None:
        """Read a date of numbers or of names of months, with a time of day before or after it."""
        match = NUMERIC.search(text)
        if match:
            day = _numeric(match, self.order)
            rest = f"{text[: match.start()]} {text[match.end() :]}"
        else:
            day, rest = _named(text)
        return None if day is None else _at(day, rest)


def _same(open_ones: list[tuple[str, re.Match[str]]], best: Order, rivals: Sequence[Order]) -> bool:
    """Whether all orders read the same days."""
    return all(
        _numeric(match, order) == _numeric(match, best)
        for _, match in open_ones
        for order in rivals
    )


def _number(text: str) -> datetime | None:
    digits = text.lstrip("+-")
    if digits.isdigit() and not text.startswith("-"):
        if len(digits) == 4 and YEARS[0] <= int(digits) <= YEARS[1]:
            return datetime(int(digits), 1, 1, tzinfo=UTC)
        forms = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
        if len(digits) in forms and YEARS[0] <= int(digits[:4]) <= YEARS[1]:
            try:
                return datetime.strptime(digits, forms[len(digits)]).replace(tzinfo=UTC)
            except ValueError:
                pass
    number = float(text)
    for unit in UNITS:
        if PLAUSIBLE[0] <= number / unit <= PLAUSIBLE[1]:
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=number / unit)
    return None


def _iso(text: str) -> datetime | None:
    if not text[:4].isdigit() or not text.isascii():
        return None
    if re.fullmatch(r"\d{4}-\d{2}", text):
        text += "-01"
    try:
        date = datetime.fromisoformat(
            text.removesuffix(" UTC").replace(" +", "+").replace(",", ".")
        )
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _numeric(match: re.Match[str], order: Order) -> datetime | None:
    first, second, third = match[1], match[3], match[5]
    if len(first) >= 3 or match[2] in "年년" or (order == "ymd" and len(third) <= 2):
        year, month, day = first, second, third
    elif order == "mdy":
        month, day, year = first, second, third
    else:
        day, month, year = first, second, third
    if len(year) == 3 or len(day) > 2:
        return None
    number = int(year)
    first_year, last_year = JALALI if PERSIAN.search(year) else LATIN_JALALI
    told = PERSIAN.search(year) or (year == first and match[2] == "/")
    if told and first_year <= number <= last_year:
        return _jalali(number, int(month), int(day))
    if len(year) <= 2:
        number += 2000 if number < 69 else 1900
    try:
        return datetime(_gregorian(number), int(month), int(day))
    except ValueError:
        return None


def _gregorian(year: int) -> int:
    """Give the year that Thailand means by one that is far ahead."""
    return year - BUDDHIST if 2400 <= year <= 2700 else year


def _jalali(year: int, month: int, day: int) -> datetime | None:
    """Give the day of a date of Iran's calendar, by the cycle of 33 years with 8 leap years.

    Six months have 31 days, five have 30, and the last has 29, or 30 in a leap year.
    """
    longest = 31 if month <= 6 else 30 if month < 12 or _leap(year) else 29
    if not (1 <= month <= 12 and 1 <= day <= longest):
        return None
    years = range(min(year, 1400), max(year, 1400))
    days = 365 * len(years) + sum(map(_leap, years))
    spring = datetime(2021, 3, 21) + timedelta(days=days if year > 1400 else -days)  # of 1400
    return spring + timedelta(days=31 * (month - 1) - max(0, month - 7) + day - 1)


def _leap(year: int) -> bool:
    return (25 * year + 11) % 33 < 8


def _named(text: str) -> tuple[datetime | None, str]:
    """Read a date with the name of a month; give what is left of the text, for the time of day."""
    number = 0
    for match in WORD.finditer(text):
        number = _month(match[0].casefold())
        if number:
            text = f"{text[: match.start()]} {text[match.end() :]}"
            break
    clock = CLOCK.search(text)
    bare = f"{text[: clock.start()]} {text[clock.end() :]}" if clock else text
    bare = re.sub(r"[+-]\d{2}:?\d{2}", " ", bare)
    year = YEAR.search(bare)
    if not number or year is None:
        return None, ""
    day = DAY.search(f"{bare[: year.start()]} {bare[year.end() :]}")
    if not YEARS[0] <= int(year[0]) <= YEARS[1]:
        return None, ""
    written = datetime(_gregorian(int(year[0])), number, int(day[1]) if day else 1)
    return written, text.replace(year[0], " ", 1)


def _month(word: str) -> int:
    """Give the number of the month that a word begins with the name of; 0 if it is none."""
    for length in range(min(len(word), 6), 2, -1):
        if word[:length] in MONTH:
            return MONTH[word[:length]]
    return 0


def _at(day: datetime, rest: str) -> datetime:
    """Add the time of day, and the zone, that the rest of a text tells."""
    clock = CLOCK.search(rest)
    zone = ZONE.search(rest)
    offset = UTC
    if zone and zone[1]:
        shift = timedelta(hours=int(zone[2]), minutes=int(zone[3]))
        offset = timezone(-shift if zone[1] == "-" else shift)
    if clock is None:
        return day.replace(tzinfo=offset)
    hour = int(clock[1])
    if AFTER_NOON.search(rest):
        hour = hour % 12 + 12
    elif BEFORE_NOON.search(rest):
        hour %= 12
    fraction = float(f"0.{clock[4][1:]}") if clock[4] else 0.0
    return day.replace(
        hour=hour,
        minute=int(clock[2]),
        second=int(clock[3] or 0),
        microsecond=round(fraction * 1_000_000) % 1_000_000,
        tzinfo=offset,
    )
