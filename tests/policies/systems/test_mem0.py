"""The real mem0 on this machine: it stores, finds, calls no network, and has its point."""

import socket
from importlib.util import find_spec

import pytest

from commands import answer
from memenvs.policies.systems.mem0 import Mem0

pytestmark = [
    # It is not imported to see whether it is there: its telemetry is on then.
    pytest.mark.skipif(find_spec("mem0") is None, reason="needs the extra mem0"),
    pytest.mark.filterwarnings("ignore"),  # its packages' own
]

NAME = "system:memenvs.policies.systems.mem0:Mem0"


@pytest.fixture(autouse=True)
def called(monkeypatch):
    """Refuse every connection and every name, and list what was tried."""
    called = []

    def refuse(*arguments, **_):
        called.append(arguments)
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket.socket, "connect_ex", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    yield called
    assert called == []


def test_it_stores_and_finds():
    system = Mem0()
    for number, text in enumerate(["Tom likes tea", "Ann has a red car", "Tom moved to Bonn"]):
        system.add(text, id=str(number), source="s", time=float(number))
    assert system.contents() == [
        {"text": "Tom likes tea", "id": "0"},
        {"text": "Ann has a red car", "id": "1"},
        {"text": "Tom moved to Bonn", "id": "2"},
    ]
    assert system.search("Who has a car?", 1) == [{"text": "Ann has a red car", "id": "1"}]
    system.close()


def test_it_has_its_point_on_the_plane():
    found = answer(
        "compare", "--material", "odyssey", "--capacity", "3", "--episodes", "2", "--policy",
        "fifo", "--policy", NAME, "--utility", "end-to-end", "--reader", "own:5",
    )  # fmt: skip
    fifo, mem0 = found["rows"]
    assert mem0["precision"] == fifo["precision"]  # it keeps all; the newest three fit
    assert "0 matched no claim, 6 were beyond the capacity" in found["summary"][1]["remark"]
