# SPDX-License-Identifier: GPL-2.0-or-later
"""Complete stacks of code without frame pointers: every function down to main, and the end."""

import functools
import os
import pathlib
import re
import subprocess

from lib import Failure, Skip, each, expect, frames_of, nightly, wanted
from lib.expect import plain
from lib.process import ROOT

WAYS = ("plain", "callback", "sized", "large", "signal", "other_stack", "fault", "recursion",
        "tail", "context", "thread", "library")
DEEP = ("--perf-max-stack-depth", "256")


def own_frames(site, folder):
    """Returns the frames in test files from the allocator's caller on, without inlined ones."""
    return [frame for frame in frames_of(site)
            if frame["module"] and frame["module"].startswith(os.fspath(folder))
            and not frame["inlined"]]


@functools.lru_cache(maxsize=None)
def own_functions():
    """
    Returns the functions defined in the programs' sources; a static program has libc's as well.
    """
    text = "".join(path.read_text(encoding="ascii")
                   for path in (ROOT / "tests/programs").glob("unwind*.c"))
    return {*re.findall(r"^OWN_FRAME .*?(\w+)\(", text, re.M), "main", "first_byte", "before_it"}


def own_names(site, folder):
    """Returns the names of own_frames(); an address without a name counts, too."""
    return [frame["symbol"] or "?" for frame in own_frames(site, folder)]


def site_of(report, function):
    sites = [site for site in report["sites"]
             if frames_of(site) and function == plain(frames_of(site)[0]["symbol"] or "")]
    if len(sites) != 1:
        raise Failure(f"{len(sites)} sites of {function}, not 1")
    return sites[0]


def run(t, name, way, *options, env=None):
    program = t.program(name, way, env=env or {})
    memleak = t.attach(program, *DEEP, *options)
    truth = program.go()
    return truth, memleak.stop()


def check(truth, report, folder):
    """Requires one complete site, whose own frames are exactly the chain."""
    site = site_of(report, "leak_here")
    names = [name for name in own_names(site, folder) if name in own_functions()]
    if names != truth.facts["chain"]:
        raise Failure(f"the stack is {names}, not {truth.facts['chain']}")
    if site["stack_end"] != "complete":
        raise Failure(f"the stack ends {site['stack_end']}")
    return site


def check_c(t, truth, report):
    check(truth, report, t.programs)
    expect(report, truth, ignore=lambda site: "leak_here" not in str(site["stack"]))


@each("unwind", "unwind_static")
def test_each_way(t, name):
    programs = [t.program(name, way) for way in WAYS]
    for report, truth in t.traced_at_once(programs, *DEEP):
        check_c(t, truth, report)


@nightly
@each(*WAYS)
def test_c(t, way):
    check_c(t, *run(t, "unwind", way))


@nightly
@each(*WAYS)
def test_static(t, way):
    check_c(t, *run(t, "unwind_static", way))


@each("plain", "callback", "sized", "signal", "recursion", "thread", "library")
def test_signed(t, way):
    """Return addresses with a signature in their upper bits."""
    if os.uname().machine != "aarch64":
        raise Skip("only aarch64 signs return addresses")
    check_c(t, *run(t, "unwind_signed", way))


def own_places(report, folder):
    """Returns the offsets of the frames in the longest stack."""
    stacks = [[frame["module_offset"] for frame in site["stack"]
               if frame["module"] and frame["module"].startswith(os.fspath(folder))
               and not frame["inlined"]] for site in report["sites"]]
    return max(stacks, key=len)


STRIPPED = ("plain", "callback", "sized", "signal", "recursion", "tail", "library")


def test_stripped(t):
    """A program has equal frames with and without symbols."""
    programs = [t.program(name, way) for way in STRIPPED for name in ("unwind", "unwind_stripped")]
    reports = [report for report, _ in t.traced_at_once(programs, *DEEP)]
    for way, named, stripped in zip(STRIPPED, reports[::2], reports[1::2]):
        wanted(f"places of {way}", own_places(stripped, t.programs), own_places(named, t.programs))
        if any(site["stack_end"] != "complete" for site in stripped["sites"]):
            raise Failure(f"a stack of {way} is not complete")


@each("container", "cleanup", "catch", "thread", "function")
def test_cxx(t, way):
    truth, report = run(t, "unwind_cxx", way)
    chain = truth.facts["chain"]
    first = chain[0]
    sites = [site for site in report["sites"]
             if first in [plain_name(name) for name in own_names(site, t.programs)]]
    if not sites:
        raise Failure(f"no stack with {first}")
    for site in sites:
        rest = iter([plain_name(name) for name in own_names(site, t.programs)])
        if not all(name in rest for name in chain):
            raise Failure(f"the stack is {own_names(site, t.programs)}, which has not {chain}")
    cut = [site for site in report["sites"] if site["stack_end"] != "complete"]
    if cut or report["lost"]["unwind"]:
        raise Failure(f"stacks that are not complete: {cut}, {report['lost']}")


def plain_name(symbol):
    return symbol.split("(")[0].replace("(anonymous namespace)::", "")


def test_truncated(t):
    """
    200 frames do not fit into 127: the innermost are kept, and the stack is marked as truncated.
    """
    program = t.program("unwind", "recursion")
    memleak = t.attach(program)
    truth = program.go()
    site = site_of(memleak.stop(), "leak_here")
    names = [name for name in own_names(site, t.programs) if name in own_functions()]
    if site["stack_end"] != "truncated" or names != truth.facts["chain"][:127]:
        raise Failure(f"{site['stack_end']} after {len(names)}: {names}")


def test_exactly_the_depth(t):
    """A stack with exactly the maximum number of frames is complete."""
    whole = run(t, "unwind", "plain")[1]
    depth = sum(not frame["inlined"] for frame in site_of(whole, "leak_here")["stack"])
    for kept, end in ((depth, "complete"), (depth - 1, "truncated")):
        program = t.program("unwind", "plain")
        memleak = t.attach(program, "--perf-max-stack-depth", str(kept))
        program.go()
        site = site_of(memleak.stop(), "leak_here")
        if site["stack_end"] != end:
            raise Failure(f"{kept} of {depth} frames: {site['stack_end']}")


@each("plain", "callback", "large", "recursion")
def test_frame_pointers_alone(t, way):
    """
    --unwind fp with frame pointers: the program's frames, up to the C library's, which has none.
    """
    truth, report = run(t, "unwind_fp", way, "--unwind", "fp")
    names = [name for name in own_names(site_of(report, "leak_here"), t.programs)
             if name in own_functions()]
    chain = truth.facts["chain"]
    if names != chain[:len(names)] or len(names) < 3:
        raise Failure(f"the stack is {names}, not the beginning of {chain}")


def test_no_frame_pointers(t):
    """--unwind fp without frame pointers: the caller is known, and the stack is marked as cut."""
    truth, report = run(t, "unwind", "plain", "--unwind", "fp")
    site = site_of(report, "leak_here")
    if site["stack_end"] != "cut" or not report["lost"]["unwind"]:
        raise Failure(f"{site['stack_end']}, lost {report['lost']}")
    if own_names(site, t.programs) == truth.facts["chain"]:
        raise Failure("frame pointers were not asked for alone")


def test_tables_alone(t):
    truth, report = run(t, "unwind", "callback", "--unwind", "dwarf")
    check(truth, report, t.programs)


def offset_of(path, symbol):
    """Returns a function's offset in the file, from symbol table and program headers."""
    text = subprocess.run(["nm", path], capture_output=True, check=True, text=True).stdout
    addr = next(int(line.split()[0], 16) for line in text.splitlines()
                if line.split()[-1] == symbol)
    text = subprocess.run(["readelf", "-lW", path], capture_output=True, check=True,
                          text=True).stdout
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "LOAD":
            offset, start, size = (int(words[i], 16) for i in (1, 2, 4))
            if start <= addr < start + size:
                return addr - start + offset
    raise Failure(f"{symbol} is in no segment")


class ReturnProbes:
    """Return probes of another tracer on functions of a program."""

    def __init__(self, path, symbols):
        self.folder = pathlib.Path("/sys/kernel/tracing")
        if not (self.folder / "uprobe_events").exists():
            raise Skip("tracefs is not mounted, or has no uprobe events")
        self.group = f"memleak_test_{os.getpid()}"
        self.lines = [f"r:{self.group}/{symbol} {path}:{offset_of(path, symbol):#x}"
                      for symbol in symbols]

    def _write(self, name, text):
        fd = os.open(self.folder / name, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(fd, text.encode("ascii"))
        finally:
            os.close(fd)

    def __enter__(self):
        for line in self.lines:
            self._write("uprobe_events", line + "\n")
        self._write(f"events/{self.group}/enable", "1")
        return self

    def __exit__(self, *_):
        self._write(f"events/{self.group}/enable", "0")
        for line in self.lines:
            self._write("uprobe_events", "-:" + line.split()[0][2:] + "\n")


@each("plain", "callback", "thread", "library")
def test_pending_return_probes(t, way):
    """Return addresses replaced by another tracer's return probes are resolved."""
    functions = {"plain": ["leak_here", "inner", "plain"], "callback": ["compare", "callback"],
                 "thread": ["inner", "thread_main"], "library": ["inner", "library"]}[way]
    with ReturnProbes(t.file_of("unwind"), functions):
        program = t.program("unwind", way)
        memleak = t.attach(program, *DEEP)
        truth = program.go()
        report = memleak.stop()
        program.end()
    check(truth, report, t.programs)
