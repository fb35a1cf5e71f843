# SPDX-License-Identifier: GPL-2.0-or-later
"""--format heaptrack: heaptrack_print reads the program's truth from the file."""

import re
import shutil
import signal
import subprocess

from lib import Failure, Skip
from lib.process import PATIENCE


def analyzed(path, *options):
    """Runs heaptrack_print; ignores its list of leaks, which does not apply."""
    if not shutil.which("heaptrack_print"):
        raise Skip("heaptrack_print is not installed")
    done = subprocess.run(["heaptrack_print", "--disable-builtin-suppressions", *options, path],
                          capture_output=True, text=True, timeout=PATIENCE, check=False)
    if done.returncode or "Failed" in done.stderr or "error" in done.stderr.lower():
        raise Failure(f"heaptrack_print: exit code {done.returncode}, {done.stderr!r}")
    return done.stdout


def by_function(t, path, cost):
    """Returns innermost function of each stack → bytes or allocations."""
    out = t.tmp / "folded"
    analyzed(path, "--flamegraph-cost-type", cost, "-F", out)
    sums = {}
    for line in out.read_text(encoding="utf-8").splitlines():
        stack, number = line.rsplit("; ", 1)
        name, file = re.fullmatch(r"(?:.*;)?(\w+) \((.*)\)", stack).groups()
        if file != "leak.c" or "main (leak.c);" not in stack:
            raise Failure(f"a stack that is none: {line}")
        sums[name] = sums.get(name, 0) + int(number)
    return sums


def demand(found, truth, place):
    expected = {function: numbers[place] for (function, _), numbers in truth.sites.items()}
    if found != expected:
        raise Failure(f"{found}, not {expected}")


def attach(t, program, path, interval):
    return t.memleak("--format", "heaptrack", "--output", path, "-o", "0", "-p",
                     str(program.pid), interval).ready()


def end(memleak):
    memleak.signal(signal.SIGINT)
    memleak.wait()
    memleak.aftermath()
    if memleak.code:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def wait_for_bytes(memleak, path, size):
    memleak.wait_for(f"{size} bytes in the file",
                     lambda: f"# outstanding: {size} bytes" in path.read_text(encoding="utf-8"),
                     every=0.02)


def test_totals(t):
    """heaptrack_print shows the bytes and allocations of each site, and their sum."""
    path = t.tmp / "file"
    program = t.program("leak")
    memleak = attach(t, program, path, "3600")
    truth = program.go()
    end(memleak)
    demand(by_function(t, path, "leaked"), truth, 1)
    demand(by_function(t, path, "allocations"), truth, 0)
    said = analyzed(path)
    for words in ("total memory leaked: 5.24M", f"calls to allocation functions: {truth.count} "):
        if words not in said:
            raise Failure(f"{words!r} is not in {said!r}")


def test_growth(t):
    """The file has the bytes held at three moments, in order."""
    path, massif = t.tmp / "file", t.tmp / "massif"
    program = t.program("leak")
    memleak = attach(t, program, path, "0.2")
    wait_for_bytes(memleak, path, 0)
    first = program.go()
    wait_for_bytes(memleak, path, first.bytes)
    second = program.go()
    wait_for_bytes(memleak, path, second.bytes)
    end(memleak)
    analyzed(path, "-M", massif)
    held = [int(size) for size in re.findall(r"^mem_heap_B=(\d+)",
                                             massif.read_text(encoding="utf-8"), re.M)]
    steps = [size for i, size in enumerate(held) if not i or size != held[i - 1]]
    if steps != [0, first.bytes, second.bytes]:
        raise Failure(f"{steps}, not {[0, first.bytes, second.bytes]}")
    demand(by_function(t, path, "leaked"), second, 1)
