# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that look nested in an earlier call, and calls that are nested."""

from lib import Failure, each, expect, once, sample
from lib.libraries import library
from lib.links import KINDS, attach


@once
@sample(4)
@each(*(f"{case}:{kind}" for kind in KINDS
        for case in ("after_free:maps", "after_free:unmaps", "after_free:one_place",
                     "after_free_static:maps", "after_free_static:unmaps")))
def test_after_free(t, case):
    """A hole in the frame of mmap's caller has the return address of an earlier free."""
    program, name, kind = case.split(":")
    program = t.program(program, name)
    memleak = attach(t, program, kind)
    truth = program.go()
    expect(memleak.stop(), truth)


@each("after_free", "after_free_static")
def test_threads_after_free(t, name):
    """A stale return address of free, and stacks that libpthread maps."""
    program = t.program(name, "threads")
    memleak = t.attach(program)
    due = int(program.go().facts["stacks"][0])
    got = sum(site["count"] for site in memleak.stop()["sites"] if site["kind"] == "stack")
    if got != due:
        raise Failure(f"{got} of {due} stacks")


@sample(2, 1)
@each(*(f"{name}:{kind}" for name in ("arenas_by_free", "arenas_by_malloc")
        for kind in ("session", "multi", "shape")))
def test_arenas_of_samples(t, case):
    """Memory reserved by an allocator within a call without a sample belongs to the allocator."""
    name, kind = case.split(":")
    program = t.program("after_free", name)
    memleak = attach(t, program, kind, "--sample-bytes", "64k", "--reserved")
    truth = program.go()
    report = memleak.stop()
    report["sites"] = [site for site in report["sites"] if site["kind"] in ("mmap", "reserve")]
    report["sites_total"] = len(report["sites"])
    expect(report, truth)


@sample(2)
@once
@each(*KINDS)
def test_abandoned_call(t, kind):
    """After a jump out of a call a few calls may be hidden; each of them is counted as lost."""
    program = t.program("unreported", "abandons_once")
    memleak = attach(t, program, kind)
    truth = program.go()
    report = memleak.stop()
    hidden = truth.count - report["outstanding"]["count"]
    if not 0 <= hidden <= 50 or report["lost"]["nesting"] < hidden:
        raise Failure(f"{hidden} of {truth.count} blocks are not shown, lost {report['lost']}")


@sample(2, 1)
@once
@each(*KINDS)
def test_new_after_unreported(t, kind):
    """An exception may leave operator new, which has extra probes in addition to sessions."""
    program = t.program("unreported", "news", preload=library("tcmalloc"))
    memleak = attach(t, program, kind, "-z", "1000")
    truth = program.go()
    expect(memleak.stop(), truth)


@sample(2)
@once
@each(*KINDS)
def test_handler_maps(t, kind):
    """A signal handler maps memory while the program is in an allocator call."""
    program = t.program("unreported", "signal_maps")
    memleak = attach(t, program, kind)
    truth = program.go()
    expect(memleak.stop(), truth)
