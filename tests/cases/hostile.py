# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of targets made to keep memleak busy: only their own probes are affected."""

import os
import re
import signal
import struct
import time

from lib import Failure, expect, wanted
from lib.memleak import helpers_of

MACHINES = {"x86_64": 62, "aarch64": 183}
USERS_DEADLINES = True  # use the real deadline for symbols, not a longer one for tests
PAGE = 4096
CODE_BYTES = 1 << 18
HEADER, SEGMENT, SECTION, SYMBOL = "<16sHHIQQQIHHHHHH", "<IIQQQQQQ", "<IIQQQQIIQQ", "<IBBHQQ"
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 1, 2, 3
LOCAL_FUNCTION = 2


def write_elf(path, symbols, claimed=None, segments=1, code_bytes=CODE_BYTES, frames=b""):
    """
    Writes an ELF file with a code segment and (name, address) for each symbol. claimed is the size
    that its symbol table claims to have, over a hole in the file. The code segment is listed
    `segments` times. frames: content of .eh_frame.
    """
    names, at, table = b"\0.eh_frame\0", {}, [struct.pack(SYMBOL, 0, 0, 0, 0, 0, 0)]
    for name, address in symbols:
        if name not in at:
            at[name] = len(names)
            names += name + b"\0"
        table.append(struct.pack(SYMBOL, at[name], LOCAL_FUNCTION, 0, 1, address, 1))
    table = b"".join(table)
    code = -(-(64 + segments * struct.calcsize(SEGMENT)) // PAGE) * PAGE
    start = code + code_bytes
    sections_at = start + len(names)
    frames_at = sections_at + 4 * struct.calcsize(SECTION)
    table_at = frames_at + len(frames)
    sections = [struct.pack(SECTION, *[0] * 10),
                struct.pack(SECTION, 0, SHT_SYMTAB, 0, 0, table_at, claimed or len(table), 2, 1, 8,
                            struct.calcsize(SYMBOL)),
                struct.pack(SECTION, 0, SHT_STRTAB, 0, 0, start, len(names), 0, 0, 1, 0),
                struct.pack(SECTION, 1, SHT_PROGBITS, 0, 0, frames_at, len(frames), 0, 0, 1, 0)]
    header = struct.pack(HEADER, b"\x7fELF\2\1\1", 3, MACHINES[os.uname().machine], 1, 0, 64,
                         sections_at, 0, 64, struct.calcsize(SEGMENT), segments,
                         struct.calcsize(SECTION), 4, 2)
    segment = struct.pack(SEGMENT, 1, 5, code, PAGE, PAGE, code_bytes, code_bytes, PAGE)
    with open(path, "wb") as file:
        file.write(header + segments * segment)
        file.seek(code)
        file.write(b"\x90" * code_bytes + names + b"".join(sections) + frames + table)
        if claimed:
            file.truncate(table_at + claimed)
    return path


def trace(t, path):
    program = t.program("mapped", path)
    memleak = t.attach(program)
    return program, memleak


def finish(program, memleak):
    """Finishes the run; a line and the report must say that a file was not searched."""
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, may_lose=["processes"])
    wanted("processes that are not searched", report["lost"]["processes"],
           int("is not searched" in memleak.notes))


def test_many_segments(t):
    """A code segment of 4 MB is listed 60,000 times: it is searched for a trampoline only once."""
    path = write_elf(t.tmp / "segments", [], segments=60000, code_bytes=4 << 20)
    program = t.program("mapped", path)
    memleak = t.attach(program, "-v")
    finish(program, memleak)
    if f"{path} has no unwind information" not in memleak.notes:
        raise Failure(f"the file takes too long: {memleak.notes!r}")


def probed(memleak):
    return int(re.search(r"(\d+) functions? probed", memleak.notes).group(1))


def test_many_definitions(t):
    """40,000 of 200,000 symbols are called malloc: only 64 are probed, and a line says so."""
    names = [b"je_malloc" if i % 5 == 0 else b"other" for i in range(200000)]
    path = write_elf(t.tmp / "many", [(name, PAGE + 1 + i) for i, name in enumerate(names)])
    program, memleak = trace(t, write_elf(t.tmp / "none", []))
    usual = probed(memleak)
    finish(program, memleak)
    program, memleak = trace(t, path)
    if probed(memleak) != usual + 64:
        raise Failure(f"{probed(memleak)} functions are probed, without the file {usual}")
    if f"{path} has too many definitions of allocator functions: 39936 of them" not in \
            memleak.notes:
        raise Failure(f"nothing is said of what was left out: {memleak.notes}")
    finish(program, memleak)


def test_many_names(t):
    """One file gets at most 4,096 probes."""
    names = [prefix + name for prefix in (b"je_", b"_rjem_", b"_rjem_je_", b"tc_", b"mi_")
             for name in (b"malloc", b"calloc", b"realloc", b"posix_memalign", b"memalign",
                          b"valloc", b"pvalloc", b"free", b"cfree")]
    names += [b"mi_" + name for name in (
        b"zalloc", b"mallocn", b"rezalloc", b"reallocf", b"expand", b"reallocn", b"recalloc",
        b"malloc_small", b"zalloc_small", b"malloc_aligned", b"zalloc_aligned", b"free_size",
        b"calloc_aligned", b"realloc_aligned", b"strdup", b"strndup", b"realpath", b"heap_malloc",
        b"heap_zalloc", b"heap_calloc", b"heap_mallocn", b"heap_realloc", b"heap_strdup")]
    symbols = [(name, PAGE + 64 * i + j) for i, name in enumerate(names) for j in range(64)]
    if len(symbols) <= 4096:
        raise Failure("the file does not have enough")
    program, memleak = trace(t, write_elf(t.tmp / "none", []))
    usual = probed(memleak)
    finish(program, memleak)
    program, memleak = trace(t, write_elf(t.tmp / "many", symbols))
    if probed(memleak) != usual + 4096:
        raise Failure(f"{probed(memleak)} functions are probed, without the file {usual}")
    finish(program, memleak)


def test_hole(t):
    """A file of some KB claims 1.2 GB of symbols: memleak itself does not read them."""
    claimed = struct.calcsize(SYMBOL) * (50 << 20)
    program, memleak = trace(t, write_elf(t.tmp / "hole", [(b"malloc", PAGE)], claimed))
    with open(f"/proc/{memleak.pid}/status", encoding="ascii") as file:
        peak = int(re.search(r"VmHWM:\s*(\d+) kB", file.read()).group(1)) << 10
    if peak >= claimed:
        raise Failure(f"memleak took {peak >> 20} MB")
    finish(program, memleak)


def plugin_blocks(report):
    """Returns the blocks of the library loaded by dlopen."""
    sites = [site for site in report["sites"]
             if any(frame["symbol"] == "plugin_leak" for frame in site["stack"])]
    return sum(site["count"] for site in sites), sum(site["bytes"] for site in sites)


def prober_of(memleak):
    for pid in helpers_of(memleak.pid):
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            if file.read().strip() == "prober":
                return pid
    raise Failure("no prober runs")


def hang(t):
    """Starts memleak, stops the prober, and loads a library that must be searched."""
    program = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    memleak = t.attach(program)
    os.kill(prober_of(memleak), signal.SIGSTOP)
    program.go()
    return memleak


def end_hung(memleak):
    report = memleak.stop()
    wanted("the library's blocks", plugin_blocks(report), (5, 240))
    wanted("processes that are not searched", report["lost"]["processes"], 1)


def test_prober_hangs(t):
    """If searching a file hangs, only this file has no probes."""
    memleak = hang(t)
    memleak.wait_for("the end of patience", lambda: (
        "libplugin.so is not searched for allocator functions: reading it takes too long"
        in memleak.notes))
    end_hung(memleak)


def test_end_while_prober_hangs(t):
    """memleak ends promptly while the prober hangs."""
    memleak = hang(t)
    begin = time.monotonic()
    end_hung(memleak)
    t.figure("end", time.monotonic() - begin, "s", 2)


def test_prober_is_killed(t):
    """A killed prober is restarted: an allocator loaded later is found."""
    library = t.file_of("libbump.so")
    program = t.program("dlopen", library, "alloc")
    memleak = t.attach(program, "-v")
    os.kill(prober_of(memleak), signal.SIGKILL)
    program.go()
    memleak.wait_for("its probes", lambda: f"malloc at {library}+" in memleak.notes)
    memleak.stop()


def test_forged_hook(t):
    """
    A process states a place in the middle of a function as its dynamic loader's hook: no code is
    changed there, as it would be changed in all processes that map the file.
    """
    program = t.program("forged_hook")
    memleak = t.attach(program)
    truth = program.go()
    wanted("changed bytes", truth.facts["changed"], ["0"])
    if "libraries that it loads later are not noticed" not in memleak.notes:
        raise Failure(f"no word about the hook: {memleak.notes!r}")
    expect(memleak.stop(), truth)
