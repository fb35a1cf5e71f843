# SPDX-License-Identifier: GPL-2.0-or-later
"""What a report's entries are summed by, and the views beside the stacks."""

import os
import re

from lib import Failure, each, expect, owner


def by(report, what):
    """The groups by that key, of which none is shown twice."""
    return {group[what]: group for group in report["groups"]}


def totals(group):
    return group["count"], group["bytes"]


def wanted(what, got, right):
    if got != right:
        raise Failure(f"{what}: {got}, expected {right}")


# --by process

def test_by_process(t):
    programs = [t.program("leak"), t.program("many", "500", "10")]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("--json", "-o", "0", "-p", pids, "--by", "process", "3600").ready()
    truths = [program.go() for program in programs]
    report = memleak.stop()
    groups = by(report, "pid")
    wanted("totals", {pid: totals(group) for pid, group in groups.items()},
           {program.pid: (truth.count, truth.bytes)
            for program, truth in zip(programs, truths)})
    wanted("names", [groups[program.pid]["comm"] for program in programs], ["leak", "many"])
    wanted("stacks", [owner(site) for site in groups[programs[0].pid]["sites"]],
           ["leak_big", "leak_small"])


def test_by_process_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "--by", "process", "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.text
    head = (r"^\[\d\d:\d\d:\d\d\] Top 1 processes with outstanding allocations:\n"
            rf"\t5242960 bytes in 10 allocations from process {program.pid} \(leak\)\n")
    stack = r"^\t\t80 bytes in 5 allocations from stack\n\t\t\tleak_small\+0x"
    if not re.search(head, text, re.M) or not re.search(stack, text, re.M):
        raise Failure(f"{text!r}")


def test_by_process_combined(t):
    program = t.program("leak")
    memleak = t.attach(program, "-C", "--by", "process")
    truth = program.go()
    group = memleak.stop()["groups"][0]
    wanted("totals", totals(group), (truth.count, truth.bytes))
    wanted("age", group["oldest_ns"], None)


def test_by_process_growth(t):
    """Growth of a group is against the report before, like a stack's."""
    program = t.program("leak")
    memleak = t.attach(program, "--by", "process", interval="0.2")
    for _ in range(2):
        program.go()
        memleak.fresh_report()
        memleak.fresh_report()
    memleak.stop()
    grown, last = [], 0
    for report in memleak.reports:
        size = sum(group["bytes"] for group in report["groups"])
        for group in report["groups"]:
            wanted("growth", group["growth"]["bytes"], size - last)
            grown.append(size - last)
        last = size
    if len([growth for growth in grown if growth]) < 2 or 0 not in grown:
        raise Failure(f"growth {grown}")


# --by module

@each(("cxx", "new"), ("functions", "all"))
def test_by_module_runtime(t, what):
    """What the C and C++ libraries allocate is the program's that called them."""
    name, mode = what
    program = t.program(name, mode)
    memleak = t.attach(program, "--by", "module")
    truth = program.go()
    report = memleak.stop()
    groups = by(report, "module")
    path = os.fspath(t.file_of(name).resolve())
    wanted("modules", list(groups), [path])
    wanted("totals", totals(groups[path]), (truth.count, truth.bytes))


def test_by_module_library(t):
    """A library's own memory is told from that of the program."""
    plugin = os.fspath(t.file_of("libplugin.so").resolve())
    program = t.program("dlopen", plugin, "stay")
    memleak = t.attach(program, "--by", "module")
    truth = program.go()
    report = memleak.stop()
    groups = by(report, "module")
    wanted("totals", totals(groups[plugin]), truth.sites["plugin_leak", "heap"])
    if os.fspath(t.file_of("dlopen").resolve()) not in groups:
        raise Failure(f"modules {list(groups)}")
    for site in groups[plugin]["sites"]:
        wanted("file", site["stack"][0]["module"], plugin)


# --by thread

SHARE = 500


def shares():
    """Of each thread of the program `threads`: blocks and bytes."""
    return sorted((SHARE, sum(16 + 8 * i + j % 5 for j in range(SHARE))) for i in range(8))


@each("alive", "ended")
def test_by_thread(t, what):
    program = t.program("threads", str(SHARE))
    memleak = t.attach(program, "--by", "thread", interval="0.2")
    before = set(map(int, os.listdir(f"/proc/{program.pid}/task")))
    program.go()
    report = memleak.fresh_report()
    if what == "ended":
        program.go()
        program.go()
        report = memleak.fresh_report()
    memleak.stop()
    groups = by(report, "tid")
    if what == "alive":
        wanted("totals", sorted(totals(group) for group in groups.values()), shares())
        if not set(groups) <= before - {program.pid}:
            raise Failure(f"threads {sorted(groups)} of {sorted(before)}")
    wanted("count", len(groups), 8)
    name = "threads" if what == "alive" else None
    wanted("names", {group["thread"] for group in groups.values()}, {name})
    wanted("processes", {group["pid"] for group in groups.values()}, {program.pid})


def test_by_thread_of_one(t):
    """A program of one thread: the same account as by stack, site by site."""
    program = t.program("leak")
    memleak = t.attach(program, "-a", "--by", "thread")
    truth = program.go()
    report = memleak.stop()
    group = by(report, "tid")[program.pid]
    expect({**report, "sites": group["sites"]}, truth)


def test_by_thread_sampled(t):
    """Estimates of threads add up to those of all."""
    program = t.program("threads", "20000")
    memleak = t.attach(program, "-s", "10", "--by", "thread")
    program.go()
    report = memleak.stop()
    wanted("threads", len(report["groups"]), 8)
    for group in report["groups"]:
        error = group["standard_error"]["count"]
        if not error or abs(group["count"] - 20000) > 6 * error:
            raise Failure(f"{group['count']} blocks estimated, standard error {error}")


# --largest

def test_largest(t):
    """Of each process the largest block that is outstanding, and where it came from."""
    programs = [t.program("leak"), t.program("many", "500", "10")]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("--json", "-o", "0", "-p", pids, "--largest", "0.2").ready()
    truths = [program.go() for program in programs]
    report = memleak.fresh_report()
    memleak.stop()
    wanted("processes", [block["pid"] for block in report["largest"]],
           [program.pid for program in programs])
    block = report["largest"][0]
    sizes = truths[0].blocks
    wanted("size", sizes.get(int(block["addr"], 16)), max(sizes.values()))
    wanted("said size", block["size"], max(sizes.values()))
    wanted("caller", owner(block), "leak_big")
    wanted("site", block["id"], next(site["id"] for site in report["sites"]
                                     if owner(site) == "leak_big"))


def test_largest_is_gone(t):
    """What was freed is not the largest any more, and the next one is what comes after it."""
    program = t.program("leak")
    memleak = t.attach(program, "--largest", interval="0.2")
    seen = []
    for _ in range(4):
        program.go()
        seen.append([block["size"] for block in memleak.fresh_report()["largest"]])
    memleak.stop()
    wanted("largest", seen, [[1048576], [1048576], [], [16]])


def test_largest_is_memory(t):
    """Terabytes of address space are no allocation that was asked for."""
    program = t.program("mappings", "reserve")
    memleak = t.attach(program, "--largest")
    program.go()
    report = memleak.stop()
    kinds = {site["kind"] for site in report["sites"]}
    if "reserve" not in kinds or any(block["kind"] == "reserve" for block in report["largest"]):
        raise Failure(f"sites of {kinds}, largest {report['largest']}")


def test_largest_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "--largest", "3600").ready()
    program.go()
    memleak.stop()
    line = (rf"^\tlargest allocation of process {program.pid} \(leak\): 1048576 bytes at "
            rf"0x[0-9a-f]+, \d+\.\d s old, heap, thread {program.pid}\n\t\tleak_big\+0x")
    if not re.search(line, memleak.out.text, re.M):
        raise Failure(f"{memleak.out.text!r}")


# --stats

def stats_of(report, space="user"):
    """Of a space; what is counted by function is all that was counted."""
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


@each("all", "combined", "not_young")
def test_stats(t, how):
    """Calls by function, and what the tables hold, when there is something and when it is gone."""
    options = {"all": [], "combined": ["-C"], "not_young": ["--max-allocs", "1000"]}[how]
    program = t.program("leak")
    memleak = t.attach(program, "--stats", *options, interval="0.2")
    seen = []
    for _ in range(3):
        program.go()
        stats = stats_of(memleak.fresh_report())
        tables = stats["tables"]
        young = tables["young"]["used"] if tables["young"] else 0
        seen.append((called(stats), tables["blocks"]["used"] + young))
        wanted("threads", tables["threads"]["used"], 1)
        wanted("young blocks", tables["young"] is None, how == "not_young")
        if tables["sites"]["used"] < 2 or tables["stacks"]["used"] < 2:
            raise Failure(f"tables {tables}")
    memleak.stop()
    wanted("calls and blocks", seen, [({"malloc": 10, "free": 1}, 10),
                                      ({"malloc": 20, "free": 1}, 20),
                                      ({"malloc": 20, "free": 21}, 0)])


def test_stats_functions(t):
    """Each function of the C library by its name."""
    program = t.program("functions", "all")
    memleak = t.attach(program, "--stats")
    program.go()
    report = memleak.stop()
    for name in ("malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "free", "mmap"):
        if not stats_of(report)["functions"][name]:
            raise Failure(f"no {name} in {called(stats_of(report))}")


def test_stats_failed(t):
    """A realloc that gives nothing has failed; one to 0 bytes has not."""
    seen = []
    for how in ("realloc_fails", "realloc_to_zero"):
        program = t.program("edges", how)
        memleak = t.attach(program, "--stats")
        program.go()
        seen.append(stats_of(memleak.stop())["failed"])
    wanted("failed calls", seen, [1, 0])


def test_stats_filtered(t):
    """What a filter leaves out is a call, and its stack is not walked."""
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
    """Each way of losing something is told, though nothing was lost."""
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "--stats", "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.text
    for line in (r"^\tuser: 11 calls: 10 malloc, 1 free$", r"^\tuser: stacks: \d+ walked, \d+ rec",
                 r"^\tuser: tables: \d+ of 1000000 blocks, \d+ of 49152 young, "
                 r"\d+ of \d+ sites, \d+ of 16384 stacks, 1 of \d+ threads$",
                 r"^\tlost: 0 allocations not tracked: the block table was full$"):
        if not re.search(line, text, re.M):
            raise Failure(f"{line} is not in {text!r}")


# --summary

def summary_of(report, program):
    found = [process for process in report["summary"] if process["pid"] == program.pid]
    wanted("processes of that pid", len(found), 1)
    process = found[0]
    wanted("freed", process["freed"], process["allocated"] - process["outstanding"])
    wanted("calls", process["calls"], sum(process["functions"].values()))
    return process


def sums(process):
    return [process[key] for key in ("allocated", "outstanding", "peak", "largest", "calls")]


@each("all", "combined", "not_young")
def test_summary(t, how):
    """All that a process did, and the peak after all is freed."""
    options = {"all": [], "combined": ["-C"], "not_young": ["--max-allocs", "1000"]}[how]
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


@each("realloc_fails", "realloc_fails_then_free", "realloc_moves", "realloc_in_place",
      "realloc_to_zero", "reallocarray_fails")
def test_summary_realloc(t, how):
    """What a realloc gives back was freed; one that fails changes nothing."""
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
    """Each process has its own sums; equal addresses and all."""
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


def test_summary_of_threads(t):
    """Eight threads at once: exact sums, and a peak that is what was outstanding."""
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
    """A new program begins anew: what the old one held is gone."""
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
    """Whatever the probes are: the programs are taken by the kernel, and count."""
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
             rf"\t +{program.pid} +5242960 +0 +5242960 +5242960 +1048576 +11 leak$")
    if not re.search(table, memleak.out.text, re.M):
        raise Failure(f"{memleak.out.text!r}")
