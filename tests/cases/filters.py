# SPDX-License-Identifier: GPL-2.0-or-later
"""Filters for blocks, filters and order of sites, and sampling."""

from lib import Failure, each, expect, owner, pitfall, wanted
from lib.program import Truth


def names_in_order(report):
    return [owner(site) for site in report["sites"]]


@each(("exact", ("-z", "1000", "-Z", "1000"), ("leak_medium",)),
      ("at_least", ("-z", "9"), ("leak_medium", "leak_large")),
      ("at_most", ("-Z", "8"), ("leak_nothing_big", "leak_tiny")),
      ("zero", ("-z", "0", "-Z", "0"), ("leak_nothing_big",)))
def test_size(t, what):
    """The bounds of -z and -Z are inclusive."""
    _, options, names = what
    program = t.program("sizes")
    memleak = t.attach(program, *options)
    truth = program.go()
    truth.sites = {key: value for key, value in truth.sites.items() if key[0] in names}
    expect(memleak.stop(), truth)


def test_filtered_blocks_are_freed_right(t):
    """Freeing a block that was left out does not change the sums."""
    program = t.program("sizes")
    memleak = t.attach(program, "-z", "1000")
    program.go()
    program.go()
    truth = program.go()
    expect(memleak.stop(), truth)


def test_frees_of_left_out_blocks(t):
    """Each of these frees counts, though all free the same address for the same caller."""
    program = t.program("after_free", "maps")
    memleak = t.attach(program, "-z", "1000", "--stats")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    wanted("frees", report["stats"]["user"]["functions"]["free"], 10)


@each(("-Z", "500"), ("-z", "1000000"))
def test_realloc_across_the_filter(t, what):
    """realloc to a size on the other side of the filter: only the new size decides."""
    program = t.program("edges", "realloc_moves")
    memleak = t.attach(program, *what)
    truth = program.go()
    truth.sites = {key: (count, size) for key, (count, size) in truth.sites.items()
                   if (size <= 500 if what[0] == "-Z" else size >= 1000000)}
    expect(memleak.stop(), truth)


@each(("size", ["leak_large", "leak_medium", "leak_tiny", "leak_nothing_big"]),
      ("count", ["leak_tiny", "leak_medium", "leak_nothing_big", "leak_large"]))
def test_sort(t, what):
    order, names = what
    program = t.program("sizes")
    memleak = t.attach(program, "--sort", order)
    program.go()
    report = memleak.stop()
    if names_in_order(report) != names:
        raise Failure(f"order {names_in_order(report)}, not {names}")


def test_sort_growth(t):
    """leak_medium grows most in the second phase, although leak_large has more bytes."""
    program = t.program("sizes")
    memleak = t.attach(program, "--sort", "growth", interval="0.3")
    program.go()
    memleak.fresh_report()
    program.go()
    memleak.fresh_report()
    memleak.stop()
    for report in memleak.reports:
        if any(owner(site) == "leak_medium" and site["growth"]["count"] == 50
               for site in report["sites"]):
            if names_in_order(report)[0] != "leak_medium":
                raise Failure(f"order {names_in_order(report)}")
            return
    raise Failure("the growth is in no report")


@each("1", "3", "4", "1000")
def test_top(t, name):
    """-T limits what is shown, not what is counted."""
    program = t.program("sizes")
    memleak = t.memleak("--json", "-o", "0", "-T", name, "-p", str(program.pid), "3600").ready()
    truth = program.go()
    report = memleak.stop()
    if names_in_order(report) != ["leak_large", "leak_medium", "leak_tiny",
                                  "leak_nothing_big"][:int(name)]:
        raise Failure(f"shown: {names_in_order(report)}")
    total = (report["sites_total"], report["outstanding"])
    if total != (4, {"bytes": truth.bytes, "count": truth.count}):
        raise Failure(f"totals {total}")


def test_show_allocs(t):
    """-a lists each block with address and size."""
    program = t.program("leak")
    memleak = t.attach(program, "-a")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    blocks = {int(alloc["addr"], 16): alloc["size"] for site in report["sites"]
              for alloc in site["allocs"]}
    if blocks != truth.blocks:
        raise Failure(f"blocks {blocks}, not {truth.blocks}")
    for site in report["sites"]:
        ages = [alloc["age_ns"] for alloc in site["allocs"]]
        if max(ages) != site["oldest_ns"] or min(ages) != site["newest_ns"]:
            raise Failure(f"ages {ages}, site {site['oldest_ns']} {site['newest_ns']}")
        if any(alloc["tid"] != program.pid for alloc in site["allocs"]):
            raise Failure("tid")


# Cases about sampling.

def test_sampling(t):
    """100,000 blocks, one in ten sampled: the estimate is within ten standard deviations."""
    program = t.program("many", "100000", "100")
    memleak = t.attach(program, "-s", "10", interval="0.5")
    program.go()
    report = memleak.fresh_report()
    if report["sampling"] != {"mode": "count", "rate": 10}:
        raise Failure(f"sampling {report['sampling']}")
    if not 90000 <= report["outstanding"]["count"] <= 110000:
        raise Failure(f"estimate {report['outstanding']}")
    if report["outstanding"]["bytes"] != 100 * report["outstanding"]["count"]:
        raise Failure(f"bytes and count do not agree: {report['outstanding']}")
    if report["outstanding"]["count"] == 100000:
        raise Failure("the estimate is exact: every block was looked at")
    program.go()
    expect(memleak.fresh_report(), Truth())
    memleak.stop()


@pitfall(17)
def test_sampling_is_not_periodic(t):
    """Two functions allocate alternately: sampling one call in two must not favour either."""
    program = t.program("pairs", "20000")
    memleak = t.attach(program, "-s", "2")
    truth = program.go()
    report = memleak.stop()
    for site in report["sites"]:
        exact = truth.sites.get((owner(site), "heap"))
        if exact and exact[0] > 100 and not 0.9 * exact[0] < site["count"] < 1.1 * exact[0]:
            raise Failure(f"{owner(site)}: {site['count']} estimated, {exact[0]} made")
    if len(report["sites"]) < 2:
        raise Failure("one of the two functions is never sampled")


def test_no_sampling_is_null(t):
    program = t.program("leak")
    memleak = t.attach(program, "-s", "1")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    if report["sampling"] is not None:
        raise Failure(f"sampling {report['sampling']}")
