"""Every registered environment, and every setting of the process, meets the same contract."""

import gymnasium as gym
import numpy as np
import pytest

import memenvs
import memenvs.testing
import memenvs.testing.checks
from browsers import BROWSER
from memenvs.envs.levels import LEVELS
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.testing import CHECKS

SETTINGS = {
    "level 0": {**LEVELS["0"], "capacity": 2},
    "level 1a": {**LEVELS["1a"], "capacity": 3, "utility": "coverage"},
    "level 1b": {**LEVELS["1b"], "access": "stream", "capacity": 2},
    "static": {**LEVELS["static"], "settlement": "expected"},
    "priority": {**LEVELS["1b"], "action": "priority", "capacity": 2},
    "priority, budget": {**LEVELS["1b"], "action": "priority", "capacity": 3, "budget": 2.0},
    "pool, budget": {**LEVELS["1a"], "budget": 2.0, "capacity": 3, "feedback": "outcome"},
    "end-to-end": {**LEVELS["1b"], "utility": "end-to-end", "clearing": True, "feedback": "none"},
}

QUICK = ("click-tab-2", "click-menu-2")  # real pages that every run checks


def marks(row):
    """Real pages need a browser, and time."""
    if "browser" not in row.tags:
        return ()
    return BROWSER if row.kwargs["task"] in QUICK else [*BROWSER, pytest.mark.slow]


ROWS = [pytest.param(row, id=row.id, marks=marks(row)) for row in memenvs.registered_envs()]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("row", ROWS)
def test_registered_environments(row, check):
    check(row.id)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", SETTINGS)
def test_settings(name, check):
    check("memenvs/OdysseyNoisy-v0", **SETTINGS[name])


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_ten_thousand_steps(row):
    memenvs.testing.checks.check_steps(row.id, steps=10_000)


def broken_checks(monkeypatch, **attributes):
    """Names of the checks that a broken environment fails."""
    for name, attribute in attributes.items():
        monkeypatch.setattr(MemorizationEnv, name, attribute)
    failed = set()
    for check in CHECKS:
        try:
            check("memenvs/Odyssey-v0")
        except Exception:
            failed.add(check.__name__)
    return failed


def test_the_contract_notices_what_breaks_it(monkeypatch):
    outcome, step = MemorizationEnv._outcome, MemorizationEnv.step

    def reuse(self):
        observation, info = outcome(self)
        self.kept = getattr(self, "kept", observation)
        for name, array in observation.items():
            self.kept[name][...] = array
        return dict(self.kept), info

    def all_legal(self):
        return np.ones(self.actions.n, dtype=bool)

    def random_reward(self, action):
        observation, _, over, truncated, info = step(self, action)
        return observation, float(np.random.default_rng().random()), over, truncated, info

    def both(self, action):
        observation, reward, over, _, info = step(self, action)
        return observation, reward, over, over, info

    with monkeypatch.context() as patch:
        assert "check_arrays" in broken_checks(patch, _outcome=reuse)
    with monkeypatch.context() as patch:
        assert "check_steps" in broken_checks(patch, action_masks=all_legal)
    with monkeypatch.context() as patch:
        assert {"check_seeds", "check_processes", "check_pickle"} <= broken_checks(
            patch, step=random_reward
        )
    with monkeypatch.context() as patch:
        assert "check_steps" in broken_checks(patch, step=both)


def test_strict_names_the_illegal_action():
    env = MemorizationEnv("odyssey", capacity=2, strict=True)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action 2 \(write into slot 1\) is illegal"):
        env.step(2)
    with pytest.raises(ValueError, match=r"action 99 \(there are 3\) is illegal"):
        env.step(99)


def test_steps_outside_an_episode_say_so():
    env = MemorizationEnv("odyssey")
    with pytest.raises(RuntimeError, match="no episode has begun"):
        env.step(0)
    env.reset()
    for _ in range(6):
        env.step(0)
    with pytest.raises(RuntimeError, match="episode is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"access": "river"}, "access='river' is unknown; choose from stream, pool"),
        ({"capacity": 0}, "capacity=0 is not a positive integer"),
        ({"capacity": 2.5}, "capacity=2.5 is not a positive integer"),
        ({"closing": 0}, "closing=0 is not"),
        ({"every": -1}, "every=-1 is not"),
        ({"budget": float("nan")}, "budget=nan is not a positive number"),
        ({"access": "pool", "action": "priority"}, "needs access='stream'"),
        ({"decisions": 9}, "decisions belong to access='pool'"),
        ({"utility": None}, "utility=None is unknown"),
    ],
)
def test_bad_settings_are_named(settings, problem):
    with pytest.raises(ValueError, match=problem):
        MemorizationEnv("odyssey", **settings)


def test_a_pool_of_many_claims_is_refused():
    claims = tuple(memenvs.Claim(id=f"c{i}") for i in range(129))
    material = memenvs.Material("wide", claims, (), (memenvs.Query(id="q"),))
    with pytest.raises(ValueError, match="at most 128 claims and the material has 129"):
        MemorizationEnv(material, access="pool")


def test_a_user_s_own_id_is_checked_alike(tmp_path):
    from memenvs.materials.odyssey import odyssey

    odyssey().save(tmp_path / "own.json")
    identifier = memenvs.register_material("own-contract", tmp_path / "own.json", level="1a")
    memenvs.testing.check_env_contract(identifier)
    assert gym.spec(identifier).kwargs["material"] == str(tmp_path / "own.json")
