# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how long `memleak --rss` takes to count the chunks of glibc's heap."""

import resource
import statistics
import subprocess
import time

import peers
from measure import BUILD, free_mib
from proofs import LARGE_MIB, MIB, heap

SIZES = (100, 1000, 10000)  # bytes of each block
LARGE_SPARE_MIB = 1024
BAR_S = 2  # processor time for the largest heap


def used_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def reading(pid):
    """Returns the CPU time and the duration of one count, in seconds."""
    begin, used = time.monotonic(), used_s()
    subprocess.run([BUILD / "memleak", "--rss", "-p", str(pid)], check=True,
                   stdout=subprocess.DEVNULL)
    return used_s() - used, time.monotonic() - begin


def row(size, mib, turns):
    program = heap("list", size, mib)
    found = [reading(program.pid) for _ in range(turns)]
    program.end()
    used, whole = (statistics.median(column) for column in zip(*found))
    print(f"{size:10}{mib:10}{used:12.2f}{used * 1024 / mib:12.2f}{whole:12.2f}", flush=True)


def rss(turns):
    print("memleak --rss: processor time by the size of blocks and of the heap, and duration, s. "
          f"The bar for\n{LARGE_MIB} MiB is {BAR_S} s.\n")
    print("".join(f"{title:>{width}}" for title, width in (
        ("bytes", 10), ("MiB", 10), ("s", 12), ("s/GiB", 12), ("duration", 12))))
    for size in SIZES:
        row(size, MIB, max(turns // 8, 1))
    if free_mib() < LARGE_MIB + LARGE_SPARE_MIB:
        peers.skip(f"a heap of {LARGE_MIB} MiB", f"{free_mib()} MiB are free")
    else:
        row(1000, LARGE_MIB, 1)
    print()
