# SPDX-License-Identifier: GPL-2.0-or-later
"""Sampling: estimates are unbiased, and their stated errors are right."""

import math

from lib import Failure, each, expect, owner, pitfall, sample
from lib.program import Truth

# Maximum deviations in standard errors, which a right estimate exceeds once in 100,000 runs. The
# errors are estimates, too, and too small if few blocks were sampled.
TOTAL = 5
ONE_OF_MANY = 6
SITES = 50


def standard_error(record, what):
    """Returns the standard error, or None if the report has none; reports round it up."""
    return record["standard_error"][what]


def near(what, got, exact, error, bound=TOTAL):
    if abs(got - exact) > bound * error:
        raise Failure(f"{what}: {got} estimated, {exact} is right, standard error {error}")


def check_totals(report, count, size):
    total = report["outstanding"]
    for what, exact in (("bytes", size), ("count", count)):
        near(f"total {what}", total[what], exact, standard_error(report, what))
        if total[what] == exact:
            raise Failure(f"{what} are exact: everything was looked at")
        joint = math.hypot(*(standard_error(site, what) for site in report["sites"]))
        error = standard_error(report, what)
        if not joint - len(report["sites"]) - 1 <= error <= joint + 1:
            raise Failure(f"{what}: standard error {error}, of the sites together {joint}")


def check_sites(report, function, size):
    """Checks the estimate of each site; all of its blocks have this size."""
    sites = [site for site in report["sites"] if owner(site) == function]
    if len(sites) != SITES or len(report["sites"]) != SITES:
        raise Failure(f"{len(sites)} sites, and {len(report['sites'])} in all")
    off = [abs(site["bytes"] - size) / standard_error(site, "bytes") for site in sites]
    if max(off) > ONE_OF_MANY:
        raise Failure(f"one is {max(off):.1f} standard errors off")
    within = sum(value <= 2 for value in off)
    if within < 0.8 * SITES:
        raise Failure(f"only {within} of {SITES} are within two standard errors")


@sample(2, 1)
@pitfall(17)
@each(("heap", "4k", 1200), ("heap_rarely", "64k", 2000), ("zeros", "4k", 1200),
      ("realloc", "4k", 1200), ("maps", "256k", 400), ("threads", "64k", 1800))
def test_mix(t, what):
    """A known mix of sizes from 50 stacks; each stack is estimated separately."""
    name, rate, blocks = what
    program = t.program("mix", name.split("_", maxsplit=1)[0], str(SITES), str(blocks))
    memleak = t.attach(program, "--sample-bytes", rate, interval="0.5")
    function, count, size = program.go().facts["each"]
    report = memleak.fresh_report()
    report["sites"] = [site for site in report["sites"] if site["kind"] in ("heap", "mmap")]
    interval = {"4k": 4096, "64k": 65536, "256k": 262144}[rate]
    if report["sampling"] != {"mode": "bytes", "interval": interval}:
        raise Failure(f"sampling {report['sampling']}")
    check_sites(report, function, int(size))
    if name not in ("heap_rarely", "threads"):
        check_totals(report, SITES * int(count), SITES * int(size))
    program.go()
    expect(memleak.fresh_report(), Truth())
    memleak.stop()


def test_filters(t):
    """-z and -Z apply before sampling: blocks left out are in no estimate."""
    program = t.program("sizes")
    memleak = t.attach(program, "--sample-bytes", "100", "-z", "8", "-Z", "1000")
    truth = program.go()
    report = memleak.stop()
    sums = {owner(site): site for site in report["sites"]}
    if set(sums) != {"leak_tiny", "leak_medium"}:
        raise Failure(f"sites of {set(sums)}")
    for name, site in sums.items():
        count, size = truth.sites[name, "heap"]
        near(f"{name} bytes", site["bytes"], size, standard_error(site, "bytes"))
        near(f"{name} count", site["count"], count, standard_error(site, "count"))


def test_large_blocks_are_exact(t):
    """Blocks much larger than the interval are always sampled, so their sums are exact."""
    program = t.program("sizes")
    memleak = t.attach(program, "--sample-bytes", "10", "-z", "1000")
    truth = program.go()
    truth.sites = {key: value for key, value in truth.sites.items()
                   if key[0] in ("leak_medium", "leak_large")}
    report = memleak.stop()
    expect(report, truth)
    if report["standard_error"] not in ({"bytes": 0, "count": 0}, {"bytes": 1, "count": 1}):
        raise Failure(f"standard error {report['standard_error']}")


def test_one_in_so_many(t):
    """-s N: estimates with their standard errors."""
    program = t.program("mix", "heap", str(SITES), "600")
    memleak = t.attach(program, "-s", "4")
    function, count, size = program.go().facts["each"]
    report = memleak.stop()
    check_sites(report, function, int(size))
    check_totals(report, SITES * int(count), SITES * int(size))


def test_one_in_so_many_without_blocks(t):
    """-C -s N: the error of the count is known, that of the bytes is not."""
    program = t.program("many", "10000", "100")
    memleak = t.attach(program, "-s", "10", "-C")
    program.go()
    report = memleak.stop()
    errors = report["standard_error"]
    if errors["bytes"] is not None or report["sites"][0]["standard_error"] != errors:
        raise Failure(f"standard error {errors}")
    near("count", report["outstanding"]["count"], 10000, errors["count"])


def test_text(t):
    """Text reports say that numbers are estimates, and how exact they are."""
    program = t.program("many", "10000", "100")
    memleak = t.memleak("-o", "0", "--sample-bytes", "1k", "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.text
    for words in ("(standard error ", "estimates: one sample is taken every 1.0 KiB on average; "
                  "standard error "):
        if words not in text:
            raise Failure(f"no {words!r} in {text}")


def test_all_is_looked_at(t):
    """Without sampling, the keys of estimates have no errors."""
    program = t.program("leak")
    memleak = t.attach(program, "-s", "1")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    if "standard_error" in report or any("standard_error" in site for site in report["sites"]):
        raise Failure("a standard error of what is exact")
