"""The arrays of a page: what stands in which column, padding, masks."""

import numpy as np
import pytest

from memenvs.envs.gui import columns
from memenvs.envs.gui.columns import ELEMENT_COLUMNS, ELEMENTS, ROLES, STATES
from memenvs.envs.gui.goal import read_goal
from memenvs.envs.gui.page import Element, Page


def named(row):
    """The columns of a row, by name."""
    start, found = 0, {}
    for name, (size, _) in ELEMENT_COLUMNS.items():
        found[name] = row[start : start + size].tolist()
        start += size
    assert start == len(row)
    return found


def test_columns_of_elements():
    page = Page(
        'Click on "b".',
        (Element("tab", "a", "selected"), Element("link", "b"), Element("link", "a")),
    )
    rows = columns.element_rows(page)
    first, second, third = (named(row) for row in rows[:3])
    assert first["role"] == [int(role == "tab") for role in ROLES]
    assert first["state"] == [int(state == "selected") for state in STATES]
    assert second["state"] == [0] * len(STATES)
    assert [each["slot"] for each in (first, second, third)] == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert first["label"] == third["label"] != second["label"]
    assert set(first["label"]) <= {-1, 1}
    assert [each["valid"] for each in (first, second, third)] == [[1]] * 3
    assert not rows[3:].any()


def test_a_goal_with_fewer_targets_is_padded():
    one, two = (columns.goal_row(read_goal(goal)) for goal in ('On "a".', 'On "a" and "b".'))
    bits = columns.BITS
    np.testing.assert_array_equal(one[bits : 2 * bits], columns.bits("a"))
    np.testing.assert_array_equal(two[2 * bits : 3 * bits], columns.bits("b"))
    assert not one[2 * bits : 4 * bits].any()
    assert one[-3:].tolist() == [1, 0, 0]
    assert two[-3:].tolist() == [1, 1, 0]


@pytest.mark.parametrize("count", [0, 1, 5, ELEMENTS, ELEMENTS + 3])
def test_the_mask_covers_what_is_shown_and_is_never_empty(count):
    page = Page("", tuple(Element("link", str(i)) for i in range(count)))
    mask = columns.action_mask(page).reshape(2, ELEMENTS)
    shown = max(1, min(count, ELEMENTS))
    assert mask.sum() == 2 * shown
    assert mask[:, :shown].all()
    assert columns.element_rows(page)[:, -1].sum() == min(count, ELEMENTS)


@pytest.mark.parametrize("element", [("wheel", "a", ""), ("tab", "a", "spinning")])
def test_what_has_no_column_is_refused(element):
    with pytest.raises(ValueError, match="is no role or state of an element"):
        columns.element_rows(Page("", (Element(*element),)))
