"""Trust where others read the rest: sources that it heard of are not numbered one after another."""

import numpy as np

from memenvs.games import shared_writers_v0
from memenvs.materials.generator.tiers import TIERS
from memenvs.policies import make

EPISODES = 6


def renumbered(seen, source, known):
    """Number the sources of what a writer sees anew, by the order in which it meets them."""
    changed = {name: array.copy() for name, array in seen.items()}
    for i in range(EPISODES):
        rows = [changed["claim"][i], *changed["memory"][i]]
        for row in sorted(rows, key=lambda row: row is not rows[0]):
            if row[source] >= 0 and row.any():
                row[source] = known[i].setdefault(int(row[source]), len(known[i]))
    return changed


def test_it_decides_as_if_sources_had_other_numbers():
    materials = list(TIERS["hidden"].split("train")[:EPISODES])
    game = shared_writers_v0.vector_env(materials, writers=3, num_envs=EPISODES, autoreset=False)
    source = game.layout.index("source")
    trust = {name: make("trust", game) for name in game.possible_agents}
    other, states, renamed = make("trust", game), dict.fromkeys(trust), None
    known = [{} for _ in range(EPISODES)]
    seen, _ = game.reset(seed=0, options={"material": list(range(EPISODES))})
    while game.alive["writer_2"].all():
        actions = {}
        for name, policy in trust.items():
            actions[name], states[name] = policy.predict(seen[name], states[name])
        shown = renumbered(seen["writer_2"], source, known)
        expected, renamed = other.predict(shown, renamed)
        np.testing.assert_array_equal(actions["writer_2"], expected)
        seen, *_ = game.step(actions)
    assert any(list(each) != sorted(each) or max(each) >= len(each) for each in known)
