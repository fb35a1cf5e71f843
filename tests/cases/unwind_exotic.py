# SPDX-License-Identifier: GPL-2.0-or-later
"""
Stacks through code with rare, wrong or missing unwind information, and unavailable tables: the
stack is complete or marked as cut.
"""

import os
import platform
import re
import shutil
import struct

from lib import Failure, Skip, each, expect

from .unwind import check, own_names, site_of

BY_HAND = ("expression", "register", "nothing", "signal", "lost", "pointer", "luck", "return")


def run(t, name, *args, options=(), **kwargs):
    program = t.program(name, *args, **kwargs)
    memleak = t.attach(program, *options)
    truth = program.go()
    return truth, memleak.stop(), memleak


def check_end(truth, report, folder):
    """
    Checks that the frames are the chain, that the end is as expected, and that losses are counted.
    """
    site = site_of(report, "leak_here")
    end = truth.facts["end"][0]
    names = own_names(site, folder)
    if names[:len(truth.facts["chain"])] != truth.facts["chain"]:
        raise Failure(f"the stack is {names}, not {truth.facts['chain']}")
    if site["stack_end"] != end:
        raise Failure(f"the stack ends {site['stack_end']}, not {end}: {names}")
    if end == "cut" and len(names) > len(truth.facts["chain"]):
        raise Failure(f"frames after the last one that can be known: {names}")
    if (report["lost"]["unwind"] > 0) != (end == "cut"):
        raise Failure(f"lost {report['lost']}")


@each("aligned", *BY_HAND)
def test_described(t, way):
    if way in BY_HAND and platform.machine() != "x86_64":
        raise Skip("written by hand for x86-64")
    truth, report, _ = run(t, "unwind_exotic", way)
    check_end(truth, report, t.programs)


@each("plain", "callback", "sized", "signal", "recursion")
def test_debug_frame(t, way):
    """Only the startup files have an .eh_frame; the rest has .debug_frame."""
    truth, report, _ = run(t, "unwind_debug_frame", way,
                           options=("--perf-max-stack-depth", "256"))
    check(truth, report, t.programs)
    expect(report, truth, ignore=lambda site: "leak_here" not in str(site["stack"]))


@each("plain", "callback")
def test_compressed(t, way):
    truth, report, _ = run(t, "unwind_packed", way)
    check(truth, report, t.programs)


@each("plain", "large", "library")
def test_frame_pointers_without_tables(t, way):
    """A file without unwind information, but with frame pointers."""
    truth, report, _ = run(t, "unwind_bare_fp", way)
    check(truth, report, t.programs)


def test_nothing_to_go_by(t):
    """Neither tables nor frame pointers: the caller is known, and no frame is invented."""
    truth, report, _ = run(t, "unwind_bare", "plain")
    names = own_names(site_of(report, "leak_here"), t.programs)
    rest = iter(truth.facts["chain"])
    if not all(name in rest for name in names):
        raise Failure(f"the stack is {names}, of which not all are of {truth.facts['chain']}")
    site = site_of(report, "leak_here")
    if names != truth.facts["chain"] and site["stack_end"] == "complete":
        raise Failure(f"{names} is called complete")


def copy(t, name):
    path = t.tmp / name
    shutil.copy(t.file_of("unwind_exotic"), path)
    return path


def check_plain(truth, report, folder):
    check(truth, report, folder)
    if report["lost"]["unwind"]:
        raise Failure(f"lost {report['lost']}")


def test_deleted(t):
    """The program's file is deleted before memleak is attached."""
    path = copy(t, "deleted")
    program = t.program("unwind_exotic", "plain", path=path)
    path.unlink()
    memleak = t.attach(program)
    truth = program.go()
    site = memleak.stop()["sites"][0]
    if site["stack_end"] != "complete" or len(site["stack"]) < len(truth.facts["chain"]):
        raise Failure(f"{site}")


def test_replaced(t):
    """The program's path has another file, with different frames."""
    path = copy(t, "replaced")
    program = t.program("unwind_exotic", "plain", path=path)
    shutil.copy(t.file_of("unwind"), t.tmp / "other")
    (t.tmp / "other").rename(path)
    memleak = t.attach(program)
    truth = program.go()
    site = memleak.stop()["sites"][0]
    if site["stack_end"] != "complete" or len(site["stack"]) < len(truth.facts["chain"]):
        raise Failure(f"{site}")


def test_unreadable(t):
    """An unreadable file is named once; other files have their tables."""
    if not shutil.which("setpriv"):
        raise Skip("setpriv is not there")
    path = copy(t, "unreadable")
    os.chown(path, 65534, 65534)
    path.chmod(0)
    program = t.program("unwind_exotic", "plain", "file", os.fspath(path))
    memleak = t.attach(program, wrapper=("setpriv", "--bounding-set",
                                         "-dac_override,-dac_read_search"))
    truth = program.go()
    check_plain(truth, memleak.stop(), t.programs)
    if memleak.notes.count(f"no unwind table for {path}: Permission denied") != 1:
        raise Failure(f"that is not said once: {memleak.notes}")


def test_other_mounts(t):
    """A file system that only the program's mount namespace has."""
    folder = t.tmp / "mounted"
    folder.mkdir()
    script = ('mount -t tmpfs none "$1" && cp "$2" "$1/program" && shift 2 && exec "$@"')
    wrapper = ("unshare", "--mount", "sh", "-c", script, "sh", folder, t.file_of("unwind_exotic"))
    program = t.program("unwind_exotic", "plain", path=folder / "program", wrapper=wrapper)
    memleak = t.attach(program)
    truth = program.go()
    check_plain(truth, memleak.stop(), folder)


def test_too_many_mappings(t):
    """More code mappings than are kept: those without a table are dropped, and a line says so."""
    truth, report, memleak = run(t, "unwind_exotic", "plain", "pieces", "9000")
    check_plain(truth, report, t.programs)
    if "of which only 8191 are used" not in memleak.notes:
        raise Failure(f"nothing is said: {memleak.notes}")


def test_equal_files(t):
    """Equal files share a table."""
    other = copy(t, "copy")
    truth, report, memleak = run(t, "unwind_exotic", "plain", "file", os.fspath(other),
                                 options=("-v",))
    check_plain(truth, report, t.programs)
    if "1 files share tables" not in memleak.notes:
        raise Failure(f"they do not share: {memleak.notes}")


def run_late_library(t):
    """Returns memleak's messages; requires that all stacks are complete, deferred or not."""
    program = t.program("unwind_exotic", "late")
    memleak = t.attach(program, "-v")
    program.go()
    truth = program.go()
    chain = truth.facts["chain"]
    report = memleak.stop()
    for site in report["sites"]:
        if site["stack_end"] != "complete":
            raise Failure(f"{own_names(site, t.programs)} ends {site['stack_end']}")
    held = [site["count"] for site in report["sites"]
            if own_names(site, t.programs) == [*chain, "_start"]]
    if held != [2]:
        raise Failure(f"sites of {chain}: {held}, not one with both blocks")
    if report["lost"]["unwind"]:
        raise Failure(f"lost {report['lost']}")
    return memleak.notes


def test_late_library(t):
    """
    A library allocates before its table is ready: these stacks are complete as well. Sometimes the
    table is ready in time, but not always.
    """
    for _ in range(10):
        notes = run_late_library(t)
        if re.search(r"deferred stacks: [1-9]\d* received, [1-9]\d* of them completed", notes):
            return
    raise Failure(f"no stack was late: {notes}")


def sparse_elf():
    """Returns an ELF file with a segment of 8 GB, all hole, and a function at each end."""
    size = 1 << 33
    cie = struct.pack("<II", 16, 0) + bytes([1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0])
    frames = cie
    for start in 0x1000, size - 0x1000:
        frames += struct.pack("<IIQQ", 20, len(frames) + 4, start, 64)
    frames += bytes(4)
    at = 64 + 2 * 56
    header = struct.pack("<BBBBi", 1, 0x1b, 0xff, 0xff, 8 - 4)
    ident = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9)
    elf = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
    elf += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    elf += struct.pack("<IIQQQQQQ", 0x6474e550, 4, at, at, at, 8, 8, 4)
    return elf + header + frames, size


def test_too_large(t):
    """A file whose table would be too large is named; other files have their tables."""
    path = t.tmp / "sparse"
    content, size = sparse_elf()
    with open(path, "wb") as file:
        file.write(content)
        file.truncate(size)
    truth, report, memleak = run(t, "unwind_exotic", "plain", "file", os.fspath(path))
    check_plain(truth, report, t.programs)
    if f"no unwind table for {path}: it is too large" not in memleak.notes:
        raise Failure(f"nothing is said: {memleak.notes}")
