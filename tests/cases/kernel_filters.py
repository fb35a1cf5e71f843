# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters, sampling, totals only, and events, for kernel memory."""

import re
import sys
import time

from lib import Failure, each, lane, once, slow, timeout
from lib.kernel import (culprit_of, expect_things, kernel_part, require, settled, share_kernel,
                        sites_of, sum_of_thing, whole_kernel)
from lib.memleak import when


@once
@each(("exact", ("-z", "512", "-Z", "512"), True), ("above", ("-z", "513"), False),
      ("below", ("-Z", "511"), False))
def test_size(t, what):
    """Filters use the slab allocator's size: 464 bytes and a header of 48 make 512."""
    _, options, shown = what
    share_kernel(t)
    program = t.program("kernel", "messages:100:464")
    memleak = t.attach(program, "-K", *options, interval="0.3")
    truth = program.go()
    report = memleak.fresh_report()
    if not shown:
        truth.kernel["messages"] = ("slab", 0, 0)
    expect_things(report, truth)
    low = int(options[1]) if options[0] == "-z" else 0
    high = int(options[-1]) if "-Z" in options else 1 << 62
    for site in report["sites"]:
        average = site["bytes"] / site["count"]
        require(low <= average <= high, report, f"blocks of {average} bytes")
    program.go()
    truth = program.go()
    expect_things(memleak.fresh_report(), truth)
    memleak.stop()


@once
@each(("pages", ("-z", "4k", "-Z", "4k"), "pipes", "rings"),
      ("larger_pages", ("-z", "4097"), "rings", "pipes"))
def test_size_of_pages(t, what):
    _, options, shown, hidden = what
    share_kernel(t)
    program = t.program("kernel", "pipes:40", "rings:10")
    memleak = t.attach(program, "-K", *options)
    truth = program.go()
    truth.kernel[hidden] = ("page", 0, 0)
    report = memleak.stop()
    expect_things(report, truth)
    require(truth.kernel[shown][1], report, "nothing to show")


def estimated(report, options, exact):
    require(report["sampling"] == {"mode": "count", "rate": 10}, report,
            f"sampling {report['sampling']} with {options}")
    count, size = sum_of_thing(report, "messages", "slab")
    require(0.9 * exact <= count <= 1.1 * exact, report, f"{count} estimated of {exact}")
    require(count != exact, report, "the estimate is exact: every block was looked at")
    require(size == 64 * count, report, f"{size} bytes in {count} blocks")


@once
@timeout(180)
@slow
def test_sampling(t):
    """One block in ten is sampled: the estimate is within ten standard deviations."""
    share_kernel(t)
    program = t.program("kernel", "messages:100001:16")
    memleak = t.attach(program, "-K", "-s", "10", interval="0.5")
    program.go()
    estimated(memleak.fresh_report(), "-K -p", 100001)
    program.go()
    estimated(memleak.fresh_report(), "-K -p", 200002)
    truth = program.go()
    expect_things(memleak.fresh_report(), truth)
    memleak.stop()


def estimated_by_bytes(report, each_size, exact):
    require(report["sampling"] == {"mode": "bytes", "interval": 1024}, report,
            f"sampling {report['sampling']}")
    count, size = sum_of_thing(report, "messages", "slab")
    error = sum(site["standard_error"]["count"] ** 2
                for site in sites_of(report, "messages", "slab")) ** 0.5
    require(0 < abs(count - exact) <= 5 * error, report,
            f"{count} estimated of {exact}, standard error {error:.0f}")
    require(abs(size - each_size * count) <= each_size, report, f"{size} bytes in {count} blocks")


@once
@timeout(180)
@each(("small", 16, False), ("large", 464, False), ("whole_kernel", 16, True))
def test_sampling_by_bytes(t, what):
    """Messages of 64 and 512 bytes, one sample per 1024 bytes: both estimates are right."""
    _, size, whole = what
    share_kernel(t, whole=whole)
    program = t.program("kernel", f"messages:20001:{size}")
    memleak = (whole_kernel(t, "--sample-bytes", "1k") if whole else
               t.attach(program, "-K", "--sample-bytes", "1k", interval="0.5"))
    program.go()
    estimated_by_bytes(memleak.fresh_report(), size + 48, 20001)
    program.go()
    estimated_by_bytes(memleak.fresh_report(), size + 48, 40002)
    program.go()
    require(not sites_of(memleak.fresh_report(), "messages", "slab"), memleak.reports[-1],
            "messages that were received")
    memleak.stop()


@once
@lane("kernel")
@timeout(180)
def test_sampling_the_whole_kernel(t):
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:100001:16")
    memleak = whole_kernel(t, "-s", "10")
    program.go()
    estimated(memleak.fresh_report(), "no process", 100001)
    program.go()
    truth = program.go()
    expect_things(memleak.fresh_report(), truth)
    memleak.stop()


@once
@timeout(120)
def test_older(t):
    """-o 1000: no message before its time, all of them after it."""
    share_kernel(t)
    program = t.program("kernel", "messages:100")
    memleak = t.attach(program, "-K", "-o", "1000", interval="0.1")
    memleak.fresh_report()
    earliest = time.time()
    truth = program.go()
    latest = time.time()
    memleak.wait_for("reports of two seconds", lambda: memleak.take() and
                     when(memleak.reports[-1]) > latest + 2)
    memleak.stop()
    # Ages are read during the walk.
    early = [r for r in memleak.reports if latest < when(r) and
             when(r) + r["walk_ns"] / 1e9 < earliest + 0.98]
    late = [r for r in memleak.reports if when(r) > latest + 1.02]
    if not late:
        raise Failure("no report came later than a second")
    for report in memleak.reports:
        require(all(site["newest_ns"] >= 1e9 for site in sites_of(report, "messages", "slab")),
                report, "an age below")
    for report in early:
        require(not sites_of(report, "messages", "slab"), report, "shown before their time")
    for report in late:
        expect_things(report, truth)
        require(all(site["newest_ns"] >= 1e9 for site in report["sites"]), report, "an age below")


def test_older_than_all(t):
    share_kernel(t)
    program = t.program("kernel", "messages:100")
    memleak = t.attach(program, "-K", "-o", "3600000")
    program.go()
    report = memleak.stop()
    require(not report["sites"], report, "older than an hour")


@slow
def test_ages_and_blocks(t):
    """-a: all blocks are listed, with distinct addresses and ages within the site's range."""
    share_kernel(t)
    program = t.program("kernel", "messages:100")
    memleak = t.attach(program, "-K", "-a", interval="0.3")
    truth = program.go()
    first = memleak.fresh_report()
    expect_things(first, truth)
    truth = program.go()
    second = memleak.fresh_report()
    expect_things(second, truth)
    old, new = ({alloc["addr"]: alloc["age_ns"] for site in sites_of(report, "messages", "slab")
                 for alloc in site["allocs"]} for report in (first, second))
    require(len(old) == 100 and len(new) == 200 and set(old) <= set(new), second,
            "the first messages are not where they were")
    grown = second["elapsed_ns"] - first["elapsed_ns"]
    walks = first["walk_ns"] + second["walk_ns"]  # elapsed_ns and ages are read within these times
    for address, age in old.items():
        require(abs(new[address] - age - grown) <= walks, second,
                f"{address}: {age} {new[address]}")
    for site in sites_of(second, "messages", "slab"):
        ages = [alloc["age_ns"] for alloc in site["allocs"]]
        require((max(ages), min(ages)) == (site["oldest_ns"], site["newest_ns"]), second, "ages")
    memleak.stop()


@once
@each("process", "kernel")
@lane("kernel")
def test_combined(t, mode):
    """-C gives the same totals, but does not list blocks."""
    share_kernel(t, whole=mode == "kernel")
    # other processes write to pipes as well
    program = t.program("kernel", "messages:1000", "rings:10", "keys",
                        *(["pipes:40"] if mode == "process" else []))
    memleak = (whole_kernel(t, "-C", interval="0.3") if mode == "kernel" else
               t.attach(program, "-K", "-C", interval="0.3"))
    for _ in range(2):
        truth = program.go()
        report = memleak.fresh_report()
        expect_things(report, truth)
        require(all(site["oldest_ns"] is None for site in report["sites"]), report, "an age")
    program.go()
    settled(memleak, lambda report: not sites_of(report, "messages", "slab"), "messages")
    memleak.stop()


@slow
def test_top(t):
    """-T limits what is shown, not what is counted."""
    share_kernel(t)
    program = t.program("kernel", "pipes:40:16", "messages:1000")
    memleaks = {most: t.memleak("--json", "-o", "0", "-K", "-p", str(program.pid), "-T", str(most),
                                "3600").ready() for most in (1, 2, 1000, 100000)}
    program.go()
    reports = {most: memleak.stop() for most, memleak in memleaks.items()}
    first = culprit_of(reports.pop(100000)["sites"][0])
    for most, report in reports.items():
        require(len(report["sites"]) == min(most, report["sites_total"]), report,
                f"{len(report['sites'])} shown of {report['sites_total']}")
        require(culprit_of(report["sites"][0]) == first, report, "another site comes first")
        sizes = [(not site["reclaimable"], site["bytes"]) for site in report["sites"]]
        require(sizes == sorted(sizes, reverse=True), report, f"order {sizes}")


def test_block_table_full(t):
    """Blocks that do not fit into the table are counted as lost and are not in the totals."""
    share_kernel(t)
    program = t.program("kernel", "messages:5000:16")
    memleak = t.attach(program, "-K", "--max-allocs", "1000", interval="0.3")
    program.go()
    report = memleak.fresh_report()
    count, size = sum_of_thing(report, "messages", "slab")
    total = sum(site["count"] for site in kernel_part(report))
    require(900 <= count <= total <= 1000 and size == 64 * count, report,
            f"{count} messages of {size} bytes, {total} blocks")
    require(report["lost"]["allocs_full"] >= 5000 - count, report, f"lost {report['lost']}")
    program.go()
    truth = program.go()
    expect_things(memleak.fresh_report(), truth, may_lose=("allocs_full",))
    memleak.stop()


def test_depth(t):
    """--perf-max-stack-depth limits the frames, counted from the culprit."""
    share_kernel(t)
    program = t.program("kernel", "messages:100", "keys:100")
    memleak = t.attach(program, "-K", "--perf-max-stack-depth", "3")
    truth = program.go()
    report = memleak.stop()
    expect_things(report, truth)
    require(all(len(site["stack"]) <= 3 for site in kernel_part(report)), report, "deeper stacks")


# Reads into shared memory that has no pages yet: the kernel allocates in a page fault.
FAULTS = """
import mmap, os, sys
fd = os.memfd_create("pages")
os.write(fd, bytes(4 << 20))
print("ready", flush=True)
sys.stdin.read(1)
kept = mmap.mmap(-1, 4 << 20)
os.preadv(fd, [kept], 0)
print("done", flush=True)
sys.stdin.read(1)
"""
# Last functions of all stacks of system calls
SYSTEM_CALLS = ("entry_SYSCALL_64_after_hwframe", "el0t_64_sync")


def test_deep_stacks(t):
    """Stacks of more than 16 frames are complete."""
    share_kernel(t)
    program = t.process([sys.executable, "-c", FAULTS])
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.attach(program, "-K", interval="0.3")
    program.send()
    program.wait_for("done", lambda: b"done" in program.out.data)
    report = memleak.stop()
    stacks = [[frame["symbol"] for frame in site["stack"]] for site in kernel_part(report)]
    faults = [stack for stack in stacks if "shmem_fault" in stack]
    require(faults, report, f"no page fault in {stacks}")
    require(all(len(stack) > 16 and stack[-1] in SYSTEM_CALLS for stack in faults), report,
            f"{faults}")


# Cases about events.

def test_trace_json(t):
    """-t: a line for each message allocated and freed."""
    share_kernel(t)
    program = t.program("kernel", "messages:100")
    memleak = t.attach(program, "-K", "-t", "-a", interval="0.3")
    program.go()
    report = memleak.fresh_report()
    addresses = {alloc["addr"] for site in sites_of(report, "messages", "slab")
                 for alloc in site["allocs"]}
    require(len(addresses) == 100, report, f"{len(addresses)} addresses")
    program.go()
    program.go()
    report = memleak.stop()
    require(not report["lost"].get("events"), report, "events were lost")
    for address in addresses:
        events = [event for event in memleak.events if event["addr"] == address]
        allocs = [event for event in events if event["event"] == "alloc"
                  and event["size"] == 512 and event["pid"] == program.pid]
        frees = [event for event in events if event["event"] == "free"]
        # the message was allocated and freed once; others may have had its address before
        require(allocs and frees and len(frees) >= len(allocs), None, f"{address}: {events}")
        require(events[-1]["event"] == "free" or events[-1]["tid"] != program.pid
                or events[-1]["size"] != 512, None, f"{address}: {events}")
    made = [event for event in memleak.events if event["event"] == "alloc"
            and event["size"] == 512 and event["pid"] == program.pid]
    require(len(made) >= 200, None, f"{len(made)} lines for 200 messages")
    require(all(event["comm"] == "kernel" for event in made), None, "comm")


def test_trace_text(t):
    share_kernel(t)
    program = t.program("kernel", "messages:100")
    memleak = t.memleak("-t", "-K", "-o", "0", "-p", str(program.pid), "3600").ready()
    program.go()
    program.go()
    program.go()
    memleak.stop()
    line = r"^\S+ \d+/\d+ .*\b{}\b.*\b0x[0-9a-f]+\b.*\b512\b"
    for word in ("alloc", "free"):
        lines = re.findall(line.format(word), memleak.out.text, re.M)
        if len(lines) < 200:
            raise Failure(f"{len(lines)} lines with {word}, 200 messages: "
                          f"{memleak.out.text[:500]!r}")


@timeout(120)
@slow
def test_trace_floods(t):
    """Events that are not printed are counted."""
    share_kernel(t)
    program = t.program("kernel", "-t", "8", "messages:40000:16")
    memleak = t.attach(program, "-K", "-t")
    truth = program.go()
    report = memleak.stop()
    made = sum(event["event"] == "alloc" and event["size"] == 64 for event in memleak.events)
    lost = report["lost"].get("events", 0)
    expect_things(report, truth, may_lose=("events",))
    require(made + lost >= 40000, None, f"{made} events and {lost} lost are not 40,000")
    require(kernel_part(report), report, "no kernel site")
