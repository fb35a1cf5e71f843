# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls that are nested, interrupted or never return: the counts recover."""

import re

from lib import Failure, each, expect, pitfall, sum_of

# Losses allowed for a call that never returned, or was overwritten from another stack.
ABANDONED = ("unreturned", "nesting")


def run_pending(t, name, *options, **kwargs):
    program = t.program("pending", name)
    memleak = t.attach(program, *options)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, may_lose=ABANDONED, **kwargs)
    return report


@pitfall(2)
@each("longjmp", "longjmp_with_block", "longjmp_depths", "thread_dies")
def test_abandoned(t, name):
    run_pending(t, name)


@pitfall(2)
@each("longjmp", "longjmp_depths")
def test_abandoned_combined(t, name):
    run_pending(t, name, "-C")


@pitfall(2)
def test_mark_left_in_a_hole(t):
    """
    The stale mark of an abandoned call is in a hole of an active frame: it cannot be distinguished
    from a nested call. Calls taken for nested ones are counted as lost.
    """
    program = t.program("pending", "longjmp_hole")
    memleak = t.attach(program)
    program.go()
    report = memleak.stop()
    sums = {function: total for (function, _), total in sum_of(report).items()}
    if sums.pop("marker", None) != (1, 24):
        raise Failure("the thread is mute afterwards")
    if sums != {"plain_alloc": (1, 16)} and (sums or not report["lost"]["nesting"]):
        raise Failure(f"{sums}, lost {report['lost']}")


@pitfall(2)
def test_stale_size(t):
    """The size of an abandoned call must not be used for a later, filtered call."""
    run_pending(t, "longjmp_then_tiny", "-z", "10")  # the marker is 24 bytes


@pitfall(2)
def test_stale_mark_of_filtered(t):
    """A filtered call that never returns must not hide the calls after it."""
    run_pending(t, "longjmp", "-Z", "100")


@pitfall(2)
def test_signal_stack(t):
    """malloc is interrupted by a handler on another stack, which also calls malloc."""
    def episode(site):
        names = [frame["symbol"] for frame in site["stack"]]
        return "outer_alloc" in names or "handler_alloc" in names

    report = run_pending(t, "signal_stack", ignore=episode)
    booked = [(site["count"], site["bytes"]) for site in report["sites"] if episode(site)]
    if any(block not in ((1, 1000), (1, 99)) for block in booked) or len(booked) > 2:
        raise Failure(f"the two blocks of the episode are booked as {booked}")
    lost = sum(report["lost"].get(key, 0) for key in ABANDONED)
    if not booked or len(booked) + lost < 2 and (1, 1000) not in booked:
        raise Failure(f"booked {booked}, counted as lost {lost}")


@pitfall(1)
def test_headers(t):
    """
    An allocator on top of another one adds a header: the size that the program asked for counts.
    """
    run_pending(t, "headers")


@pitfall(1)
def test_filter_asks_outermost(t):
    """-z 1000: malloc(8) is left out, even if it calls an inner allocator for 4104 bytes."""
    program = t.program("pending", "filtered_outside")
    memleak = t.attach(program, "-z", "1000")
    program.go()
    report = memleak.stop()
    if report["outstanding"]["count"]:
        raise Failure(f"reported: {report['sites']}")
    if any(report["lost"].values()):
        raise Failure(f"lost: {report['lost']}")


@pitfall(1)
def test_free_awaited_by_others(t):
    """free unmaps a large block, while another tracer has a return probe on free."""
    program = t.program("places")
    memleak = t.attach(program, "-v", "-t")
    path, offset = re.search(r" free at (\S+)\+(0x[0-9a-f]+), entry", memleak.notes).groups()
    other = t.program("return_probe", str(program.pid), path, offset)
    truth = program.go()
    other.go()
    expect(memleak.stop(), truth)
    unmapped = sum(event["function"] == "munmap" for event in memleak.events)
    if unmapped != 3:  # the program's own calls
        raise Failure(f"munmap is told of {unmapped} times")
