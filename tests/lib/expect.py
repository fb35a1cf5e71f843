# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares a report with a program's truth: counts, bytes and names must be exact, with nothing else.
"""

import functools
import pathlib
import re

from .case import Failure
from .process import ROOT
from .slowness import IS_SLOW

# The allocator's own frames may be shown, but are never the culprit.
ALLOCATOR = re.compile(
    r"(_*(libc_|je_)?(malloc|calloc|realloc|reallocarray|memalign|aligned_alloc|posix_memalign|"
    r"valloc|pvalloc|mmap|mmap64|mremap)|operator new(\[\])?|mi_new\w*|cells_\w+|hidden_take|Arena::take)(\(.*)?$")


# Losses that a report after an exec may have. Stacks may be cut for the first milliseconds, until
# memleak has read the mappings of the new program. A slow machine may be too slow to search its files
# in time, which is reported as a loss. The sums must be right in either case.
AFTER_EXEC = ("unwind", "processes") if IS_SLOW else ("unwind",)


def frames_of(site):
    """Returns the stack from the allocator's caller outwards."""
    stack = list(site["stack"])
    while stack and stack[0]["symbol"] and ALLOCATOR.match(stack[0]["symbol"]):
        stack.pop(0)
    return stack


def culprit(site):
    """Returns the frame that called the allocator; None if the stack is unknown."""
    stack = frames_of(site)
    return stack[0] if stack else None


def plain(symbol):
    """Returns a C++ name without parameters and template arguments."""
    return re.split(r"[(<]", symbol, maxsplit=1)[0].split(" ")[-1]


def owner(site):
    """Returns the culprit's name, or its module or address if it has none."""
    frame = culprit(site)
    if not frame:
        return "(no stack)"
    if frame["symbol"]:
        return plain(frame["symbol"])
    return f"{frame['module'] or '?'}+{frame['module_offset'] or frame['addr']}"


def part_of(report, program):
    """Returns the report with the sites of one program only."""
    sites = [site for site in report["sites"] if site["pid"] == program.pid]
    return {**report, "sites": sites, "sites_total": len(sites)}


def sum_of(report, kinds=None):
    """Returns {(function, kind): (count, bytes)} of the shown sites."""
    sums = {}
    for site in report["sites"]:
        key = (owner(site), site["kind"])
        if kinds is None or site["kind"] in kinds:
            count, size = sums.get(key, (0, 0))
            sums[key] = (count + site["count"], size + site["bytes"])
    return sums


def show(report):
    """Formats the report for a failure message."""
    lines = [f"outstanding {report['outstanding']} lost "
             f"{ {key: n for key, n in report['lost'].items() if n} }"]
    for site in report["sites"][:20]:
        lines.append(f"  {site['bytes']} bytes in {site['count']} {site['kind']}")
        for frame in site["stack"][:8]:
            inlined = " (inlined)" if frame["inlined"] else ""
            lines.append(f"    {frame['symbol']}+{frame['offset']} {frame['file']}:{frame['line']}"
                         f" [{frame['module']}+{frame['module_offset']}]{inlined}")
    return "\n".join(lines)


def fail(report, text):
    raise Failure(text + "\n" + show(report))


@functools.lru_cache(maxsize=None)
def source_lines(path):
    return path.read_text(encoding="utf-8").splitlines()


def find_source(name):
    for folder in ("tests/programs", "tests/kernels/module"):
        path = ROOT / folder / pathlib.PurePath(name).name
        if path.exists():
            return path
    return None


def check_line(report, site):
    """Requires that the culprit's file and line are those of a call with a LEAK comment."""
    frame = culprit(site)
    if not frame or not frame["file"] or not frame["line"]:
        fail(report, f"{owner(site)} has no file and line")
    path = find_source(frame["file"])
    if not path:
        fail(report, f"{owner(site)} is said to be in {frame['file']}")
    lines = source_lines(path)
    if not 0 < frame["line"] <= len(lines) or "LEAK" not in lines[frame["line"] - 1]:
        fail(report, f"{owner(site)}: {frame['file']}:{frame['line']} is not the call")


def check_lost(report, may_lose):
    lost = {key: n for key, n in report["lost"].items() if n and key not in may_lose}
    if lost:
        fail(report, f"lost: {lost}")


def expect(report, truth, *, lines=True, may_lose=(), ignore=None):
    """
    Requires every site of the truth with exact count and bytes, and no other sites. Thread stacks
    may be shown. ignore(site) is true for sites that the case cannot predict, such as the loader's.
    lines=False if the program has no line table.
    """
    if report is None:
        raise Failure("no report")
    if report["sites_total"] != len(report["sites"]):
        fail(report, "only the top of the sites is shown: the case needs a larger -T")
    check_lost(report, may_lose)
    wanted = dict(truth.sites)
    shown = [site for site in report["sites"] if not (ignore and ignore(site))]
    if not any(kind == "stack" for _, kind in wanted):
        shown = [site for site in shown if site["kind"] != "stack"]
    got = sum_of({"sites": shown})
    if got != wanted:
        text = "expected, but not so reported:"
        text += "".join(f"\n  {key} {wanted[key]}, got {got.get(key)}" for key in wanted
                        if got.get(key) != wanted[key])
        text += "\nreported, but not expected:"
        text += "".join(f"\n  {key} {got[key]}" for key in got if key not in wanted)
        fail(report, text)
    for site in shown:
        if lines:
            check_line(report, site)


def expect_between(report, low, high, what):
    """Requires that the count of all outstanding blocks lies between two bounds."""
    count = report["outstanding"]["count"]
    if not low <= count <= high:
        fail(report, f"{what}: {count} blocks, expected {low} to {high}")


def wanted(what, got, right):
    """Raises Failure, showing both values, unless they are equal."""
    if got != right:
        raise Failure(f"{what}: {got}, expected {right}")
