# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures malloc/free pairs with each tracer, and with two threads."""

import statistics

import peers
from lib.case import Skip
from lib.leak_tools import lsan_library
from measure import BUILD, Calls, ratio, show_ratio
from tracers import Bpftrace, Floor, Libbpf, Memleak, memleak_knows

DEPTHS = (4, 20)
PATHS = (1, 1000)
ROUNDS = 2000
FLOOR = "floor"
LIBBPF = "libbpf-tools"
SAMPLED = ("--sample-bytes", "524288")


def wrappers():
    """Returns {name: command prefix} of tracers that must start the program."""
    found = {"heaptrack": peers.installed("heaptrack"), "valgrind": peers.installed("valgrind")}
    options = {"heaptrack": ("-r", "-o", "heaptrack"), "valgrind": ("-q",)}
    found = {name: (path, *options[name]) for name, path in found.items() if path}
    try:
        found["LeakSanitizer"] = ("env", f"LD_PRELOAD={lsan_library()}",
                                  "LSAN_OPTIONS=leak_check_at_exit=0")
    except Skip as reason:
        peers.skip("LeakSanitizer", reason)
    return found


def option_sets():
    sets = [(), ("-C",), ("-s", "100")]
    if memleak_knows(SAMPLED[0]):
        sets.append(SAMPLED)
    else:
        peers.skip(" ".join(SAMPLED), "memleak does not know it")
    return sets


class Ways:
    """One program for each tracer, all running at the same time."""

    def __init__(self, threads):
        self.threads = threads
        self.programs = {"untraced": self._start()}
        memleak = self._start()
        memleak.tracer = Memleak(memleak.pid)
        for name, what in ((FLOOR, "calls"), (f"{FLOOR}, entries alone", "entries")):
            program = self.programs[name] = self._start()
            program.tracer = Floor(program.pid, memleak.tracer, what)
        self.programs["memleak"] = memleak
        for options in option_sets()[1:]:
            self._trace(f"memleak {' '.join(options)}", Memleak, *options)
        if peers.libbpf_memleak():
            self._trace(LIBBPF, Libbpf)
        if peers.installed("bpftrace"):
            self._trace("bpftrace", Bpftrace)
        for name, orders in (("agent", "0:f:"), (f"agent {' '.join(SAMPLED)}", f"0:b{SAMPLED[1]}:")):
            self.programs[name] = self._start(("env", f"LD_PRELOAD={BUILD / 'libmemleak.so'}",
                                               f"MEMLEAK_AGENT={orders}"))
        for name, wrapper in wrappers().items():
            self.programs[name] = self._start(wrapper)

    def _start(self, wrapper=()):
        program = Calls("pairs", self.threads, wrapper=wrapper)
        program.measure("pairs 4 1 100")  # wait until its libraries are loaded
        return program

    def _trace(self, name, tracer, *options):
        program = self.programs[name] = self._start()
        program.tracer = tracer(program.pid, *options)

    def end(self):
        for program in self.programs.values():
            program.end()


def measure(programs, orders, turns):
    """Measures all programs in turn. Returns {order: {name: times}}."""
    times = {order: {name: [] for name in programs} for order in orders}
    for turn in range(-1, turns):
        for order, columns in times.items():
            for name, program in programs.items():
                ns = program.measure(order)
                if turn >= 0:  # turn -1 fills the stack caches
                    columns[name].append(ns)
    return times


def show(depth, by_paths):
    heads = (f"{paths} path" if paths == 1 else f"{paths} paths" for paths in by_paths)
    print(f"{f'{depth} functions deep':30}" +
          "".join(f"{head:>12}{'to floor':>10}{'to peer':>10}" for head in heads))
    for name in next(iter(by_paths.values())):
        print(f"{name:30}" + "".join(
            f"{statistics.median(columns[name]):12.0f}" +
            show_ratio(columns[name], columns[FLOOR]) +
            show_ratio(columns[name], columns.get(LIBBPF)) for columns in by_paths.values()))
    print()


def pair(turns):
    print("A pair of malloc and free, ns, on one path through the program or on many in turn (the "
          "way there\nincluded). The floor: empty programs where memleak has its probes; the peer: "
          "libbpf-tools' memleak.\n")
    ways = Ways(1)
    orders = {(depth, paths): f"pairs {depth} {paths} {ROUNDS}"
              for depth in DEPTHS for paths in PATHS}
    times = measure(ways.programs, orders.values(), turns)
    ways.end()
    for depth in DEPTHS:
        show(depth, {paths: times[orders[depth, paths]] for paths in PATHS})


def threads(turns):
    print("A pair of malloc and free 20 functions deep on 1000 paths, ns of each thread's "
          "processor time.\n")
    order = f"pairs 20 1000 {ROUNDS}"
    both = {(count, name): program for count in (1, 2)
            for name, program in Ways(count).programs.items()}
    times = measure(both, (order,), turns)[order]
    for program in both.values():
        program.end()
    print(f"{'':30}  1 thread 2 threads     ratio")
    for count, name in both:
        if count == 1:
            one, two = times[1, name], times[2, name]
            print(f"{name:30}{statistics.median(one):10.0f}{statistics.median(two):10.0f}"
                  f"{ratio(two, one):10.2f}")
    print()
