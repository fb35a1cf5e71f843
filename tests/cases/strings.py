# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that copy strings without calling malloc: blocks have the size of the string."""

from cases.allocators import LIBRARIES, QUIET, library
from lib import Failure, each, expect, once, slow, wanted

LINKS = ("session", "multi", "perf", "shape")


def of_mimalloc(t, *args, options=(), may_lose=(), **kwargs):
    program = t.program("strings", *args, preload=library("mimalloc"))
    memleak = t.attach(program, *options, **kwargs)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, may_lose=may_lose)
    return report


def test_mimalloc(t):
    of_mimalloc(t, "mimalloc")


def test_totals_alone(t):
    of_mimalloc(t, "mimalloc", options=("-C",))


def test_too_long(t):
    """The report says how many sizes are not exact."""
    report = of_mimalloc(t, "long", may_lose=("strings",))
    wanted("strings lost", report["lost"]["strings"], 2)


@each(*LINKS)
def test_odd(t, kind):
    """A string that cannot be read to its end counts with the length that was read, with a note."""
    program = t.program("odd_strings")
    memleak = t.attach(program, env={"MEMLEAK_LINKS": kind})
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, may_lose=("strings",))
    wanted("strings lost", report["lost"]["strings"], 6)


@each(*LINKS)
def test_paths(t, kind):
    """Results in a caller's buffer are not blocks."""
    program = t.program("odd_strings", "paths")
    memleak = t.attach(program, env={"MEMLEAK_LINKS": kind})
    truth = program.go()
    expect(memleak.stop(), truth)


def test_pool(t):
    """A function that --alloc declares to return strings."""
    program = t.program("strings", "pool")
    memleak = t.attach(program, "--alloc", "pool_copy:strdup")
    truth = program.go()
    expect(memleak.stop(), truth)


def bounded(t, size, *options):
    """Size filters for strings: within the bounds, or left out."""
    program = t.program("strings", "many", "100", str(size), preload=library("mimalloc"))
    memleak = t.attach(program, "-z", "50", "-Z", "500", *options)
    truth = program.go()
    report = memleak.stop()
    del truth.sites["marker", "heap"]
    if not 50 <= size <= 500:
        truth.sites.clear()
    expect(report, truth)


@each("49", "50", "500", "501")
def test_filters(t, size):
    bounded(t, int(size))


@each("49", "50")
def test_sampled_filters(t, size):
    """Sampling every byte: no string is left out by chance."""
    bounded(t, int(size), "--sample-bytes", "1")


@each(("rate", "-s", "4"), ("bytes", "--sample-bytes", "400"))
def test_sampled(t, how):
    """20,000 strings of 100 bytes; five standard errors of count and bytes are below a tenth."""
    program = t.program("strings", "many", "20000", "100", preload=library("mimalloc"))
    memleak = t.attach(program, *how[1:])
    program.go()
    report = memleak.stop()
    got = sum(site["count"] for site in report["sites"])
    if not 18000 <= got <= 22000:
        raise Failure(f"{got} strings estimated, not about 20000")


def test_counted(t):
    """--count counts the calls, but not the bytes that they request."""
    program = t.program("strings", "many", "100", "1000", preload=library("mimalloc"))
    memleak = t.memleak("--json", "--count=function", "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.signal(2)
    memleak.finish(final=False)
    row = {row["function"]: row for row in memleak.counts[-1]["entries"]}["strdup"]
    if row["calls"] < 100 or row["bytes"]:
        raise Failure(f"counted: {row}")


@each(*LINKS[1:])
def test_counted_by_links(t, kind):
    """--count works with each kind of link."""
    program = t.program("odd_strings", "paths")
    memleak = t.memleak("--json", "--count=function", "-p", str(program.pid), "3600",
                        env={"MEMLEAK_LINKS": kind}).ready()
    program.go()
    memleak.signal(2)
    memleak.finish(final=False)
    wanted("calls", {row["function"]: row["calls"] for row in memleak.counts[-1]["entries"]},
           {"strdup": 2, "malloc": 1})


@slow
@once
def test_counted_without_cookies(t):
    """Every function of mimalloc has a program for its call shape."""
    program = t.program("strings", "many", "10", "10", preload=library("mimalloc"))
    memleak = t.memleak("--json", "--count=function", "-p", str(program.pid), "3600",
                        env={"MEMLEAK_LINKS": "shape"}).ready()
    program.go()
    memleak.signal(2)
    memleak.finish(final=False)


@each("asan", "clang_asan")
def test_sanitizer(t, name):
    """strdup of ASan allocates internally."""
    program = t.program("strings_" + name, "strdup", env=QUIET)
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth)


def sums(t, program):
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    wanted("lost", {key: n for key, n in report["lost"].items() if n}, {})
    wanted("sums", (report["outstanding"]["count"], report["outstanding"]["bytes"]),
           (truth.count, truth.bytes))


@each("strings", "strings_asan", "strings_clang_asan", "strings_clang_scudo")
def test_libc(t, name):
    """strdup and strndup call malloc, except for ASan's strdup."""
    sums(t, t.program(name, "libc", env=QUIET))


@each(*LIBRARIES)
def test_libc_preloaded(t, name):
    sums(t, t.program("strings", "libc", preload=library(name)))
