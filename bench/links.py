# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures kinds of links: cost of calls, and time to attach and detach."""

import resource
import statistics

import peers
from measure import Calls, ratio
from stacks import NO_BLOCKS
from tracers import Bpftrace, Libbpf, Memleak

LINKS = ("session", "multi", "perf")


def links_row(name, start, options, turns):
    ways = {kind: start() for kind in ("untraced", *LINKS)}
    for kind, calls in ways.items():
        calls.measure()
        if kind in LINKS:
            calls.tracer = Memleak(calls.pid, *options, links=kind)
        calls.measure()
    for _ in range(turns):
        for calls in ways.values():
            calls.turn()
    for calls in ways.values():
        calls.end()
    medians = "".join(f"{statistics.median(calls.times):9.0f}" for calls in ways.values())
    print(f"{name:31}{medians}{ratio(ways['session'].times, ways['multi'].times):9.2f}")


def blocks():
    return Calls("calls", "heap", 5, 1000)


def pairs():
    return Calls("pairs", 1, order="pairs 5 1 1000")


def links(turns):
    print("Kinds of link, where the kernel has them (else the next best), ns; the last column is "
          "session by\nmulti.\n")
    print(f"{'':31} untraced" + "".join(f"{kind:>9}" for kind in LINKS) + "    ratio")
    for name, start in (("malloc", blocks), ("malloc and free", pairs)):
        for options in ((), ("-s", "100"), NO_BLOCKS):
            links_row(" ".join((name, *options)), start, options, turns)
    print()


def attach(turns):
    print("Attaching to a process and detaching again, ms: from the start of the tracer until it "
          "traces, from the\nsignal until it has ended; and the processor time of both.\n")
    ways = {f"memleak, {kind}": lambda pid, kind=kind: Memleak(pid, links=kind) for kind in LINKS}
    if peers.libbpf_memleak():
        ways["libbpf-tools"] = Libbpf
    if peers.installed("bpftrace"):
        ways["bpftrace"] = Bpftrace
    program = pairs()
    program.measure()
    times = {name: ([], [], []) for name in ways}
    for _ in range(max(turns // 8, 1)):
        for name, way in ways.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            tracer = way(program.pid)
            program.measure()
            tracer.end()
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            for column, ms in zip(times[name], (tracer.begin_ms, tracer.end_ms, cpu * 1000)):
                column.append(ms)
    program.end()
    print(f"{'':26}{'attach':>10}{'detach':>10}{'processor':>10}")
    for name, columns in times.items():
        print(f"{name:26}" + "".join(f"{statistics.median(column):10.0f}" for column in columns))
    print()
