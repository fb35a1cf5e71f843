# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints no report before an amount is outstanding: --at-bytes and --at-growth."""

import os
import signal

from lib import Failure, expect
from lib.memleak import parse

from .record import offline

TICK = "0.1"


def require(holds, text):
    if not holds:
        raise Failure(text)


def bytes_of(report):
    return report["outstanding"]["bytes"]


def watch(t, program, *options):
    """Traces a program, also into a recording; returns memleak and the recording's path."""
    path = t.tmp / "run.mlk"
    return t.attach(program, *options, "--record", path, interval=TICK), path


def wait_for_snapshots(memleak, path, cnt):
    """Waits until the recording has grown cnt times: as many intervals have passed."""
    for _ in range(cnt):
        size = os.path.getsize(path)
        memleak.wait_for("a snapshot", lambda: os.path.getsize(path) > size, every=0.05)


def check_recording(t, path, printed):
    """Exactly the recorded reports from the first printed one on were printed."""
    recorded = [parse(line) for line in offline(t, "report", "--all", "--json", path).splitlines()]
    times = [report["elapsed_ns"] for report in recorded]
    require(times[-len(printed):] == [report["elapsed_ns"] for report in printed],
            f"printed reports are not the last of the recording: {times}")
    quiet = recorded[:-len(printed)]
    require(len(quiet) >= 2, f"only {len(quiet)} reports were not printed")
    return quiet


def grow_until_reached(t, *options):
    """The first step of the program stays below the amount, the second reaches it."""
    program = t.program("leak")
    memleak, path = watch(t, program, *options)
    program.go()
    wait_for_snapshots(memleak, path, 3)
    require(not memleak.take(), "a report below the amount")
    program.go()
    first = memleak.report_number(0)
    require("reports begin: 10.0 MiB outstanding" in memleak.notes, f"the amount is not named: {memleak.notes!r}")
    require(bytes_of(first) > 6 << 20, f"the first report has {bytes_of(first)} bytes")
    memleak.report_number(2)
    memleak.stop()
    quiet = check_recording(t, path, memleak.reports)
    require(all(bytes_of(report) < 6 << 20 for report in quiet), "a report was held back")


def test_bytes(t):
    """The first report comes when 6 MiB are outstanding, and the others follow."""
    grow_until_reached(t, "--at-bytes", "6M")


def test_growth(t):
    """The same for growth by 6 MiB within an hour."""
    grow_until_reached(t, "--at-growth", "6M/h")


def test_count(t):
    """COUNT is the number of printed reports: the first one is the last."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-T", "1000", "-o", "0", "-p", str(program.pid), "--at-bytes", "1M",
                        TICK, "1").ready()
    truth = program.go()
    memleak.finish()
    require(len(memleak.reports) == 1, f"{len(memleak.reports)} reports")
    expect(memleak.reports[0], truth)


def test_unreached(t):
    """If the amount is not reached, there is no report, and the exit code is 0."""
    program = t.program("leak")
    memleak, path = watch(t, program, "--at-bytes", "6M", "--error-exitcode", "9")
    program.go()
    wait_for_snapshots(memleak, path, 2)
    memleak.look()
    memleak.signal(signal.SIGINT)
    memleak.finish(final=False)
    require(not memleak.reports, "a report was printed")
    require("no report: the amount of --at-bytes was not reached; at most 5.0 MiB was outstanding"
            in memleak.notes, f"stderr is {memleak.notes!r}")


def test_at_the_end(t):
    """The final report is printed if it is the first to reach the amount."""
    program = t.program("leak")
    memleak = t.attach(program, "--at-bytes", "6M", "--error-exitcode", "9")
    program.go()
    truth = program.go()
    expect(memleak.stop(code=9), truth)
    require(len(memleak.reports) == 1, f"{len(memleak.reports)} reports")


def test_asked(t):
    """SIGUSR1 prints a report while memleak waits, and then it waits on."""
    program = t.program("leak")
    memleak = t.attach(program, "--at-bytes", "6M")
    truth = program.go()
    expect(memleak.ask(), truth)
    memleak.look()
    memleak.signal(signal.SIGINT)
    memleak.finish(final=False)
    require(len(memleak.reports) == 1, f"{len(memleak.reports)} reports")


def test_proof(t):
    """The first printed report has a proof, and the others before have none."""
    program = t.program("leak")
    memleak, path = watch(t, program, "--at-bytes", "6M", "--prove")
    program.go()
    wait_for_snapshots(memleak, path, 2)
    program.go()
    require("proof" in memleak.report_number(0), "the first report has no proof")
    memleak.stop()
    quiet = check_recording(t, path, memleak.reports)
    require(not any("proof" in report for report in quiet), "a proof was made while memleak waited")
