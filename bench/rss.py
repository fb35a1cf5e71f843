# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures how long `memleak --rss` takes to count the chunks of glibc's heap."""

import statistics
import subprocess
import time

import peers
from measure import BUILD, free_mib
from proofs import LARGE_MIB, MIB, heap

SIZES = (100, 1000, 10000)  # bytes of each block
LARGE_SPARE_MIB = 1024
BAR_S = 2  # for the largest heap


def duration_s(pid):
    begin = time.monotonic()
    subprocess.run([BUILD / "memleak", "--rss", "-p", str(pid)], check=True,
                   stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def row(size, mib, turns):
    program = heap("list", size, mib)
    found = statistics.median(duration_s(program.pid) for _ in range(turns))
    program.end()
    print(f"{size:10}{mib:10}{found:10.2f}{found * 1024 / mib:10.2f}", flush=True)


def rss(turns):
    print("Duration of memleak --rss, which reads all of the heap, s, by the size of blocks and of "
          f"the heap. The\nbar for {LARGE_MIB} MiB is {BAR_S} s.\n")
    print("".join(f"{title:>10}" for title in ("bytes", "MiB", "s", "s/GiB")))
    for size in SIZES:
        row(size, MIB, max(turns // 8, 1))
    if free_mib() < LARGE_MIB + LARGE_SPARE_MIB:
        peers.skip(f"a heap of {LARGE_MIB} MiB", f"{free_mib()} MiB are free")
    else:
        row(1000, LARGE_MIB, 1)
    print()
