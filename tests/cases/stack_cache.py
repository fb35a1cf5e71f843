# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks recognised by the stack cache are never confused."""

import os
import re

from lib import Failure, Skip, each, expect
from lib.expect import frames_of
from lib.kernel import expect_things, share_kernel

TOLD = re.compile(r"(user|kernel) stacks: (\d+) walked, (\d+) from the stack cache; "
                  r"(\d+) from the cache were walked as a check, (\d+) differed")


def paths_of(report, folder):
    """Returns {"leaf<caller<...": count} of the program's functions without main."""
    paths = {}
    for site in report["sites"]:
        names = [frame["symbol"] for frame in frames_of(site)
                 if frame["module"] == os.fspath(folder / "stack_cache")]
        if "leaf" in names:
            path = "<".join(name for name in names if name not in ("main", "_start"))
            paths[path] = paths.get(path, 0) + site["count"]
    return paths


def check_paths(truth, report, folder):
    told = {name.removeprefix("path="): int(words[0]) for name, words in truth.facts.items()
            if name.startswith("path=")}
    found = paths_of(report, folder)
    if found != told or not told:
        raise Failure(f"the paths are {found}, not {told}")


def check_stats(memleak, space, least):
    """Requires a minimum number of recognised stacks, and no wrong one."""
    found = [match for match in TOLD.finditer(memleak.notes) if match[1] == space]
    if len(found) != 1:
        raise Failure(f"{len(found)} lines about {space} stacks: {memleak.notes!r}")
    recognised, wrong = int(found[0][3]), int(found[0][5])
    if recognised < least or wrong:
        raise Failure(f"{found[0][0]!r}, but {least} should be from the cache and none differ")


@each("callers", "places", "sizes", "recursion", "far", "balanced", "jumps", "threads")
def test_path(t, way):
    program = t.program("stack_cache", way)
    memleak = t.attach(program, "-v")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, ignore=lambda site: "leaf" not in str(site["stack"]))
    check_paths(truth, report, t.programs)
    # stacks that are this similar evict each other from the cache
    least = 1 if way == "balanced" else sum(count for count, _ in truth.sites.values()) // 2
    check_stats(memleak, "user", least)


def test_another_library(t):
    """A second library at the address of the first has frames of another size."""
    program = t.program("stack_cache", "libraries", t.file_of("libstack_cache_small.so"),
                        t.file_of("libstack_cache_large.so"))
    memleak = t.attach(program, "-v")
    for _ in range(2):
        known = tables_told(memleak)
        program.go()
        memleak.wait_for("tables", lambda known=known: tables_told(memleak) > known)
    truth = program.go()
    report = memleak.stop()
    if truth.facts["same_place"] != ["1"]:
        raise Skip("the second library is not where the first one was")
    expect(report, truth, ignore=lambda site: "leaf" not in str(site["stack"]))
    check_paths(truth, report, t.programs)
    check_stats(memleak, "user", 3000)


def tables_told(memleak):
    return memleak.notes.count("unwind tables:")


def test_exec(t):
    """After exec, the new program has equal paths at equal offsets, but different stacks."""
    program = t.program("stack_cache", "exec")
    memleak = t.attach(program, "-v", interval="0.2")
    truth = program.go()
    report = memleak.fresh_report()
    check_paths(truth, report, t.programs)
    program.go()
    report = memleak.fresh_report()
    truth = program.go()
    report = memleak.stop()
    check_paths(truth, report, t.programs)
    check_stats(memleak, "user", 3000)


@each("messages:3000", "keys:1000")
def test_kernel(t, thing):
    """Kernel stacks: counts are exact, and most stacks are recognised."""
    share_kernel(t)
    program = t.program("kernel", thing)
    memleak = t.attach(program, "-K", "-v")
    truth = program.go()
    expect_things(memleak.stop(), truth)
    if "kernel stacks:" not in memleak.notes:
        raise Skip("kernel events cannot be traced by programs that know the stack")
    check_stats(memleak, "kernel", int(thing.split(":")[1]) // 2)
