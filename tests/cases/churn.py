# SPDX-License-Identifier: GPL-2.0-or-later
"""Exactly 20,000 blocks are alive while all are constantly replaced: no report may show more."""

from lib import expect, expect_between, once, pitfall, slow, timeout
from lib.case import Failure
from lib.expect import check_lost

LIVE = 20000
SIZE = 64
MS = 1_000_000  # nanoseconds


def run_churn(t, *args, options=(), reports=8):
    """Returns the reports made at full churn, and the most pairs in a millisecond."""
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
    most = int(truth.facts["pairs"][2])
    return memleak.reports[index:index + reports], most


def during_walk(report, most):
    """Returns an upper bound of the pairs made during the walk."""
    return (3 * report["walk_ns"] // MS + 2) * most + 100


def check(report, most):
    """
    Blocks freed during the walk may be missing; none may be shown twice or be newer than the walk.
    """
    check_lost(report, ())
    freed = during_walk(report, most)
    expect_between(report, LIVE - freed, LIVE, "live blocks")
    if report["outstanding"]["bytes"] != report["outstanding"]["count"] * SIZE:
        raise Failure(f"bytes and count do not agree: {report['outstanding']}")


@once
@pitfall(29)
@slow
def test_flat_out(t):
    reports, most = run_churn(t)
    for report in reports:
        check(report, most)


@once
@pitfall(29)
@slow
def test_steady(t):
    """At 20 pairs per millisecond, few blocks are freed during a walk."""
    reports, most = run_churn(t, "20")
    for report in reports:
        check(report, most)


@once
@pitfall(29)
@slow
def test_combined(t):
    """-C reads the totals of several sites one after another, at nearly the same moment."""
    reports, most = run_churn(t, options=("-C",))
    for report in reports:
        check_lost(report, ())
        moved = during_walk(report, most)
        expect_between(report, LIVE - moved, LIVE + moved, "live blocks")


@once
@timeout(120)
@slow
def test_new_blocks_are_left_out(t):
    """At full speed few blocks live for half a second, and younger ones are not reported."""
    program = t.program("churn")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.2").ready()
    program.go()
    program.send()
    memleak.report_number(9)
    memleak.stop()
    program.go()
    for report in memleak.reports:
        if any(site["newest_ns"] < 500 * MS for site in report["sites"]):
            raise Failure(f"new blocks are reported: {report['sites']}")
    t.figure("blocks that got old", max(report["outstanding"]["count"]
                                        for report in memleak.reports[5:9]), "blocks", 0)
