# SPDX-License-Identifier: GPL-2.0-or-later
"""Probes inside functions see the same calls as probes at their entries."""

import itertools
import platform
import re

from lib import Failure, Skip, each, expect, sample

from .allocators import LIBRARIES, library

AT_ENTRY = {"MEMLEAK_PLACE": "entry"}


def moved(memleak):
    """Returns the functions that are probed after their entry."""
    return re.findall(r"(\w+) at \S+, entry\+[1-9]", memleak.notes)


def told(memleak):
    """Returns the events, with blocks numbered by first appearance."""
    names = {}
    return [tuple(names.setdefault(value, len(names)) if key == "addr" else value
                  for key, value in sorted(event.items())
                  if key not in ("schema", "time", "pid", "tid"))
            for event in memleak.events]


def booked(report):
    """Returns all sites, with stacks as file and offset."""
    return sorted((site["kind"], site["count"], site["bytes"],
                   tuple((frame["symbol"] or "", frame["offset"] or 0, frame["line"] or 0,
                          frame["module_offset"] or "") for frame in site["stack"]))
                  for site in report["sites"])


def need_x86():
    if platform.machine() != "x86_64":
        raise Skip("nothing is cheaper than an entry on this machine")


def compare(t, *options, links=None, preload=None):
    """Runs the program twice, with probes at cheap instructions and at entries, and compares."""
    seen = []
    for env in ({}, AT_ENTRY):
        program = t.program("places", preload=preload)
        memleak = t.attach(program, "-v", *options,
                           env={**env, **({"MEMLEAK_LINKS": links} if links else {})})
        truth = program.go()
        report = memleak.stop()
        expect(report, truth)
        if bool(moved(memleak)) != (platform.machine() == "x86_64" and not env):
            raise Failure(f"with {env} these probes have moved: {moved(memleak)}")
        seen.append((booked(report), told(memleak), report))
    moved_at, at_entry = seen
    if moved_at[0] != at_entry[0]:
        raise Failure(f"reports differ: {set(moved_at[0]) ^ set(at_entry[0])}")
    differing = [pair for pair in itertools.zip_longest(moved_at[1], at_entry[1])
                 if pair[0] != pair[1]]
    if differing:
        raise Failure(f"events differ: {differing}")
    if "-t" in options and len(moved_at[1]) < 50:
        raise Failure(f"only {len(moved_at[1])} events")


@each("multi", "perf", "shape")
def test_every_path(t, links):
    compare(t, "-t", links=links)


def test_combined(t):
    compare(t, "-C")


@sample(2)
@each(*LIBRARIES)
def test_every_path_preloaded(t, name):
    compare(t, preload=library(name))


def test_at_a_call(t):
    """For endbr64; call __fentry__, the probes, including the return probe, are on the call."""
    need_x86()
    program = t.program("own_malloc_fentry")
    memleak = t.attach(program, "-v")
    truth = program.go()
    expect(memleak.stop(), truth)
    for function in ("malloc", "free"):
        if not re.search(rf"{function} at \S+, entry\+4 emulated: call", memleak.notes):
            raise Failure(f"{function} is not probed at its call")
