"""Poison against the memorization environment on materials that have the false claims."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memenvs import Claim, Item, Material, Query
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.memorization_vector import MemorizationVectorEnv
from memenvs.errors import MaterialError
from memenvs.games.poison import POISONER, WRITER, PoisonerWriter
from memenvs.games.poison_rows import LIKENESS
from memenvs.games.poison_targets import Targets
from memenvs.materials.generator.tiers import TIERS

PLAYED = ("hidden", "composite", "end-to-end", "conflicting")
MATERIALS = {name: list(TIERS[name].split("train")[:3]) for name in PLAYED}


def play(game, seed, number, rng, eager):
    """Play an episode at random; gives every step, the attacks, and what was told at the end."""
    seen, _ = game.reset(seed=seed, options={"material": number})
    steps, attacks = [], {}
    while not game.over[0]:
        current = int(game._current[0])
        mask = seen[POISONER]["action_mask"][0]
        attack = 0
        if rng.random() < eager:
            attack = int(rng.choice(np.flatnonzero(mask)))
        action = int(rng.choice(np.flatnonzero(seen[WRITER]["action_mask"][0])))
        if attack:
            pair, level = divmod(attack - 1, 3)
            attacks[int(game._rows.claim(game.used[0]))] = (*divmod(pair, game.sources), level)
        before = seen[WRITER]
        seen, rewards, _, _, infos = game.step(
            {WRITER: np.array([action]), POISONER: np.array([attack])}
        )
        assert rewards[POISONER][0] == -rewards[WRITER][0]
        steps.append((current, before, action, float(rewards[WRITER][0])))
    assert infos[POISONER]["illegal_action"][0] == 0
    return steps, attacks, infos[WRITER]


def with_poison(game, material, steps, attacks):
    """Make the material that was read: its claims and the false ones, in the order of reading."""
    targets = Targets.of(material, 64)
    names = list(dict.fromkeys(claim.source for claim in material.claims))
    columns = game.layout.claim.slices
    cues = game.layout.limits.cues
    order = [current for current, *_ in steps]
    claims, items = [], list(material.items)
    for place, (current, seen, _, _) in enumerate(steps):
        if current not in attacks:
            claims.append(material.claims[current])
            continue
        query, source, _ = attacks[current]
        later = [c for c in order[place:] if c not in attacks]
        earlier = [c for c in order[:place] if c not in attacks]
        host = material.claims[(later or earlier[-1:])[0]]
        row = seen["claim"][0].astype(float)
        name = f"poison-{current}"
        claims.append(
            Claim(
                id=name,
                truth=False,
                source=names[source],
                group=host.group,
                time=host.time,
                confidence=row[columns["confidence"].start],
                cost=material.claims[int(targets.template[query])].cost,
                cues=dict(zip(cues, row[columns["cues"]], strict=True)),
                embedding=tuple(row[columns["embedding"]]),
            )
        )
        asked = tuple(material.queries[q].id for q in targets.answers[query].tolist())
        items.append(Item(id=f"lie-{current}", supports=((name,),), answers=asked))
    return Material(
        name="poisoned", claims=tuple(claims), items=tuple(items), queries=material.queries
    )


def scattered(material):
    claims = [
        replace(claim, group="" if place % 2 else claim.group)
        for place, claim in enumerate(material.claims)
    ]
    return replace(material, claims=tuple(claims))


@settings(max_examples=40)
@given(
    tier=st.sampled_from(PLAYED),
    number=st.integers(0, 2),
    seed=st.integers(0, 2**20),
    budget=st.integers(1, 6),
    eager=st.sampled_from([0.1, 0.5, 1.0]),
    grouped=st.booleans(),
)
def test_it_is_as_if_the_false_claims_had_been_in_the_material(
    tier, number, seed, budget, eager, grouped
):
    rules = {**TIERS[tier].preset, "closing": 6}
    played = MATERIALS[tier]
    if not grouped:  # every other claim belongs to no group
        played = [scattered(material) for material in played]
    material = played[number]
    game = PoisonerWriter(played, poison=budget, autoreset=False, **rules)
    rng = np.random.default_rng(seed)
    steps, attacks, told = play(game, seed, number, rng, eager)
    poisoned = with_poison(game, material, steps, attacks)
    env = MemorizationEnv([poisoned], **rules)
    observation, info = env.reset(seed=seed)
    skipped = {env.layout.index("age")}  # a share of an episode that is longer by the budget
    for _, seen, action, reward in steps:
        for name in ("claim", "memory", "queries"):
            columns = [c for c in range(seen[name].shape[-1]) if c not in skipped]
            if name == "queries":
                columns = list(range(seen[name].shape[-1]))
            found, wanted = seen[name][0][..., columns], observation[name][..., columns]
            np.testing.assert_allclose(found, wanted, atol=2e-5, err_msg=name)
        np.testing.assert_array_equal(seen["action_mask"][0], observation["action_mask"])
        observation, paid, over, _, info = env.step(action)
        assert paid == reward
    assert over
    for name in ("coverage", "precision", "utility", "size", "settled"):
        assert told[name][0] == pytest.approx(info[name], abs=1e-9)


@pytest.mark.parametrize("tier", ["hidden", "end-to-end"])
def test_without_attacks_it_is_the_memorization_environment(tier):
    rules = TIERS[tier].preset
    materials = MATERIALS[tier]
    game = PoisonerWriter(materials, num_envs=4, **rules)
    env = MemorizationVectorEnv(
        materials, num_envs=4, autoreset_mode="SameStep", max_claims=32 + game.poison, **rules
    )
    seen, _ = game.reset(seed=3)
    observation, _ = env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(70):
        np.testing.assert_array_equal(seen[WRITER]["claim"], observation["claim"])
        masks = observation["action_mask"]
        actions = (masks * rng.random(masks.shape)).argmax(axis=1)
        seen, rewards, over, _, _ = game.step({WRITER: actions, POISONER: np.zeros(4, dtype=int)})
        observation, paid, ended, _, _ = env.step(actions)
        np.testing.assert_array_equal(rewards[WRITER], paid)
        np.testing.assert_array_equal(over[WRITER], ended)


def test_a_lie_is_worded_like_the_weightiest_true_answer_but_not_the_same():
    claims = (
        Claim(id="light", source="a", embedding=(1.0, 0.0, 0.0, 0.0)),
        Claim(id="heavy", source="b", embedding=(0.0, 1.0, 0.0, 0.0)),
        Claim(id="liar", source="b", truth=False, embedding=(0.0, 0.0, 1.0, 0.0)),
    )
    items = (
        Item(id="n0", supports=(("light",),), answers=("q0",)),
        Item(id="n1", supports=(("heavy",),), answers=("q0", "q1")),
        Item(id="n2", supports=(("liar",),), answers=("q0", "q1", "q2")),
        Item(id="n3", supports=(("light", "heavy"),), answers=("q2",)),
    )
    vectors = {"q0": (1.0, 0.0, 0.0, 0.0), "q1": (0, 1.0, 0, 0), "q2": (0.0, 0.0, 1.0, 0.1)}
    queries = tuple(Query(id=name, embedding=vector) for name, vector in vectors.items())
    material = Material(name="m", claims=claims, items=items, queries=queries)
    targets = Targets.of(material, 4)
    # q0: "heavy" answers more mass than "light"; q2: no true claim alone, "liar" is most similar.
    assert targets.template.tolist() == [1, 1, 2]
    assert [each.tolist() for each in targets.answers] == [[0, 1], [0, 1], [0, 1, 2]]
    game = PoisonerWriter(material, poison=2, autoreset=False, capacity=2)
    game.reset(seed=0)
    wait = {WRITER: np.array([0]), POISONER: np.array([0])}
    game.step(wait)  # nobody has spoken before the first claim was read
    seen, *_ = game.step({**wait, POISONER: game.attack(np.array([1]), 0, 2)})
    row = seen[WRITER]["claim"][0]
    vector = row[game.layout.slice("embedding")]
    assert vector[1] == pytest.approx(LIKENESS, abs=0.07)  # noise is not quite at a right angle
    assert row[game.layout.index("source")] == 0  # "a"


def test_a_lie_sounds_like_a_real_claim_of_the_third_that_is_chosen():
    claims = tuple(
        Claim(id=f"c{k}", source="a", confidence=(k * 7 % 9) / 10, cues={"loud": float(k * 7 % 9)})
        for k in range(9)
    )
    items = (Item(id="n", supports=(("c0",),), answers=("q",)),)
    material = Material(name="m", claims=claims, items=items, queries=(Query(id="q"),))
    game = PoisonerWriter(material, poison=6, capacity=2, num_envs=8)
    columns = [game.layout.index(name, "claim") for name in ("confidence", "cues")]
    for level in range(3):
        game.reset(seed=level)
        wait = {WRITER: np.zeros(8, dtype=int), POISONER: np.zeros(8, dtype=int)}
        game.step(wait)
        said = set()
        for _ in range(6):
            seen, *_ = game.step({**wait, POISONER: np.full(8, game.attack(0, 0, level))})
            rows = seen[WRITER]["claim"][:, columns]
            said |= {(round(float(told) * 10), round(float(loud))) for told, loud in rows}
        assert said == {(loud, loud) for loud in range(3 * level, 3 * level + 3)}


def test_only_sources_that_have_spoken_are_imitated_and_the_budget_is_kept():
    game = PoisonerWriter(MATERIALS["hidden"], poison=1, autoreset=False, capacity=6)
    seen, _ = game.reset(seed=0)
    assert np.flatnonzero(seen[POISONER]["action_mask"][0]).tolist() == [0]
    seen, *_ = game.step({WRITER: np.array([0]), POISONER: np.array([1])})
    assert game.illegal[POISONER][0] == 1
    assert game.used[0] == 0
    attack = int(np.flatnonzero(seen[POISONER]["action_mask"][0])[1])
    seen, *_ = game.step({WRITER: np.array([0]), POISONER: np.array([attack])})
    assert game.used[0] == 1
    assert seen[POISONER]["action_mask"][0].sum() == 1


def test_what_cannot_be_poisoned_is_refused():
    unsure = Material(
        name="unsure",
        claims=(Claim(id="c", truth=0.5),),
        items=(Item(id="n", supports=(("c",),), answers=("q",)),),
        queries=(Query(id="q"),),
    )
    game = PoisonerWriter(unsure, capacity=1)
    with pytest.raises(MaterialError, match="unsure: has truths between 0 and 1"):
        game.reset(seed=0)
    with pytest.raises(ValueError, match="needs smaller materials than 1006 claims"):
        PoisonerWriter("hidden-1000", capacity=6)
    with pytest.raises(ValueError, match="poison=0 is not a positive integer"):
        PoisonerWriter(MATERIALS["hidden"], poison=0)
