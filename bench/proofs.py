# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures proofs: how long threads are stopped, CPU time, and memory."""

import statistics
import sys

import peers
from measure import BUILD, Calls, free_mib, start

MIB = 512
# Shapes of heaps (see heaps.c), and block sizes in bytes.
SHAPES = (("list", 100), ("shuffled-tree", 1000), ("shuffled-tree", 100), ("shuffled-list", 100),
          ("shuffled-inner", 100), ("shuffled-dense", 1000))
CHAINS = ("list", "shuffled-list", "shuffled-inner")
THREADS = (1, 10, 100)
LARGE_MIB = 10240
LARGE_SPARE_MIB = 6144  # further memory needed, including changed pages of the copy


def heap(shape, size, mib, threads=0):
    program = Calls("heaps", shape, size, mib, threads)
    program.measure("chase")  # wait until the heap is complete
    return program


class Proof:
    """One output line of bench/proofs."""

    def __init__(self, line, chase_ns):
        self.chase_ns = chase_ns
        (self.stopped_ns, self.cpu_ns, self.ns, self.read_ns, self.read_bytes, self.peak_bytes,
         self.blocks, self.reachable) = map(int, line.split())

    def gib(self):
        return self.read_bytes / 2**30


class Prover:
    def __init__(self, pid):
        self.popen = start([BUILD / "bench/proofs", str(pid)], text=True, bufsize=1,
                           stdin=-1, stdout=-1)

    def tell(self, order):
        self.popen.stdin.write(order + "\n")
        line = self.popen.stdout.readline()
        if not line:
            sys.exit("bench/proofs ended")
        return line

    def end(self):
        self.popen.stdin.close()
        self.popen.stdout.close()
        self.popen.wait()


def median(values):
    return statistics.median(list(values))


def cost_rows(shape, size, mib, turns):
    program = heap(shape, size, mib)
    prover = Prover(program.pid)
    found = {"census": [], "known": []}
    for _ in range(turns):
        for order, column in found.items():
            chase_ns = program.measure("chase")
            column.append(Proof(prover.tell(order), chase_ns))
    prover.end()
    program.end()
    for order, column in found.items():
        per_gib = median(proof.cpu_ns / 1e9 / proof.gib() for proof in column)
        reads = median(proof.cpu_ns / proof.read_ns for proof in column)
        to_chase = median(proof.cpu_ns / proof.chase_ns for proof in column)
        chase = f"{to_chase:10.2f}" if shape in CHAINS else f"{'-':>10}"
        used = median(proof.cpu_ns / proof.ns for proof in column)
        share = median(proof.read_bytes / proof.peak_bytes for proof in column)
        print(f"{shape:14}{size:6}{order:>8}{column[0].gib():7.2f}{column[0].blocks:11}"
              f"{per_gib:9.2f}{reads:9.1f}{chase}{used:12.2f}     1/{share:<8.1f}"
              f"{column[0].peak_bytes / column[0].blocks:6.0f}", flush=True)


def show_costs(turns):
    print("A proof of a process, by the size of its blocks, if memleak knows none of them, or "
          "all: processor\ntime, s/GiB; that to reading the memory once, and to the program's own "
          "way along its list; processors\nused; and the peak of memory, by what was read, and "
          "bytes for each block.\n")
    print(f"{'':14}{'bytes':>6}{'':8}{'GiB':>7}{'blocks':>11}{'s/GiB':>9}{'to read':>9}"
          f"{'to chase':>10}{'processors':>12}{'memory':>9}{'each':>12}")
    for shape, size in SHAPES:
        cost_rows(shape, size, MIB, max(turns // 8, 1))
    if free_mib() < LARGE_MIB + LARGE_SPARE_MIB:
        peers.skip(f"a process of {LARGE_MIB} MiB", f"{free_mib()} MiB are free")
    else:
        cost_rows("shuffled-tree", 1000, LARGE_MIB, 1)
    print()


def show_stops(turns):
    print(f"For how long threads that never sleep stand still, of a process of {MIB} MiB in small "
          "pages, and how long\na clone() of it by itself takes, ms.\n")
    print(f"{'threads':>10}{'still':>10}{'clone':>10}{'ratio':>10}")
    for threads in THREADS:
        program = heap("list", 1000, MIB, threads)
        prover = Prover(program.pid)
        stops, clones = [], []
        for _ in range(max(turns // 4, 1)):
            clones.append(program.measure("clone") / 1e6)
            stops.append(float(prover.tell("stop")) / 1e6)
        prover.end()
        program.end()
        print(f"{threads:10}{median(stops):10.2f}{median(clones):10.2f}"
              f"{median(stop / clone for stop, clone in zip(stops, clones)):10.2f}", flush=True)
    print()


def proofs(turns):
    show_stops(turns)
    show_costs(turns)
