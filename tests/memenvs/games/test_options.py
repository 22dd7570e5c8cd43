"""PettingZoo's own tests on products of some options of the games, with and without priorities."""

import functools
import importlib
import warnings
from itertools import product

import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its example games warn of themselves
    from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

for check in (api_test, parallel_api_test, parallel_seed_test, seed_test):
    check.__test__ = False  # functions called "..._test": pytest would collect them

pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Agents have different (observation|action) space sizes"),
]

OPTIONS = {
    "shared_writers_v0": {
        "writers": (1, 2, 3),
        "streams": ("source", "group", "turns"),
        "credit": ("team", "individual"),
        "action": ("slots", "priority"),
    },
    "poisoner_writer_v0": {
        "poison": (1, 6),
        "sources": (None, 1),
        "action": ("slots", "priority"),
    },
    "asker_writer_v0": {
        "price": (0.0, 2.0),
        "closing": (4, 8),
        "action": ("slots", "priority"),
    },
}
SETS = [
    (game, dict(zip(options, values, strict=True)))
    for game, options in OPTIONS.items()
    for values in product(*options.values())
]


@pytest.mark.slow
@pytest.mark.parametrize(("game", "settings"), SETS)
def test_every_set_of_options_passes_the_published_tests(game, settings):
    module = importlib.import_module(f"memenvs.games.{game}")
    turns = functools.partial(module.env, **settings)
    rounds = functools.partial(module.parallel_env, **settings)
    api_test(turns(), num_cycles=60)
    parallel_api_test(rounds(), num_cycles=60)
    seed_test(turns, num_cycles=40)
    parallel_seed_test(rounds, num_cycles=40)
