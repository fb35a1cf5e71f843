# SPDX-License-Identifier: GPL-2.0-or-later
"""A kernel module that leaks on request: functions and module are named."""

import os
import pathlib
import re
import subprocess

from lib import Skip, lane, timeout
from lib.case import Broken
from lib.expect import find_source, source_lines
from lib.kernel import (check_kernel_lost, culprit_of, kernel_part, names_of, require, share_kernel,
                        whole_kernel)

LEAK = pathlib.Path("/sys/module/leaky/parameters/leak")
# Allocations of the module's functions: {function: (word, kind, bytes of a block)}. Slab sizes are
# as allocated, so the cache with a constructor has room for an extra pointer.
LEAKS = {
    "leak_pages": ("pages", "page", 8192),
    "leak_kmalloc": ("kmalloc", "slab", 1024),
    "leak_object": ("object", "slab", None),
    "leak_percpu": ("percpu", "percpu", 64),
}
# Bulk allocations without tracepoints, seen only where functions can be hooked.
BULK_LEAKS = {
    "leak_bulk_page": ("bulk_page", "page", 4096),
    "leak_bulk_object": ("bulk_object", "slab", None),
}
COUNT = 2000


def load_module():
    """Loads the module if needed; skips the case if it was not built for this kernel."""
    if LEAK.exists():
        return
    path = pathlib.Path(f"/lib/modules/{os.uname().release}/extra/leaky.ko")
    if not path.exists():
        raise Skip("the module leaky is not built for this kernel")
    answer = subprocess.run(["insmod", path], capture_output=True, text=True, check=False)
    if answer.returncode:
        raise Broken(f"insmod: {answer.stderr}")


def write(text):
    with open(LEAK, "w", encoding="ascii") as file:
        file.write(text)


def burst(count):
    for word, _, _ in LEAKS.values():
        write(f"{word} {count}")
    write(f"nothing {count}")


def module_sites(report):
    """Returns {function: its only site} for sites whose innermost frame is in the module."""
    found = {}
    for site in kernel_part(report):
        name = culprit_of(site)
        if any(frame["module"] == "leaky" for frame in site["stack"]):
            require(name not in found, report, f"{name} has two sites")
            found[name] = site
    return found


def check_sites(report, count):
    found = module_sites(report)
    require(found.keys() == LEAKS.keys(), report, f"sites of {sorted(found)}")
    for name, (_, kind, size) in LEAKS.items():
        site = found[name]
        require((site["kind"], site["count"]) == (kind, count), report,
                f"{name}: {site['count']} of {site['kind']}, not {count}")
        require(size is None or site["bytes"] == size * count, report,
                f"{name}: {site['bytes']} bytes")
        names = names_of(site)
        start = names.index(name)  # a function of the page allocator may come before it
        require(names[start:start + 3] == [name, "burst", "on_write"], report,
                f"the stack of {name}")


def check_order(report):
    """
    Checks that sites which grew by a megabyte belong to the module and come first, apart from
    reclaimable memory, which comes last.
    """
    growth = [site["growth"]["bytes"] for site in report["sites"] if not site["reclaimable"]]
    require(growth == sorted(growth, reverse=True), report, f"not sorted by growth: {growth[:9]}")
    large = [culprit_of(site) for site, grown in zip(report["sites"], growth) if grown >= 1 << 20]
    require(set(large) <= LEAKS.keys(), report, f"{large} have grown most")
    return large


@lane("kernel")
@timeout(180)
def test_growth(t):
    """
    Only the module's leaks are reported, those that grow most first; once freed, they are gone.
    """
    load_module()
    share_kernel(t, whole=True)
    memleak = whole_kernel(t, "-P", "--sort", "growth")
    try:
        burst(COUNT)
        check_sites(memleak.fresh_report(), COUNT)
        burst(COUNT)
        check_sites(memleak.fresh_report(), 2 * COUNT)
    finally:
        write("free")
    require(not module_sites(memleak.fresh_report()), memleak.reports[-1], "not gone")
    memleak.stop()
    # A report may come during a burst: at least one report has half of the 16 MiB of pages.
    first = [names[0] for names in map(check_order, memleak.reports) if names]
    require(first and set(first) <= {"leak_pages", "leak_kmalloc"}, memleak.reports[-1],
            f"the first sites of the reports are of {first}")


def check_bulk(report, count):
    """Adds up a function's sites: single pages may be allocated on another path and stack."""
    check_kernel_lost(report)
    for name, (_, kind, size) in BULK_LEAKS.items():
        sites = [site for site in kernel_part(report) if culprit_of(site) == name]
        require({site["kind"] for site in sites} <= {kind}, report, f"{name} is no {kind}")
        require(sum(site["count"] for site in sites) == count, report,
                f"{name}: {[site['count'] for site in sites]}, not {count}")
        require(size is None or sum(site["bytes"] for site in sites) == size * count, report,
                f"{name}: {[site['bytes'] for site in sites]} bytes")


@lane("kernel")
@timeout(180)
def test_bulk(t):
    """Bulk allocations are reported once, also if older pages remain between new ones."""
    load_module()
    share_kernel(t, whole=True)
    memleak = whole_kernel(t, "-v")
    if not re.search("are traced by fentry", memleak.notes):
        raise Skip("this kernel's functions cannot be hooked")
    try:
        for number in (1, 2):
            for word, _, _ in BULK_LEAKS.values():
                write(f"{word} {COUNT}")
            check_bulk(memleak.fresh_report(), number * COUNT)
    finally:
        write("free")
    report = memleak.fresh_report()
    check_bulk(report, 0)
    require(not report["inferred"]["vmalloc_hidden"], report, "pages of vmalloc() are hidden")
    memleak.stop()


@lane("kernel")
@timeout(180)
def test_lines(t):
    """File and line of the module's functions, from its debug information."""
    load_module()
    share_kernel(t, whole=True)
    memleak = whole_kernel(t, "-P")
    try:
        burst(10)
        report = memleak.fresh_report()
    finally:
        write("free")
    memleak.stop()
    check_sites(report, 10)
    for name, site in module_sites(report).items():
        frame = next(frame for frame in site["stack"] if frame["symbol"] == name)
        require(frame["file"] and frame["line"], report, f"{name} has no file and line")
        path = find_source(frame["file"])
        require(path and path.name == "leaky.c", report, f"{name} is said to be in {frame['file']}")
        require("LEAK" in source_lines(path)[frame["line"] - 1], report,
                f"{name}: line {frame['line']} is not the call")
