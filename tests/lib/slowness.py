# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how many times slower this machine is than a quiet one: every limit grows with it."""

import os
import statistics
import time

LOOPS = 100_000   # iterations per measurement
USUAL_S = 0.0035  # seconds of a measurement on an idle machine of 2024
USUAL_FORK_S = 0.002  # seconds of a fork there; virtual machines may need ten times as long
ROUNDS = 9        # measurements
MOST = 20.0       # upper limit of the slowness

# Set by tests/kernels/run for emulated processors; some cases expect less there.
EMULATED = int(os.environ.get("MEMLEAK_TEST_SLOWNESS", "1"))


def _loop_s():
    begin = time.perf_counter()
    number = 0
    for step in range(LOOPS):
        number += step & 3
    return time.perf_counter() - begin


def _fork_s():
    begin = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return time.perf_counter() - begin


def measure(seconds, usual_s):
    """The slowness, at least 1; sleeps between rounds let other processes take their turn."""
    times = []
    for _ in range(ROUNDS):
        times.append(seconds())
        time.sleep(0.001)
    return min(MOST, max(1.0, statistics.mean(times) / usual_s))


_SLOWNESS = EMULATED if EMULATED > 1 else measure(_loop_s, USUAL_S)
SLOWNESS = EMULATED if EMULATED > 1 else max(_SLOWNESS, measure(_fork_s, USUAL_FORK_S))
IS_SLOW = SLOWNESS >= 2
# Factor for memleak's own time limits: every run waits them out, so it is capped, and slow system
# calls do not count.
STRETCH = max(EMULATED, min(_SLOWNESS, 4.0))
# Factors for fixed durations, such as memleak's -d. A machine that cannot do its part within one of
# them tries the next one.
LONGER = (1, 4, 16, 64)
