"""Splits never share a material, and give the same one whenever and wherever it is asked for."""

import gc
import hashlib
import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from memenvs import MaterialError
from memenvs.envs.memorization import prepared
from memenvs.envs.memorization.memorization_env import MemorizationEnv
from memenvs.envs.memorization.prepared import Materials
from memenvs.materials.generator import TIERS
from memenvs.materials.generator.tiers import SEEDS, WORLD_SEED
from memenvs.materials.library import find_materials, registered_materials
from memenvs.materials.odyssey import odyssey

LENGTHS = {"train": 4096, "validation": 512, "test": 1024, "ood": 1024}


def digest(material):
    """Hash of what a material holds, whatever its name."""
    parts = (material.claims, material.items, material.queries)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def test_seed_ranges_are_disjoint():
    for first, second in combinations(SEEDS.values(), 2):
        assert not set(first) & set(second)
    assert all(WORLD_SEED not in seeds for seeds in SEEDS.values())


@pytest.mark.parametrize("name", TIERS)
def test_splits_have_their_lengths(name):
    tier = TIERS[name]
    assert ("ood" in tier.splits) == name.startswith("worlds")
    for split in tier.splits:
        assert len(tier.split(split)) == LENGTHS[split]
    with pytest.raises(MaterialError, match="has no split 'dev'; choose from train, validation"):
        tier.split("dev")


@pytest.mark.parametrize("name", ["readable", "worlds"])
def test_no_material_repeats_across_splits(name):
    """Every material of a tier differs from all others, in its claims alone."""
    seen = set()
    for split in TIERS[name].splits:
        for i in range(len(TIERS[name].split(split))):
            draft = TIERS[name].draft(split, i)
            seen.add(hashlib.sha256(draft.embedding.tobytes()).digest())
    assert len(seen) == sum(len(TIERS[name].split(split)) for split in TIERS[name].splits)


def test_no_material_repeats_across_tiers():
    digests = [
        digest(TIERS[name].split(s)[i]) for name in TIERS for s in ("train", "test") for i in (0, 1)
    ]
    assert len(set(digests)) == len(digests)


def test_a_material_does_not_depend_on_what_was_drawn_before():
    split = TIERS["conflicting"].split("test")
    alone = split[17]
    assert [material.name for material in split[15:19]][2] == alone.name == "conflicting-test-17"
    assert split[15:19][2] == alone == split[-1024 + 17]
    assert len(split[10:]) == 1014
    assert list(split[:2]) == [split[0], split[1]]
    with pytest.raises(IndexError):
        split[1024]


def test_another_process_draws_the_same_materials():
    script = (
        "import hashlib\n"
        "from memenvs.materials.generator import TIERS\n"
        "for name, tier in TIERS.items():\n"
        "    m = tier.split(tier.splits[-1])[5]\n"
        "    parts = (m.claims, m.items, m.queries)\n"
        "    print(name, hashlib.sha256(repr(parts).encode()).hexdigest())\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    expected = [f"{n} {digest(t.split(t.splits[-1])[5])}" for n, t in TIERS.items()]
    assert run.stdout.split("\n")[:-1] == expected


def test_a_tier_is_found_by_name_with_its_splits():
    assert set(TIERS) <= set(registered_materials())
    found = find_materials("readable", count=3)
    assert [material.name for material in found] == [f"readable-test-{i}" for i in range(3)]
    assert find_materials("worlds", "ood")[4].name == "worlds-ood-4"
    assert len(find_materials("hidden")) == 1024
    assert [material.name for material in find_materials("odyssey")] == ["odyssey"]


def test_one_material_is_found_by_its_own_name():
    (found,) = find_materials("end-to-end-128-validation-3")
    assert found == TIERS["end-to-end-128"].split("validation")[3]
    with pytest.raises(MaterialError, match="the split has 512 materials, from number 0"):
        find_materials("hidden-validation-512")
    with pytest.raises(MaterialError, match="neither a registered material"):
        find_materials("hidden-ood-0")


@pytest.mark.parametrize("source", ["odyssey", "readable-test-0", [odyssey()], odyssey()])
def test_a_split_is_refused_where_there_are_none(source):
    with pytest.raises(MaterialError, match=r"has no split 'test'; only tiers \(readable, .*leave"):
        MemorizationEnv(source, split="test")
    MemorizationEnv(source)


def test_the_environment_plays_the_split_and_train_by_default():
    for split, expected in ((None, "train"), ("validation", "validation"), ("ood", "ood")):
        env = MemorizationEnv("worlds", split=split, capacity=6)
        names = set()
        for seed in range(8):
            env.reset(seed=seed)
            names.add(env.material.name)
        assert len(names) == 8
        assert all(name.startswith(f"worlds-{expected}-") for name in names)
    env.reset(seed=0, options={"material": 12})
    assert env.material.name == "worlds-ood-12"
    with pytest.raises(MaterialError, match="'hidden' has no split 'ood'"):
        MemorizationEnv("hidden", split="ood")


def test_a_slice_of_a_split_stays_lazy_in_an_environment():
    env = MemorizationEnv(TIERS["hidden-1000"].split("test")[:500])
    env.reset(seed=0, options={"material": 499})
    assert env.material.name == "hidden-1000-test-499"


def test_what_environments_keep_is_bounded_together_and_goes_with_them(monkeypatch):
    monkeypatch.setattr(prepared, "BYTES", 1 << 23)
    live = prepared._Recent._live
    before = len(live)
    envs = [MemorizationEnv("readable-1000", capacity=100) for _ in range(2)]
    first = envs[0].materials[0]
    assert envs[0].materials[0] is first
    for env in envs:
        for number in range(5):
            env.materials.prepare(env.materials[number], env.layout)
    assert sum(each._total for each in live) <= 1 << 23
    assert envs[0].materials[0] == first
    assert envs[0].materials[0] is not first
    del envs, env
    gc.collect()
    assert len(live) <= before


def test_materials_of_a_tier_fit_the_limits_of_the_first():
    for name in ("composite", "probe"):
        materials = Materials(name, split="test")
        env = MemorizationEnv(name, split="test")
        for number in np.random.default_rng(0).integers(1024, size=20):
            materials.prepare(materials[int(number)], env.layout)
