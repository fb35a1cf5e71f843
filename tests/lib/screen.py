# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal in tmux: sends keys and reads the screen."""

import os
import shlex
import subprocess
import time

from .case import Broken, Failure
from .context import SANITIZER_ENV
from .process import PATIENCE, ROOT

GOLDEN = ROOT / "tests/golden/live"
SHELL_END = "the shell goes on"


class Screen:
    """Runs memleak in a shell, which prints afterwards how the terminal was left."""

    def __init__(self, t, *args, size="80x24", env=None, cwd=None):
        self.socket = t.tmp / "tmux"
        self.before, self.after, self.code = (t.tmp / name for name in ("before", "after", "code"))
        self.server = t.process(["tmux", "-S", self.socket, "-f", "/dev/null", "-D"])
        self.server.wait_for("the terminal", self.socket.exists, every=0.02)
        # libtinfo never frees what it reads about terminals.
        suppressions = t.tmp / "kept"
        suppressions.write_text("leak:libtinfo.so\nleak:libncursesw.so\n", encoding="ascii")
        kept = f"{SANITIZER_ENV['LSAN_OPTIONS']}:print_suppressions=0:suppressions={suppressions}"
        environment = {**SANITIZER_ENV, "LSAN_OPTIONS": kept, "TZ": "UTC", "LC_ALL": "C.UTF-8",
                       "HOME": "/nowhere", **(env or {})}
        command = shlex.join([os.fspath(t.path), *map(os.fspath, args)])
        # With exec, a signal kills memleak, not a shell in between.
        script = (f"set -m; stty -g >{self.before}; (echo $BASHPID >{t.tmp}/pid; exec {command}); "
                  f"echo $? >{self.code}; stty -g >{self.after}; echo {SHELL_END}; "
                  "while read -r line; do eval \"$line\"; done")
        columns, rows = size.split("x")
        words = [f"{name}={value}" for name, value in environment.items()]
        self.tmux("new-session", "-d", "-x", columns, "-y", rows, "-c", cwd or t.tmp,
                  "env", *words, "bash", "-c", script)
        self.pid_file = t.tmp / "pid"

    @property
    def pid(self):
        return int(self.pid_file.read_text(encoding="ascii"))

    def tmux(self, *words):
        answer = subprocess.run(["tmux", "-S", self.socket, *map(str, words)], check=False,
                                capture_output=True)
        if answer.returncode:
            raise Broken(f"tmux {words[0]}: {answer.stderr.decode()}")
        return answer.stdout.decode("utf-8", "replace")

    def state(self, *names):
        return self.tmux("display-message", "-p", " ".join(f"#{{{n}}}" for n in names)).strip()

    def keys(self, *names):
        """Sends keys by tmux's names (a, Enter, Escape, Left); any other text is typed."""
        self.tmux("send-keys", *names)
        return self

    def text(self, colour=False):
        return self.tmux("capture-pane", "-p", *(["-e"] if colour else []))

    def resize(self, columns, rows):
        self.tmux("resize-window", "-x", columns, "-y", rows)
        return self

    def wait_for(self, *words, without=()):
        """Waits until the screen has all these words and none of `without`; returns its text."""
        def found():
            text = self.text()
            return all(word in text for word in words) and not any(w in text for w in without)
        self._wait(f"{words} and none of {without}", found)
        return self.text()

    def golden(self, name):
        """Waits until the screen equals the file; GOLDEN_UPDATE=1 writes the file instead."""
        path = GOLDEN / f"{name}.txt"
        if os.environ.get("GOLDEN_UPDATE"):
            time.sleep(1)
            path.write_text(self.text(), encoding="utf-8")
        self._wait(f"the screen of {path}:\n{path.read_text(encoding='utf-8')}",
                   lambda: self.text() == path.read_text(encoding="utf-8"))
        return self

    def _wait(self, what, found):
        deadline = time.monotonic() + PATIENCE
        while not found():
            if time.monotonic() > deadline:
                raise Failure(f"waited for {what}\nthere is:\n{self.text()}")
            time.sleep(0.02)

    def left(self, code):
        """
        Waits until memleak has ended with this code; checks that the terminal is as before. Returns
        the screen.
        """
        text = self.wait_for(SHELL_END)
        ended = int(self.code.read_text(encoding="ascii"))
        if ended != code:
            raise Failure(f"exit code {ended}, not {code}:\n{text}")
        if self.before.read_text() != self.after.read_text():
            raise Failure(f"stty: {self.before.read_text()} has become {self.after.read_text()}")
        state = self.state("alternate_on", "cursor_flag", "mouse_any_flag", "keypad_flag")
        if state != "0 1 0 0":
            raise Failure(f"alternate screen, cursor, mouse, keypad: {state}, not 0 1 0 0")
        return text
