# SPDX-License-Identifier: GPL-2.0-or-later
"""--count: counts calls, and nothing else."""

import os
import re
import shutil
import signal

from lib import Failure, each, lane, wanted
from lib.cgroup import Cgroup, accounting, hierarchy
from lib.memleak import bpftool, held_ids

BIG, SMALL = 1048576, 16


def attach(t, *options, interval="3600", **kwargs):
    return t.memleak("--json", "-T", "100000", *options, interval, **kwargs).ready()


def stop(memleak):
    """Stops memleak and checks that all reports add up to the final sums."""
    memleak.signal(2)
    memleak.finish(final=False)
    for key in ("calls", "bytes"):
        wanted(key, sum(report[key] for report in memleak.counts),
               memleak.counts[-1]["total"][key])
    wanted("final", [report["final"] for report in memleak.counts][-1], True)
    return memleak.counts[-1]


def cgroup_of(pid):
    with open(f"/proc/{pid}/cgroup", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split(":", 2) for line in file]
    paths = {controllers: path for _, controllers, path in lines}
    return next((path for names, path in paths.items() if "memory" in names.split(",")),
                paths.get(""))


@each("multi", "perf", "shape")
def test_count_process(t, kind):
    program = t.program("leak")
    memleak = attach(t, "--count=process", "-p", str(program.pid), env={"MEMLEAK_LINKS": kind})
    for _ in range(3):
        program.go()
    report = stop(memleak)
    row, = report["entries"]
    wanted("process", (row["pid"], row["comm"]), (program.pid, "leak"))
    wanted("sums", (row["calls"], row["bytes"]), (41, 10 * (BIG + SMALL)))


def test_count_function(t):
    program = t.program("leak")
    memleak = attach(t, "--count=function", "-p", str(program.pid))
    for _ in range(3):
        program.go()
    report = stop(memleak)
    wanted("calls", {row["function"]: row["calls"] for row in report["entries"]},
           {"malloc": 20, "free": 21})


def test_count_functions(t):
    """Counts each call shape and the bytes requested."""
    program = t.program("functions", "calloc", "realloc", "reallocarray", "posix_memalign",
                        "aligned_alloc", "mmap")
    memleak = attach(t, "--count=function", "-p", str(program.pid))
    truth = program.go()
    report = stop(memleak)
    for name, function in (("leak_calloc", "calloc"), ("leak_posix_memalign", "posix_memalign")):
        row, = (row for row in report["entries"] if row["function"] == function)
        wanted(function, (row["calls"], row["bytes"]), truth.sites[name, "heap"])
    if any(row["function"] in ("mmap", None) for row in report["entries"]):
        raise Failure(f"{report['entries']}")


def test_count_intervals(t):
    """Calls since the last report, and in total; entries without new calls are not shown."""
    program = t.program("leak")
    memleak = attach(t, "--count", "-p", str(program.pid), interval="0.2")
    program.go()
    memleak.wait_for("two quiet reports", lambda: len(
        [report for report in memleak.take_counts() if report["total"]["calls"] == 11
         and not report["entries"]]) >= 2)
    wanted("calls", sum(row["calls"] for report in memleak.counts
                        for row in report["entries"]), 11)
    wanted("cgroup", {row["cgroup"] for report in memleak.counts for row in report["entries"]},
           {cgroup_of(program.pid)})
    stop(memleak)


def counted(memleak):
    """Returns the keys of the BPF map `counts` as numbers."""
    number, = (i for i in held_ids(memleak.pid, "map")
               if bpftool("map", "show", "id", i)["name"] == "counts")
    return {int.from_bytes(bytes(int(byte, 16) for byte in row["key"]), "little")
            for row in bpftool("map", "dump", "id", number)}


# Other cases may mount a hierarchy that accounts for memory.
# Other cases may mount a hierarchy that accounts for memory.
@lane("user")
@each("named", "nameless")
def test_count_gone(t, what):
    """The row of a removed cgroup makes room for another one; its calls stay in the sums."""
    with hierarchy(t, accounting()) as root:
        with Cgroup(root) as cgroup:
            key = cgroup.path.stat().st_ino
            path = shutil.copy(t.file_of("leak"), t.tmp / f"g{os.getpid()}")
            program = t.program("leak", wrapper=cgroup.entry(), path=path)
            memleak = attach(t, "--count", "--comm", path.name,
                             interval="0.3" if what == "named" else "3600")
            program.go()
            if what == "named":
                memleak.wait_for("its calls", lambda: any(
                    report["entries"] for report in memleak.take_counts()))
            program.end()

        def makes_room():
            if what == "nameless":  # the cgroup is removed before the first report
                memleak.signal(signal.SIGUSR1)
            return key not in counted(memleak)

        memleak.wait_for("room for another one", makes_room, every=0.2)
        memleak.take_counts()
        names = {row["cgroup"] for report in memleak.counts for row in report["entries"]}
        wanted("names", names, {f"/{cgroup.path.name}" if what == "named" else None})
        wanted("calls", stop(memleak)["total"]["calls"], 11)


@each("process", "function", "cgroup")
def test_count_target_filter(t, by):
    """Counts the processes with a given name."""
    path = shutil.copy(t.file_of("leak"), t.tmp / f"n{os.getpid()}")
    programs = [t.program("leak", path=path), t.program("leak", path=path),
                t.program("many", "500", "10")]
    memleak = attach(t, f"--count={by}", "--comm", path.name)
    for program in programs:
        program.go()
    report = stop(memleak)
    wanted("calls", report["calls"], 22)
    if by == "process":
        wanted("processes", {row["pid"]: row["calls"] for row in report["entries"]},
               {program.pid: 11 for program in programs[:2]})


def test_count_command(t):
    """Counts from the first allocation to the last."""
    output = t.tmp / "counts"
    memleak = t.memleak("--json", "--count=process", "--output", output, "3600", "--",
                        t.file_of("command"), output=output)
    memleak.finish(final=False)
    report = memleak.counts[-1]
    if report["calls"] < 4 or not report["final"]:
        raise Failure(f"{report}")


@each("new", "operators")
def test_count_operators(t, how):
    """Operators that may throw are counted, too."""
    program = t.program("cxx_own_new" if how == "operators" else "cxx", "new")
    memleak = attach(t, "--count", "-p", str(program.pid))
    truth = program.go()
    report = stop(memleak)
    if report["calls"] < truth.count:
        raise Failure(f"{report['calls']} calls, {truth.count} blocks")


def test_count_text(t):
    program = t.program("leak")
    memleak = t.memleak("--count=process", "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.stop()
    table = (r"\] Calls of allocator functions by process, in \d+\.\d s:\n"
             r"\t +CALLS +CALLS/S +BYTES PID     COMM\n"
             rf"\t +11 +[0-9.]+ +5242960 {program.pid} +leak\n"
             r"\t +11 +[0-9.]+ +5242960 all; 11 calls and 5242960 bytes since tracing began\n")
    if not re.search(table, memleak.out.text):
        raise Failure(f"{memleak.out.text!r}")
