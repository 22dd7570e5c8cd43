"""The tasks of the ``miniwob`` package: which clicks and hovers play, and why not the others."""

from __future__ import annotations

from typing import NamedTuple


class PageTask(NamedTuple):
    """What is known of a page beforehand."""

    kind: str  # "container": the goal names one of several; "control": nothing to remember
    fresh: bool = False  # whether an episode leaves traces, so that the next needs the page anew


CONTAINER, CONTROL = PageTask("container", fresh=True), PageTask("control", fresh=True)

TASKS: dict[str, PageTask] = {
    "click-tab-2": PageTask("container"),
    "click-collapsible-2": PageTask("container"),
    "click-tab-2-hard": PageTask("container"),
    "click-menu-2": CONTAINER,  # jQuery's menu remembers its active item
    "click-tab": PageTask("control"),
    "click-link": PageTask("control"),
    "click-button": PageTask("control"),
    "click-option": PageTask("control"),
    **dict.fromkeys(
        "click-tab-2-easy click-tab-2-medium click-collapsible click-collapsible-nodelay "
        "click-collapsible-2-nodelay click-menu click-pie click-pie-nodelay navigate-tree "
        "choose-date choose-date-easy choose-date-medium choose-date-nodelay "
        "email-inbox-delete email-inbox-important social-media social-media-all "
        "social-media-some phone-book".split(),
        CONTAINER,
    ),
    **dict.fromkeys(
        "ascending-numbers buy-ticket choose-list click-button-sequence click-checkboxes "
        "click-checkboxes-large click-checkboxes-soft click-checkboxes-transfer click-color "
        "click-dialog click-dialog-2 click-scroll-list click-shades click-shape click-test "
        "click-test-2 click-test-transfer click-widget count-shape count-sides find-greatest "
        "focus-text focus-text-2 form-sequence-3 generate-number grid-coordinate identify-shape "
        "number-checkboxes odd-or-even order-food sign-agreement tic-tac-toe unicode-test "
        "use-spinner".split(),
        CONTROL,
    ),
}

# What the tasks need that a click on an element, or the mouse over it, is not.
NEEDS: dict[str, str] = {
    "typing": "book-flight book-flight-nodelay copy-paste copy-paste-2 daily-calendar email-inbox "
    "email-inbox-forward email-inbox-forward-nl email-inbox-forward-nl-turk email-inbox-nl-turk "
    "email-inbox-noscroll email-inbox-reply email-inbox-star-reply enter-date enter-password "
    "enter-text enter-text-2 enter-text-dynamic enter-time find-word form-sequence-2 guess-number "
    "login-user login-user-popup multi-layouts multi-orderings read-table read-table-2 scroll-text "
    "search-engine simple-algebra simple-arithmetic terminal text-transform use-autocomplete "
    "use-autocomplete-nodelay visual-addition",
    "dragging": "drag-box drag-circle drag-cube drag-items drag-items-grid drag-shapes "
    "drag-shapes-2 drag-single-shape drag-sort-numbers resize-textarea draw-circle draw-line",
    "a slider": "form-sequence use-slider use-slider-2 use-colorwheel use-colorwheel-2",
    "a point that is no element": "bisect-angle circle-center find-midpoint right-angle hot-cold",
    "a marked text": "highlight-text highlight-text-2 text-editor",
    "scrolling": "scroll-text-2",
    "time that passes": "button-delay chase-circle hover-shape moving-items simon-says "
    "stock-market",
}
REFUSED: dict[str, str] = {task: need for need, tasks in NEEDS.items() for task in tasks.split()}
