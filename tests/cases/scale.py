# SPDX-License-Identifier: GPL-2.0-or-later
"""Many blocks, many stacks, deep stacks; and messages when a table is full."""

import os
import re

from lib import Failure, Skip, expect, nightly, pitfall, slow, timeout
from lib.process import PATIENCE


def grows():
    """True if the kernel can allocate table entries on demand."""
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) >= (6, 1)


@pitfall(30, 31)
@timeout(240)
@slow
def test_million_blocks(t):
    """1,000,000 blocks from 5,000 stacks: all are reported, at separate sites."""
    program = t.program("sites", "1000000", "5000")
    memleak = t.attach(program, "--max-allocs", "1100000")
    truth = program.go(3 * PATIENCE)
    report = memleak.stop()
    expect(report, truth)
    if report["sites_total"] != 5000:
        raise Failure(f"{report['sites_total']} sites, not 5,000")
    if {site["count"] for site in report["sites"]} != {200}:
        raise Failure("blocks were booked on other stacks")
    t.figure("walk of a million blocks", report["walk_ns"] / 1e9, "s", 10 if t.sanitized else 2)


@timeout(240)
@slow
@nightly  # test_costly_reports has as many blocks
def test_exactly_the_limit(t):
    """The default table holds exactly a million blocks."""
    program = t.program("many", "1000000", "16")
    memleak = t.attach(program)
    truth = program.go(3 * PATIENCE)
    expect(memleak.stop(), truth)


@timeout(240)
@slow
def test_costly_reports(t):
    """
    Costly reports come less often than requested: a line says so, and another one if they take
    twice the time.
    """
    program = t.program("many", "1000000", "16")
    memleak = t.attach(program, interval="0.1")
    truth = program.go(3 * PATIENCE)
    memleak.wait_for("a longer interval", lambda: "instead of 0.1 s" in memleak.notes)
    before, after = memleak.fresh_report(), memleak.fresh_report()
    expect(after, truth)
    if after["elapsed_ns"] - before["elapsed_ns"] < 1e9:
        raise Failure("the next report came after less than five times 0.2 s")
    apart = [float(word) for word in re.findall(r"interval is now ([\d.]+) s", memleak.notes)]
    if any(later < 1.9 * earlier for earlier, later in zip(apart, apart[1:])):
        raise Failure(f"notes {memleak.notes!r}")


@pitfall(30)
@timeout(240)
@slow
@nightly
def test_million_blocks_combined(t):
    program = t.program("sites", "1000000", "5000")
    memleak = t.attach(program, "-C", "--max-allocs", "1100000")
    truth = program.go(3 * PATIENCE)
    report = memleak.stop()
    expect(report, truth)
    if report["sites_total"] != 5000:
        raise Failure(f"{report['sites_total']} sites, not 5,000")


def test_second_table(t):
    """
    Blocks are found, freed and dropped in both tables. Together, the tables hold more blocks than
    the first table has room for.
    """
    if not grows():
        raise Skip("this kernel allocates all entries of a table at once")
    first, second = t.program("many", "3000", "16"), t.program("many", "3000", "16")
    memleak = t.memleak("--json", "-v", "-o", "0", "-p", f"{first.pid},{second.pid}", "0.2",
                        env={"MEMLEAK_FIRST_BLOCKS": "4096", "MEMLEAK_RECENT_BUCKETS": "0"}).ready()
    first.go()
    memleak.wait_for("the second table", lambda: "second table" in memleak.notes)
    second.go()
    expect_count(memleak, 6000)
    first.go()
    expect_count(memleak, 3000)
    second.go()
    expect_count(memleak, 0)
    first.go()
    second.go()
    expect_count(memleak, 20)


def expect_count(memleak, count):
    report = memleak.fresh_report()
    if report["outstanding"] != {"bytes": 16 * count, "count": count}:
        raise Failure(f"{report['outstanding']}, not {count} blocks")
    if any(report["lost"].values()):
        raise Failure(f"lost {report['lost']}")


@pitfall(4)
def test_block_table_full(t):
    """Blocks that do not fit are counted as lost; frees make room again."""
    program = t.program("many", "5000", "10")
    memleak = t.attach(program, "--max-allocs", "1000", interval="0.3")
    truth = program.go()
    report = memleak.fresh_report()
    tracked, lost = report["outstanding"]["count"], report["lost"]["allocs_full"]
    if tracked != 1000 or lost != 4000:
        raise Failure(f"{tracked} tracked, {lost} lost, truth {truth.count}")
    if report["outstanding"]["bytes"] != 10 * tracked:
        raise Failure(f"totals grew without their blocks: {report['outstanding']}")
    truth = program.go()
    expect(memleak.fresh_report(), truth, may_lose=("allocs_full",))
    truth = program.go()
    expect(memleak.stop(), truth, may_lose=("allocs_full",))


@pitfall(4)
def test_block_table_full_combined(t):
    """-C also counts only blocks whose free it can subtract."""
    program = t.program("many", "5000", "10")
    memleak = t.attach(program, "-C", "--max-allocs", "1000", interval="0.3")
    truth = program.go()
    report = memleak.fresh_report()
    tracked, lost = report["outstanding"]["count"], report["lost"]["allocs_full"]
    if tracked + lost < truth.count or not lost:
        raise Failure(f"{tracked} tracked, {lost} lost, truth {truth.count}")
    truth = program.go()
    expect(memleak.stop(), truth, may_lose=("allocs_full",))


@pitfall(31)
def test_stack_table_full(t):
    """Stacks beyond the limit are lost and counted; their blocks are not lost."""
    program = t.program("sites", "5000", "5000")
    memleak = t.attach(program, "--stack-storage-size", "100")
    truth = program.go()
    report = memleak.stop()
    lost = report["lost"]["stacks_full"] + report["lost"].get("sites_full", 0)
    if not lost:
        raise Failure("nothing is counted as lost")
    if report["outstanding"]["count"] + lost < truth.count:
        raise Failure(f"{report['outstanding']} and {lost} lost, truth {truth.count}")
    if sum(bool(site["stack"]) for site in report["sites"]) < 50:
        raise Failure("fewer stacks than the limit allows")


def path_of(site):
    """Returns the number of the path by which programs/sites reached the site."""
    turns = [frame["symbol"] for frame in site["stack"] if frame["symbol"] in ("left", "right")]
    return sum((name == "right") << bit for bit, name in enumerate(reversed(turns[:-1])))


@pitfall(31)
def test_stacks_make_room(t):
    """
    2,400 paths with a table of 1,000 stacks: stacks without outstanding blocks are evicted, nothing
    is lost, and a returning path has its frames.
    """
    program = t.program("sites", "rounds", "10", "240")
    memleak = t.attach(program, "--stack-storage-size", "1000", "-v", interval="0.2")
    for _ in range(10):
        truth = program.go()
        report = memleak.fresh_report()
        expect(report, truth)
    paths = [240 * number for number in range(10)]
    if sorted(map(path_of, report["sites"])) != paths:
        raise Failure(f"paths {sorted(map(path_of, report['sites']))}")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    if sorted(map(path_of, report["sites"])) != sorted(paths + [path + 1 for path in paths]):
        raise Failure(f"paths {sorted(map(path_of, report['sites']))}")
    if "stacks without outstanding blocks were evicted" not in memleak.notes:
        raise Failure(f"notes {memleak.notes!r}")


def test_default_stack_table(t):
    """16,384 stacks fit by default."""
    program = t.program("sites", "16000", "16000", "14")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600").ready()
    truth = program.go()
    report = memleak.stop()
    if report["outstanding"] != {"bytes": truth.bytes, "count": truth.count}:
        raise Failure(f"{report['outstanding']}")
    if report["sites_total"] != 16000 or any(report["lost"].values()):
        raise Failure(f"{report['sites_total']} sites, not 16,000; lost {report['lost']}")
    if len(report["sites"]) != 10:
        raise Failure("-T is 10 by default")


def test_depth_limit(t):
    """--perf-max-stack-depth cuts the outer frames; the culprit stays."""
    program = t.program("sites", "64", "64")
    memleak = t.attach(program, "--perf-max-stack-depth", "3")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    depths = {sum(not frame["inlined"] for frame in site["stack"]) for site in report["sites"]}
    if max(depths) > 3:
        raise Failure(f"depths {depths}")
    if report["sites_total"] > 4:
        raise Failure(f"{report['sites_total']} sites: three frames differ in two bits only")


def test_deep_stack(t):
    """
    300 frames: the 127 innermost are kept by default, all on request, whatever the kernel's own
    limit is.
    """
    program = t.program("sites", "10", "1", "300")
    short = t.attach(program)
    long = t.attach(program, "--perf-max-stack-depth", "400")
    truth = program.go()
    reports = short.stop(), long.stop()
    for report in reports:
        expect(report, truth)
    depths = [sum(not frame["inlined"] for frame in report["sites"][0]["stack"])
              for report in reports]
    if depths[0] != 127:
        raise Failure(f"depths {depths}")
    names = [frame["symbol"] for frame in reports[1]["sites"][0]["stack"]]
    if depths[1] < 302 or "main" not in names:
        raise Failure("main is not reached")


@timeout(240)
@slow
@nightly
def test_tables_grow(t):
    """More blocks and stacks than most programs have fit by default."""
    if not grows():
        raise Skip("this kernel allocates all entries of a table at once")
    program = t.program("sites", "1300000", "40000", "16")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600").ready()
    truth = program.go(3 * PATIENCE)
    report = memleak.stop()
    if report["outstanding"] != {"bytes": truth.bytes, "count": truth.count}:
        raise Failure(f"{report['outstanding']}")
    if report["sites_total"] != 40000 or any(report["lost"].values()):
        raise Failure(f"{report['sites_total']} sites, not 40,000; lost {report['lost']}")


def test_max_memory(t):
    """Tables limited by --max-memory: losses are counted, and a line says which limit to raise."""
    program = t.program("many", "50000", "10")
    memleak = t.memleak("-o", "0", "--max-memory", "1M", "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.text
    tracked, lost = (int(number) for number in re.search(
        r"outstanding: [^\n]* in (\d+) blocks at .*lost: (\d+) allocations", text, re.S).groups())
    if tracked + lost != 50000 or tracked > 20000 or not re.match(
            r"\d\d:[^\n]*\n\tincomplete: \d\d\.\d % of the allocations were not tracked: "
            r"the block table was full \(raise --max-memory ", text):
        raise Failure(text)
