# SPDX-License-Identifier: GPL-2.0-or-later
"""Contents and times of reports: ages, growth, filters, sorting, text, events, the end."""

import os
import pathlib
import re
import signal
import time

from lib import Failure, each, expect, owner, pitfall, slow, timeout, wanted
from lib.memleak import when
from lib.slowness import LONGER

HEADER = re.compile(r"^\[\d\d:\d\d:\d\d\] Top \d+ stacks with outstanding allocations:$", re.M)
TOTAL = re.compile(r"^\t(\d+) bytes in (\d+) allocations from stack$", re.M)


def final_text(t, program, *options, phases=1):
    memleak = t.memleak("-o", "0", "--format", "bcc", *options, "-p", str(program.pid),
                        "3600").ready()
    for _ in range(phases):
        program.go()
    memleak.stop()
    return memleak.out.text


def text_for_people(t, program, *options):
    memleak = t.memleak("-o", "0", *options, "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.stop()
    return memleak.out.text


# Cases about text output.

SCREEN = r"""\d\d:\d\d:\d\d leak \(\d+\), traced for \d+ s: 5\.0 MiB in 10 blocks; all stacks are complete
[?] too early to say what grows: this needs at least 5 reports and 10 s of tracing
(RSS \d\S* [KM]iB = \d\S* KiB live in glibc's heap \+ .*
)?
5\.0 MiB in 5 blocks
  → leak_big \S*leak\.c:\d+
    round_of_leaks \S*leak\.c:\d+
    main \S*leak\.c:\d+
80 bytes in 5 blocks
  → leak_small \S*leak\.c:\d+
    round_of_leaks \S*leak\.c:\d+
    main \S*leak\.c:\d+
\toutstanding: 5\.0 MiB in 10 blocks at 2 sites \(5242960 bytes\)
"""


def test_screen(t):
    """The screen has process and totals, then each stack down to main, with the culprit marked."""
    text = text_for_people(t, t.program("leak"))
    if not re.fullmatch(SCREEN, text):
        raise Failure(text)


def test_all_frames(t):
    """Callers of main are shown only with the option for all frames."""
    brief = text_for_people(t, t.program("leak"))
    whole = text_for_people(t, t.program("leak"), "--all-frames")
    if "__libc_start" in brief or whole.count("__libc_start_main") < 2:
        raise Failure(brief + whole)


@each("file", "always", "never", "terminal", "no_color")
def test_colour(t, case):
    """Colours on a terminal, unless switched off."""
    theirs, ours = os.openpty()
    options = {"always": ("--color", "always"), "never": ("--color", "never")}.get(case, ())
    stdout = {"stdout": ours} if case not in ("file", "always") else {}
    program = t.program("leak")
    memleak = t.memleak("-o", "0", *options, "-p", str(program.pid), "3600",
                        env={"NO_COLOR": "1" if case == "no_color" else ""}, **stdout).ready()
    program.go()
    memleak.stop()
    data = os.read(theirs, 65536) if stdout else memleak.out.data
    os.close(ours)
    os.close(theirs)
    if b"5.0 MiB" not in data or (b"\x1b[1m" in data) != (case in ("always", "terminal")):
        raise Failure(data)


def test_text_form(t):
    """bcc's format: header and lines, innermost frame first, with file, line and module."""
    text = final_text(t, t.program("leak"))
    if len(HEADER.findall(text)) != 1:
        raise Failure(f"header: {text!r}")
    if TOTAL.findall(text) != [("5242880", "5"), ("80", "5")]:
        raise Failure(f"totals {TOTAL.findall(text)} in {text!r}")
    frame = re.compile(r"^\t\tleak_small\+0x[0-9a-f]+ (\S*/)?leak\.c:\d+ \[leak\]\n"
                       r"\t\tround_of_leaks\+0x[0-9a-f]+ (\S*/)?leak\.c:\d+ \[leak\]\n"
                       r"\t\tmain\+0x[0-9a-f]+ (\S*/)?leak\.c:\d+ \[leak\]$", re.M)
    if not frame.search(text):
        raise Failure(f"frames: {text!r}")


def test_text_first_frame_is_caller(t):
    """Frames of the allocator are never the first of a stack."""
    text = final_text(t, t.program("functions", "all"))
    firsts = re.findall(r"allocations from stack\n\t\t(\S+)", text)
    if len(firsts) < 10 or not all(re.match(r"(leak_|make_|marker)", name) for name in firsts):
        raise Failure(f"first frames {firsts}")


def test_text_every_interval(t):
    """There is a report at each interval even if it is empty, and a final one."""
    program = t.program("leak")
    memleak = t.memleak("--format", "bcc", "-p", str(program.pid), "0.2", "3")
    memleak.finish()
    if len(HEADER.findall(memleak.out.text)) != 3:
        raise Failure(f"{memleak.out.text!r}")


def test_text_inlined(t):
    """An inlined function has a separate frame with a mark."""
    text = final_text(t, t.program("cxx", "inline"))
    found = re.search(r"^\t\t(inlined_alloc.*)\n\t\t(around_inlined.*)$", text, re.M)
    if not found or "inlined" not in found.group(1).replace("inlined_alloc", ""):
        raise Failure(f"{text!r}")


def test_text_says_what_was_lost(t):
    program = t.program("many", "500", "10")
    text = final_text(t, program, "--max-allocs", "100")
    if "--max-allocs" not in text or not re.search(r"\b400\b", text):
        raise Failure(f"{text!r}")


def test_text_marks_estimates(t):
    program = t.program("many", "5000", "10")
    text = final_text(t, program, "-s", "5")
    if "estimate" not in text.lower():
        raise Failure(f"{text!r}")


def test_text_kinds(t):
    """Terabytes of reserved address space are not shown as memory."""
    text = final_text(t, t.program("mappings", "reserve"))
    if "reserve" not in re.sub(r"\t\treserve\+.*", "", text).lower():
        raise Failure(f"{text!r}")


def test_text_show_allocs(t):
    program = t.program("leak")
    text = final_text(t, program, "-a")
    for address, size in program.truth.blocks.items():
        if not re.search(rf"\b0?x?{address:x}\b.*\b{size}\b", text):
            raise Failure(f"block {address:#x} of {size} bytes is not in {text!r}")


# Cases about ages of blocks.

def test_older(t):
    """-o 500, the default: no block before its time, all of them after it."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.1").ready()
    memleak.report_number(0)
    earliest = time.time()
    truth = program.go()
    latest = time.time()
    memleak.wait_for("reports of a second", lambda: memleak.take() and
                     when(memleak.reports[-1]) > latest + 1.0)
    memleak.stop()
    early = [r for r in memleak.reports if when(r) + r["walk_ns"] / 1e9 < earliest + 0.48]
    late = [r for r in memleak.reports if when(r) > latest + 0.52]
    if not late:
        raise Failure("no report came later than half a second")
    for report in memleak.reports:
        if any(site["newest_ns"] < 500e6 for site in report["sites"]):
            raise Failure("an age below 500 ms is shown")
    # On a slow machine there may be no early report that leaves blocks out.
    for report in early:
        if report["outstanding"]["count"]:
            raise Failure(f"reported before its time: {report['outstanding']}")
    for report in late:
        expect(report, truth)


def test_older_than_all(t):
    program = t.program("leak")
    memleak = t.attach(program, "-o", "60000")
    program.go()
    report = memleak.stop()
    if report["sites"] or report["outstanding"] != {"bytes": 0, "count": 0}:
        raise Failure(f"{report['outstanding']}")


def timed_go(program):
    """Runs the program's next phase; returns its truth and (begin, end) in seconds since 1970."""
    begin = time.time()
    truth = program.go()
    return truth, (begin, time.time())


CLOCKS = 0.1  # maximum difference between two clocks, in seconds


def check_age(age_ns, report, moments, what):
    """Requires that a block was born between two moments."""
    least, most = (when(report) - moment for moment in reversed(moments))
    if not least - CLOCKS <= age_ns / 1e9 <= most + CLOCKS:
        raise Failure(f"{what} is {age_ns} ns old, not between {least} and {most} s")


def test_ages(t):
    """A site has the ages of its oldest and newest block, at the time of the report."""
    program = t.program("leak")
    memleak = t.attach(program, interval="0.2")
    _, first = timed_go(program)
    memleak.fresh_report()
    memleak.fresh_report()
    _, second = timed_go(program)
    report = memleak.fresh_report()
    memleak.stop()
    for site in report["sites"]:
        check_age(site["oldest_ns"], report, first, "the oldest block")
        check_age(site["newest_ns"], report, second, "the newest block")


@each("mappings", "edges")
def test_birth(t, name):
    """mremap keeps a mapping's birth; a reallocated block is born at the realloc."""
    program = t.program(name, "move_later" if name == "mappings" else "realloc_later")
    memleak = t.attach(program, interval="0.2")
    truth, first = timed_go(program)
    for _ in range(3):
        expect(memleak.fresh_report(), truth)
    truth, second = timed_go(program)
    report = memleak.fresh_report()
    memleak.stop()
    expect(report, truth)
    ages = {owner(site): site["oldest_ns"] for site in report["sites"]}
    if name == "mappings":
        check_age(ages["new_map"], report, first, "the mapping")
    else:
        check_age(ages["realloc_later"], report, second, "the block")


def test_ages_of_combined(t):
    """-C has no ages: null, not 0."""
    program = t.program("leak")
    memleak = t.attach(program, "-C")
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    if any(site["oldest_ns"] is not None for site in report["sites"]):
        raise Failure("an age with -C")


# Cases about growth.

def test_growth(t):
    """Growth is relative to the previous report; check_sequence compares each pair."""
    program = t.program("leak")
    memleak = t.attach(program)
    for reports in (2, 2, 1, 1):
        program.go()
        for _ in range(reports):
            memleak.ask()
    memleak.stop()
    seen = [(site["count"], site["growth"]["count"], site["growth"]["bytes"])
            for report in memleak.reports for site in report["sites"]
            if owner(site) == "leak_small"]
    wanted("count and growth", seen,
           [(5, 5, 80), (5, 0, 0), (10, 5, 80), (10, 0, 0), (1, 1, 16), (1, 0, 0)])


def test_site_ids_stay(t):
    program = t.program("leak")
    memleak = t.attach(program)
    program.go()
    first = memleak.ask()
    program.go()
    second = memleak.ask()
    memleak.stop()
    ids = [{site["id"] for site in report["sites"]} for report in (first, second)]
    if ids[0] != ids[1] or len(ids[0]) != 2:
        raise Failure(f"ids {ids}")


# Cases about the times of reports.

def test_count(t):
    program = t.program("leak")
    memleak = t.attach(program, interval="0.1")
    memleak.stop()
    memleak = t.memleak("--json", "-p", str(program.pid), "0.1", "4")
    memleak.finish()
    if len(memleak.reports) != 4:
        raise Failure(f"{len(memleak.reports)} reports, not 4")


def test_intervals(t):
    """Reports come at the requested interval, without drift."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.25", "8")
    memleak.finish()
    late = [report["elapsed_ns"] / 1e9 - 0.25 * number
            for number, report in enumerate(memleak.reports, 1)]
    if min(late) <= -0.001:
        raise Failure(f"reports are early: {late} s late")
    t.figure("lateness of a report", max(late), "s", 0.2)


@each(("between", 2, 0.75, 3), ("at_one", 2, 1, 2), ("before", 1, 3600, 1))
def test_duration(t, what):
    """-d: the final report at this time, and only one, even if an interval also ends there."""
    _, duration, interval, reports = what
    for factor in LONGER:
        program = t.program("leak")
        memleak = t.memleak("--json", "-p", str(program.pid), "-o", "0", "-d",
                            str(duration * factor), str(interval * factor)).ready()
        truth = program.go()
        in_time = memleak.code is None
        late = memleak.finish()["elapsed_ns"] / 1e9 - duration * factor
        if late <= -0.001 or len(memleak.reports) > reports:
            raise Failure(f"{len(memleak.reports)} reports, the last one {late} s late")
        if in_time and len(memleak.reports) == reports:
            break
    else:
        raise Failure(f"never {reports} reports")
    expect(memleak.reports[-1], truth)
    t.figure("lateness of the end", late, "s", 0.2)


def test_interrupted_twice(t):
    """A second Ctrl-C does no harm."""
    program = t.program("leak")
    memleak = t.attach(program)
    truth = program.go()
    memleak.signal(signal.SIGINT)
    memleak.signal(signal.SIGINT)
    memleak.wait()
    memleak.take()
    memleak.aftermath()
    if memleak.code == 0:
        expect(memleak.reports[-1], truth)
    elif memleak.code != -signal.SIGINT:
        raise Failure(f"exit code {memleak.code}")


def test_interrupt_is_not_ignored(t):
    """SIGINT, which a shell ignores for commands with &, still ends memleak."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), "3600",
                        wrapper=("env", "--ignore-signal=INT")).ready()
    status = pathlib.Path(f"/proc/{memleak.pid}/status").read_text("ascii")
    ignored = int(re.search(r"^SigIgn:\s*(\w+)", status, re.M).group(1), 16)
    wanted("ignored", bool(ignored >> (signal.SIGINT - 1) & 1), False)
    memleak.stop()


def test_ends_at_a_moment(t):
    """If a process ends between two reports, there is still a final report."""
    program = t.program("leak")
    memleak = t.attach(program)
    program.go()
    memleak.signal(signal.SIGSTOP)
    time.sleep(1.5)  # the first sample is due after one second
    program.end()
    memleak.signal(signal.SIGCONT)
    memleak.finish()


@slow
def test_interrupted_while_attaching(t):
    program = t.program("leak")
    for delay in (0.005, 0.02, 0.05, 0.1):
        memleak = t.memleak("--json", "-p", str(program.pid), "3600")
        memleak.pump(delay)
        memleak.signal(signal.SIGINT)
        memleak.wait()
        memleak.take()
        memleak.aftermath()
        if memleak.code not in (0, 1, -signal.SIGINT):
            raise Failure(f"exit code {memleak.code}")


@pitfall(20)
def test_says_that_nothing_was_seen(t):
    """An interval without calls is noted once on stderr, with possible reasons."""
    program = t.program("leak")
    memleak = t.attach(program, interval="0.2")
    before = memleak.notes
    memleak.report_number(3)
    after = memleak.notes
    memleak.stop()
    lines = after[len(before):].splitlines()
    if len(lines) != 1 or not lines[0].startswith("memleak: "):
        raise Failure(f"said: {lines}")


@pitfall(20)
@slow
def test_says_nothing_needless(t):
    """While calls are seen, stderr has nothing after the `tracing` line."""
    program = t.program("churn")
    program.go()
    program.send()
    memleak = t.attach(program, interval="0.2")
    memleak.report_number(3)
    notes = memleak.notes
    memleak.stop()
    if len(notes.splitlines()) != 1:
        raise Failure(f"said: {notes!r}")


@pitfall(37)
def test_error_exitcode(t):
    """--error-exitcode with -p: N if anything is outstanding in the last report, else 0."""
    program = t.program("leak")
    memleak = t.attach(program, "--error-exitcode", "42")
    program.go()
    memleak.stop(code=42)
    memleak = t.attach(program, "--error-exitcode", "42")
    memleak.stop(code=0)


@slow
@timeout(120)
def test_child_is_not_traced(t):
    """An all-clear mentions child processes that are not traced."""
    parent = t.process(["/bin/sh", "-c", "exec 3<&0; cat <&3 & wait"])
    memleak = t.memleak("-p", str(parent.pid), "2.5", "6").ready()
    memleak.finish()
    if ": nothing is outstanding; 1 child process is not traced (-f); " not in memleak.out.text:
        raise Failure(f"the child process is not mentioned: {memleak.out.text}")
