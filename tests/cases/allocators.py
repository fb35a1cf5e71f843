# SPDX-License-Identifier: GPL-2.0-or-later
"""Other allocators, other C libraries, and C++: found automatically, with correct names."""

import os
import re
import signal

from lib import AFTER_EXEC, Failure, Truth, each, expect, nightly, once, pitfall, sample, wanted
from lib.libraries import LIBRARIES, library
from lib.memleak import children_of

OPERATORS = ("new", "array", "nothrow", "aligned", "delete", "sizes", "many", "between_failures")
THROWING = ("bad_alloc", "between_throws", "in_child", "new_handler")


def run(t, *args, options=(), lines=True, may_lose=(), **kwargs):
    program = t.program(*args, **kwargs)
    memleak = t.attach(program, *options)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, lines=lines, may_lose=may_lose)
    return report


def of_library(site):
    """True for blocks that the C++ library allocates before main."""
    return any((frame["symbol"] or "").startswith("_dl_init") for frame in site["stack"])


@sample(2)
@pitfall(12, 18)
@each(*LIBRARIES)
def test_each_program(t, name):
    """All that the cases of `make nightly` below do with a library, in one run."""
    preload = library(name)
    things = (*OPERATORS, *(THROWING if name != "mimalloc" else ()))
    preloaded = [("leak",), ("functions", "all"), *(("cxx", thing) for thing in things)]
    linked = [("cxx_" + name, thing) for thing in ("new", "aligned", "between_throws")
              if thing in things]
    if t.agent:  # an allocator's own names are not the agent's
        linked = []
    else:
        preloaded.append(("allocator_api", name.removesuffix("_full")))
    programs = [t.program(*arguments, preload=preload) for arguments in preloaded]
    programs += [t.program(*arguments) for arguments in linked]
    for report, truth in t.traced_at_once(programs):
        expect(report, truth)


@nightly
@pitfall(12)
@each(*LIBRARIES)
def test_preloaded(t, name):
    run(t, "leak", preload=library(name))


@nightly
@pitfall(12)
@each(*LIBRARIES)
def test_preloaded_every_function(t, name):
    run(t, "functions", "all", preload=library(name))


def through_libraries(*things):
    """
    Leaves mimalloc 2.0 out of cases with exceptions: it is built as C, and its operator new aborts.
    """
    return each(*((f"{name}_{thing}", name, thing) for name in LIBRARIES for thing in things
                  if name != "mimalloc" or thing not in THROWING))


@nightly
@pitfall(12)
@through_libraries(*OPERATORS)
def test_preloaded_cxx(t, what):
    """operator new of these libraries does not call malloc."""
    _, name, thing = what
    run(t, "cxx", thing, preload=library(name))


@nightly
@each(*LIBRARIES)
def test_own_names(t, name):
    """
    Tests mallocx, tc_malloc, mi_heap_malloc and similar functions, which need not call malloc.
    """
    run(t, "allocator_api", name.removesuffix("_full"), preload=library(name))


def test_failure_frees(t):
    """A failing mi_reallocf frees the old block."""
    run(t, "allocator_api", "mimalloc_reallocf", preload=library("mimalloc"))


def test_heap_destroyed(t):
    """It is unknown which blocks a destroyed heap had: the report says so."""
    program = t.program("allocator_api", "mimalloc_destroy", preload=library("mimalloc"))
    memleak = t.attach(program)
    program.go()
    lost = {key: n for key, n in memleak.stop()["lost"].items() if n}
    if lost != {"heaps": 1}:
        raise Failure(f"lost: {lost}, not one heap")


@sample(2, 1)
@once
@each(*LIBRARIES)
def test_preloaded_threads(t, name):
    program = t.program("threads", "10000", preload=library(name))
    memleak = t.attach(program)
    program.go()
    truth = program.go()
    expect(memleak.stop(), truth)


@each("deepbind", "dlmopen")
def test_two_allocators(t, how):
    """
    A plugin calls the C library's malloc, the program a preloaded library's: both count.
    """
    program = t.program("two_allocators", t.file_of("libplugin.so"), how,
                        preload=library("jemalloc"))
    memleak = t.attach(program)
    notes = memleak.notes
    truth = program.go()
    expect(memleak.stop(), truth)
    if not re.search(r"functions probed in \S*/libjemalloc\S* and \d+ other file", notes):
        raise Failure(f"one file alone is named: {notes!r}")


@each("libwrapper.so", "libwrapper_jump.so", "libwrapper_header.so")
def test_wrapper(t, name):
    """malloc of a preloaded library calls the C library's, which is also probed: one block."""
    program = t.program("leak", preload=t.file_of(name))
    memleak = t.attach(program, "--stats", interval="0.2")
    for calls in ({"malloc": 10, "free": 1}, {"malloc": 20, "free": 1}, {"malloc": 20, "free": 21}):
        truth = program.go()
        report = memleak.fresh_report()
        expect(report, truth)
        functions = report["stats"]["user"]["functions"]
        wanted("calls", {name: count for name, count in functions.items() if count}, calls)
    memleak.stop()


@each("template", "inline")
def test_cxx(t, name):
    run(t, "cxx", name)


@each("new", "array", "nothrow", "aligned", "delete")
def test_cxx_operators(t, name):
    """new calls malloc: exactly one allocation."""
    program = t.program("cxx", name)
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    wanted = [sum(numbers) for numbers in zip(*truth.sites.values())]
    got = [report["outstanding"]["count"], report["outstanding"]["bytes"]]
    if got != wanted:
        raise Failure(f"count and bytes {got}, not {wanted}")
    if any(report["lost"].values()):
        raise Failure(f"lost: {report['lost']}")
    for site in report["sites"]:
        symbol = site["stack"][0]["symbol"] or ""
        if not symbol.startswith(("operator new", "marker")):
            raise Failure(f"{symbol} is neither operator new nor the marker")


@pitfall(18)
def test_exception_through_new(t):
    """bad_alloc leaves operator new: the program catches it and goes on."""
    run(t, "cxx", "bad_alloc")


@nightly
@pitfall(18)
@through_libraries("bad_alloc", "between_throws", "in_child")
def test_exception_through_preloaded_new(t, what):
    """bad_alloc leaves a probed operator new: the program goes on, and no allocation is missed."""
    _, name, thing = what
    run(t, "cxx", thing, preload=library(name))


@nightly
@through_libraries("new_handler")
def test_frees_in_new_handler(t, what):
    """operator new calls the program's new handler, which frees blocks."""
    _, name, thing = what
    run(t, "cxx", thing, preload=library(name))


@pitfall(18)
@through_libraries("in_child")
def test_exception_in_child_of_command(t, what):
    """A child process runs into its parent's probes, which are not bound to it, and survives."""
    _, name, thing = what
    memleak = t.command(t.file_of("cxx_" + name), thing)
    memleak.send(b"xx")
    memleak.finish(code=0)


@pitfall(18)
@sample(2)
@through_libraries("new", "aligned", "between_throws")
def test_cxx_command(t, what):
    """Traces a C++ command from its first call on; libstdc++ has a block before main."""
    _, name, thing = what
    memleak = t.command(t.file_of("cxx_" + name), thing)
    memleak.send(b"xx")
    report = memleak.finish(code=0)
    truth = Truth.of(memleak.out.text.replace("ready\n", ""))
    expect(report, truth, ignore=of_library)


def of_start(site):
    """True for blocks from before main, which may be missed, and for mappings of libraries."""
    return site["kind"] != "heap" or of_library(site)


@pitfall(18)
@each("jemalloc", "tcmalloc")
def test_cxx_after_exec(t, name):
    """The shell uses another allocator: after exec, the new program's allocator is probed."""
    program = t.program("cxx_" + name, "between_throws", ready=False,
                        wrapper=("/bin/sh", "-c", 'read -r go; exec "$@"', "sh"))
    memleak = t.attach(program, "-v")
    program.send(b"\n")
    program.ready()
    memleak.wait_for("its probes", lambda: "_Unwind_RaiseException at" in memleak.notes)
    truth = program.go()
    expect(memleak.stop(), truth, ignore=of_start, may_lose=(*AFTER_EXEC, "exec"))


@pitfall(18)
@each("multi", "perf", "shape")
def test_exception_by_other_links(t, kind):
    program = t.program("cxx", "between_throws", preload=library("jemalloc"))
    memleak = t.attach(program, env={"MEMLEAK_LINKS": kind})
    truth = program.go()
    expect(memleak.stop(), truth)


@nightly
@through_libraries("new", "aligned", "between_throws")
def test_linked_cxx(t, what):
    _, name, thing = what
    library(name)
    run(t, "cxx_" + name, thing)


def of_unwinder(site):
    """True for the tables that the unwinder sorts at the first exception in static programs."""
    return any((frame["symbol"] or "").startswith("_Unwind_") for frame in site["stack"])


@pitfall(18)
@each("cxx_static", "cxx_built_in", "cxx_own_new")
def test_each_cxx(t, name):
    """All that one of the next three cases does, in one run."""
    things = (*OPERATORS, "bad_alloc", "between_throws")
    programs = [t.program(name, thing) for thing in
                (*things, *(["reallocated"] if name == "cxx_own_new" else []))]
    for report, truth in t.traced_at_once(programs):
        expect(report, truth, ignore=of_unwinder if name == "cxx_static" else None)


@nightly
@each(*OPERATORS, "bad_alloc", "between_throws")
def test_static_cxx(t, thing):
    """malloc and operator new are in one file, and the latter calls the former."""
    program = t.program("cxx_static", thing)
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth, ignore=of_unwinder)


@nightly
@each("new", "bad_alloc", "between_throws")
def test_built_in_cxx(t, thing):
    """The C++ library, with the code that throws, is linked into the program."""
    run(t, "cxx_built_in", thing)


@nightly
@each(*OPERATORS, "bad_alloc", "between_throws", "reallocated")
def test_own_operator_new(t, thing):
    """A program with its own operator new and delete, which do not use malloc."""
    run(t, "cxx_own_new", thing)


SANITIZERS = ("asan", "clang_asan", "clang_scudo")
QUIET = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
         "SCUDO_OPTIONS": "allocator_may_return_null=1"}


@each(*SANITIZERS)
def test_sanitizer(t, name):
    """Programs with the allocator of a sanitizer, from a library or built in."""
    run(t, "functions_" + name, "all", env=QUIET)


@sample(6)
@each(*((f"{name}_{thing}", name, thing) for name in SANITIZERS for thing in OPERATORS))
def test_sanitizer_cxx(t, what):
    _, name, thing = what
    run(t, "cxx_" + name, thing, env=QUIET)


@each("leak_static", "leak_static_pie", "leak_nopie")
def test_built_otherwise(t, name):
    run(t, name)


@each("leak_musl", "leak_musl_static")
def test_musl(t, name):
    """musl has no unwind tables, so stacks are cut after main."""
    run(t, name, may_lose=("unwind",))


@each("own_malloc", "own_malloc_static", "own_malloc_library")
def test_own_allocator(t, name):
    """Allocators independent of libc, with free_sized, free_aligned_sized and cfree."""
    run(t, name)


def test_begun_again(t):
    """
    A free() that jumps to its own beginning counts as one call, also if another tracer has a return
    probe on it.
    """
    t.attach(t.program("own_malloc"))
    report = run(t, "own_malloc", options=("--stats",))
    wanted("frees", report["stats"]["user"]["functions"]["free"], 20)


@each("own_malloc_built_in", "own_malloc_hidden")
def test_built_in(t, name):
    """Names that only jemalloc has, as static functions of the program or a library."""
    run(t, name)


def test_prefix(t):
    """je_malloc and similar names are traced with -S."""
    run(t, "own_malloc_prefixed", options=("-S", "je_"))


def test_prefix_found(t):
    """je_malloc and similar names are found without -S."""
    run(t, "own_malloc_prefixed")


POOLS = ("--alloc", "cells_take:pool_malloc", "--alloc", "cells_resize:pool_realloc",
         "--free", "cells_give:pool_free", "--alloc", "hidden_take:calloc",
         "--alloc", "_ZN5Arena4takeEm:pool_malloc")


@sample(2)
@each("session", "multi", "perf", "shape")
def test_pools(t, kind):
    """--alloc and --free: also static functions, and a C++ function that throws."""
    program = t.program("pools")
    memleak = t.attach(program, *POOLS, env={"MEMLEAK_LINKS": kind})
    truth = program.go()
    expect(memleak.stop(), truth)


def test_pool_not_there(t):
    """If no file has a function of this name, memleak says so and suggests a similar name."""
    memleak = t.attach(t.program("pools"), "--alloc", "no_such_function", "--alloc", "cels_take")
    notes = memleak.notes
    memleak.stop()
    if (not re.search(r"no_such_function is not probed: .* yet\n", notes) or
            not re.search(r"cels_take is not probed: .* did you mean cells_take\?\n", notes)):
        raise Failure(f"no word of it: {notes!r}")


def test_object_given(t):
    """-O: only the allocator of this file is traced."""
    run(t, "own_malloc_library", options=("-O", t.file_of("libbump.so")))


def test_object_given_is_the_wrong_one(t):
    """-O with a file without an allocator is an error."""
    program = t.program("leak")
    t.refused("--json", "-O", t.file_of("libplugin.so"), "-p", str(program.pid), "1", code=1,
              says="libplugin.so does not define malloc or any other")


def test_object_missing(t):
    program = t.program("leak")
    t.refused("--json", "-O", "/nonexistent/lib.so", "-p", str(program.pid), "1", code=1,
              says="/nonexistent/lib.so")


@pitfall(20)
def test_no_allocator_at_all(t):
    """A stripped static program has no visible allocator: an error, not an empty report."""
    program = t.program("leak_stripped_static")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.2", "1")
    memleak.wait()
    memleak.aftermath()
    if "is statically linked and its functions have no names" not in memleak.notes:
        raise Failure(f"no word of the missing allocator: {memleak.notes!r}")
    if memleak.code != 1:
        raise Failure(f"exit code {memleak.code}")


NO_ALLOCATOR = re.compile(r"process (\d+) is statically linked and has no symbols of allocator functions")


def test_no_allocator_in_child(t):
    """With -f, a note names a running descendant that has no visible allocator."""
    program = t.program("leak_stripped_static", wrapper=("sh", "-c", '"$@"; exit', "sh"))
    memleak = t.memleak("-f", "-p", str(program.pid)).ready()
    memleak.stop()
    if not NO_ALLOCATOR.search(memleak.notes):
        raise Failure(f"no word of the missing allocator: {memleak.notes!r}")


def test_no_allocator_in_later_child(t):
    """With -f, a note names the first child without a visible allocator that starts later."""
    shell = t.process(["sh", "-c", 'while read -r go; do "$@"; done', "sh",
                       t.file_of("leak_stripped_static")])
    memleak = t.memleak("--json", "-f", "-p", str(shell.pid), "0.2").ready()
    named = []
    for number in (1, 2):
        shell.send(b"\n")
        shell.wait_for("a child", lambda: shell.out.text.count("ready") == number)  # noqa: B023
        child, = children_of(shell.pid)
        named.append(str(child))
        memleak.fresh_report()
        memleak.fresh_report()
        os.kill(child, signal.SIGKILL)  # until it ends, it may read the next byte
        shell.wait_for("its end", lambda: not children_of(shell.pid), every=0.01)
    memleak.stop()
    wanted("named", NO_ALLOCATOR.findall(memleak.notes), named[:1])


@pitfall(20)
def test_says_what_is_probed(t):
    """The `tracing` line has the number of probes; -v lists files and functions."""
    program = t.program("leak")
    memleak = t.attach(program, "-v")
    notes = memleak.notes
    memleak.stop()
    for word in ("libc.so.6", "malloc", "free"):
        if word not in notes.replace("memleak: tracing", ""):
            raise Failure(f"{word} is not named: {notes!r}")
