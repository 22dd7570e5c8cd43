"""The ladder: every system on every task, from identical instances and with identical detours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memenvs.envs.miniwob.tasks import TASKS as MINIWOB
from memenvs.envs.panels.tasks import TASKS as PANELS
from memenvs.policies.bisimulation.adapter import Shortlister
from memenvs.policies.bisimulation.systems import SYSTEMS, find_system
from memenvs.train.studies.gui.runs import Run, play

BASELINE = "memoryless"
RULE = "action-conditioned"
CONTAINERS, CONTROLS = "containers", "controls"  # groups of tasks that are reported together


@dataclass(frozen=True)
class Ladder:
    """The runs by system, task and seed base."""

    systems: tuple[str, ...]
    tasks: tuple[str, ...]
    bases: tuple[int, ...]
    episodes: int
    kinds: dict[str, str]  # of each task: "container", "look-alike" or "control"
    runs: dict[tuple[str, str, int], Run] = field(default_factory=dict)

    def groups(self) -> dict[str, tuple[str, ...]]:
        """Name what is reported together: each task, and the containers and controls pooled."""
        found: dict[str, tuple[str, ...]] = {task: (task,) for task in self.tasks}
        for name, kind in ((CONTAINERS, "container"), (CONTROLS, "control")):
            members = tuple(task for task in self.tasks if self.kinds[task] == kind)
            if len(members) > 1:
                found[name] = members
        return found


def kinds(real: bool) -> dict[str, str]:
    """Give the tasks of a ladder, simulated or real, each with its kind."""
    if real:
        return {name: task.kind for name, task in MINIWOB.items()}
    return {name: task.kind for name, task in PANELS.items()}


def climb(
    policy: Shortlister,
    make_env: Callable[[str], Any],
    *,
    tasks: Sequence[str] = (),
    systems: Sequence[str] = (),
    bases: Sequence[int] = tuple(range(10)),
    episodes: int = 60,
    real: bool = False,
    progress: Callable[[str], None] = lambda line: None,
) -> Ladder:
    """Play the ladder; the memoryless system is always played, to compare with.

    ``policy`` gives the shortlists of all systems, ``make_env`` the environment of a task, a
    ``real`` page or a simulated one. By default all ``tasks`` and ``systems`` are played. Each
    seed base stands for ``episodes`` instances, which no other base has; the first third of them
    explores, the rest is what is reported. ``progress`` is told of every task that is begun.

    Raises ``ValueError`` for an unknown task or system.
    """
    known = kinds(real)
    for task in tasks:
        if task not in known:
            where = "real" if real else "simulated"
            raise ValueError(f"no {where} task is named '{task}'; choose from {', '.join(known)}")
    chosen = tuple(dict.fromkeys(systems)) or tuple(SYSTEMS)
    played = {name: find_system(name) for name in dict.fromkeys((BASELINE, *chosen))}
    ladder = Ladder(
        chosen, tuple(dict.fromkeys(tasks)) or tuple(known), tuple(bases), episodes, known
    )
    for task in ladder.tasks:
        progress(task)
        env = make_env(task)
        try:
            for base in bases:
                for name, system in played.items():
                    ladder.runs[name, task, base] = play(system, env, policy, base, episodes)
        finally:
            env.close()
    return ladder
