# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of a block's stack, by its depth."""

import statistics

from measure import Calls, difference
from tracers import Memleak

DEPTHS = (5, 15, 40, 100)
# A minimum size above all allocations: probes run, but no stacks or blocks are recorded.
NO_BLOCKS = ("-z", "1000000")


def heap_row(depth, turns, rounds):
    ways = {name: Calls("calls", "heap", depth, rounds)
            for name in ("untraced", "probes", "walked", "recognised")}
    for calls in ways.values():
        calls.measure()
    ways["probes"].tracer = Memleak(ways["probes"].pid, *NO_BLOCKS)
    ways["walked"].tracer = Memleak(ways["walked"].pid, stack_cache=False)
    ways["recognised"].tracer = Memleak(ways["recognised"].pid)
    for calls in ways.values():
        calls.measure()
    for _ in range(turns):
        for calls in ways.values():
            calls.turn()
    for calls in ways.values():
        calls.end()
    walked = difference(ways["walked"].times, ways["probes"].times)
    recognised = difference(ways["recognised"].times, ways["probes"].times)
    print(f"{depth:9} {statistics.median(ways['untraced'].times):9.0f} "
          f"{statistics.median(ways['probes'].times):9.0f} {walked:9.0f} {recognised:11.0f}")
    return ways["recognised"].tracer.stacks("user")


def stacks(turns):
    print("A call of malloc N functions below main, ns: with the probes of memleak; what a block "
          "with its whole\nstack adds if memleak walks it, and if memleak recognises it.\n")
    print("functions  untraced    probes    walked  recognised")
    for depth in DEPTHS:
        told = heap_row(depth, turns, 1000)
    print(f"\nat {DEPTHS[-1]}: {told}\n")
