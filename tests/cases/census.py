# SPDX-License-Identifier: GPL-2.0-or-later
"""
--census of the heap of tests/programs/census.c, compared with what the program knows about its
blocks, with glibc's figures (mallinfo2), and with the kernel's (smaps).
"""

import os
import re

from lib import Failure, each, expect, wanted
from lib.expect import fail
from lib.memleak import parse

from .core import core_by_gdb, run_core
from .prove import next_proof

STATES = ("known", "older", "free")
WORD = 8
HEADER = 16
PAGE = os.sysconf("SC_PAGESIZE")


def truth_of(truth):
    """Returns {largest size of a class: {state: sums}}."""
    classes = {}
    for name, words in truth.facts.items():
        if name.startswith("upto_"):
            numbers = [int(word) for word in words]
            classes[int(name[len("upto_"):])] = {
                state: {"count": numbers[2 * i], "bytes": numbers[2 * i + 1]}
                for i, state in enumerate(STATES)}
    return classes


def check_classes(census, classes):
    found = {row["upto_bytes"]: {state: row[state] for state in STATES}
             for row in census["classes"]}
    wanted("classes", {upto: found.get(upto) for upto in classes}, classes)


def check_against_glibc(census, truth):
    """glibc counts chunks in a thread's cache as used, and includes headers."""
    arena, mapped, free, cached = (int(word) for word in truth.facts["mallinfo"])
    small = truth_of(truth)[128]["free"]
    cached *= small["bytes"] // small["count"] + WORD
    wanted("arenas", census["arenas"], 1)
    wanted("bytes of heaps", census["heap_bytes"], arena + mapped)
    of_chunks = census["free"]["bytes"] + WORD * census["free"]["count"] - cached
    wanted("free", of_chunks + census["allocator"]["spare_bytes"] + HEADER, free)


def smaps_of(pid):
    """Returns [(mapping, {field: bytes})]."""
    mappings = []
    with open(f"/proc/{pid}/smaps", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                mappings.append((words[5] if len(words) > 5 else "", {}))
            elif words[-1] == "kB":
                mappings[-1][1][words[0].rstrip(":")] = int(words[1]) << 10
    return mappings


def check_against_kernel(report, truth, pid):
    """
    Compares the pages of the heap with the kernel's. The page tables are exact. The kernel's
    counters per process may be off: each thread (before Linux 6.2) or processor collects up to
    max(64, 2 * processors) pages of each kind before adding them to the sum.
    """
    census = report["census"]
    memory = census["memory"]
    mappings = smaps_of(pid)
    heap = sum(sizes["Rss"] + sizes["Swap"] for name, sizes in mappings if name == "[heap]")
    touched = int(truth.facts["mapped_pages"][0]) * PAGE
    wanted("pages of the heap", census["present_bytes"], heap + touched)
    wanted("the same", memory["heap_bytes"], census["present_bytes"])
    cpus = os.cpu_count()
    slack = max(64, 2 * cpus) * (cpus + 2) * PAGE
    for what, ours, fields in (
            ("resident", memory["resident_bytes"], ("Rss",)),
            ("of no file", memory["heap_bytes"] + memory["other_bytes"], ("Anonymous", "Swap"))):
        kernels = sum(sizes[field] for _, sizes in mappings for field in fields)
        if abs(ours - kernels) > slack:
            fail(report, f"{what}: {ours}, smaps has {kernels}")


@each("asleep", "busy")
def test_live(t, value):
    """Classes are exact to the block, and totals agree with glibc's and the kernel's."""
    program = t.program("census", value)
    memleak = t.attach(program, "--census", interval="0.1")
    truth = program.go()
    report = next_proof(memleak)
    expect(report, truth)
    wanted("method", report["proof"]["method"], "still" if value == "asleep" else "clone")
    census = report["census"]
    check_classes(census, truth_of(truth))
    wanted("known", census["known"]["count"], truth.count)
    wanted("asked for", census["requested_bytes"], truth.bytes)
    wanted("elsewhere", census["elsewhere"]["count"], 0)
    check_against_glibc(census, truth)
    check_against_kernel(report, truth, program.pid)
    memleak.stop()


def test_core(t):
    """
    A census of a core has the used and free sums, but cannot tell traced blocks from older ones.
    """
    running = t.program("census")
    truth = running.go()
    path = core_by_gdb(t, running)
    running.end()
    report = parse(run_core(t, "--json", "--census", path).splitlines()[-1])
    classes = truth_of(truth)
    for states in classes.values():
        for key in ("count", "bytes"):
            states["older"][key] += states["known"][key]
            states["known"][key] = 0
    census = report["census"]
    check_classes(census, classes)
    check_against_glibc(census, truth)
    wanted("used", census["older"], report["core"]["used"])
    wanted("free", census["free"], report["core"]["free"])
    wanted("memory", census["memory"], None)
    text = run_core(t, "--census", path).decode("utf-8")
    if not re.search(r"^\theap by size of chunk +used +free$", text, re.M):
        raise Failure(f"no table of what is used and free: {text!r}")


def test_another_allocator(t):
    """Blocks of an allocator other than glibc's are shown as outside of glibc's heap."""
    program = t.program("own_malloc")
    memleak = t.attach(program, "--census", interval="0.1")
    truth = program.go()
    census = next_proof(memleak)["census"]
    wanted("elsewhere", census["elsewhere"], {"bytes": truth.bytes, "count": truth.count})
    wanted("known", census["known"]["count"], 0)
    memleak.stop()


def test_text(t):
    """The text report has the lines of the census and its table."""
    program = t.program("census")
    memleak = t.memleak("--census", "-o", "0", "-p", str(program.pid), "3600").ready()
    truth = program.go()
    memleak.stop()
    known = truth_of(truth)[64 << 10]["known"]
    row = rf"^\t +up to 64 KiB +{known['bytes'] / 2**20:.1f} MiB in {known['count']} .* in 20$"
    for pattern in (r"^\theap by size of chunk +known +older +free$", row,
                    r"^\theap: .* known to memleak \+ .* free \+ .* of the allocator's own",
                    r"^\tmemory: .* resident = .* of the heap \+ .* of files$"):
        if not re.search(pattern, memleak.out.text, re.M):
            raise Failure(f"nothing like {pattern!r} in {memleak.out.text!r}")


def test_not_asked_for(t):
    """A proof without --census has no census."""
    program = t.program("leak")
    memleak = t.attach(program, "--prove", interval="0.1")
    program.go()
    if "census" in memleak.fresh_report():
        raise Failure("a census without --census")
    memleak.stop()
