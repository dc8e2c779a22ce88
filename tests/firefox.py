"""Firefox of the system, headless, for the tests: WebDriver BiDi over a websocket.

Playwright drives a Firefox of its own only, and Selenium needs a program between. Five commands
are enough here: open a session, open a tab, go to an address, run a script, end the session.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from queue import Empty, Queue
from typing import Any

NAMES = ("firefox-esr", "firefox")
MISSING = (
    f"no Firefox on this machine: one of {', '.join(NAMES)} (Debian: apt install firefox-esr)"
)
START = 120.0  # seconds: a machine with other work
LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
#: Nothing but what a test asks for goes over the network.
SETTINGS = {
    "app.update.disabledForTesting": True,
    "browser.aboutConfig.showWarning": False,
    "browser.newtabpage.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "captivedetect.canonicalURL": "",
    "datareporting.healthreport.uploadEnabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "extensions.update.enabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.dns.disabled": True,
    "toolkit.telemetry.enabled": False,
}


class Refused(RuntimeError):
    """Firefox answered a command with an error, or a script in the page threw one."""


def executable() -> str | None:
    """Return the path of the first that is found."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox:
    """A running Firefox with one tab.

    Parameters
    ----------
    path : str
        Of the program.

    Attributes
    ----------
    version : str
    """

    def __init__(self, path: str):
        import websocket

        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        lines = [f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in SETTINGS.items()]
        Path(self._folder.name, "user.js").write_text("\n".join(lines))
        command = [path, "--headless", "--no-remote", "--profile", self._folder.name]
        self._process = subprocess.Popen(
            [*command, "--remote-debugging-port=0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._count = 0
        try:
            self._socket = websocket.create_connection(
                f"{self._address()}/session", timeout=START, suppress_origin=True
            )
            session = self._ask("session.new", capabilities={})
            self.version = session["capabilities"]["browserVersion"]
            self._tab = self._ask("browsingContext.create", type="tab")["context"]
        except BaseException:
            self._process.kill()
            self._ended()
            raise

    def _address(self) -> str:
        """Return where Firefox listens: it says so among its errors, which are read on."""
        said: Queue[str] = Queue()

        def read():
            for line in self._process.stderr:
                said.put(line)

        self._reader = threading.Thread(target=read, daemon=True)
        self._reader.start()
        end = time.monotonic() + START
        while time.monotonic() < end:
            with contextlib.suppress(Empty):
                if found := LISTENS.search(said.get(timeout=1.0)):
                    return found[1]
            if self._process.poll() is not None:
                raise Refused(f"Firefox ended with {self._process.returncode}")
        raise Refused(f"Firefox did not listen within {START:g} s")

    def _ask(self, method: str, **params: Any) -> Any:
        """Send a command and return its result; events on the way are left."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._count:
                if answer["type"] == "error":
                    raise Refused(f"{method}: {answer['error']}: {answer['message']}")
                return answer["result"]

    def goto(self, address: str) -> None:
        """Go to an address, and wait until the page is loaded."""
        self._ask("browsingContext.navigate", context=self._tab, url=address, wait="complete")

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page, a promise awaited, as JSON has it.

        Raises
        ------
        Refused
            If it throws an error.
        """
        answer = self._ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify((await ({script})) ?? null))()",
            target={"context": self._tab},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise Refused(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def until(self, condition: str, seconds: float = 60.0) -> None:
        """Wait until an expression is true in the page.

        Raises
        ------
        TimeoutError
            If it is not, in the end.
        """
        end = time.monotonic() + seconds
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds:g} s: {condition}")
            time.sleep(0.05)

    def close(self) -> None:
        """End the session and the program."""
        with contextlib.suppress(Exception):  # it may be gone
            self._ask("session.end")
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(20.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._ended()

    def _ended(self) -> None:
        """Take away what the program has left."""
        self._process.wait()
        self._reader.join(20.0)
        self._process.stderr.close()
        self._folder.cleanup()
