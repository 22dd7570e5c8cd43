"""Real pages without a browser: a file of what they showed, and episodes played from it."""

import multiprocessing
import pickle
import sqlite3

import pytest

from browsers import PAGES, RECORDED, RECORDED_TASKS
from memenvs.envs.gui.goal import read_goal
from memenvs.envs.gui.page import Element, Outcome, Page
from memenvs.envs.miniwob.browser import BrowserError
from memenvs.envs.miniwob.miniwob_env import MiniWoBEnv
from memenvs.envs.miniwob.recording import Recording
from memenvs.envs.miniwob.tasks import REFUSED

SHOWN = Outcome(Page('On "é".', (Element("tab", 'a"b', "selected"),), "tëxt"), True, -1.0)


def recorded(task, **settings):
    return MiniWoBEnv(task, recording=PAGES, live=False, **settings)


def write_many(path, start):
    recording = Recording(path)
    for instance in range(start, start + 40):
        recording.write("task", instance, (), SHOWN)


def test_what_was_written_is_read_again(tmp_path):
    recording = Recording(tmp_path / "pages.sqlite")
    assert recording.read("task", 3, (1, 34)) is None
    recording.write("task", 3, (1, 34), SHOWN)
    assert recording.read("task", 3, (1, 34)) == SHOWN
    for other in (("task", 3, (1,)), ("task", 31, (34,)), ("other", 3, (1, 34))):
        assert recording.read(*other) is None
    twin = pickle.loads(pickle.dumps(recording))
    recording.close()
    assert twin.read("task", 3, (1, 34)) == SHOWN
    assert Recording(tmp_path / "pages.sqlite", writable=False).read("task", 3, (1, 34)) == SHOWN


def test_processes_write_side_by_side(tmp_path):
    path = tmp_path / "pages.sqlite"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=write_many, args=(path, start)) for start in (0, 40)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    recording = Recording(path)
    assert all(recording.read("task", instance, ()) == SHOWN for instance in range(80))


def test_files_that_are_no_recordings(tmp_path):
    (tmp_path / "notes.txt").write_text("not a database, but long enough to look like one " * 30)
    with pytest.raises(ValueError, match=r"notes\.txt: cannot be used as a recording"):
        Recording(tmp_path / "notes.txt").read("task", 0, ())
    with pytest.raises(ValueError, match="there is no such recording"):
        MiniWoBEnv("click-tab", recording=tmp_path / "none.sqlite", live=False)
    with pytest.raises(ValueError, match="cannot be used as a recording"):
        Recording(tmp_path / "nowhere" / "pages.sqlite").write("task", 0, (), SHOWN)


def test_what_was_not_recorded_is_no_failure_of_the_agent():
    env = recorded("click-tab")
    with pytest.raises(BrowserError, match="the recording does not hold"):
        env.reset(options={"instance": 1})
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env.step(0)


def test_an_unknown_page_is_refused():
    for task in ("fly", "../index", ""):
        with pytest.raises(ValueError, match="has no task named"):
            MiniWoBEnv(task)


@pytest.mark.parametrize("task", RECORDED_TASKS)
def test_recorded_pages_fit_the_observation(task):
    env = recorded(task)
    for instance in RECORDED:
        observation, info = env.reset(options={"instance": instance})
        assert observation in env.observation_space
        page = info["page"]
        assert observation["elements"][:, -1].sum() == len(page.elements) > 0
        menu_icon = "icon" in page.goal
        assert len(read_goal(page.goal).slots) == (0 if menu_icon else 1 + ("Select" in page.goal))


def test_a_recorded_page_answers_as_the_real_one_did():
    """The steps that solve it, written down from the page of this instance."""
    env = recorded("click-tab")
    _, info = env.reset(options={"instance": RECORDED[0]})
    (target,) = read_goal(info["page"].goal).slots
    place = [element.label for element in info["page"].elements].index(target)
    _, reward, terminated, _, info = env.step(place)
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    assert info["page"].elements[place].state == "selected"


def test_the_recording_is_small_and_whole():
    assert PAGES.stat().st_size < 300_000
    with sqlite3.connect(f"{PAGES.as_uri()}?mode=ro&immutable=1", uri=True) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.parametrize(("task", "need"), [("enter-text", "typing"), ("draw-line", "dragging")])
def test_what_clicks_cannot_play_is_refused_with_the_reason(task, need):
    assert REFUSED[task] == need
    with pytest.raises(ValueError, match=f"the task '{task}' needs {need}, which no click"):
        MiniWoBEnv(task)
