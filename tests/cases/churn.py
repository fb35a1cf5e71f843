# SPDX-License-Identifier: GPL-2.0-or-later
"""Exactly 20,000 blocks live while they are replaced all the time: no report may say more."""

from lib import alone, expect, expect_between, once, pitfall, slow, timeout
from lib.case import Broken, Failure
from lib.expect import check_lost

LIVE = 20000
SIZE = 64


def run_churn(t, *args, options=(), reports=8):
    """The reports that were made in full churn, and pairs per nanosecond."""
    program = t.program("churn", *args)
    memleak = t.attach(program, *options, interval="0.2")
    program.go()
    program.send()
    first = memleak.fresh_report()
    index = memleak.reports.index(first)
    memleak.report_number(index + reports)
    truth = program.go()
    expect(memleak.fresh_report(), truth)
    memleak.stop()
    pairs, nanoseconds = map(int, truth.facts["pairs"])
    if pairs < LIVE:
        raise Failure(f"only {pairs} pairs: the churn did not churn")
    return memleak.reports[index:index + reports], pairs / nanoseconds


def check(report, rate):
    """Blocks freed during the walk may be absent; none may be twice or from after its begin."""
    check_lost(report, ())
    freed = int(rate * report["walk_ns"] * 3) + 100
    expect_between(report, LIVE - freed, LIVE, "live blocks")
    if report["outstanding"]["bytes"] != report["outstanding"]["count"] * SIZE:
        raise Failure(f"bytes and count do not agree: {report['outstanding']}")


@once
@alone
@pitfall(29)
@slow
def test_flat_out(t):
    reports, rate = run_churn(t)
    for report in reports:
        check(report, rate)


@once
@alone
@pitfall(29)
@slow
def test_steady(t):
    """At 20 pairs per millisecond hardly a block is freed during a walk."""
    reports, rate = run_churn(t, "20")
    for report in reports:
        check(report, rate)


@once
@alone
@pitfall(29)
@slow
def test_combined(t):
    """-C: totals of several sites, which are not read at one moment, but nearly."""
    reports, rate = run_churn(t, options=("-C",))
    for report in reports:
        check_lost(report, ())
        moved = int(rate * report["walk_ns"] * 3) + 2
        expect_between(report, LIVE - moved, LIVE + moved, "live blocks")


@once
@alone
@timeout(120)
@slow
def test_new_blocks_are_left_out(t):
    """At full speed no block gets as old as half a second: nothing is reported."""
    program = t.program("churn")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.2").ready()
    program.go()
    program.send()
    memleak.report_number(9)
    memleak.stop()
    truth = program.go()
    pairs, nanoseconds = map(int, truth.facts["pairs"])
    lifetime = LIVE / (pairs / nanoseconds)
    if lifetime > 250e6:
        raise Broken(f"this machine is so busy that a block lives {lifetime / 1e9} s")
    for report in memleak.reports[5:9]:
        if report["outstanding"]["count"]:
            raise Failure(f"new blocks are reported: {report['outstanding']}")
