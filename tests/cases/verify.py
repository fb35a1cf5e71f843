# SPDX-License-Identifier: GPL-2.0-or-later
"""MEMLEAK_VERIFY_UNWIND: libdwfl walks stacks again and finds equal frames."""

import re

from lib import Failure, each, nightly

from .unwind import DEEP, ReturnProbes

LINE = re.compile(r"^memleak: unwinding verified: (\d+) stacks, (\d+) frames compared, "
                  r"(\d+) differ; (\d+) stacks that libdwfl finished and memleak did not; "
                  r"(\d+) that memleak finished and libdwfl did not(.*)$", re.M)
FIELDS = ("stacks", "frames", "differ", "only_libdwfl", "only_memleak")


def compare(stack_cnt):
    """Makes memleak compare this number of stacks."""
    return {"MEMLEAK_VERIFY_UNWIND": str(stack_cnt)}


def verdict(memleak):
    """
    Returns the numbers of the result line, which must be printed once, and the rest of the line.
    """
    found = LINE.findall(memleak.notes)
    if len(found) != 1:
        raise Failure(f"{len(found)} lines of agreement, not 1, in {memleak.notes}")
    return dict(zip(FIELDS, map(int, found[0])), rest=found[0][-1])


def run(t, name, way, *options):
    program = t.program(name, way)
    memleak = t.attach(program, *DEEP, *options, env=compare(1000))
    truth = program.go()
    memleak.stop()
    return truth, memleak


def check_agreement(memleak, frames):
    """Requires that all stacks are equal, and one has at least this number of frames."""
    found = verdict(memleak)
    wrong = {key: found[key] for key in ("differ", "only_libdwfl", "only_memleak", "rest")
             if found[key]}
    if wrong:
        raise Failure(f"no agreement: {found}: {memleak.notes}")
    if not found["stacks"] or found["frames"] < frames:
        raise Failure(f"too little compared: {found}, {frames} frames at least")


C = ("plain", "callback", "sized", "large", "signal", "other_stack", "fault", "recursion", "tail",
     "thread", "library")
STATIC = ("plain", "callback", "signal", "other_stack", "recursion", "thread", "library")
CXX = ("container", "cleanup", "catch", "thread", "function")


@each(("unwind", C), ("unwind_static", STATIC), ("unwind_cxx", CXX))
def test_agreements(t, value):
    """All that one of the next three cases does, with one memleak."""
    name, ways = value
    programs = [t.program(name, way) for way in ways]
    memleak = t.attach(programs, *DEEP, env=compare(1000 * len(ways)))
    frames = sum(len(program.go().facts["chain"]) for program in programs)
    memleak.stop()
    check_agreement(memleak, frames)


@nightly
@each(*C)
def test_agreement(t, way):
    truth, memleak = run(t, "unwind", way)
    check_agreement(memleak, len(truth.facts["chain"]))


@nightly
@each(*STATIC)
def test_agreement_static(t, way):
    truth, memleak = run(t, "unwind_static", way)
    check_agreement(memleak, len(truth.facts["chain"]))


@nightly
@each(*CXX)
def test_agreement_cxx(t, way):
    truth, memleak = run(t, "unwind_cxx", way)
    check_agreement(memleak, len(truth.facts["chain"]))


def test_made_stack(t):
    """The outer end of a coroutine's stack has no caller: libdwfl stops there, too."""
    truth, memleak = run(t, "unwind", "context", "-v")
    found = verdict(memleak)
    if found["differ"] or found["only_libdwfl"] or found["only_memleak"] != 1:
        raise Failure(f"{found}")
    if found["frames"] < len(truth.facts["chain"]) - 1:
        raise Failure(f"too few frames: {found}")
    if not re.search(r"^memleak: unwinding was finished by memleak alone after \S+: 1 stacks; ",
                     memleak.notes, re.M):
        raise Failure(f"-v does not say where: {memleak.notes}")


def test_disagreement(t):
    """--unwind fp without frame pointers: libdwfl finds more frames, and memleak says where."""
    _, memleak = run(t, "unwind", "plain", "--unwind", "fp", "-v")
    found = verdict(memleak)
    if not found["only_libdwfl"] + found["differ"]:
        raise Failure(f"a stack that was cut agrees: {found}")
    place = re.search(r"^memleak: unwinding (differs|was finished by libdwfl alone) after "
                      r"\S*/unwind: \d+ stacks; in the first one, after \S*/unwind\+0x",
                      memleak.notes, re.M)
    if not place:
        raise Failure(f"-v does not say where: {memleak.notes}")


@each("plain", "callback", "thread", "library")
def test_pending_return_probes(t, way):
    """Return addresses replaced by return probes do not count as differences."""
    functions = {"plain": ["leak_here", "inner", "plain"], "callback": ["compare", "callback"],
                 "thread": ["inner", "thread_main"], "library": ["inner", "library"]}[way]
    with ReturnProbes(t.file_of("unwind"), functions):
        program = t.program("unwind", way)
        memleak = t.attach(program, *DEEP, env=compare(1000))
        truth = program.go()
        memleak.stop()
        program.end()
    check_agreement(memleak, len(truth.facts["chain"]))


def test_so_many(t):
    """No more stacks are compared than requested."""
    program = t.program("many", "20000", "16")
    memleak = t.attach(program, env=compare(100))
    program.go()
    memleak.stop()
    found = verdict(memleak)
    if found["stacks"] != 100 or found["differ"] or found["only_libdwfl"]:
        raise Failure(f"{found}")


def test_not_asked_for(t):
    program = t.program("unwind", "plain")
    memleak = t.attach(program)
    program.go()
    memleak.stop()
    if "verified" in memleak.notes:
        raise Failure(f"nobody asked for it: {memleak.notes}")
