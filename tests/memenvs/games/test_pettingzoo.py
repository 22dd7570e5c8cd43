"""PettingZoo's own tests, on every game; and what they leave open."""

import importlib
import subprocess
import sys
import warnings
from functools import partial

import numpy as np
import pettingzoo
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its example games warn of themselves
    from pettingzoo.test import (
        api_test,
        max_cycles_test,
        parallel_api_test,
        parallel_seed_test,
        render_test,
        seed_test,
    )

from memenvs.games import GAMES
from memenvs.policies import make

for check in (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
):
    check.__test__ = False  # functions called "..._test": pytest would collect them

# Observations are dictionaries with a mask in them, and the agents of a game differ.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be"),
    pytest.mark.filterwarnings("ignore:Agents have different (observation|action) space sizes"),
    pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name),
]


def module(game):
    return importlib.import_module(game.module)


def test_api(game):
    api_test(module(game).env(), num_cycles=150)


def test_parallel_api(game):
    parallel_api_test(module(game).parallel_env(), num_cycles=150)


def test_seeds(game):
    seed_test(module(game).env)


def test_parallel_seeds(game):
    parallel_seed_test(module(game).parallel_env)


def test_max_cycles(game):
    max_cycles_test(module(game))


def test_render(game, capsys):
    render_test(module(game).env)
    assert "settled queries" in capsys.readouterr().out


def test_the_registry_makes_both_forms(game):
    parallel = pettingzoo.make("parallel", game.id)
    assert parallel.metadata["name"] == game.module.rpartition(".")[2]
    assert {name.rpartition("_")[0] for name in parallel.possible_agents} == set(game.seats)
    turns = pettingzoo.make("aec", game.id, max_cycles=3)
    assert turns.possible_agents == parallel.possible_agents


def test_turns_and_rounds_are_the_same_game(game):
    turns, rounds = module(game).env(), module(game).parallel_env()
    turns.reset(seed=4)
    seen, _ = rounds.reset(seed=4)
    generator = np.random.default_rng(0)
    while rounds.agents:
        actions = {
            name: int(generator.choice(np.flatnonzero(seen[name]["action_mask"])))
            for name in rounds.agents
        }
        acting = list(rounds.agents)
        seen, rewards, terminated, truncated, _ = rounds.step(actions)
        for name in acting:
            assert turns.agent_selection == name
            turns.step(actions[name])
        for name in acting:
            assert turns.rewards[name] == rewards[name]
            assert turns.terminations[name] == terminated[name]
            assert turns.truncations[name] == truncated[name]
        while turns.agents and (
            turns.terminations[turns.agent_selection] or turns.truncations[turns.agent_selection]
        ):
            turns.step(None)
    assert not turns.agents


def test_equal_seeds_give_equal_games_in_another_process(game):
    script = (
        "import importlib, sys, zlib, numpy as np\n"
        f"env = importlib.import_module({game.module!r}).parallel_env()\n"
        "seen, _ = env.reset(seed=9)\n"
        "rng, text = np.random.default_rng(1), b''\n"
        "while env.agents:\n"
        "    actions = {n: int(rng.choice(np.flatnonzero(seen[n]['action_mask'])))\n"
        "               for n in env.agents}\n"
        "    seen, rewards, *_ = env.step(actions)\n"
        "    text += repr(rewards).encode() + b''.join(a.tobytes() for o in seen.values()\n"
        "                                               for a in o.values())\n"
        "print(zlib.crc32(text))\n"
    )
    found = [
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert found[0].stdout == found[1].stdout
    assert found[0].stdout.strip().isdigit()


def test_what_cannot_be_played_is_refused_in_a_sentence(game):
    batch = module(game).vector_env(num_envs=3)
    first = batch.possible_agents[0]
    actions = {name: np.zeros(3, dtype=int) for name in batch.possible_agents}
    with pytest.raises(RuntimeError, match="no episode has begun; call reset"):
        batch.step(actions)
    with pytest.raises(RuntimeError, match="no episode has begun; call reset"):
        module(game).parallel_env(render_mode="ansi").render()
    for seeds in ([1, 2], [1, 2, 3, 4]):
        with pytest.raises(ValueError, match=f"{len(seeds)} seeds were given for 3 environments"):
            batch.reset(seed=seeds)
    batch.reset(seed=np.array([1, 2, 3]))
    with pytest.raises(ValueError, match=f"no actions were given for {first}"):
        batch.step({name: array for name, array in actions.items() if name != first})
    with pytest.raises(ValueError, match=rf"{first}: actions have shape \(2,\), not \(3,\)"):
        batch.step(actions | {first: np.zeros(2, dtype=int)})


@pytest.mark.parametrize("policy", ["random", "fifo", "trust", "bayes", "generative-agents"])
def test_write_policies_sit_in_the_writers_seats(game, policy):
    batch = module(game).vector_env(num_envs=3)
    players = {name: make(policy, batch) for name in batch.possible_agents if "writer" in name}
    seen, _ = batch.reset(seed=0)
    states, begun = dict.fromkeys(players), np.ones(3, dtype=bool)
    for _ in range(40):
        actions = {name: np.zeros(3, dtype=int) for name in batch.possible_agents}
        for name, player in players.items():
            actions[name], states[name] = player.predict(seen[name], states[name], begun)
        seen, _, _, _, infos = batch.step(actions)
        begun = infos[batch.possible_agents[0]].get("final", np.zeros(3, dtype=bool))
        for name in players:
            assert not infos[name]["illegal_action"].any()


def test_the_batch_is_the_episodes_one_by_one(game):
    batch = module(game).vector_env(num_envs=3, autoreset=False)
    alone = [module(game).vector_env(num_envs=1, autoreset=False) for _ in range(3)]
    seen, _ = batch.reset(seed=6)
    each = [env.reset(seed=6 + i)[0] for i, env in enumerate(alone)]
    generator = np.random.default_rng(2)
    while not batch.over.any():
        actions = {}
        for name in batch.possible_agents:
            masks = seen[name]["action_mask"]
            actions[name] = (masks * generator.random(masks.shape)).argmax(axis=1)
            for i in range(3):
                for key, array in seen[name].items():
                    np.testing.assert_array_equal(array[i], each[i][name][key][0], err_msg=key)
        seen, rewards, _, _, _ = batch.step(actions)
        for i, env in enumerate(alone):
            mine = {name: action[i : i + 1] for name, action in actions.items()}
            each[i], earned, *_ = env.step(mine)
            for name, reward in rewards.items():
                assert earned[name][0] == reward[i]


OPTIONS = [
    {"action": "priority"},
    {"action": "priority", "capacity": 3, "every": 2},
    {"clearing": True},
    {"utility": "end-to-end", "feedback": "outcome"},
    {"queries": 2, "feedback": "none"},
    {"utility": "end-to-end", "reader": "similarity:1"},
]
REFUSED = {
    "asker-writer": {"queries": "an asker needs queries=1, not 2"},
    "poisoner-writer": {"reader": "a poisoner needs reader='all', not 'similarity:1'"},
}


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ", ".join(map(str, options)))
def test_options_pass_the_published_tests(game, options):
    refused = REFUSED.get(game.name, {}).keys() & options.keys()
    if refused:
        with pytest.raises(ValueError, match=REFUSED[game.name][min(refused)]):
            module(game).env(**options)
        return
    turns = partial(module(game).env, **options)
    rounds = partial(module(game).parallel_env, **options)
    api_test(turns(), num_cycles=60)
    parallel_api_test(rounds(), num_cycles=60)
    seed_test(turns, num_cycles=30)
    parallel_seed_test(rounds, num_cycles=30)
    env = rounds()
    seen, infos = env.reset(seed=0)
    for name in env.possible_agents:  # clients sample a space by the mask that is shown
        space = env.action_space(name)
        assert ("action_mask" in seen[name]) == hasattr(space, "n")
        assert space.sample(infos[name].get("action_mask")) in space
