# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of links that hold probes give equal results; some need fewer return probes."""

import ctypes
import os
import pathlib
import platform
import re

from lib import Broken, Failure, Skip, each, expect, once, sample
from lib.links import KINDS, attach

THINGS = ("nested", "in_turn", "holes", "one_place", "jumps", "resizes", "abandons",
          "signal_here", "signal_stack")
CALLS = 10000  # as in tests/programs/unreported.c
FEW = 500      # calls whose returns may be traced before memleak stops it

SYS_BPF = {"x86_64": 321, "aarch64": 280}
BPF_ENABLE_STATS = 32


class RunCounts:
    """Enables the kernel's run counters of BPF programs while the context is open."""

    def __enter__(self):
        attr = ctypes.create_string_buffer(128)  # type 0: run time and count
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.syscall(SYS_BPF[platform.machine()], BPF_ENABLE_STATS, attr, len(attr))
        if self.fd < 0:
            raise Skip(f"the kernel does not count runs: {os.strerror(ctypes.get_errno())}")
        return self

    def __exit__(self, *_):
        os.close(self.fd)

    @staticmethod
    def of(pid):
        counts = {}
        for info in pathlib.Path(f"/proc/{pid}/fdinfo").iterdir():
            try:
                text = info.read_text(encoding="ascii", errors="replace")
            except FileNotFoundError:
                continue  # memleak has closed it
            runs = re.search(r"^run_cnt:\s*(\d+)", text, re.M)
            if runs:
                counts[re.search(r"^prog_id:\s*(\d+)", text, re.M)[1]] = int(runs[1])
        if not counts:
            raise Broken("no program of memleak's has a count")
        return sum(counts.values())


@once
@sample(4)
@each(*(f"{kind}:{name}" for kind in KINDS for name in THINGS))
def test_left_out(t, case):
    """Left-out calls do not hide other calls, whether their returns are traced or not."""
    kind, name = case.split(":")
    program = t.program("unreported", name)
    memleak = attach(t, program, kind, "-z", "1000")
    truth = program.go()
    abandoned = name == "abandons" and kind != "session"
    expect(memleak.stop(), truth, may_lose=("unreturned",) if abandoned else ())


@once
@sample(2)
@each(*THINGS)
def test_left_out_beside_another(t, name):
    """The kernel makes a return visible to all tracers of a file if one of them wants it."""
    other = attach(t, t.program("unreported", "many"), "multi")
    program = t.program("unreported", name)
    memleak = attach(t, program, "session", "-z", "1000")
    truth = program.go()
    expect(memleak.stop(), truth)
    other.stop()


@once
@sample(2)
@each(*THINGS)
def test_left_out_by_frame_pointers(t, name):
    """Frame pointers do not show which calls are in progress, so all returns are traced."""
    program = t.program("unreported", name)
    memleak = attach(t, program, "session", "-z", "1000", "--unwind", "fp")
    truth = program.go()
    expect(memleak.stop(), truth, may_lose=("unwind", "unreturned"))


@once
@sample(2, 1)
@each(*THINGS)
def test_left_out_without_tables(t, name):
    """
    Without unwind tables, the first call in doubt may be misjudged, and is then counted as lost.
    """
    program = t.program("unreported_bare", name)
    memleak = attach(t, program, "session", "-z", "1000")
    truth = program.go()
    report = memleak.stop()
    due = sum(count for count, _ in truth.sites.values())
    lost = report["lost"]["nesting"]
    if lost > 1 or abs(due - report["outstanding"]["count"]) > lost:
        raise Failure(f"{due} blocks are due: {report['outstanding']}, lost {report['lost']}")


def check_returns(t, kind, *options):
    program = t.program("unreported", "many")
    memleak = attach(t, program, kind, *options)
    with RunCounts() as runs:
        before = runs.of(memleak.pid)
        program.go()
        ran = runs.of(memleak.pid) - before
    memleak.stop()
    expected = CALLS * (2 if kind == "session" else 4)
    # The program's malloc calls the library's: two entries for each call.
    if not expected <= ran <= expected + FEW:
        raise Failure(f"programs ran {ran} times for {CALLS} calls, {expected} are due")


@once
@each("session", "multi", "perf")
def test_returns(t, kind):
    """With sessions, returns of left-out calls are not traced."""
    check_returns(t, kind, "-z", "1000")


@once
@each("session", "multi")
def test_returns_of_what_is_not_sampled(t, kind):
    """With sessions, returns of calls without a sample are not traced."""
    check_returns(t, kind, "--sample-bytes", "1024G")


@once
@each("session", "multi", "perf")
def test_threads(t, kind):
    """Eight threads at once, which preempt each other within the BPF programs."""
    program = t.program("threads", "20000")
    memleak = attach(t, program, kind)
    truth = program.go()
    expect(memleak.stop(), truth)


@once
@each("session", "multi")
def test_samples_by_bytes(t, kind):
    """
    One sample in 1000 bytes: returns of calls without a sample are not traced, but the calls count.
    """
    program = t.program("unreported", "headers")
    memleak = attach(t, program, kind, "--sample-bytes", "1000")
    truth = program.go()
    report = memleak.stop()
    count, size = truth.count, truth.bytes
    for what, exact in (("count", count), ("bytes", size)):
        off = report["outstanding"][what] - exact
        if abs(off) > 5 * report["standard_error"][what] or not off:
            raise Failure(f"{report['outstanding']}, {report['standard_error']}: {exact} {what}")


@once
@each("session", "multi")
def test_samples(t, kind):
    """One call in ten is sampled: nested allocator calls are not counted twice."""
    program = t.program("unreported", "headers")
    memleak = attach(t, program, kind, "-s", "10")
    truth = program.go()
    report = memleak.stop()
    exact = sum(count for count, _ in truth.sites.values())
    if not 0.9 * exact < report["outstanding"]["count"] < 1.1 * exact:
        raise Failure(f"{report['outstanding']} estimated, {exact} made")
    if report["outstanding"]["bytes"] != 100 * report["outstanding"]["count"]:
        raise Failure(f"bytes and count do not agree: {report['outstanding']}")
