"""The ladder: what systems share, how they are compared, and what the command prints."""

import itertools
import json
import os
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom

from browsers import PAGES, RECORDED_TASKS
from commands import RUN
from memenvs.envs.miniwob.browser import BrowserError
from memenvs.envs.miniwob.miniwob_env import MiniWoBEnv
from memenvs.envs.panels.panels_env import PanelsEnv
from memenvs.policies.bisimulation.systems import SYSTEMS
from memenvs.policies.gui import ScriptedPolicy
from memenvs.train.cli import main
from memenvs.train.studies.gui.ladder import Ladder, climb
from memenvs.train.studies.gui.runs import Run, exploring, play
from memenvs.train.studies.gui.summary import (
    crossing,
    cumulative,
    mcnemar,
    sign_flip,
    summarise,
)


class Watched(PanelsEnv):
    """Keeps the actions of every episode."""

    def __init__(self, task):
        super().__init__(task)
        self.episodes = []

    def reset(self, **options):
        self.episodes.append([])
        return super().reset(**options)

    def step(self, action):
        self.episodes[-1].append(action)
        return super().step(action)


def actions_of(system, task="tabs-3", episodes=15):
    env = Watched(task)
    run = play(SYSTEMS[system], env, ScriptedPolicy(), 7, episodes)
    assert [len(each) for each in env.episodes] == run.steps.tolist()
    return env.episodes, run


def test_systems_share_detours_and_the_controls_never_leave_the_policy():
    plain, _ = actions_of("memoryless")
    control, control_run = actions_of("shortlist-control")
    first = exploring(15)
    assert first == 5
    assert control[first:] == plain[first:]
    assert control[:first] != plain[:first]
    assert not control_run.overridden.any()
    for system in set(SYSTEMS) - {"memoryless", "shortlist-control"}:
        episodes, run = actions_of(system)
        assert episodes[:first] == control[:first], system
        assert not run.overridden[:first].any()
        assert (run.covered <= run.steps).all()
    learned, run = actions_of("action-conditioned")
    assert run.overridden[first:].any()
    assert learned[first:] != plain[first:]


def test_where_everything_is_in_view_no_system_differs():
    runs = [play(system, PanelsEnv("link"), ScriptedPolicy(), 3, 12) for system in SYSTEMS.values()]
    assert all(run.success.all() and (run.steps == 1).all() for run in runs)


def test_real_pages_from_a_recording():
    def make(task):
        return MiniWoBEnv(task, recording=PAGES, live=False)

    ladder = climb(
        ScriptedPolicy(),
        make,
        tasks=RECORDED_TASKS,
        systems=["shortlist-control", "action-conditioned"],
        bases=[1001],
        episodes=9,
        real=True,
    )
    rows = {(row["task"], row["system"]): row for row in summarise(ladder)}
    assert len(rows) == 2 * (8 + 2)
    for system in ladder.systems:
        row = rows["controls", system]
        assert (row["gained"], row["lost"], row["success_rate"]) == (0, 0, 1.0)
        assert row["cells"] == 4 * 6
    assert rows["containers", "shortlist-control"]["difference"] == 0.0


def handmade(**successes):
    """A ladder of one task, two bases and six episodes, of which the last four are reported."""
    ladder = Ladder(tuple(successes), ("tabs-3",), (0, 1), 6, {"tabs-3": "container"})
    for system, bases in successes.items():
        for base, text in enumerate(bases):
            success = np.array([letter == "1" for letter in text])
            overridden = np.where(np.arange(6) >= 2, system != "memoryless", False).astype(int)
            steps = np.full(6, 2 + (system == "memoryless"))
            ladder.runs[system, "tabs-3", base] = Run(
                success, steps, overridden, overridden, steps - 2, ~success, 3.0
            )
    return ladder


def test_figures_of_a_row_worked_out_by_hand():
    ladder = handmade(
        **{"memoryless": ["110001", "000110"], "action-conditioned": ["001101", "110111"]}
    )
    baseline, row = summarise(ladder)
    assert baseline["success_rate"] == 3 / 8
    assert (baseline["difference"], baseline["low"], baseline["high"]) == (0, 0, 0)
    assert baseline["p"] == 1
    assert baseline["override_precision"] is None
    # Reported: 0001 and 0110 of the memoryless system, 1101 and 0111 of the rule.
    assert row["success_rate"] == 6 / 8
    assert row["difference"] == 3 / 8
    assert (row["gained"], row["lost"], row["cells"]) == (3, 0, 8)
    assert row["p"] == 0.25  # 2 / 2^3
    assert (row["base_low"], row["base_high"]) == (0.25, 0.5)
    assert row["base_p"] == 0.5  # of four signs two are as far from 0
    assert (row["coverage"], row["override_rate"]) == (0.5, 0.5)  # once in two steps
    assert row["override_precision"] == 1
    assert row["collapse"] == 3
    assert (row["steps"], row["solved_by_all"]) == (2, 3)
    assert row["run_success"] == pytest.approx((3 + 5) / 12)
    assert baseline["run_success"] == pytest.approx((3 + 2) / 12)
    assert (baseline["crossing"], row["shortcuts"], baseline["shortcuts"]) == (None, 0, 12)
    # Cumulative sums over both bases: 1 2 2 3 4 5 of the memoryless, 1 2 3 5 6 8 of the rule.
    assert row["crossing"] == 3
    assert baseline["lead"] == 3 / 8
    assert row["lead"] == 0
    np.testing.assert_allclose(
        cumulative(ladder, "memoryless", ("tabs-3",))[0], [1, 1, 2 / 3, 0.5, 0.4, 0.5]
    )


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 0), (5, 5), (9, 2), (30, 7)])
def test_mcnemar_is_the_exact_binomial_test(gained, lost):
    fewer, total = min(gained, lost), gained + lost
    expected = min(1.0, 2 * sum(binom.pmf(k, total, 0.5) for k in range(fewer + 1)))
    assert mcnemar(gained, lost) == mcnemar(lost, gained) == pytest.approx(expected)


@pytest.mark.parametrize(
    "differences", [[0.1, 0.2, 0.3], [0.2, -0.1, 0.05, 0.4], [0.0, 0.0], [0.1] * 10]
)
def test_flipping_signs_against_all_of_them(differences):
    values = np.array(differences)
    reached = [
        abs(np.dot(signs, values)) >= abs(values.sum()) - 1e-12
        for signs in itertools.product((-1, 1), repeat=len(values))
    ]
    assert sign_flip(values) == pytest.approx(np.mean(reached))
    assert sign_flip(values[:1]) is None


def test_the_command(tmp_path):
    arguments = ["gui", "--tasks", "tabs-2", "--tasks", "tabs-3", "--systems", "guarded"]
    sizes = ["--episodes", "9", "--bases", "2", "--first-base", "5"]
    result = CliRunner().invoke(main, [*arguments, *sizes, "--out", str(tmp_path), "--json"])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert [(row["task"], row["system"]) for row in document["rows"]] == [
        ("tabs-2", "guarded"),
        ("tabs-3", "guarded"),
        ("containers", "guarded"),
    ]
    wanted = {"system", "task", "success_rate", "difference", "low", "high", "p"}
    assert all(wanted <= set(row) for row in document["rows"])
    assert json.loads((tmp_path / "gui.json").read_text()) == document
    assert (tmp_path / "gui.png").read_bytes().startswith(b"\x89PNG")
    table = CliRunner().invoke(main, [*arguments, *sizes]).stdout
    assert table.count("guarded") == 3


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--tasks", "click-tab"], "no simulated task is named 'click-tab'; choose from tabs-2"),
        (["--real", "--tasks", "tabs-2"], "no real task is named 'tabs-2'; choose from click-tab"),
        (["--systems", "guess"], "no system is named 'guess'; choose from memoryless"),
        (["--recording", "x"], "give --real with it"),
        (["--episodes", "2"], "--episodes"),
        (["--model-url", "nowhere", "--tasks", "menu"], "is no address of a model"),
    ],
)
def test_what_cannot_be_played_is_refused_in_one_line(arguments, problem):
    result = CliRunner().invoke(main, ["gui", *arguments])
    assert result.exit_code == 2
    assert problem in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_a_browser_that_is_missing_is_one_line():
    # In a process of its own: in this one a browser may be running already.
    missing = {**os.environ, "MINIWOB_CHROMEDRIVER": "/nowhere/chromedriver"}
    command = [*RUN, "gui", "--real", "--tasks", "click-tab"]
    result = subprocess.run(command, env=missing, capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith("memenvs: there is no program at")


def test_a_curve_crosses_where_it_stays_above():
    assert crossing(np.array([0.0, 0.5, 0.4, 0.6]), np.array([0.2, 0.4, 0.4, 0.5])) == 4
    assert crossing(np.array([0.3, 0.5]), np.array([0.2, 0.4])) == 1
    assert crossing(np.array([0.3, 0.4]), np.array([0.2, 0.4])) is None


def test_merging_look_alikes_hurts_where_the_best_play_can_be_reached():
    guarded, observed = (
        play(SYSTEMS[name], PanelsEnv("toggle"), ScriptedPolicy(), 7, 30)
        for name in ("guarded", "observation")
    )
    assert guarded.success[10:].all()
    assert not observed.success[10:].any()


def test_a_control_where_every_decision_could_go_wrong():
    run = play(SYSTEMS["guarded"], PanelsEnv("submit"), ScriptedPolicy(), 7, 30)
    assert run.shortcuts.sum() == 0
    assert run.covered[10:].all()
    assert run.success[10:].all()
    assert not run.success[:10].all()  # detours do lose there


class Crashing(PanelsEnv):
    """A browser that dies in the third episode, in the middle."""

    def __init__(self, times):
        super().__init__("tabs-3")
        self.begun, self.times = 0, times

    def reset(self, **options):
        self.begun += 1
        return super().reset(**options)

    def step(self, action):
        if 2 < self.begun <= 2 + self.times:
            raise BrowserError("the browser died")
        return super().step(action)


def test_a_crash_of_the_browser_costs_its_episode_and_two_in_a_row_are_none():
    run = play(SYSTEMS["guarded"], Crashing(1), ScriptedPolicy(), 7, 12)
    assert np.flatnonzero(run.crashed).tolist() == [2]
    assert not run.success[2]
    whole = play(SYSTEMS["guarded"], PanelsEnv("tabs-3"), ScriptedPolicy(), 7, 12)
    assert run.steps[:2].tolist() == whole.steps[:2].tolist()
    with pytest.raises(BrowserError):
        play(SYSTEMS["guarded"], Crashing(2), ScriptedPolicy(), 7, 12)
