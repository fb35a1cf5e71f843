# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs to measure, each with its own copies of libraries, and medians of their times."""

import atexit
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from lib.libraries import libraries_of, mapped
from lib.process import ROOT

BUILD = (ROOT / os.environ.get("O", "build/check")).absolute()  # with test knobs
ALLOCATORS = ("libjemalloc.so.2", "libc.so.6")  # the first one mapped provides malloc


def allocator(pid):
    return next(filter(None, (mapped(pid, name) for name in ALLOCATORS)))


def cpu_ns(pid):
    """Returns the CPU time of all live threads of a process, in nanoseconds."""
    times = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text(encoding="ascii").split()[0]) for path in times)


def free_mib():
    with open("/proc/meminfo", encoding="ascii") as text:
        return int(text.read().split("MemAvailable:")[1].split()[0]) // 1024


def start(argv, **others):
    """Starts a process that is terminated when this one exits."""
    popen = subprocess.Popen(argv, **others)  # pylint: disable=consider-using-with
    atexit.register(popen.terminate)
    return popen


class Program:
    """
    A process with its own copies of the allocator's libraries. The kernel runs all probes on a
    function of a file for each process that maps the file, so tracers of different processes
    would otherwise slow each other down.
    """

    def __init__(self, *argv, **others):
        self.folder = tempfile.TemporaryDirectory(prefix="memleak-bench-")
        for path in library_paths(others.get("executable", argv[0])):
            shutil.copy(path, self.folder.name)
        self.popen = start(
            list(map(str, argv)), cwd=self.folder.name, text=True, bufsize=1, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "LD_LIBRARY_PATH": self.folder.name}, **others)
        self.pid = self.popen.pid
        self.tracer = None

    def end(self):
        if self.tracer:
            self.tracer.end()
        self.popen.stdin.close()
        self.popen.stdout.close()
        self.popen.wait()
        self.folder.cleanup()


def library_paths(program):
    # For a script, return libc: all programs that it runs use it.
    return ([path for path in libraries_of(program) if os.path.basename(path) in ALLOCATORS] or
            [mapped("self", ALLOCATORS[-1])])


class Calls(Program):
    """A program of bench/: reads a line, prints a line with nanoseconds."""

    def __init__(self, name, *args, wrapper=(), order=""):
        super().__init__(*wrapper, BUILD / "bench" / name, *args)
        self.order = order
        self.times = []

    def measure(self, order=None):
        self.popen.stdin.write((self.order if order is None else order) + "\n")
        self.popen.stdin.flush()
        # Skip output of a wrapper.
        for line in self.popen.stdout:
            if re.fullmatch(r"[0-9.]+\n", line):
                return float(line)
        sys.exit(f"{self.popen.args[0]} ended")

    def turn(self):
        self.times.append(self.measure())


def difference(xs, ys):
    """Returns the median of differences within the same turn."""
    return statistics.median(x - y for x, y in zip(xs, ys))


def ratio(xs, ys):
    return statistics.median(x / y for x, y in zip(xs, ys))


def show_ratio(times, of):
    """Returns a table cell with the ratio of times, or "-" if there is none to compare with."""
    return f"{ratio(times, of):10.2f}" if of else f"{'-':>10}"
