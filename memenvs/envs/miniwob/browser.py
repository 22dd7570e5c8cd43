"""One headless browser for all tasks of a process, which no end of the process leaves behind."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any

from memenvs.envs.miniwob import keeper

FLAGS = (
    "--headless --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update --disable-dev-shm-usage "
    "--window-size=500,400"
).split()
NO_SANDBOX = "MEMENVS_NO_SANDBOX"  # of the environment: set where the system gives none
STARTING, LOADING, ANSWERING = 30.0, 10.0, 10.0  # seconds
_STARTED = re.compile(r"started successfully on port (\d+)")


class BrowserError(RuntimeError):
    """The browser is missing, died, or did not answer: no outcome of an episode."""


class Browser:
    """A chromedriver in a session of its own, with one browser.

    Raises ``BrowserError`` where Chromium or chromedriver cannot be started; they are looked for on
    the path, or where ``MINIWOB_CHROME_BINARY`` and ``MINIWOB_CHROMEDRIVER`` say.
    """

    def __init__(self) -> None:
        chrome = find("MINIWOB_CHROME_BINARY", ("chromium", "chromium-browser", "google-chrome"))
        chromedriver = find("MINIWOB_CHROMEDRIVER", ("chromedriver",))
        self.owner = os.getpid()
        self.position: Any = None  # what is shown, as whoever shows it says
        self.profile = tempfile.mkdtemp(prefix="memenvs-browser-")
        self._keeper = subprocess.Popen(
            [sys.executable, "-S", "-E", keeper.__file__, chromedriver, self.profile],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,  # what waits in a buffer would not show in select()
            start_new_session=True,
        )
        atexit.register(self.close)
        try:
            self._driver = _connect(self._port(), chrome, self.profile)
        except BaseException:
            self.close()
            raise

    @property
    def session(self) -> int:
        """Number of the session whose processes are the browser's."""
        return self._keeper.pid

    def load(self, address: str) -> None:
        """Load a page, afresh if it is the one that is shown."""
        self._call("get", address)

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script that answers by calling its last argument; gives the answer."""
        return self._call("execute_async_script", script, *arguments)

    def close(self) -> None:
        """End the browser, and wait until nothing of it is left."""
        atexit.unregister(self.close)
        if os.getpid() != self.owner or self._keeper.stdin is None:
            return
        with suppress(BrokenPipeError):  # it has ended already
            self._keeper.stdin.write(b".")
        self._keeper.stdin.close()
        self._keeper.stdin = None
        try:
            self._keeper.wait(2 * keeper.PATIENCE)
        except subprocess.TimeoutExpired:  # somebody stopped it
            keeper.end_session(self.session)
            self._keeper.wait()
        shutil.rmtree(self.profile, ignore_errors=True)
        if self._keeper.stdout is not None:
            self._keeper.stdout.close()

    def _call(self, method: str, *arguments: Any) -> Any:
        from selenium.common.exceptions import TimeoutException, WebDriverException
        from urllib3.exceptions import HTTPError

        try:
            return getattr(self._driver, method)(*arguments)
        except TimeoutException:
            self.close()
            raise BrowserError(
                f"the browser did not finish within {LOADING:g} s: {arguments[0][:100]}"
            ) from None
        except (WebDriverException, HTTPError, OSError) as error:
            self.close()
            said = str(getattr(error, "msg", None) or error).splitlines()
            raise BrowserError(
                f"the browser died or does not answer: {(said or ['no word'])[0][:200]}"
            ) from None

    def _port(self) -> int:
        """Read the port from what chromedriver says as it starts."""
        assert self._keeper.stdout is not None
        said = ""
        while select([self._keeper.stdout], [], [], STARTING)[0]:
            line = self._keeper.stdout.readline().decode(errors="replace")
            found = _STARTED.search(line)
            if found:
                return int(found[1])
            if not line:
                break
            said = line.strip() or said
        raise BrowserError(f"chromedriver did not start; it said: {said or 'nothing'}")


_browser: Browser | None = None


def _leave() -> None:
    """Let go of the parent's browser after a fork, so that it ends with the parent alone."""
    if _browser is not None and _browser._keeper.stdin is not None:
        _browser._keeper.stdin.close()
        _browser._keeper.stdin = None


os.register_at_fork(after_in_child=_leave)


def shared_browser() -> Browser:
    """Give the browser of this process: a new one at first, after a fork, and after one died."""
    global _browser
    if _browser is None or _browser._keeper.stdin is None:
        _browser = Browser()
    return _browser


def find(variable: str, names: tuple[str, ...]) -> str:
    """Give the path of a program; raises ``BrowserError`` that says how to get it."""
    given = os.environ.get(variable)
    for name in (given,) if given else names:
        path = shutil.which(name)
        if path is not None:
            return str(Path(path).resolve() if given else path)
    where = f"{variable}={given!r}" if given else f"{' or '.join(names)} on the path"
    raise BrowserError(
        f"there is no program at {where}; install chromium and chromium-driver (Debian: apt-get "
        f"install chromium chromium-driver) or set {variable}"
    )


def _sandbox() -> tuple[str, ...]:
    """Leave Chromium's sandbox on, unless it has none (for root) or the user says so."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return ("--no-sandbox",) if root or os.environ.get(NO_SANDBOX) else ()


def _connect(port: int, chrome: str, profile: str) -> Any:
    """Open a browser through chromedriver; nothing is asked of the network."""
    os.environ.setdefault("SE_OFFLINE", "true")
    os.environ.setdefault("SE_AVOID_STATS", "true")
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver import ChromeOptions, Remote
    from selenium.webdriver.common.proxy import Proxy
    from selenium.webdriver.remote.client_config import ClientConfig
    from urllib3.exceptions import HTTPError

    options = ChromeOptions()
    options.binary_location = chrome
    for flag in (*FLAGS, *_sandbox(), f"--user-data-dir={profile}"):
        options.add_argument(flag)
    address = f"http://127.0.0.1:{port}"
    config = ClientConfig(
        remote_server_addr=address,
        timeout=int(STARTING),
        proxy=Proxy({"proxyType": "DIRECT"}),
    )
    try:
        driver = Remote(address, options=options, client_config=config)
    except (WebDriverException, HTTPError, OSError) as error:
        said = str(getattr(error, "msg", None) or error).splitlines()[0]
        raise BrowserError(
            f"chromium did not start: {said[:200]}; where the system gives it no sandbox (in most "
            f"containers), set {NO_SANDBOX}=1"
        ) from None
    driver.set_page_load_timeout(LOADING)
    driver.set_script_timeout(ANSWERING)
    return driver
