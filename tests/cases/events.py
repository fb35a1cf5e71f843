# SPDX-License-Identifier: GPL-2.0-or-later
"""-t: prints a line for each event, in addition to reports."""

import collections
import os
import re
import signal

from lib import Failure, Skip, each, expect, owner, sample, slow, wanted


def test_trace_text(t):
    """-t: a line for each allocation and free, with function, address and size."""
    program = t.program("leak")
    memleak = t.memleak("-t", "-o", "0", "-p", str(program.pid), "3600").ready()
    truth = program.go()
    program.go()
    program.go()
    memleak.stop()
    lines = memleak.out.text.splitlines()
    for address, size in truth.blocks.items():
        allocs = [line for line in lines if re.search(rf"\bmalloc\b.*\b0?x?{address:x}\b", line)
                  and re.search(rf"\b{size}\b", line)]
        frees = [line for line in lines if re.search(rf"\bfree\b.*\b0?x?{address:x}\b", line)]
        if len(allocs) != 1 or len(frees) != 1:
            raise Failure(f"block {address:#x}: allocated {allocs}, freed {frees}")
    if sum("malloc" in line for line in lines) != 20:
        raise Failure("not one line for each of the 20 allocations")


def test_trace_json(t):
    program = t.program("leak")
    memleak = t.attach(program, "-t")
    truth = program.go()
    memleak.stop()
    text = [str(sorted(event.items(), key=str)) for event in memleak.events]
    for address in truth.blocks:
        if sum(f"'{address:#x}'" in line for line in text) != 1:
            raise Failure(f"block {address:#x} is not in exactly one of {text}")
    if len(memleak.events) != 11:  # ten allocations, and a free of an older block
        raise Failure(f"{len(memleak.events)} events, not 11")


def stacks_of(memleak):
    """Returns the number of events by kind and calling function."""
    events = collections.Counter()
    for event in memleak.events:
        wanted("end of the stack", event["stack_end"], "complete")
        wanted("outermost frame", event["stack"][-1]["symbol"], "_start")
        events[event["event"], event["function"], owner(event)] += 1
    return events


@sample(2, 1)
@each("session", "multi", "perf", "shape")
def test_trace_stacks(t, kind):
    """-tt: the stacks of allocations and frees."""
    program = t.program("leak")
    memleak = t.attach(program, "-tt", env={"MEMLEAK_LINKS": kind})
    for _ in range(3):
        program.go()
    memleak.stop()
    wanted("events", stacks_of(memleak), {
        ("alloc", "malloc", "leak_small"): 10, ("alloc", "malloc", "leak_big"): 10,
        ("free", "free", "main"): 21})


def test_trace_stacks_of_others(t):
    """-tt: calls other than malloc and free, also if their result is not tracked."""
    program = t.program("functions", "realloc_grown", "munmap", "mremap")
    memleak = t.attach(program, "-tt", "-z", "3000")
    program.go()
    memleak.stop()
    wanted("events", stacks_of(memleak), {
        ("free", "realloc", "leak_realloc_grown"): 3,
        ("alloc", "mmap", "make_mapping"): 2, ("free", "munmap", "leak_no_mapping"): 1,
        ("free", "mremap", "leak_mremap"): 1, ("alloc", "mremap", "leak_mremap"): 1})


def test_trace_stacks_text(t):
    """Text output: frames are printed below the event, the innermost first."""
    program = t.program("leak")
    memleak = t.memleak("-tt", "-o", "0", "-p", str(program.pid), "3600").ready()
    for _ in range(3):
        program.go()
    memleak.stop()
    head = rf"^\d\d:\d\d:\d\d\.\d{{3}} {program.pid}/{program.pid} leak"
    for line in (rf"alloc malloc 0x[0-9a-f]+ 16 bytes\n\tleak_small\+0x.*\n(\t.*\n)*\tmain\+0x",
                 rf"free free 0x[0-9a-f]+ 16 bytes\n\tmain\+0x"):
        if not re.search(f"{head} {line}", memleak.out.text, re.M):
            raise Failure(f"no {line} in {memleak.out.text[:2000]!r}")


def test_trace_stacks_of_command(t):
    """Stacks of a program that has ended before its events are read."""
    memleak = t.command(t.file_of("command"), options=("-tt",))
    memleak.finish()
    if not any(owner(event) == "early_alloc" for event in memleak.events):
        raise Failure("the first allocation is missing")
    for event in memleak.events:
        if not event["stack"] or not event["function"]:
            raise Failure(f"not known: {event}")


@slow
@each("session", "multi", "perf")
def test_trace_stacks_of_known_file(t, kind):
    """
    When a known program runs again, stacks are complete from its first call on, also those of
    frees.
    """
    if tuple(map(int, os.uname().release.split(".")[:2])) < (5, 17):
        raise Skip("the kernel does not tell what is mapped")
    program = t.program("sh", "-c", 'while echo ready; read runs; do for run in $runs; do '
                        '"$0" all < /dev/zero > /dev/null; done; done', t.file_of("functions"),
                        path="/bin/sh")
    memleak = t.attach(program, "-f", "-tt", interval="0.2", env={"MEMLEAK_LINKS": kind})
    program.send(b"1\n")
    program.ready()
    memleak.fresh_report()
    known = len(memleak.events)
    memleak.signal(signal.SIGSTOP)  # the program's mappings are not read in time
    program.send(b"1 2 3\n")
    program.ready()
    memleak.signal(signal.SIGCONT)
    memleak.stop()
    ends = collections.Counter((event["event"], event["stack_end"])
                               for event in memleak.events[known:])
    wanted("ends of stacks", set(ends), {("alloc", "complete"), ("free", "complete")})


@slow
def test_trace_floods(t):
    """Eight threads at full speed: events that are not printed are counted."""
    program = t.program("threads", "5000")
    memleak = t.attach(program, "-t", interval="0.5")
    truth = program.go()
    while any("+0x" in owner(site) for site in memleak.fresh_report()["sites"]):
        pass  # the last report would not wait long for names
    report = memleak.stop()
    lost = report["lost"].get("events", 0)
    if len(memleak.events) + lost != 40000:
        raise Failure(f"{len(memleak.events)} events and {lost} lost are not 40,000")
    expect(report, truth, may_lose=("events",))
