"""Simulated pages as an environment."""

from __future__ import annotations

from memenvs.envs.gui.gui_env import INSTANCES, STEPS, GuiEnv
from memenvs.envs.gui.page import Action, Outcome
from memenvs.envs.panels.tasks import find_task, make_widget
from memenvs.envs.panels.widget import Widget


class PanelsEnv(GuiEnv):
    """Reach the goal of a simulated page.

    Args:
        task: ``"tabs-2"`` to ``"tabs-6"``, ``"tabs-order"``, ``"collapsible"``, ``"menu"``,
            ``"tree"``, ``"arm"``, ``"toggle"``, ``"submit"``, ``"link"`` or ``"button"``.
        steps: actions after which an episode is truncated.
        instances: an episode plays one of so many instances of the task.
        strict: raise ``ValueError`` on an illegal action instead of counting it as a pass.
        render_mode: ``"ansi"`` gives the page as text.

    Action ``32 * kind + place`` acts on an element by its place in page order; kind 0 clicks, 1
    hovers. ``info["page"]`` is the page in words; at the end of an episode, when ``info["final"]``
    is True, ``info["success"]`` says how it went. ``reset(options={"instance": n})`` plays the
    instance of that number, any from 0.
    """

    def __init__(
        self,
        task: str,
        *,
        steps: int = STEPS,
        instances: int = INSTANCES,
        strict: bool = False,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            task,
            PanelsSite(task),
            steps=steps,
            instances=instances,
            strict=strict,
            render_mode=render_mode,
        )


class PanelsSite:
    """The pages of a simulated task; raises ``ValueError`` for an unknown one."""

    def __init__(self, task: str) -> None:
        find_task(task)
        self.task = task
        self._widget: Widget | None = None
        self._state = 0

    def begin(self, instance: int) -> Outcome:
        """Show the first page of an instance."""
        self._widget = make_widget(self.task, instance)
        self._state = self._widget.start
        return Outcome(self._widget.page(self._state))

    def act(self, action: Action) -> Outcome:
        """Act on the page that is shown."""
        assert self._widget is not None
        node = self._widget.shown(self._state)[action.element]
        self._state, reward = self._widget.act(self._state, node, action.kind)
        return Outcome(self._widget.page(self._state), reward is not None, reward or 0.0)
