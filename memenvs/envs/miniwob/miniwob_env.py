"""Real MiniWoB++ pages as an environment."""

from __future__ import annotations

import os
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from memenvs.envs.gui.columns import ELEMENTS
from memenvs.envs.gui.gui_env import INSTANCES, STEPS, GuiEnv, encode
from memenvs.envs.gui.page import Action, Element, Outcome, Page
from memenvs.envs.miniwob.browser import BrowserError, shared_browser
from memenvs.envs.miniwob.recording import Recording
from memenvs.envs.miniwob.tasks import REFUSED, TASKS

SETTLE = 15  # milliseconds after an action
LIMIT = 1_000_000_000  # milliseconds of an episode: steps bound it, not the clock
Position = tuple[str, int, tuple[int, ...]]  # task, instance, actions so far


class MiniWoBEnv(GuiEnv):
    """Reach the goal of a real MiniWoB++ page in a headless Chromium.

    One browser serves all tasks of a process and starts when it is needed. Raises ``BrowserError``
    where it is missing, dies or does not answer, and where a page runs out of its own time: that is
    no failure of the agent, and the next ``reset`` starts afresh.

    Args:
        task: name of a page of the ``miniwob`` package; one that needs more than clicks and
            hovers is refused with the reason.
        recording: file of outcomes that were seen, which need not be shown again; it grows.
        live: whether a browser may be used; otherwise the recording must hold what is played.
        steps, instances, strict, render_mode: as for ``GuiEnv``.
    """

    def __init__(
        self,
        task: str,
        *,
        recording: str | os.PathLike[str] | None = None,
        live: bool = True,
        steps: int = STEPS,
        instances: int = INSTANCES,
        strict: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            task,
            MiniWoBSite(task, recording, live),
            steps=steps,
            instances=instances,
            strict=strict,
            render_mode=render_mode,
        )


class MiniWoBSite:
    """The pages of one task, seen in a browser or in a recording."""

    def __init__(
        self, task: str, recording: str | os.PathLike[str] | None = None, live: bool = True
    ) -> None:
        if task in REFUSED:
            raise ValueError(
                f"the task '{task}' needs {REFUSED[task]}, which no click or hover on an element "
                f"is; choose from {', '.join(TASKS)}"
            )
        if live:
            page_address(task)  # an unknown task shows now, if the pages are there
        self.task, self.live = task, live
        self.recording = None if recording is None else Recording(recording, writable=live)
        self._at: Position | None = None

    def begin(self, instance: int) -> Outcome:
        """Show the first page of an instance."""
        return self._see((self.task, instance, ()))

    def act(self, action: Action) -> Outcome:
        """Act on the page that is shown."""
        assert self._at is not None
        task, instance, actions = self._at
        return self._see((task, instance, (*actions, encode(action))))

    def _see(self, position: Position) -> Outcome:
        outcome = None if self.recording is None else self.recording.read(*position)
        if outcome is None:
            if not self.live:
                raise BrowserError(f"the recording does not hold {position}, and live=False")
            outcome = show(position)
            if self.recording is not None:
                self.recording.write(*position, outcome)
        self._at = position
        return outcome


def show(position: Position) -> Outcome:
    """Bring this process's browser to a position, from where it is if that is one action away."""
    task, instance, actions = position
    browser = shared_browser()
    here, browser.position = browser.position, None  # where anything fails, nobody knows
    orders = [{"place": number % ELEMENTS, "kind": number // ELEMENTS} for number in actions]
    if actions and here == (task, instance, actions[:-1]):
        orders = orders[-1:]
    else:
        # A page that is loaded can begin another episode, if it is known to forget the last one.
        if here is None or here[0] != task or task not in TASKS or TASKS[task].fresh:
            browser.load(page_address(task))
        orders.insert(0, {"seed": instance, "limit": LIMIT})
    answer = browser.run(_script(), orders, SETTLE)
    if not answer["started"] or answer["reason"] == "timed out":
        what = "did not start" if not answer["started"] else "ran out of its own time"
        raise BrowserError(f"the page of {task} (instance {instance}) {what}")
    browser.position = position
    elements = tuple(Element(*each) for each in answer["elements"])
    done, reward = bool(answer["done"]), float(answer["reward"])
    return Outcome(Page(answer["utterance"], elements, answer["text"]), done, reward)


def page_address(task: str) -> str:
    """Give the address of a task's page; raises ``ValueError`` for an unknown task."""
    if find_spec("miniwob") is None:
        raise ModuleNotFoundError("the pages need miniwob", name="miniwob")
    folder = Path(str(files("miniwob"))) / "html" / "miniwob"
    page = folder / f"{task}.html"
    if not page.is_file() or page.parent != folder:
        raise ValueError(f"MiniWoB++ has no task named '{task}'")
    return page.as_uri()


@cache
def _script() -> str:
    return files("memenvs.envs.miniwob").joinpath("page.js").read_text("utf-8")
