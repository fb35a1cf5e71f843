# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of lines of Python in a block's stack, by the number of calls in the script."""

import statistics

from measure import Calls, Program, ratio
from stacks import NO_BLOCKS
from tracers import Memleak

DEPTHS = (1, 5, 20, 60)
BAR = 1.3  # highest ratio of a block with lines to one without
ROUNDS = 1000
# Objects above 512 bytes take a block of their own.
SCRIPT = """
import sys, time
held = [None] * ROUNDS
def blocks():
    begin = time.thread_time_ns()
    for i in range(ROUNDS):
        held[i] = bytes(1000)
    return (time.thread_time_ns() - begin) / ROUNDS
def call(depth):
    return call(depth - 1) if depth > 1 else blocks()
for line in sys.stdin:
    print(call(int(sys.argv[1])), flush=True)
    held[:] = [None] * ROUNDS
""".replace("ROUNDS", str(ROUNDS))


class Script(Calls):
    """Like Calls, of an object of a script."""

    def __init__(self, depth):
        Program.__init__(self, "/usr/bin/python3", "-c", SCRIPT, depth)
        self.order = ""
        self.times = []
        self.measure()


def row(depth, turns):
    ways = {name: Script(depth) for name in ("untraced", "probes", "without", "with")}
    ways["probes"].tracer = Memleak(ways["probes"].pid, *NO_BLOCKS)
    ways["without"].tracer = Memleak(ways["without"].pid, scripts=False)
    ways["with"].tracer = Memleak(ways["with"].pid)
    for script in ways.values():
        script.measure()
    for _ in range(turns):
        for script in ways.values():
            script.turn()
    for script in ways.values():
        script.end()
    cost = ratio(ways["with"].times, ways["without"].times)
    print(f"{'>' if cost > BAR else ' '} {depth:5} " +
          "".join(f"{statistics.median(script.times):15.0f}" for script in ways.values()) +
          f"{cost:8.2f}")


def lines(turns):
    print("An object of 1000 bytes, made N calls deep in a Python script, ns: with the probes of "
          "memleak, with\na block and its native stack, and with the lines of the script, too; and "
          f"that to the native stack alone.\n> is above the bar of {BAR}.\n")
    print(f"  calls {'untraced':>15}{'probes':>15}{'without lines':>15}{'with lines':>15}   ratio")
    for depth in DEPTHS:
        row(depth, turns)
    print()
