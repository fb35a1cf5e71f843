# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the CPU time that `memleak --rss` takes to count the chunks of glibc's heap."""

import contextlib
import ctypes
import multiprocessing
import os
import resource
import statistics
import subprocess

import peers
from measure import BUILD, free_mib
from proofs import MIB, heap

SIZES = (100, 1000, 10000)  # bytes of each block
ARENAS = 200
LARGE_MIB = 2048
LARGE_SPARE_MIB = 1024
BAR_S, BAR_GIB = 2, 10

PR_SET_CHILD_SUBREAPER = 36


def run_and_reap(pid):
    """Runs memleak and waits until it and all its helpers have ended. Returns their CPU time in seconds."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    subprocess.run([BUILD / "memleak", "--rss", "-p", str(pid)], check=True, stdout=subprocess.DEVNULL)
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_s(pid):
    """Like run_and_reap(), in a process that has no other children."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(run_and_reap, (pid,))


def row(size, mib, turns, arenas=1):
    program = heap("list", size, mib) if arenas == 1 else heap("arenas", size, mib, arenas)
    found = statistics.median(cpu_s(program.pid) for _ in range(turns))
    program.end()
    per_gib = found * 1024 / mib
    print(f"{size:10}{arenas:10}{mib:10}{found:10.3f}{per_gib:10.3f}{per_gib * BAR_GIB:12.2f}"
          f"{BAR_S:10.2f}", flush=True)


def rss(turns):
    print("CPU time of memleak --rss, user and system, s, by the size of blocks, the number of "
          "arenas and the size of\nthe heap; scaled to a heap of "
          f"{BAR_GIB} GiB, beside its bar.\n")
    print("".join(f"{title:>10}" for title in ("bytes", "arenas", "MiB", "s", "s/GiB")) +
          f"{f'at {BAR_GIB} GiB':>12}{'bar':>10}")
    for size in SIZES:
        row(size, MIB, max(turns // 8, 1))
    row(1000, MIB, max(turns // 8, 1), ARENAS)
    if free_mib() < LARGE_MIB + LARGE_SPARE_MIB:
        peers.skip(f"a heap of {LARGE_MIB} MiB", f"{free_mib()} MiB are free")
    else:
        row(1000, LARGE_MIB, max(turns // 16, 1))
    print()
