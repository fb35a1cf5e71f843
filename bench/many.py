# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures probes that processes share: in a traced process, in an untraced one, and with -A."""

import os
import pathlib
import shutil
import statistics
import subprocess

from measure import Calls, ratio, start
from tracers import Memleak

OTHER = "bench_other"


def other_program(program):
    """Starts an idle process of another name with the program's libraries mapped."""
    folder = pathlib.Path(program.folder.name)
    shutil.copy("/bin/cat", folder / OTHER)
    return start([folder / OTHER], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                 env={**os.environ, "LD_LIBRARY_PATH": str(folder)})


# Measured one after another: shared probes slow down all processes.
WAYS = {
    "-p PID": lambda pid: Memleak(pid),
    "-f -p PID": lambda pid: Memleak(pid, "-f"),
    "--comm of another program": lambda pid: Memleak(None, "--comm", OTHER),
    "-A": lambda pid: Memleak(None, "-A"),
    "-A --sample-bytes 524288": lambda pid: Memleak(None, "-A", "--sample-bytes", "524288"),
}
MEASUREMENTS = 10


def measure(program, way):
    tracer = way(program.pid)
    program.measure()
    median = statistics.median(program.measure() for _ in range(MEASUREMENTS))
    tracer.end()
    return median, tracer.begin_ms, tracer.end_ms


def many(turns):
    print("Probes of one process and those that all share: ns for each malloc+free pair, 4 "
          "functions deep, one path;\nof the program that is traced or, with --comm, of one that "
          "is not. The ratio is to -p. Then ms until it\ntraces, and until it has ended.\n")
    program = Calls("pairs", 1, order="pairs 4 1 1000")
    other = other_program(program)
    found = {name: [] for name in WAYS}
    for _ in range(max(turns // 8, 1)):
        for name, way in WAYS.items():
            found[name].append(measure(program, way))
    program.end()
    other.terminate()
    base = [ns for ns, _, _ in found["-p PID"]]
    print(f"{'':30}{'pair':>10}{'ratio':>10}{'attach':>10}{'detach':>10}")
    for name, rows in found.items():
        pair, begin, end = (statistics.median(column) for column in zip(*rows))
        to_base = ratio([ns for ns, _, _ in rows], base)
        print(f"{name:30}{pair:10.0f}{to_base:10.2f}{begin:10.0f}{end:10.0f}")
    print()
