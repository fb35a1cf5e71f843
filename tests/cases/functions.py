# SPDX-License-Identifier: GPL-2.0-or-later
"""Every allocator function by call shape, and calls that fail, move blocks or return nothing."""

from lib import each, expect, nightly, pitfall

NAMES = ("malloc", "calloc", "calloc_big", "realloc", "realloc_grown", "reallocarray",
         "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc", "free", "mmap",
         "mmap64", "munmap", "mremap", "all")


def test_each_function(t):
    for report, truth in t.traced_at_once([t.program("functions", name) for name in NAMES]):
        expect(report, truth)


@nightly
@each(*NAMES)
def test_function(t, name):
    program = t.program("functions", name)
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth)


@pitfall(11)
def test_aliases_once(t):
    """In glibc memalign is aligned_alloc, and mmap is mmap64: one probe, counted once."""
    program = t.program("functions", "memalign", "aligned_alloc", "mmap", "mmap64")
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth)


def test_all_freed(t):
    """After all frees nothing is outstanding, whichever function allocated the blocks."""
    program = t.program("functions", "all")
    memleak = t.attach(program, interval="0.2")
    truth = program.go()
    expect(memleak.fresh_report(), truth)
    truth = program.go()
    expect(memleak.stop(), truth)


def run_edge(t, name, *options):
    program = t.program("edges", name)
    memleak = t.attach(program, *options)
    truth = program.go()
    expect(memleak.stop(), truth)


REALLOCS = ("realloc_fails", "realloc_fails_then_free", "reallocarray_fails", "realloc_to_zero",
            "realloc_null_zero", "realloc_moves", "realloc_in_place", "realloc_of_mapped")


@pitfall(7)
def test_each_realloc(t):
    for report, truth in t.traced_at_once([t.program("edges", name) for name in REALLOCS]):
        expect(report, truth)


@nightly
@pitfall(7)
@each(*REALLOCS)
def test_realloc(t, name):
    run_edge(t, name)


@pitfall(8)
def test_posix_memalign_fails(t):
    run_edge(t, "posix_memalign_fails")


@pitfall(5)
def test_address_reuse(t):
    run_edge(t, "address_reuse")


@pitfall(5)
@each("blocks", "combined")
def test_freed_unseen(t, name):
    """If a held address is allocated again, its free was missed: the old block is dropped."""
    program = t.program("process", "vfork_frees")
    memleak = t.attach(program, *(["-C"] if name == "combined" else []))
    truth = program.go()
    expect(memleak.stop(), truth)


@each("malloc_zero", "null_results", "map_failed")
def test_nothing_given(t, name):
    run_edge(t, name)


@pitfall(3, 4)
@each("realloc_fails", "realloc_moves", "address_reuse", "posix_memalign_fails")
def test_totals_alone(t, name):
    """-C, which keeps only totals, gives the same sums."""
    run_edge(t, name, "-C")


@each("all")
def test_functions_combined(t, name):
    program = t.program("functions", name)
    memleak = t.attach(program, "-C")
    truth = program.go()
    expect(memleak.stop(), truth)
