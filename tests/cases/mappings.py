# SPDX-License-Identifier: GPL-2.0-or-later
"""Mappings as address ranges: cut, replaced, moved, grown; and the kinds of memory."""

import os
import shutil

from lib import Failure, each, expect, nightly, pitfall, slow, sum_of, timeout, wanted
from lib.context import FOREVER
from lib.kernel import settled
from lib.memleak import parse
from lib.process import PATIENCE

from .record import offline


def run_mapping(t, name, *options, **kwargs):
    program = t.program("mappings", name)
    memleak = t.attach(program, *options)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, **kwargs)
    return report


RANGES = ("whole", "front", "middle", "tail", "pieces", "across", "around", "byte_length",
          "fixed_over", "fixed_over_all", "file_over", "fixed_fails", "grow", "shrink", "move",
          "move_over", "move_part", "move_and_leave", "mremap_fails", "munmap_fails", "not_ours",
          "after_free")


UNSEEN = ("unseen_whole", "unseen_parts", "unseen_file_over", "unseen_segment_over",
          "unseen_reserve")
KINDS = ("reserve", "files", "stack")
RESERVES = ("used_parts", "used_whole", "used_huge")


def run_mappings(t, names, *options):
    programs = [t.program("mappings", name) for name in names]
    for report, truth in t.traced_at_once(programs, *options):
        expect(report, truth)


@pitfall(9)
def test_each_range(t):
    run_mappings(t, (*RANGES, *UNSEEN))


@pitfall(10)
def test_each_kind(t):
    run_mappings(t, (*KINDS, *RESERVES), "--reserved")


@nightly
@pitfall(9)
@each(*RANGES)
def test_range(t, name):
    run_mapping(t, name)


@nightly
@pitfall(9)
@each(*UNSEEN)
def test_unseen(t, name):
    """Memory unmapped by raw system calls, as musl does with thread stacks, is gone."""
    run_mapping(t, name)


@pitfall(9)
@each("unseen_whole", "unseen_parts")
def test_unseen_of_found(t, name):
    """Unseen unmapping in a process that was found by a filter."""
    own = t.tmp / f"m{os.getpid()}"
    shutil.copy(t.file_of("mappings"), own)
    program = t.program("mappings", name, path=own)
    memleak = t.memleak("--json", "-T", "100000", "-o", "0", "--comm", own.name, FOREVER).ready()
    truth = program.go()
    expect(memleak.stop(), truth)


@pitfall(9)
def test_unseen_while_loading(t):
    """Replaced memory is noticed although libraries are loaded while memleak reads mappings."""
    programs = [t.program("mappings", "unseen_while_loading") for _ in range(4)]
    for report, _ in t.traced_at_once(programs):
        wanted("replaced memory", sum_of(report).get(("new_map", "mmap")), None)


@nightly
@pitfall(10)
@each(*KINDS)
def test_kind(t, name):
    run_mapping(t, name, "--reserved")


@nightly
@each(*RESERVES)
def test_used_reserve(t, name):
    """Reserved address space that becomes readable or writable counts as memory."""
    run_mapping(t, name, "--reserved")


def test_used_inherited(t):
    run_mapping(t, "used_forked", "--reserved", "-f")


@each("used_no_more", "used_unmapped", "used_moved")
def test_used_later(t, name):
    """Reserved address space is counted correctly when its protection changes after each report."""
    program = t.program("mappings", name)
    memleak = t.attach(program, "--reserved", interval="0.2")
    for _ in range(2):
        truth = program.go()
        report = settled(memleak, lambda report: sum_of(report) == truth.sites, name)  # noqa: B023
        expect(report, truth)
    memleak.stop()


def test_reserved_apart(t):
    """Terabytes of inaccessible address space are a separate figure and in no other sum."""
    program = t.program("mappings", "reserve")
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    count, total = truth.sites.pop(("reserve", "reserve"))
    expect(report, truth)
    wanted("reserved", report["reserved"], {"bytes": total, "count": count, "sites": 1})
    wanted("outstanding", report["outstanding"], {"bytes": truth.bytes, "count": truth.count})


def test_reserved_by(t):
    """Reserved address space is in no group."""
    program = t.program("mappings", "reserve")
    memleak = t.attach(program, "--by", "process")
    truth = program.go()
    report = memleak.stop()
    total = truth.sites["reserve", "reserve"][1]
    wanted("groups", [group["bytes"] for group in report["groups"]], [truth.bytes - total])


def test_reserved_diff(t):
    """A diff of two moments leaves reserved address space out."""
    program = t.program("mappings", "reserve")
    file = t.tmp / "run.mlk"
    memleak = t.attach(program, "--record", file)
    truth = program.go()
    total = truth.sites["reserve", "reserve"][1]
    memleak.stop()
    for options, left_out in ((), total), (("--reserved",), 0):
        diff = parse(offline(t, "diff", "--json", *options, f"{file}", f"{file}")[:-1])
        after = diff["after"]
        wanted("outstanding", after["outstanding"]["bytes"], truth.bytes - left_out)
        wanted("reserved", after["reserved"]["bytes"], left_out)


@pitfall(10)
def test_thread_stacks(t):
    """Stacks that libpthread keeps are shown as stacks or not at all."""
    run_mapping(t, "thread_stacks", ignore=from_thread_start)


def from_thread_start(site):
    """The loader allocates a thread's dynamic TLS vector by calloc."""
    makers = ("_dl_allocate_tls", "allocate_dtv", "pthread_create", "allocate_stack")
    return site["kind"] == "heap" and any(frame["symbol"] in makers for frame in site["stack"])


@pitfall(6)
@each("reserve", "huge", "huge_and_small")
def test_packed_word(t, name):
    """-C packs size and count into one word: terabytes must not carry into the count."""
    run_mapping(t, name, "-C", "--reserved")


@pitfall(6)
@each("huge", "huge_and_small")
def test_huge(t, name):
    run_mapping(t, name, "--reserved")


@pitfall(6)
@each("blocks", "combined")
def test_huge_blocks(t, name):
    """Terabytes from malloc beside single bytes at one site: totals rise and fall correctly."""
    program = t.program("wide")
    memleak = t.attach(program, *(["-C"] if name == "combined" else []), interval="0.2")
    truth = program.go()
    expect(memleak.fresh_report(), truth)
    truth = program.go()
    expect(memleak.stop(), truth)


@timeout(120)
@slow
def test_many(t):
    run_mapping(t, "many")


@slow
def test_too_many(t):
    """Each mapping beyond the limit is counted as lost, while the process still runs."""
    program = t.program("mappings", "too_many")
    memleak = t.attach(program)
    truth = program.go(2 * PATIENCE)
    report = memleak.stop()
    count, lost = sum_of(report)["new_map", "mmap"][0], report["lost"]["mappings"]
    limit = truth.sites["new_map", "mmap"][0]
    # On a busy machine, more may be lost because events come too fast.
    wanted("mappings", count + lost, limit + 5)
    if not 0 < count <= limit:
        raise Failure(f"{count} mappings, {lost} lost")


def test_mapping_and_heap_apart(t):
    """A mapping made by malloc counts as malloc's block, not as the program's mapping."""
    program = t.program("functions", "malloc", "calloc_big", "mmap")
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    kinds = sorted(site["kind"] for site in report["sites"])
    if kinds != ["heap", "heap", "heap", "mmap"]:  # malloc, calloc, marker, mmap
        raise Failure(f"kinds {kinds}")


def test_one_moment(t):
    """
    Mappings and blocks are of the same moment: the program makes them alternately. With -f the
    times of blocks are exact.
    """
    program = t.program("pairs", "mapped")
    memleak = t.attach(program, "-f", interval="0.05")
    program.send()
    memleak.report_number(20)
    truth = program.go()
    expect(memleak.fresh_report(), truth)
    memleak.stop()
    for report in memleak.reports:
        sums = sum_of(report)
        allocated = sums.get(("odd_alloc", "heap"), (0, 0))[0]
        mapped = sums.get(("pages_map", "mmap"), (0, 0))[0]
        if not 0 <= allocated - mapped <= 1:
            raise Failure(f"{allocated} allocated and {mapped} mapped at one moment")
