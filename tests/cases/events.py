# SPDX-License-Identifier: GPL-2.0-or-later
"""-t: one line for each event, besides the reports."""

import re

from lib import Failure, expect


def test_trace_text(t):
    """-t: a line for each allocation and each free, with function, address and size."""
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
    if len(memleak.events) != 11:  # ten allocations and the free of a block from before
        raise Failure(f"{len(memleak.events)} events, not 11")


def test_trace_floods(t):
    """Eight threads at full speed: whatever is not printed is counted."""
    program = t.program("threads", "20000")
    memleak = t.attach(program, "-t")
    truth = program.go()
    report = memleak.stop()
    lost = report["lost"].get("events", 0)
    if len(memleak.events) + lost != 160000:
        raise Failure(f"{len(memleak.events)} events and {lost} lost are not 160,000")
    expect(report, truth, may_lose=("events",))
