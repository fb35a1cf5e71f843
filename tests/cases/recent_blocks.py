# SPDX-License-Identifier: GPL-2.0-or-later
"""New blocks are kept in the recent-block cache, and none is lost on its way to the block table."""

from lib import Failure, each, expect, once, owner, sample, slow, timeout, wanted
from lib.process import PATIENCE

BUCKETS = ("0", "1", "64", "8192")  # of six blocks each; 0: all blocks go to the block table


def handover(t, buckets, slots, *options):
    """Threads free each other's blocks at once, while blocks evict each other from the cache."""
    program = t.program("handover", "40000", str(slots))
    memleak = t.attach(program, *options, interval="0.2", env={"MEMLEAK_RECENT_BUCKETS": buckets})
    # With a single bucket, a block may find no room; this is counted as lost.
    losses = ("no_memory",) if buckets == "1" else ()
    truth = program.go(2 * PATIENCE)
    expect(memleak.fresh_report(), truth, may_lose=losses)
    truth = program.go()
    expect(memleak.stop(), truth, may_lose=losses)


@sample(2, 1)
@once
@timeout(120)
@each(*BUCKETS)
@slow
def test_few_live_blocks(t, buckets):
    handover(t, buckets, 20)


@sample(2)
@once
@timeout(120)
@each(*BUCKETS)
@slow
def test_many_live_blocks(t, buckets):
    handover(t, buckets, 50000)


@once
@timeout(120)
@sample(2)
@each(*BUCKETS)
@slow
def test_combined(t, buckets):
    """-C, with recent blocks included in the totals of sites."""
    handover(t, buckets, 2000, "-C")


@once
def test_met_once(t):
    """Blocks move to the table while reports are made: no report has a block twice."""
    program = t.program("family", "hog", "60000")
    memleak = t.attach(program, "-a", interval="0.05")
    program.go()
    memleak.stop()
    for report in memleak.reports:
        addresses = [block["addr"] for site in report["sites"] for block in site["allocs"]]
        if len(set(addresses)) != len(addresses):
            raise Failure(f"{len(addresses) - len(set(addresses))} blocks are there twice")


@once
@timeout(90)
@each("64", "8192", "0", "64.both", "8192.both", "0.both")
def test_reallocated_while_read(t, way):
    """
    A block reallocated while tables are read is reported once, wherever it is, and only if it was
    allocated before. It may move between two sites.
    """
    buckets, *sites = way.split(".")
    program = t.program("moving", "3", *sites)
    memleak = t.attach(program, "-o", "0", interval="0.2", env={"MEMLEAK_RECENT_BUCKETS": buckets})
    program.go()
    first = memleak.fresh_report()
    program.go()
    memleak.stop()
    counts = [sum(site["count"] for site in report["sites"]
                  if owner(site) in ("move", "move_elsewhere"))
              for report in memleak.reports[memleak.reports.index(first):]]
    if not 64 <= max(counts) <= 65:
        raise Failure(f"at most 65 blocks exist at a time, but the reports had: {counts}")
    # A call may be in progress.
    missing = sum(64 - count for count in counts)
    if missing > len(counts):
        raise Failure(f"{missing} blocks are missing in {len(counts)} reports: {counts}")
