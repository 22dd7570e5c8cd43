"""A real browser: what it shows, and that no way to end leaves anything of it behind."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import pytest

from browsers import BROWSER, PAGES, kill, processes
from memenvs.envs.miniwob import browser as module
from memenvs.envs.miniwob.browser import Browser, BrowserError, shared_browser
from memenvs.envs.miniwob.miniwob_env import MiniWoBEnv, show
from memenvs.envs.miniwob.recording import Recording
from memenvs.envs.miniwob.tasks import REFUSED, TASKS

pytestmark = BROWSER

USER = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a script runs the tests
from memenvs.envs.miniwob.browser import shared_browser
from memenvs.envs.miniwob.miniwob_env import MiniWoBEnv
env = MiniWoBEnv("click-tab-2")
env.reset(seed=0)
browser = shared_browser()
print(browser.session, browser.profile, flush=True)
ending = sys.argv[1]
if ending == "error":
    raise LookupError("in the middle of an episode")
if ending == "wait":
    time.sleep(120)
if ending == "fork":
    if os.fork() == 0:
        env.reset(seed=1)
        assert shared_browser().session != browser.session
        print(shared_browser().session, shared_browser().profile, flush=True)
        sys.exit(0)
    assert os.wait()[1] == 0
    env.step(1)
    assert shared_browser() is browser
"""


@pytest.fixture
def user():
    """Starts processes that use a browser; gives each, the browser's session and its profile."""
    started = []

    def start(ending):
        process = subprocess.Popen(
            [sys.executable, "-c", USER, ending],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        started.append(process)
        session, profile = process.stdout.readline().split()
        return process, int(session), Path(profile)

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def assert_gone(session, profile):
    """Nothing of a browser is left, or will be in a moment."""
    end = time.monotonic() + 20
    while (processes(session) or profile.exists()) and time.monotonic() < end:
        time.sleep(0.05)
    assert processes(session) == []
    assert not profile.exists()


@pytest.fixture(autouse=True)
def _close_afterwards():
    yield
    if module._browser is not None:
        module._browser.close()


def test_pages_show_what_they_showed_when_they_were_recorded():
    recording = Recording(PAGES, writable=False)
    connection = sqlite3.connect(f"{PAGES.as_uri()}?mode=ro&immutable=1", uri=True)
    keys = [key.split(" ") for (key,) in connection.execute("SELECT key FROM outcomes")]
    connection.close()
    chosen = {}
    for task, instance, actions in keys:  # the longest way of every task
        if actions.count(",") >= chosen.get(task, ("", ""))[1].count(","):
            chosen[task] = instance, actions
    assert len(chosen) == 8
    for task, (instance, actions) in chosen.items():
        numbers = tuple(map(int, filter(None, actions.split(","))))
        assert show((task, int(instance), numbers)) == recording.read(task, int(instance), numbers)


def test_one_browser_serves_all_tasks_and_a_step_goes_on_from_where_it_is():
    first, second = MiniWoBEnv("click-tab-2"), MiniWoBEnv("click-option")
    first.reset(seed=0)
    browser = shared_browser()
    second.reset(seed=0)
    _, *_, info = first.step(1)  # the other task's page is shown: this episode's is shown again
    assert info["page"].elements[1].state == "selected"
    assert shared_browser() is browser
    alone = MiniWoBEnv("click-tab-2")
    alone.reset(seed=0)
    assert alone.step(1)[-1]["page"] == info["page"]


@pytest.mark.parametrize("name", ["chromium", "chromedriver"])
def test_a_browser_that_dies_in_an_episode_is_an_error_and_the_next_episode_has_another(name):
    env = MiniWoBEnv("click-tab-2")
    _, before = env.reset(seed=0)
    browser = shared_browser()
    kill(browser.session, name, signal.SIGKILL)
    with pytest.raises(BrowserError, match="died or does not answer"):
        env.step(0)
    assert_gone(browser.session, Path(browser.profile))
    _, info = env.reset(seed=0)
    assert shared_browser() is not browser
    assert info["page"] == before["page"]


def test_a_page_that_never_loads(tmp_path, monkeypatch):
    (tmp_path / "loop.html").write_text("<script>while (true) {}</script>")
    monkeypatch.setattr(module, "LOADING", 2.0)
    browser = Browser()
    begun = time.monotonic()
    with pytest.raises(BrowserError, match=r"did not finish within 2 s: file://.*loop\.html"):
        browser.load((tmp_path / "loop.html").as_uri())
    assert time.monotonic() - begun < 40
    assert_gone(browser.session, Path(browser.profile))


def test_a_page_that_is_none_of_the_suite(tmp_path):
    (tmp_path / "plain.html").write_text("<p>nothing of MiniWoB</p>")
    browser = Browser()
    browser.load((tmp_path / "plain.html").as_uri())
    with pytest.raises(BrowserError, match="died or does not answer"):
        browser.run("arguments[arguments.length - 1](core.getUtterance())")
    assert_gone(browser.session, Path(browser.profile))


@pytest.mark.parametrize("variable", ["MINIWOB_CHROMEDRIVER", "MINIWOB_CHROME_BINARY"])
def test_a_missing_program_is_named(variable, monkeypatch):
    monkeypatch.setenv(variable, "/nowhere/program")
    with pytest.raises(BrowserError, match=f"{variable}='/nowhere/program'; install chromium"):
        Browser()


def test_a_program_that_is_no_chromedriver_leaves_nothing(monkeypatch):
    monkeypatch.setenv("MINIWOB_CHROMEDRIVER", "/bin/echo")
    with pytest.raises(BrowserError, match="chromedriver did not start; it said: --port=0"):
        Browser()


@pytest.mark.parametrize("ending", ["end", "error"])
def test_a_process_that_ends_takes_its_browser_along(user, ending):
    process, session, profile = user(ending)
    assert process.wait(60) == (1 if ending == "error" else 0)
    assert_gone(session, profile)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_killed_takes_its_browser_along(user, sent):
    process, session, profile = user("wait")
    assert {"chromedriver", "chromium"} <= {name for _, name in processes(session)}
    os.kill(process.pid, sent)
    process.wait(60)
    assert_gone(session, profile)


def test_two_processes_have_a_browser_each(user):
    mine = MiniWoBEnv("click-tab-2")
    _, info = mine.reset(seed=0)
    process, session, profile = user("wait")
    assert shared_browser().session != session
    process.kill()
    process.wait()
    assert_gone(session, profile)
    assert mine.step(1)[-1]["page"] != info["page"]  # ours goes on


def test_a_forked_child_starts_its_own_and_leaves_its_parent_s_alone(user):
    process, session, profile = user("fork")
    child_session, child_profile = process.stdout.readline().split()
    assert process.wait(60) == 0
    assert_gone(session, profile)
    assert_gone(int(child_session), Path(child_profile))


def test_a_masked_policy_trains_on_real_pages():
    from sb3_contrib import MaskablePPO

    env = MiniWoBEnv("click-button")
    model = MaskablePPO("MultiInputPolicy", env, n_steps=16, batch_size=16, seed=0, device="cpu")
    model.learn(32)
    assert model.num_timesteps == 32


def test_every_page_of_the_package_plays_or_is_refused_by_name():
    folder = Path(str(files("miniwob"))) / "html" / "miniwob"
    pages = {page.stem for page in folder.glob("*.html")}
    assert pages == set(TASKS) | set(REFUSED)
    assert not set(TASKS) & set(REFUSED)
    assert len(TASKS) >= 40
    for task in TASKS:
        outcome = show((task, 1, ()))
        assert outcome.page.elements, task
        assert isinstance(outcome.page.goal, str), task
        assert not outcome.done, task
        show((task, 1, (0,)))


def test_what_stands_beside_the_area_can_be_clicked():
    env = MiniWoBEnv("click-dialog")
    _, info = env.reset(options={"instance": 1})
    assert [element.role for element in info["page"].elements] == ["button"]
    *_, terminated, _, info = env.step(0)
    assert terminated
    assert info["success"]


@pytest.mark.parametrize(
    ("user", "asked", "alone"), [(0, "", True), (7, "", False), (7, "1", True)]
)
def test_the_sandbox_stays_but_for_root_and_by_request(user, asked, alone, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: user)
    monkeypatch.setenv(module.NO_SANDBOX, asked)
    assert ("--no-sandbox" in (*module.FLAGS, *module._sandbox())) == alone
