"""Files written whole, handles, bounded messages, archives: what all formats of ours stand on."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memenvs import MaterialError
from memenvs.storage.archives import Archive, array_entries, packed
from memenvs.storage.handles import Handle, owned_folder, unopened
from memenvs.storage.messages import VisibleStream, csv_cell, one_line, text_of_cell, visible
from memenvs.storage.reading import read_bounded, read_sealed, sealed
from memenvs.storage.whole import PREFIX, sweep, write_durably, write_whole

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="modes and locks of POSIX")


@POSIX
def test_a_save_keeps_mode_owner_and_link(tmp_path):
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to("real")
    if os.geteuid() == 0:
        os.chown(real, 12345, 54321)
    write_whole(link, b"new")
    write_durably(link, lambda stream: stream.write(b"newer"))
    kept = real.stat()
    assert link.is_symlink()
    assert real.read_bytes() == b"newer"
    assert stat.S_IMODE(kept.st_mode) == 0o600
    if os.geteuid() == 0:
        assert (kept.st_uid, kept.st_gid) == (12345, 54321)


@POSIX
def test_what_is_being_written_is_its_owners_alone_and_survives_a_sweep(tmp_path):
    def write(stream):
        (file,) = tmp_path.glob(f"{PREFIX}*")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        sweep(tmp_path)
        assert file.exists()

    write_durably(tmp_path / "new", write)
    (tmp_path / f"{PREFIX}left by a kill").touch()
    write_whole(tmp_path / "other", b"")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new", "other"]


@POSIX
def test_a_handle_is_one_of_a_kind_by_every_name(tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to("file")
    monkeypatch.chdir(tmp_path)
    handle = Handle("file")
    for name in ("file", "./file", "link", tmp_path / "file"):
        with pytest.raises(MaterialError, match="is open elsewhere"):
            Handle(name)
        with pytest.raises(MaterialError, match="is open elsewhere"), unopened(name):
            pass
    handle.rewrite(b"more")
    with pytest.raises(MaterialError, match="is open elsewhere"):
        Handle("file")
    (tmp_path / "file").rename(tmp_path / "gone")
    with pytest.raises(MaterialError, match="was replaced or removed"):
        _ = handle.stream
    handle.close()
    with pytest.raises(MaterialError, match="is closed"):
        _ = handle.stream


@POSIX
def test_a_folder_has_one_writer_and_an_empty_one_goes_again(tmp_path):
    folder = tmp_path / "a" / "b"
    with owned_folder(folder):
        (folder / f"{PREFIX}left").touch()
        with pytest.raises(MaterialError, match="by another training"), owned_folder(folder):
            pass
        (folder / f"{PREFIX}left").unlink()
    assert not (tmp_path / "a").exists()
    folder.mkdir(parents=True)
    (folder / f"{PREFIX}left").touch()
    (folder / "file").touch()
    with owned_folder(folder):
        assert [p.name for p in folder.iterdir()] == ["file"]


@given(st.text())
def test_a_message_is_one_bounded_line_that_steers_no_terminal(text):
    line = one_line(text * 50, 200)
    assert len(line) <= 200
    assert line == line.replace("\n", "")
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in line)
    line.encode()
    stream = io.StringIO()
    VisibleStream(stream).write(text)
    assert "\x1b" not in stream.getvalue()


def test_what_is_wrong_and_what_to_do_both_stay_of_a_long_message():
    error = MaterialError(f"is {'x' * 10**6}; mend it", record="r" * 10**6, field="f" * 10**6)
    assert len(str(error)) < 1500
    assert "mend it" in str(error)
    assert visible("a\x1b]0;title\x07\u202eb\ud800") == "a\\x1b]0;title\\x07\\u202eb\\ud800"


@pytest.mark.parametrize(
    ("cell", "shown"),
    [("=1+1", "'=1+1"), ("@A1", "'@A1"), ("-x", "'-x"), ("-0.5", "-0.5"), ("a=b", "a=b"), (-1, -1)],
)
def test_no_cell_is_a_formula(cell, shown):
    assert csv_cell(cell) == shown


@given(st.text("'=+-@1.e", max_size=6))
def test_a_cell_says_which_text_it_was_made_of(text):
    assert text_of_cell(csv_cell(text)) == text


def test_a_sealed_document_says_when_it_was_changed(tmp_path):
    import json

    document = sealed({"format": "memenvs.x/1", "a": 1.5})
    read = read_sealed(json.dumps(document).encode(), "memenvs.x/1", "x", "file")
    assert read == {"a": 1.5}
    for change, words in (({"a": 1.25}, "was changed"), ({"format": "memenvs.x/2"}, "another ver")):
        with pytest.raises(MaterialError, match=words):
            read_sealed(json.dumps(document | change).encode(), "memenvs.x/1", "x", "file")
    (tmp_path / "file").write_bytes(b"12345")
    assert read_bounded(tmp_path / "file", 5) == b"12345"
    for path, longest in ((tmp_path / "file", 4), (tmp_path, 9), ("/dev/zero", 9), ("a\0", 9)):
        with pytest.raises(MaterialError):
            read_bounded(path, longest)


def test_an_archive_is_bounded_before_it_is_unpacked():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("zeros", bytes(2**24))
    assert len(stream.getvalue()) < 2**15
    with pytest.raises(MaterialError, match="unpacks to more than 1,048,576 bytes"):
        Archive(stream.getvalue(), 2**20, "memory", "file")


def test_arrays_come_back_and_objects_do_not():
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(3), "c": np.zeros((0, 4))}
    read = Archive(packed(array_entries(arrays.items())), 2**20, "x", "f").arrays()
    assert all((read[name] == array).all() for name, array in arrays.items())
    assert {name: a.shape for name, a in read.items()} == {n: a.shape for n, a in arrays.items()}
    for broken in (np.array([{}], dtype=object), np.array(["a"])):
        content = io.BytesIO()
        np.lib.format.write_array(content, broken, allow_pickle=True)
        archive = Archive(packed({"a.npy": content.getvalue()}), 2**20, "x", "f")
        with pytest.raises(MaterialError, match="is no array of numbers"):
            archive.arrays()


@POSIX
def test_a_child_leaves_the_files_of_its_parent_alone(tmp_path):
    code = (
        "import os, sys\n"
        "from memenvs.policies.weighted_tree import WeightedTree\n"
        "tree = WeightedTree.open(sys.argv[1]); tree.begin_task('root')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    try: tree.record_action('of the child')\n"
        "    except ValueError as error: print(error, flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "tree.record_action('of the parent'); tree.close()\n"
        "print(WeightedTree.open(sys.argv[1]).nodes.texts)\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(tmp_path / "t")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "was opened by another process, before a fork" in run.stdout
    assert run.stdout.splitlines()[-1] == "['root', 'of the parent']"


def test_threads_share_what_is_guarded(tmp_path):
    from memenvs.policies import WriteMemory
    from memenvs.policies.weighted_tree import WeightedTree

    tree = WeightedTree.open(tmp_path / "tree")
    tree.begin_task("root")
    memory, errors = WriteMemory("fifo", 20), []

    def work(name):
        try:
            for n in range(60):
                tree.record_action(f"{name} {n}", "success")
                memory.add(f"{name} says {n}", name)
                if n % 10 == 0:
                    memory.settled(f"says {n}", True)
                    memory.save(tmp_path / "memory")
        except Exception as error:  # shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    tree.close()
    again = WeightedTree.open(tmp_path / "tree")
    assert len(again.nodes.texts) == 1 + 4 * 60
    again.close()
    assert len(memory.contents()) == 20
    assert memory.add("last") == 4 * 60
    memory.save(tmp_path / "memory")
    assert WriteMemory.load(tmp_path / "memory").contents() == memory.contents()
