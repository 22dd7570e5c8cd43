"""Material files: exact round trip, and writing that leaves nothing half done."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memenvs import (
    Claim,
    Item,
    Material,
    MaterialError,
    Query,
    load_material,
    load_materials,
    save_materials,
)
from memenvs.material.files import save_lines
from memenvs.materials.odyssey import odyssey, odyssey_composite, odyssey_noisy
from memenvs.storage.whole import write_durably, write_whole
from strategies import materials

# --- round trip ---------------------------------------------------------------------------------


FEW = settings(max_examples=25, deadline=None)  # each file is brought to disk


@FEW
@given(material=materials(), lines=st.booleans())
def test_any_material_comes_back_equal(material, lines):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("m.jsonl" if lines else "m.json")
        material.save(path)
        assert load_material(path) == material


@FEW
@given(st.lists(materials(), min_size=1, max_size=3, unique_by=lambda m: m.name))
def test_many_materials_come_back_in_order_under_any_name(listed):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        save_lines(listed, path)
        assert load_materials(path) == listed


@pytest.mark.parametrize("make", [odyssey, odyssey_noisy, odyssey_composite])
def test_odyssey_comes_back_equal(make, tmp_path):
    make().save(tmp_path / "o.json")
    assert load_material(tmp_path / "o.json") == make()


def test_unicode_line_separators_do_not_split_lines(tmp_path):
    material = Material(
        "ü\u2028\u0085", (Claim(id="\U0001f600", text="a\r\n\x0b\x00b"),), (), (Query(id="q"),)
    )
    save_materials([material], tmp_path / "m.jsonl")
    assert load_material(tmp_path / "m.jsonl") == material


def test_numbers_of_numpy_and_ints_are_written_as_floats(tmp_path):
    claim = Claim(
        id="c", time=np.float32(1.5), confidence=1, cues={"n": np.int64(3)}, valid_until=2
    )
    material = Material("m", (claim,), (), (Query(id="q", weight=2),))
    material.save(tmp_path / "m.json")
    assert load_material(tmp_path / "m.json") == material


def test_defaults_are_left_out_and_truth_is_a_boolean(tmp_path):
    Material("m", (Claim(id="c", truth=False),), (), (Query(id="q"),)).save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert document["claims"] == [{"id": "c", "truth": False}]
    assert document["queries"] == [{"id": "q"}]


def test_only_ids_supports_and_answers_are_required(tmp_path):
    document = {
        "format": "memenvs.material/1",
        "name": "m",
        "claims": [{"id": "c"}],
        "items": [{"id": "n", "supports": [["c"]], "answers": ["q"]}],
        "queries": [{"id": "q"}],
    }
    path = tmp_path / "m.json"
    path.write_text("\ufeff" + json.dumps(document))
    material = load_material(path)
    assert material.claims[0] == Claim(id="c", text="", truth=True)
    assert material.queries[0].weight == 1.0
    assert material.coverage(["c"]) == 1.0


# --- writing ------------------------------------------------------------------------------------


def test_several_materials_need_lines(tmp_path):
    with pytest.raises(MaterialError, match="jsonl"):
        save_materials([odyssey(), odyssey_noisy()], tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_failing_to_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    odyssey().save(path)
    before = path.read_bytes()

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(MaterialError, match="No space left"):
        odyssey_noisy().save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("target", ["none/m.json", ".", "/", "a\0b"])
def test_a_place_that_cannot_be_written(target, tmp_path):
    with pytest.raises(MaterialError, match="cannot be written"):
        odyssey().save(tmp_path / target)
    assert not list(tmp_path.iterdir())


def test_a_text_that_no_file_can_hold(tmp_path):
    material = Material("m", (Claim(id="c", text="\ud800"),), (), (Query(id="q"),))
    with pytest.raises(MaterialError, match="surrogate"):
        material.save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_devices_are_written_to_and_links_followed(tmp_path):
    odyssey().save(os.devnull)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    (tmp_path / "link.json").symlink_to(tmp_path / "m.json")
    odyssey().save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert load_material(tmp_path / "m.json") == odyssey()


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    target, synced, sync = tmp_path / "m", [], os.fsync

    def seen(number):
        synced.append((os.fstat(number).st_ino, target.exists()))
        sync(number)

    monkeypatch.setattr(os, "fsync", seen)
    write_whole(target, b"content")
    # Its bytes while it has another name, and then the name.
    assert synced == [(target.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "m"
    write_whole(target, b"old")

    def fail(stream):
        stream.write(b"half of the new")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_durably(target, fail)
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_mode_follows_the_umask(tmp_path):
    write_whole(tmp_path / "a", b"")
    (tmp_path / "b").touch()
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_items_may_share_a_support(tmp_path):
    items = tuple(Item(id=n, supports=(("c",),), answers=("q",)) for n in "ab")
    material = Material("m", (Claim(id="c"),), items, (Query(id="q"),))
    material.save(tmp_path / "m.json")
    assert load_material(tmp_path / "m.json") == material
