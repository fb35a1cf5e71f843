# SPDX-License-Identifier: GPL-2.0-or-later
"""--by, and other views beside the stacks."""

import contextlib
import os
import re
import signal

from lib import Failure, Skip, each, expect, owner, wanted
from lib.process import until


def by(report, what):
    """Returns the groups by this key; requires that none is shown twice."""
    return {group[what]: group for group in report["groups"]}


def totals(group):
    return group["count"], group["bytes"]


# Cases about --by process.

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
    memleak = t.memleak("-o", "0", "--format", "bcc", "-p", str(program.pid), "--by", "process",
                        "3600").ready()
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
    """Growth of a group is relative to the previous report, as for stacks."""
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


# Cases about --by module.

@each(("cxx", "new"), ("functions", "all"))
def test_by_module_runtime(t, what):
    """Allocations by the C and C++ libraries belong to the program that called them."""
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
    """Allocations by other libraries are a group separate from the program's."""
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


# Cases about --by thread.

SHARE = 500


def shares():
    """Returns blocks and bytes of each thread of the program `threads`."""
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
    """For a single thread, sites are equal to those without --by thread."""
    program = t.program("leak")
    memleak = t.attach(program, "-a", "--by", "thread")
    truth = program.go()
    report = memleak.stop()
    group = by(report, "tid")[program.pid]
    expect({**report, "sites": group["sites"]}, truth)


def test_by_thread_sampled(t):
    """Estimates of threads add up to the totals."""
    program = t.program("threads", "20000")
    memleak = t.attach(program, "-s", "10", "--by", "thread")
    program.go()
    report = memleak.stop()
    wanted("threads", len(report["groups"]), 8)
    for group in report["groups"]:
        error = group["standard_error"]["count"]
        if not error or abs(group["count"] - 20000) > 6 * error:
            raise Failure(f"{group['count']} blocks estimated, standard error {error}")


# Cases about --by cgroup.

@contextlib.contextmanager
def new_cgroup(name):
    """Creates a cgroup of the memory controller or of version 2, and removes it afterwards."""
    root = next((path for path in ("/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified",
                                   "/sys/fs/cgroup") if os.path.exists(path + "/cgroup.procs")),
                None)
    if not root:
        raise Skip("no cgroups are mounted")
    path = f"{root}/{name}"
    try:
        os.mkdir(path)
    except OSError as error:
        raise Skip(f"no cgroup can be made: {error}") from error
    try:
        yield path
    finally:
        until(lambda: remove_cgroup(path))


def remove_cgroup(path):
    try:
        os.rmdir(path)
    except OSError:
        return False
    return True


def test_by_cgroup(t):
    """Two processes in one cgroup and one in another: groups equal what the kernel says."""
    name = f"memleak-test-{os.getpid()}"
    with new_cgroup(name) as path:
        programs = [t.program("leak"), t.program("leak"), t.program("many", "500", "10")]
        with open(path + "/cgroup.procs", "w", encoding="ascii") as file:
            file.write(str(programs[0].pid))
        pids = ",".join(str(program.pid) for program in programs)
        memleak = t.memleak("--json", "-o", "0", "-p", pids, "--by", "cgroup", "3600").ready()
        truths = [program.go() for program in programs]
        report = memleak.stop()
        programs[0].end()
    groups = by(report, "cgroup")
    inside = next(group for group in groups if group and group.endswith("/" + name))
    wanted("inside", totals(groups.pop(inside)), (truths[0].count, truths[0].bytes))
    outside, = groups.values()
    wanted("outside", totals(outside), tuple(
        sum(getattr(truth, key) for truth in truths[1:]) for key in ("count", "bytes")))


def test_by_cgroup_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "--format", "bcc", "-p", str(program.pid), "--by", "cgroup",
                        "3600").ready()
    program.go()
    memleak.stop()
    if not re.search(r"^\t5242960 bytes in 10 allocations from cgroup /", memleak.out.text, re.M):
        raise Failure(f"{memleak.out.text!r}")


# Cases about --largest.

def test_largest(t):
    """The largest outstanding block of each process, with its stack."""
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
    """A freed block is not the largest any more; the next largest is shown."""
    program = t.program("leak")
    memleak = t.attach(program, "--largest", interval="0.2")
    seen = []
    for _ in range(4):
        program.go()
        seen.append([block["size"] for block in memleak.fresh_report()["largest"]])
    memleak.stop()
    wanted("largest", seen, [[1048576], [1048576], [], [16]])


def test_largest_is_memory(t):
    """Terabytes of reserved address space are not shown as the largest allocation."""
    program = t.program("mappings", "reserve")
    memleak = t.attach(program, "--largest", "--reserved")
    program.go()
    report = memleak.stop()
    kinds = {site["kind"] for site in report["sites"]}
    if "reserve" not in kinds or any(block["kind"] == "reserve" for block in report["largest"]):
        raise Failure(f"sites of {kinds}, largest {report['largest']}")


def test_largest_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "--format", "bcc", "-p", str(program.pid), "--largest",
                        "3600").ready()
    program.go()
    memleak.stop()
    line = (rf"^\tlargest allocation of process {program.pid} \(leak\): 1048576 bytes at "
            rf"0x[0-9a-f]+, \d+\.\d s old, heap, thread {program.pid}\n\t\tleak_big\+0x")
    if not re.search(line, memleak.out.text, re.M):
        raise Failure(f"{memleak.out.text!r}")


def test_max_records(t):
    """At most this number of processes is shown, and how many more there are."""
    programs = [t.program("leak"), t.program("many", "500", "10"), t.program("sizes")]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("--json", "-o", "0", "-p", pids, "--by", "process", "--largest",
                        "--summary", "--max-records", "2", "3600").ready()
    truths = [program.go() for program in programs]
    report = memleak.stop()
    wanted("totals", [report[key] for key in ("groups_total", "largest_total", "summary_total")],
           [3, 3, 3])
    most = [program.pid for _, program in sorted(zip((truth.bytes for truth in truths), programs),
                                                 key=lambda pair: -pair[0])]
    for what in ("groups", "summary"):
        wanted(what, [process["pid"] for process in report[what]], most[:2])
    wanted("largest", len(report["largest"]), 2)


def test_max_records_text(t):
    programs = [t.program("leak"), t.program("many", "500", "10")]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("-o", "0", "--format", "bcc", "-p", pids, "--by", "process", "--largest",
                        "--summary", "--max-records", "1", "3600").ready()
    for program in programs:
        program.go()
    memleak.stop()
    wanted("lines", re.findall(r"^\t(\(.* more .*\))$", memleak.out.text, re.M),
           ["(1 more process)", "(1 more largest allocation)",
            "(1 more process)"])


# Cases about --prove-every.

def test_prove_every(t):
    """Every third report and the last one have a proof."""
    program = t.program("leak")
    memleak = t.attach(program, "--prove-every", "3", interval="0.2")
    program.go()
    memleak.report_number(4)
    memleak.stop()
    proved = ["proof" in report for report in memleak.reports]
    wanted("reports with a proof", proved[:5], [True, False, False, True, False])
    wanted("the last report", proved[-1], True)


def test_prove_when_asked(t):
    """A report on request has a proof."""
    program = t.program("leak")
    memleak = t.attach(program, "--prove-every", "100")
    program.go()
    for _ in range(3):
        memleak.ask()
    memleak.stop()
    wanted("reports with a proof", ["proof" in report for report in memleak.reports], [True] * 4)
