"""A system in another process: requests and replies are lines of JSON on its standard streams.

| request | reply |
|---|---|
| `{"op": "start", "capacity": S}` | `{"ok": true, "search": true}` (`search`: it can be asked) |
| `{"op": "add", "text": "...", "id": "7", "source": "...", ...}` | `{"ok": true}` |
| `{"op": "contents"}` | `{"entries": [{"id": "7", "text": "..."}, "...", ...]}` |
| `{"op": "search", "query": "...", "k": 5}` | `{"entries": [...]}` |

Each is one line of UTF-8, and each request has one reply. `{"error": "..."}` is a reply, too. What
the process writes on standard error is shown. When its standard input ends, it is done.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import shutil
import signal
import subprocess
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from memenvs.policies.systems.protocol import FaultySystemError

TIMEOUT = 60.0  # seconds for a reply
LEAVE = 2.0  # seconds to end by itself
LONGEST = 2**26  # bytes of a line
SHOWN = 80


class ProcessSystem:
    """The system behind a process; raises ``FaultySystemError`` where it hangs, dies or babbles."""

    def __init__(self, words: Sequence[str], *, timeout: float = TIMEOUT) -> None:
        self._name, self._timeout = shlex.join(words), timeout
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # so that all it started ends with it
            )
        except OSError as error:
            raise FaultySystemError(
                f"the process '{self._name}' does not start: {error.strerror or error}"
            ) from None
        self._line = Line(self._process)
        self._over = weakref.finalize(self, _end, self._process, self._line)

    @classmethod
    def start(cls, words: Sequence[str], capacity: int, *, timeout: float = TIMEOUT) -> Any:
        """Start it and tell it its capacity; what can be asked has a ``search``."""
        system = cls(words, timeout=timeout)
        reply = system.ask({"op": "start", "capacity": capacity})
        return SearchableProcess(system) if reply.get("search") is True else system

    def add(self, text: str, **facts: Any) -> None:
        """Send a statement."""
        self.ask({"op": "add", "text": text, **facts})

    def contents(self) -> Any:
        """Ask what is stored."""
        return self._entries({"op": "contents"})

    def found(self, query: str, k: int) -> Any:
        """Ask for what serves a query."""
        return self._entries({"op": "search", "query": query, "k": k})

    def close(self) -> None:
        """Let it end, and end it if it does not."""
        self._over()

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and read the reply."""
        if not self._over.alive:
            raise self._failure("has ended")
        line = json.dumps(request).encode() + b"\n"
        try:
            reply = self._line.exchange(line, self._timeout)
        except queue.Empty:
            raise self._failure(
                f"did not answer '{request['op']}' within {self._timeout:g} s"
            ) from None
        except BaseException:  # an interruption: whatever it answers now answers nothing
            _kill(self._process)
            raise
        if not reply:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(LEAVE)
            code = self._process.returncode
            how = "closed its output" if code is None else f"ended with exit code {code}"
            raise self._failure(f"{how} instead of answering '{request['op']}'")
        try:
            value = json.loads(reply)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            said = ascii(reply[:SHOWN].decode(errors="replace").strip())
            raise self._failure(f"answered '{request['op']}' with no JSON object: {said}")
        if "error" in value:
            said = ascii(value["error"])[:SHOWN]
            raise self._failure(f"answered '{request['op']}' with an error: {said}")
        return value

    def _entries(self, request: dict[str, Any]) -> Any:
        reply = self.ask(request)
        if not isinstance(reply.get("entries"), list):
            raise self._failure(f"answered '{request['op']}' without a list of 'entries'")
        return reply["entries"]

    def _failure(self, said: str) -> FaultySystemError:
        _kill(self._process)
        self._over()
        return FaultySystemError(f"the process '{self._name}' {said}")


class Line:
    """The streams of a process, in a thread of their own: a pipe alone knows no time limit.

    Nothing waits for the thread for long: something that the process started and that outlives it
    may hold the pipe open.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._replies: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        given = (process, self._requests, self._replies)
        self._thread = threading.Thread(target=_serve, args=given, daemon=True)
        self._thread.start()

    def exchange(self, request: bytes, timeout: float) -> bytes:
        """Send a line and give the reply, empty if there is none; raises ``queue.Empty``."""
        self._requests.put(request)
        return self._replies.get(timeout=timeout)

    def hang_up(self) -> None:
        """Close the streams when what is under way is done."""
        self._requests.put(None)

    def join(self) -> None:
        """Wait until they are closed, but not for ever."""
        self._thread.join(LEAVE)


def _serve(
    process: subprocess.Popen[bytes],
    requests: queue.SimpleQueue[bytes | None],
    replies: queue.SimpleQueue[bytes],
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    while (request := requests.get()) is not None:
        try:
            process.stdin.write(request)
            process.stdin.flush()
            replies.put(process.stdout.readline(LONGEST))
        except OSError:
            replies.put(b"")
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(OSError):
            stream.close()


class SearchableProcess:
    """A process that can be asked, too."""

    def __init__(self, inner: ProcessSystem) -> None:
        self.add, self.contents, self.search = inner.add, inner.contents, inner.found
        self.close = inner.close


def command(variant: str) -> list[str]:
    """Split a command line as a shell does; raises ``ValueError`` if there is no such program."""
    try:
        words = shlex.split(variant)
    except ValueError as error:
        raise ValueError(f"'process:{variant}' is no command line: {error}") from None
    if not words or shutil.which(words[0]) is None:
        raise ValueError(
            f"'process:{variant}' names no program that can be run; write process:COMMAND"
        )
    return words


def _end(process: subprocess.Popen[bytes], line: Line) -> None:
    line.hang_up()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(LEAVE)
    _kill(process)
    line.join()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End it, and all that it started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
