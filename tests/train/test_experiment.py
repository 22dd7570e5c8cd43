"""Settings of an experiment: what is refused, how, and what overrides what."""

from pathlib import Path
from typing import Any

import pytest

from memenvs.materials.library import add_material
from memenvs.train.experiment import load_experiment, shipped_configs
from memenvs.train.places import gather
from memenvs.train.setting import make_setting

BAD = {
    "capcity: 3": "key 'capcity': is unknown; did you mean 'capacity'?",
    "time_limit: 3": "key 'time_limit': is unknown; did you mean 'time-limit'?",
    "zebra: 3": "key 'zebra': is unknown; choose from env, material",
    "capacity: [2, three]": "key 'capacity.1': should be a valid integer, not 'three'",
    "capacity: 0": "key 'capacity.0'",
    "capacity: true": "key 'capacity.0'",
    "material: {a: b}": "key 'material'",
    "utility: recall": "key 'utility'",
    "budget: .nan": "key 'budget'",
    "episodes: 1.5": "key 'episodes'",
    "- a": "holds no settings",
    "1: a": "holds no settings",
    "": "holds no settings",
    "a: [": "is no YAML",
    "a: 2001-99-99": "is no YAML",
    "[" * 5000: "is no YAML",
}


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_bad_settings_name_the_file_and_the_key(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"bad\.yaml: ") as error:
        load_experiment(str(tmp_path / "bad.yaml"), {})
    assert BAD[text] in str(error.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for config in ("nowhere", str(tmp_path), str(tmp_path / "binary")):
        with pytest.raises(ValueError, match=r"neither a file|cannot be read|UTF-8"):
            load_experiment(config, {})


def test_options_override_the_file() -> None:
    experiment = load_experiment("demo", {"capacity": [2], "material": ["odyssey-noisy"]})
    assert experiment.capacity == [2]
    assert experiment.material == ["odyssey-noisy"]
    assert len(experiment.policy) > 2
    assert load_experiment("demo", {"env": "memenvs/Odyssey-v0"}).material == []


def test_options_alone_are_named_as_options() -> None:
    with pytest.raises(ValueError, match=r"^--budget: "):
        load_experiment(None, {"budget": -1.0})


@pytest.mark.parametrize("name", shipped_configs())
def test_every_shipped_configuration_can_be_played(name: str) -> None:
    assert make_setting(load_experiment(name, {})).materials


def test_an_experiment_names_one_thing_to_play() -> None:
    for options in ({}, {"env": "memenvs/Odyssey-v0", "material": ["odyssey"]}):
        with pytest.raises(ValueError, match="give what to play"):
            make_setting(load_experiment(None, options))


def test_fresh_materials_are_drawn_from_fixed_seeds() -> None:
    add_material("drawn-for-a-test", drawn)
    first, again = (gather(["drawn-for-a-test"], count=3) for _ in range(2))
    assert [m.name for m in first] == ["drawn-0", "drawn-1", "drawn-2"]
    assert [m.claims for m in first] == [m.claims for m in again]
    assert len({m.claims for m in first}) == 3


def test_one_material_cannot_play_twice() -> None:
    with pytest.raises(ValueError, match="two materials are named 'odyssey'"):
        gather(["odyssey", "odyssey"])


def drawn(generator: Any) -> Any:
    """Draw the Odyssey with some claim's confidence at random."""
    from dataclasses import replace

    from memenvs.materials.odyssey import odyssey

    material = odyssey()
    first = replace(material.claims[0], confidence=generator.random())
    return replace(material, name="drawn", claims=(first, *material.claims[1:]))


def test_a_shipped_configuration_is_found_beside_a_folder_of_its_name(tmp_path, monkeypatch):
    (tmp_path / "demo").mkdir()  # where `make demo` writes
    monkeypatch.chdir(tmp_path)
    assert load_experiment("demo", {}).material == ["odyssey"]
