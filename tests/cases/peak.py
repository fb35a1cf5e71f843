# SPDX-License-Identifier: GPL-2.0-or-later
"""--peak: blocks that were outstanding when most bytes were."""

import re

from lib import Failure, each, owner, sample, wanted
from lib.process import PATIENCE

BIG, SMALL = 1048576, 16


def sums(report):
    """Returns the sums at the peak by allocating function."""
    return {owner(site): (site["count"], site["bytes"]) for site in report["peak"]["sites"]}


@sample(2)
@each("session", "multi", "perf", "shape", "combined", "table")
def test_peak(t, how):
    """--peak still shows all blocks after they were freed."""
    kinds = ("session", "multi", "perf", "shape")
    options = {"combined": ["-C"], "table": ["--max-allocs", "1000"]}.get(how, [])
    program = t.program("leak")
    memleak = t.attach(program, "--peak", *options, interval="0.2",
                       env={"MEMLEAK_LINKS": how} if how in kinds else None)
    half = {"leak_big": (5, 5 * BIG), "leak_small": (5, 5 * SMALL)}
    most = {"leak_big": (10, 10 * BIG), "leak_small": (10, 10 * SMALL)}
    seen, ages = [], []
    for _ in range(4):
        program.go()
        report = memleak.fresh_report()
        seen.append(sums(report))
        ages.append(report["peak"]["age_ns"])
    report = memleak.stop()
    wanted("peaks", seen, [half, most, most, most])
    wanted("at most", report["peak"]["highest_bytes"], 10 * (BIG + SMALL))
    if not ages[1] < ages[2] < ages[3] < report["peak"]["age_ns"]:
        raise Failure(f"ages {ages}")


def test_peak_between_reports(t):
    """If the peak is between reports, its size is known all the same."""
    program = t.program("leak")
    memleak = t.attach(program, "--peak", "--summary")
    for _ in range(3):
        program.go()
    report = memleak.stop()
    wanted("at most", report["peak"]["highest_bytes"], 10 * (BIG + SMALL))
    wanted("of one process", report["summary"][0]["peak"], report["peak"]["highest_bytes"])
    if report["peak"]["bytes"] > 10 * (BIG + SMALL):
        raise Failure("more than ever was")


def test_peak_is_near(t):
    """With growth in small steps, the copy has at least 15/16 of the peak, even without reports."""
    program = t.program("many", "3000", "100")
    memleak = t.attach(program, "--peak", "-v", "-o", "3600000")
    truth = program.go()
    memleak.wait_for("a copy", lambda: any(
        int(size) >= truth.bytes * 15 / 16 - 4096
        for size in re.findall(r"the best one has (\d+) bytes", memleak.notes)))
    program.go()
    report = memleak.stop()
    peak = report["peak"]
    if not truth.bytes * 15 / 16 - 4096 <= peak["bytes"] <= truth.bytes:
        raise Failure(f"{peak['bytes']} bytes, {truth.bytes} were there")


def test_peak_mappings(t):
    """Mappings count for the peak, reserved address space does not."""
    program = t.program("functions", "mmap", "malloc", "munmap")
    memleak = t.attach(program, "--peak", interval="0.2")
    truth = program.go()
    memleak.fresh_report()
    program.go()
    report = memleak.stop()
    for name, kind in (("leak_mmap", "mmap"), ("leak_malloc", "heap")):
        wanted(name, sums(report)[name], truth.sites[name, kind])


def test_peak_reserve(t):
    program = t.program("mappings", "reserve")
    memleak = t.attach(program, "--peak")
    program.go()
    report = memleak.stop()
    if report["peak"] and any(site["kind"] == "reserve" for site in report["peak"]["sites"]):
        raise Failure(f"{report['peak']}")


def test_peak_of_ended(t):
    """The blocks that an ended process held at the peak still have symbols."""
    programs = [t.program("leak"), t.program("many", "500", "10")]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p", pids, "--peak", "0.2").ready()
    truth = programs[1].go()
    for _ in range(2):
        programs[0].go()
    before = memleak.fresh_report()
    while sums(before)["leak_big"] != (10, 10 * BIG):
        before = memleak.fresh_report()
    for _ in range(2):
        programs[0].go()
    wanted("exit code", programs[0].finish(), 7)
    memleak.fresh_report()
    after = memleak.fresh_report()
    memleak.stop()
    wanted("peak", sums(after), sums(before))
    wanted("of the ended", sums(after)["leak_big"], (10, 10 * BIG))
    wanted("bytes", after["peak"]["bytes"], 10 * (BIG + SMALL) + truth.bytes)
    wanted("process", [site["pid"] for site in after["peak"]["sites"]
                       if owner(site) in ("leak_big", "leak_small")], [programs[0].pid] * 2)


def test_peak_after_exec(t):
    """After exec, memory of the previous program does not count any more."""
    program = t.program("process", "exec")
    memleak = t.attach(program, "--peak", interval="0.2")
    program.go()
    memleak.fresh_report()
    report = memleak.stop()
    held = sum(site["bytes"] for site in report["sites"])
    if report["peak"]["highest_bytes"] < held:
        raise Failure(f"{report['peak']} is less than {held}")


@each("table", "combined")
def test_peak_of_full_table(t, how):
    """Blocks refused by a full table and then freed reduce the total once each."""
    options = {"combined": ["-C"], "table": []}[how]
    program = t.program("chase", "65600", "20000", "6", str(64 * BIG))
    memleak = t.attach(program, "--peak", "--max-allocs", "65536", *options,
                       env={"MEMLEAK_RECENT_BUCKETS": "1"})
    program.go(2 * PATIENCE)
    report = memleak.stop()
    if not report["lost"]["allocs_full"]:
        raise Failure("the table was never full")
    wanted("outstanding", report["outstanding"]["bytes"], 0)
    wanted("at most", report["peak"]["highest_bytes"], 64 * BIG)


def test_peak_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "--format", "bcc", "-p", str(program.pid), "--peak",
                        "3600").ready()
    program.go()
    memleak.stop()
    line = (r"^\tpeak: 5242960 bytes, 10 allocations, 2 sites, \d+\.\d s ago\n"
            r"\t\t5242880 bytes in 5 allocations from stack\n\t\t\tleak_big\+0x")
    if not re.search(line, memleak.out.text, re.M):
        raise Failure(f"{memleak.out.text!r}")
