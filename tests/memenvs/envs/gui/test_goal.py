"""Goals: what they name becomes a slot, and the rest is the wording."""

import pytest

from memenvs.envs.gui.goal import read_goal


@pytest.mark.parametrize(
    ("text", "wording", "slots"),
    [
        ('Click on the link "in".', "Click on the link <1>.", ("in",)),
        (
            'Click the "Menu" button, and then find and click on the item labeled "Zoom In".',
            "Click the Menu button, and then find and click on the item labeled <1>.",
            ("Zoom In",),
        ),
        ('Select "A>B > C" here.', "Select <1>><2>><3> here.", ("A", "B", "C")),
        ('Put "a" on "b" on "a".', "Put <1> on <2> on <1>.", ("a", "b")),
        ("Click on Tab #2.", "Click on <1>.", ("Tab #2",)),
        ("Switch to Tab #2.", "Switch to Tab #2.", ()),
        ("Select kX and click Submit.", "Select <1> and click <2>.", ("kX", "Submit")),
        ("", "", ()),
    ],
)
def test_slots(text, wording, slots):
    assert read_goal(text) == (wording, slots)
    assert [read_goal(text).slot(target) for target in slots] == list(range(len(slots)))
    assert read_goal(text).slot("elsewhere") is None
