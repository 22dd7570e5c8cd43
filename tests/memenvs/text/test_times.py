"""Dates: of all forms, in all orders, and what is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs.text.times import Dates


@pytest.mark.parametrize(
    "value",
    [
        "2024-01-31T09:05:00Z",
        "2024-01-31T10:05:00+01:00",
        "2024-01-31 09:05:00 +0000",
        "2024-01-31 09:05:00,000",
        "20240131T090500",
        "202401310905",
        20240131090500,
        1706691900,
        1706691900.0,
        "1706691900.000000",
        1706691900000,
        "1706691900000000",
        1706691900000000000,
        "31.01.2024 09:05",
        "31.1.24, 9:05:00",
        "31/01/2024 à 09h05",
        "31-01-2024 09:05",
        "2024/01/31 (Wed) 09:05",
        "2024年1月31日 上午9:05",
        "2024. 1. 31. 오전 9:05",
        "31 Jan 2024 9:05 AM",
        "January 31st, 2024 at 9:05 am",
        "Wed, 31 Jan 2024 09:05:00 +0000",
        "Wed Jan 31 2024 10:05:00 GMT+0100 (CET)",
        "Wed Jan 31 09:05:00 2024",
        "31. Januar 2024, 09:05 Uhr",
        "31 de enero de 2024, 9:05",
        "31 janvier 2024 09:05",
        "31 января 2024 г. 09:05",
        "9:05 am on 31 January, 2024",
    ],
)
def test_one_moment_in_many_forms(value):
    assert Dates().read(value) == datetime(2024, 1, 31, 9, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "date"),
    [
        ("1999", (1999, 1, 1)),
        (2005, (2005, 1, 1)),
        ("20240131", (2024, 1, 31)),
        ("2024-03", (2024, 3, 1)),
        ("March 2024", (2024, 3, 1)),
        ("31 Jan 2567", (2024, 1, 31)),  # of Thailand
        ("31/1/2567", (2024, 1, 31)),
        ("۱۴۰۲/۱۱/۱۱", (2024, 1, 31)),  # of Iran
        ("۱۱/۱۱/۱۴۰۲", (2024, 1, 31)),
        ("۱۳۵۸/۰۱/۰۱", (1979, 3, 21)),
        ("1402/11/11", (2024, 1, 31)),
        ("1403/01/01", (2024, 3, 20)),
        ("1403/12/30", (2025, 3, 20)),  # a leap year
        ("1404/01/01", (2025, 3, 21)),
        ("1408/12/30", (2030, 3, 20)),  # five years after the one before
        ("1402-11-11", (1402, 11, 11)),
        ("1415/10/25", (1415, 10, 25)),
        ("1987-06-05", (1987, 6, 5)),
        ("5/6/2567", (2024, 6, 5)),
    ],
)
def test_dates_without_a_time_of_day(value, date):
    assert Dates().read(value) == datetime(*date, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [None, True, "", "soon", "May", 5, "0.5", -1, 1e300, "nan", "12", "2024-13-01", "31/02/2024",
     "10.0.0.1", 20241399, [2024], {"year": 2024}],
)  # fmt: skip
def test_what_is_no_date(value):
    assert Dates().read(value) is None


@pytest.mark.parametrize(
    ("values", "order", "sure"),
    [
        (["13/05/23", "01/06/23"], "dmy", True),
        (["05/13/23", "06/01/23"], "mdy", True),
        (["5/5/23, 3:48 PM", "5/6/23, 9:12 AM"], "mdy", False),
        (["05/05/23", "06/05/23"], "dmy", False),  # a day is likelier than a month
        (["23/05/30", "23/06/01", "23/06/02"], "ymd", True),
        (["01.02.24", "02.02.24"], "dmy", True),
        (["2024-02-01"], "dmy", True),
        (["5/5/23"], "mdy", True),  # the same day in every order
        ([3, None, "soon"], "dmy", True),
    ],
)
def test_the_order_of_numbers_is_what_the_dates_show(values, order, sure):
    dates = Dates.of(values)
    assert (dates.order, dates.doubt == "") == (order, sure)


@given(st.lists(st.datetimes(datetime(2001, 1, 1), datetime(2060, 1, 1)), min_size=40, max_size=60))
def test_a_long_chat_shows_its_order_or_is_doubtful(moments):
    moments = sorted(moments)
    for form in ("%d/%m/%y, %H:%M:%S", "%m/%d/%y, %I:%M:%S %p"):
        written = [f"{moment:{form}}" for moment in moments]
        dates = Dates.of(written)
        for moment, text in zip(moments, written, strict=True):
            read = dates.read(text)
            assert dates.doubt or read == moment.replace(microsecond=0, tzinfo=UTC)


@given(st.datetimes(datetime(1991, 1, 1), datetime(2099, 1, 1)))
def test_epochs_of_every_unit(moment):
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    seconds = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
    for unit in (1, 1_000, 1_000_000):
        assert Dates().days(seconds * unit) == pytest.approx(seconds / 86_400, abs=1e-9)
