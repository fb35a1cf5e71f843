# SPDX-License-Identifier: GPL-2.0-or-later
"""Tells how a process was killed: by the kernel because memory ran out, or by a signal."""

import contextlib
import signal

from lib import Failure, Skip, each
from lib.cgroup import Cgroup, accounting, hierarchy

LIMIT = 64 << 20
MIB = 1 << 20


def require(holds, text):
    if not holds:
        raise Failure(text)


@contextlib.contextmanager
def limited_cgroup(t):
    """Makes a cgroup whose processes can use no more than LIMIT bytes."""
    with hierarchy(t, accounting()) as root, Cgroup(root) as cgroup:
        limit = next((cgroup.path / name for name in ("memory.max", "memory.limit_in_bytes")
                      if (cgroup.path / name).exists()), None)
        if not limit:
            raise Skip(f"the memory controller is not enabled in {root}")
        limit.write_text(str(LIMIT), encoding="ascii")
        swap = cgroup.path / "memory.swap.max"
        if swap.exists():
            swap.write_text("0", encoding="ascii")
        yield cgroup


def ended_in(report):
    return report.get("ended_processes", {}).get("largest", [])


def check_killed(report):
    """The only process that ended was killed when its blocks filled the cgroup."""
    require(len(ended_in(report)) == 1, f"ended: {ended_in(report)}")
    ended = ended_in(report)[0]
    require(ended["comm"] == "hog" and ended["out_of_memory"]
            and ended["killed_by"] == signal.SIGKILL, f"killed: {ended}")
    require(ended["bytes"] == ended["count"] * MIB and LIMIT // 2 < ended["bytes"] <= LIMIT + MIB,
            f"held: {ended}")


@each(("plain",), ("waiting", "--at-bytes", "1G"), ("follow", "-f"))
def test_given(t, options):
    """The final report on a process shows what it held, also if reports had not begun."""
    with limited_cgroup(t) as cgroup:
        hog = t.program("hog", wrapper=cgroup.entry())
        memleak = t.attach(hog, *options[1:])
        hog.send()
        report = memleak.finish()
    require(len(memleak.reports) == 1, f"{len(memleak.reports)} reports")
    check_killed(report)
    require(report["outstanding"] == {key: ended_in(report)[0][key] for key in ("bytes", "count")},
            f"outstanding: {report['outstanding']}")


@each(("plain",), ("waiting", "--at-bytes", "1G"))
def test_found(t, options):
    """The same with --cgroup, which counts only living processes."""
    with limited_cgroup(t) as cgroup:
        hog = t.program("hog", wrapper=cgroup.entry())
        memleak = t.memleak("--json", "-T", "1000", "-o", "0", *options[1:], "--cgroup", cgroup.path,
                            "0.2").ready()
        hog.send()
        hog.wait()
        report = memleak.wait_for("a report on its end",
                                  lambda: next(filter(ended_in, memleak.take()), None))
        check_killed(report)
        require(not report["outstanding"]["bytes"], f"outstanding: {report['outstanding']}")
        memleak.stop()


@each(("kill", signal.SIGKILL), ("segv", signal.SIGSEGV))
def test_signal(t, value):
    """A process that a signal has killed"""
    program = t.program("leak")
    memleak = t.attach(program)
    program.go()
    program.signal(value[1])
    ended = ended_in(memleak.finish())
    require(len(ended) == 1 and ended[0]["killed_by"] == value[1] and not ended[0]["out_of_memory"],
            f"ended: {ended}")


def test_exit(t):
    """A process that exits was not killed, even with an exit code that looks like a signal."""
    program = t.program("leak")
    memleak = t.attach(program)
    for _ in range(4):
        program.go()
    program.finish()
    ended = ended_in(memleak.finish())
    require(len(ended) == 1 and ended[0]["killed_by"] is None and not ended[0]["out_of_memory"],
            f"ended: {ended}")
