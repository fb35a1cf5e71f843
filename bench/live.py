# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the live screen with many stacks, beside text reports of the same stacks."""

import fcntl
import os
import pty
import statistics
import struct
import subprocess
import termios
import threading
import time

from measure import BUILD, Calls, start
from reports import Reports

BLOCKS = 20000
SITES = 10000
DEPTH = 13
SECONDS = 10  # of one measurement
ATTACH_SECONDS = 2
NAMES_SECONDS = 8  # until names are known
BAR = 10  # percent of a processor at one report a second
LOOKS = {"--live": ("--live",), "text": (), "text -T 10000": ("-T", "10000")}


class Terminal:
    """memleak on a terminal of 80×24, whose output is thrown away."""

    def __init__(self, *words):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.popen = start([str(BUILD / "memleak"), *map(str, words)], stdin=theirs, stdout=theirs,
                           stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"})
        self.popen.stdout = ()
        os.close(theirs)
        self.ours = ours
        threading.Thread(target=self._drain, daemon=True).start()

    def _drain(self):
        try:
            while os.read(self.ours, 65536):
                pass
        except OSError:  # the terminal was closed
            pass

    def end(self):
        self.popen.terminate()
        self.popen.wait()
        os.close(self.ours)


def percent(words):
    """Returns the CPU usage of memleak and its helpers, in percent, at one report a second."""
    program = Calls("pairs", 1)
    program.measure("pairs 4 1 1")
    terminal = Terminal(*words, "-p", program.pid, "1")
    time.sleep(ATTACH_SECONDS)
    program.measure(f"hold {DEPTH} {SITES} {BLOCKS}")
    time.sleep(NAMES_SECONDS)
    processes = Reports(terminal, "")
    begin, used = time.monotonic(), processes.cpu_ns()
    time.sleep(SECONDS)
    found = (processes.cpu_ns() - used) / 1e7 / (time.monotonic() - begin)
    terminal.end()
    program.popen.kill()
    program.end()
    return found


def live(turns):
    print(f"The live screen with {SITES} stacks, one report each second: percent of a processor. "
          f"> is above the bar of {BAR} %.\n")
    for name, words in LOOKS.items():
        found = [percent(words) for _ in range(max(turns // 20, 1))]
        usage = statistics.median(found)
        print(f"{'>' if usage > BAR else ' '} {name:20}{usage:10.1f}", flush=True)
    print()
