# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how many times slower this machine is than a quiet one: every limit grows with it."""

import os
import statistics
import time

LOOPS = 100_000        # of one measurement
USUAL_S = 0.0035       # seconds of the loops on a quiet machine with two processors of 2024
ROUNDS = 9
MOST = 20.0            # a machine that is slower than that is not usable

# An emulated processor says so itself: some expectations depend on it.
EMULATED = int(os.environ.get("MEMLEAK_TEST_SLOWNESS", "1"))


def _loop_s():
    begin = time.perf_counter()
    number = 0
    for step in range(LOOPS):
        number += step & 3
    return time.perf_counter() - begin


def measure():
    """The slowness, at least 1; sleeps between rounds let other processes take their turn."""
    times = []
    for _ in range(ROUNDS):
        times.append(_loop_s())
        time.sleep(0.001)
    return min(MOST, max(1.0, statistics.mean(times) / USUAL_S))


SLOWNESS = EMULATED if EMULATED > 1 else measure()
# Factor of the seconds in which a scene has to do its part: they pass in every run.
STRETCH = max(EMULATED, min(SLOWNESS, 4.0))
