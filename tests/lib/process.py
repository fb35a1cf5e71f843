# SPDX-License-Identifier: GPL-2.0-or-later
"""
A child process of the tests: reads its output as it arrives and waits for events without sleeping.
"""

import ctypes
import os
import pathlib
import select
import signal
import subprocess
import time

from .case import Broken, Failure
from .slowness import SLOWNESS

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Maximum time to wait for anything that is usually quick, in seconds: only a hang reaches it.
PATIENCE = 60 * SLOWNESS

_libc = ctypes.CDLL(None, use_errno=True)
_PR_SET_PDEATHSIG = 1


def _die_with_the_runner():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Stream:
    """The output of a pipe, as bytes and line by line."""

    def __init__(self, file):
        self.file = file
        self.data = bytearray()
        self.open = file is not None
        self._taken = 0
        if file:
            os.set_blocking(file.fileno(), False)

    def read(self):
        """Reads what is available; returns False at the end of the stream."""
        while self.open:
            try:
                chunk = os.read(self.file.fileno(), 1 << 20)
            except BlockingIOError:
                return True
            if not chunk:
                self.close()
            self.data += chunk
        return False

    def close(self):
        if self.open:
            self.file.close()
            self.open = False

    def take_line(self):
        """Returns the next complete line without its newline, or None."""
        end = self.data.find(b"\n", self._taken)
        if end < 0:
            return None
        line = bytes(self.data[self._taken:end])
        self._taken = end + 1
        return line

    @property
    def text(self):
        return self.data.decode("utf-8", "replace")


class Process:
    def __init__(self, argv, *, env=None, cwd=None, stdin=subprocess.PIPE,
                 stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        self.argv = [os.fspath(arg) for arg in argv]
        try:
            self.popen = subprocess.Popen(
                self.argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd, bufsize=0,
                env=None if env is None else {**os.environ, **env},
                preexec_fn=_die_with_the_runner)
        except OSError as error:
            raise Broken(f"cannot start {self.argv[0]!r}: {error}") from error
        self.pid = self.popen.pid
        self.out = Stream(self.popen.stdout)
        self.err = Stream(self.popen.stderr)
        self._pidfd = os.pidfd_open(self.pid)

    @property
    def name(self):
        return os.path.basename(self.argv[0])

    @property
    def code(self):
        """Exit code, negative signal number, or None while it runs."""
        return self.popen.poll()

    def pump(self, seconds):
        """Waits up to this time for output or the process's end, and reads the output."""
        poll = select.poll()
        streams = {s.file.fileno(): s for s in (self.out, self.err) if s.open}
        for fd in streams:
            poll.register(fd, select.POLLIN)
        if self.code is None:
            poll.register(self._pidfd, select.POLLIN)
        else:
            seconds = 0
        for fd, _ in poll.poll(max(0, seconds) * 1000):
            if fd in streams:
                streams[fd].read()

    def wait_for(self, what, found, seconds=PATIENCE, every=None):
        """
        Reads output until found() returns something true, and returns it. every: seconds after
        which found() is called again even without output.
        """
        deadline = time.monotonic() + seconds
        while True:
            ended = self.code is not None
            self.out.read()
            self.err.read()
            result = found()
            if result:
                return result
            if ended:
                raise Failure(f"{self.name} ended (code {self.code}) before {what}")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name}: no {what} within {seconds} s")
            self.pump(every or deadline - time.monotonic())

    def wait(self, seconds=PATIENCE):
        """Waits for the end of the process and of its output; returns the exit code."""
        self.wait_for("its end", lambda: self.code is not None, seconds)
        return self.code

    def send(self, data=b"x"):
        try:
            self.popen.stdin.write(data)
        except (BrokenPipeError, ValueError):
            pass  # it has ended: the code that waits for its answer reports this

    def close_stdin(self):
        if self.popen.stdin:
            self.popen.stdin.close()

    def signal(self, number):
        if self.code is None:
            self.popen.send_signal(number)

    def end(self):
        """Kills the process if it still runs, and waits for it."""
        if self.code is None:
            self.popen.kill()
            try:
                self.popen.wait(PATIENCE)
            except subprocess.TimeoutExpired as error:
                raise Broken(f"process {self.pid} ({self.name}) survives SIGKILL") from error
        for stream in (self.out, self.err):
            stream.read()
            stream.close()
        self.close_stdin()
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1


def state_of(pid):
    """Returns the process's state as a letter, T if it is stopped; None if it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0].decode("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return None


def alive(pid):
    """True unless the process is gone or a zombie."""
    return state_of(pid) not in (None, "Z", "X")


def until(condition, seconds=PATIENCE):
    """Polls a condition that the kernel has no event for. Returns True as soon as it holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
