"""A material of four claims to work out by hand, and how the tests play and read it."""

from memenvs import Claim, Item, Material, Query
from memenvs.counter import QUERY, uniforms

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.6, 0.8, 0.0))


def material(truth=(True, False, True, True), cost=(1, 2, 3, 4), conflicts=()):
    """Four claims of two sources; a composite item; each query points along an axis."""
    claims = tuple(
        Claim(
            id=f"c{i}",
            truth=truth[i],
            cost=cost[i],
            source="ann" if i % 2 == 0 else "bob",
            group="g" if i < 3 else "h",
            time=10.0 + i,
            embedding=UNIT[i],
        )
        for i in range(4)
    )
    items = (
        Item(id="n0", supports=(("c0",), ("c1",)), answers=("q0",)),
        Item(id="n1", supports=(("c0", "c2"),), answers=("q1",), conflicts=conflicts),
        Item(id="n2", supports=(("c3",),), answers=("q0", "q2")),
    )
    queries = tuple(
        Query(id=f"q{i}", weight=weight, embedding=UNIT[i])
        for i, weight in enumerate((0.5, 0.3, 0.2))
    )
    return Material("four", claims, items, queries)


def play(env, actions, **reset):
    """Take the actions; gives every outcome, the reset's first."""
    observation, info = env.reset(seed=0, **reset)
    outcomes = [(observation, 0.0, info)]
    for action in actions:
        observation, reward, over, _, info = env.step(action)
        outcomes.append((observation, reward, info))
    assert over == env.unwrapped.episode.is_over()
    return outcomes


def column(env, observation, array, name):
    of = {"claims": "claim"}.get(array, array)
    return observation[array][..., env.layout.index(name, of)]


def settle(env, query):
    """Settle one query against the current memory and give what changes."""
    return env.episode.account.settle(query, env.episode.slots.stored)


def redraw(env, number):
    return float(uniforms(env.episode.account.key, QUERY, number))
