# SPDX-License-Identifier: GPL-2.0-or-later
"""The plain leak: the first thing that users try."""

from lib import Failure, expect, pitfall
from lib.expect import culprit


def test_small_and_big(t):
    program = t.program("leak")
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth)


@pitfall(1)
def test_nested_calls(t):
    """
    malloc maps memory for large blocks: five blocks of 1 MiB, attributed to the caller, not to
    libc.
    """
    program = t.program("leak")
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    big = [site for site in report["sites"] if culprit(site)["symbol"] == "leak_big"]
    if [(site["count"], site["bytes"], site["kind"]) for site in big] != [(5, 5 << 20, "heap")]:
        raise Failure(f"leak_big is not one site: {big}")


def test_every_phase(t):
    """Leaks, grows, frees, leaks again: each report shows the current state and the growth."""
    program = t.program("leak")
    memleak = t.attach(program, interval="0.2")
    expect(memleak.fresh_report(), program.truth)
    for _ in range(4):
        truth = program.go()
        expect(memleak.fresh_report(), truth)
    memleak.stop()


def test_stack_and_names(t):
    """Frames go from the innermost to main, with addresses that addr2line accepts."""
    program = t.program("leak")
    memleak = t.attach(program)
    program.go()
    report = memleak.stop()
    if len(report["sites"]) != 2:
        raise Failure(f"{len(report['sites'])} sites, not 2")
    for site in report["sites"]:
        frames = site["stack"]
        names = [frame["symbol"] for frame in frames]
        start = names.index("round_of_leaks")
        if names[start - 1] not in ("leak_small", "leak_big") or names[start + 1] != "main":
            raise Failure(f"the stack is {names}")
        main = frames[start + 1]
        if main["module"] != str(t.file_of("leak")) or not main["build_id"]:
            raise Failure(f"module {main['module']}, build id {main['build_id']}")
        if site["pid"] != program.pid or site["comm"] != "leak" or site["space"] != "user":
            raise Failure(f"pid {site['pid']}, comm {site['comm']}, space {site['space']}")


def test_program_goes_on(t):
    """However memleak ends, the program goes on normally."""
    program = t.program("leak")
    memleak = t.attach(program)
    program.go()
    memleak.stop()
    for _ in range(3):
        program.go()
    if program.finish() != 7:
        raise Failure(f"the program's exit code is {program.code}, not 7")


def test_second_run(t):
    """A second memleak sees only newer allocations."""
    program = t.program("leak")
    t.attach(program).stop()
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth)
    memleak = t.attach(program)
    report = memleak.stop()
    if report["outstanding"]["count"]:
        raise Failure("blocks of the time before are reported")


def test_two_at_once(t):
    """Two memleaks on one program do not affect each other."""
    program = t.program("leak")
    first, second = t.attach(program), t.attach(program)
    truth = program.go()
    expect(first.stop(), truth)
    expect(second.stop(), truth)
