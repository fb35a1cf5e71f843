# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures beside the stacks: --stats, sizes of tables, and --summary."""

import platform
import re

from lib import Failure, Skip, each, sample, wanted


# Cases about --stats.

def stats_of(report, space="user"):
    """Returns the stats of a space; counts by function add up to the total."""
    stats = report["stats"][space]
    if space == "user":
        wanted("calls", stats["calls"], sum(stats["functions"].values()))
        wanted("calls", stats["calls"], report["calls"])
    for name, table in stats["tables"].items():
        if table and not 0 <= table["used"] <= table["size"]:
            raise Failure(f"table {name}: {table}")
    return stats


def called(stats):
    return {name: count for name, count in stats["functions"].items() if count}


@each("all", "combined", "not_recent")
def test_stats(t, how):
    """Calls by function, and contents of the tables, before and after everything is freed."""
    options = {"all": [], "combined": ["-C"], "not_recent": ["--max-allocs", "1000"]}[how]
    # Older kernels have no recent-block cache.
    exchanges = tuple(map(int, platform.release().split(".")[:2])) >= (5, 12)
    program = t.program("leak")
    memleak = t.attach(program, "--stats", *options, interval="0.2")
    seen = []
    for _ in range(3):
        program.go()
        stats = stats_of(memleak.fresh_report())
        tables = stats["tables"]
        recent = tables["young"]["used"] if tables["young"] else 0
        seen.append((called(stats), tables["blocks"]["used"] + recent))
        wanted("threads", tables["threads"]["used"], 1)
        wanted("recent blocks", tables["young"] is None, how == "not_recent" or not exchanges)
        if tables["sites"]["used"] < 2 or tables["stacks"]["used"] < 2:
            raise Failure(f"tables {tables}")
    memleak.stop()
    wanted("calls and blocks", seen, [({"malloc": 10, "free": 1}, 10),
                                      ({"malloc": 20, "free": 1}, 20),
                                      ({"malloc": 20, "free": 21}, 0)])


def test_cost(t):
    """A program that does nothing but allocate spends most of its time in probes."""
    if tuple(map(int, platform.release().split(".")[:2])) < (6, 6):
        raise Skip("traps are timed by links that this kernel lacks")
    program = t.program("churn")
    memleak = t.attach(program, interval="0.5")
    program.go()
    program.send()
    first = memleak.reports.index(memleak.fresh_report())
    memleak.wait_for("the cost", lambda: len(memleak.take()) > first + 1 and
                     "tracing_cost" in memleak.reports[-1])
    cost = memleak.reports[-1]["tracing_cost"]
    memleak.stop()
    if not 0.3 < cost["cpu_share"] or not cost["calls_per_s"] or cost["at_least"]:
        raise Failure(f"{cost}")


def test_stats_functions(t):
    """Each function of the C library is counted by name."""
    program = t.program("functions", "all")
    memleak = t.attach(program, "--stats")
    program.go()
    report = memleak.stop()
    for name in ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free", "mmap"):
        if not stats_of(report)["functions"][name]:
            raise Failure(f"no {name} in {called(stats_of(report))}")


def test_stats_failed(t):
    """A realloc that returns NULL counts as failed, unless it is to 0 bytes."""
    seen = []
    for how in ("realloc_fails", "realloc_to_zero"):
        program = t.program("edges", how)
        memleak = t.attach(program, "--stats")
        program.go()
        seen.append(stats_of(memleak.stop())["failed"])
    wanted("failed calls", seen, [1, 0])


def test_stats_filtered(t):
    """Calls left out by a filter count as calls, and their stacks are not walked."""
    program = t.program("leak")
    memleak = t.attach(program, "--stats", "-z", "1M")
    program.go()
    stats = stats_of(memleak.stop())
    wanted("calls", called(stats), {"malloc": 10, "free": 1})
    wanted("stacks", stats["stacks"]["walked"] + stats["stacks"]["recognised"], 5)


def test_stats_of_both_spaces(t):
    program = t.program("leak")
    memleak = t.attach(program, "-K", "--stats")
    program.go()
    report = memleak.stop()
    wanted("threads", stats_of(report, "kernel")["tables"]["threads"], None)
    wanted("calls", report["calls"],
           sum(report["stats"][space]["calls"] for space in ("user", "kernel")))


def test_stats_text(t):
    """Text output lists every kind of loss, even if nothing was lost."""
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "--stats", "--max-allocs", "1000000",
                        "--stack-storage-size", "16384", "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.text
    for line in (r"^\tuser: 11 calls: 10 malloc, 1 free$", r"^\tuser: stacks: \d+ walked, \d+ from",
                 r"^\tuser: tables: \d+ of 1000000 blocks, \d+ of 49152 young, "
                 r"\d+ of \d+ sites, \d+ of 16384 stacks, 1 of \d+ threads$",
                 r"^\tlost: 0 allocations not tracked: the block table was full$"):
        if not re.search(line, text, re.M):
            raise Failure(f"{line} is not in {text!r}")


# Cases about --summary.

def summary_of(report, program):
    found = [process for process in report["summary"] if process["pid"] == program.pid]
    wanted("processes of that pid", len(found), 1)
    process = found[0]
    wanted("freed", process["freed"], process["allocated"] - process["outstanding"])
    wanted("calls", process["calls"], sum(process["functions"].values()))
    return process


def sums(process):
    return [process[key] for key in ("allocated", "outstanding", "peak", "largest", "calls")]


@each("all", "combined", "not_recent")
def test_summary(t, how):
    """Sums of all that a process did, and its peak after everything is freed."""
    options = {"all": [], "combined": ["-C"], "not_recent": ["--max-allocs", "1000"]}[how]
    program = t.program("leak")
    memleak = t.attach(program, "--summary", *options, interval="0.2")
    half, most = 5 * (1048576 + 16), 10 * (1048576 + 16)
    seen = []
    for _ in range(4):
        program.go()
        seen.append(sums(summary_of(memleak.fresh_report(), program)))
    memleak.stop()
    wanted("sums", seen, [[half, half, half, 1048576, 11], [most, most, most, 1048576, 21],
                          [most, 0, most, 1048576, 41], [most + 16, 16, most, 1048576, 42]])


@sample(2)
@each("realloc_fails", "realloc_fails_then_free", "realloc_moves", "realloc_in_place",
      "realloc_to_zero", "reallocarray_fails")
def test_summary_realloc(t, how):
    """Memory released by realloc counts as freed; a failing realloc changes nothing."""
    program = t.program("edges", how)
    memleak = t.attach(program, "--summary")
    truth = program.go()
    report = memleak.stop()
    process = summary_of(report, program)
    wanted("outstanding", process["outstanding"], truth.bytes)
    wanted("the report's", process["outstanding"], report["outstanding"]["bytes"])
    if process["peak"] < process["outstanding"] or process["peak"] > process["allocated"]:
        raise Failure(f"peak {process}")


def test_summary_of_many(t):
    """Each process has separate sums, although addresses are equal."""
    programs = [t.program("leak"), t.program("many", "500", "10"), t.program("sizes")]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("--json", "-o", "0", "-p", pids, "--summary", "3600").ready()
    truths = [program.go() for program in programs]
    report = memleak.stop()
    for program, truth in zip(programs, truths):
        process = summary_of(report, program)
        wanted("outstanding", process["outstanding"], truth.bytes)
        wanted("name", process["comm"], program.name)
    left = [process["outstanding"] for process in report["summary"]]
    wanted("order", left, sorted(left, reverse=True))


@each("allocated", "freed", "calls", "pid")
def test_summary_sort(t, key):
    programs = [t.program("leak"), t.program("many", "500", "10"), t.program("sizes")]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("--json", "-o", "0", "-p", pids, "--summary", "--summary-sort", key,
                        "3600").ready()
    for program in programs:
        program.go()
    values = [process[key] for process in memleak.stop()["summary"]]
    wanted("order", values, sorted(values, reverse=key != "pid"))
    wanted("processes", len(values), 3)


def test_summary_of_threads(t):
    """Eight threads at once: exact sums, and a peak equal to what was outstanding."""
    program = t.program("threads", "20000")
    memleak = t.attach(program, "--summary", interval="0.2")
    first = program.go()
    process = summary_of(memleak.fresh_report(), program)
    wanted("outstanding", process["outstanding"], first.bytes)
    if not 0.999 * first.bytes <= process["peak"] <= first.bytes:
        raise Failure(f"peak {process['peak']}, {first.bytes} were outstanding")
    second = program.go()
    process = summary_of(memleak.stop(), program)
    wanted("allocated", process["allocated"], first.bytes)
    wanted("outstanding", process["outstanding"], second.bytes)


def test_summary_after_exec(t):
    """Sums start anew after exec: blocks of the old program are gone."""
    program = t.program("process", "exec")
    memleak = t.attach(program, "--summary")
    program.go()
    report = memleak.stop()
    process = summary_of(report, program)
    held = sum(site["bytes"] for site in report["sites"] if site["kind"] == "heap")
    wanted("outstanding", process["outstanding"], held)
    if process["functions"]["malloc"] < 5:
        raise Failure(f"calls {process['functions']}")


@each("multi", "perf", "shape")
def test_summary_links(t, kind):
    """The BPF programs are accepted and count with each kind of link."""
    program = t.program("leak")
    memleak = t.attach(program, "--summary", "--stats", env={"MEMLEAK_LINKS": kind})
    program.go()
    report = memleak.stop()
    wanted("calls", summary_of(report, program)["functions"]["malloc"], 10)
    wanted("calls", stats_of(report)["functions"]["malloc"], 10)


def test_summary_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "--summary", "3600").ready()
    program.go()
    memleak.stop()
    table = (r"^\t +PID +ALLOCATED +FREED +OUTSTANDING +PEAK +LARGEST +CALLS COMM\n"
             rf"\t +{program.pid} +5\.0 MiB +0 bytes +5\.0 MiB +5\.0 MiB +1\.0 MiB +11 leak$")
    if not re.search(table, memleak.out.text, re.M):
        raise Failure(f"{memleak.out.text!r}")
