# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaves out earlier blocks: --warmup and SIGUSR2; also reports on request by SIGUSR1."""

import re
import signal

from lib import Broken, Failure, each, expect, sum_of
from lib.process import PATIENCE
from lib.slowness import LONGER

SECOND = 1000000000
TICK_NS = 10_000_000  # longest tick of the clock by which an agent times blocks


def require(holds, report, text):
    if not holds:
        raise Failure(f"{text}: {report!r}")


def wait_for_baseline(memleak):
    memleak.wait_for("the line about the baseline", lambda: "memleak: baseline" in memleak.notes)


def set_baseline(memleak):
    memleak.signal(signal.SIGUSR2)
    wait_for_baseline(memleak)


def sums(report, function):
    return sum_of(report).get((function, "heap"), (0, 0))


def test_signal(t):
    """
    After SIGUSR2 only newer blocks are shown; growth is relative to the baseline; freed blocks
    vanish.
    """
    program = t.program("leak")
    memleak = t.attach(program)
    program.go()
    report = memleak.ask()
    require(report["baseline_ns"] is None and not report["final"], report, "before the baseline")
    require(sums(report, "leak_small") == (5, 80), report, "first round")
    set_baseline(memleak)
    report = memleak.ask()
    require(report["sites"] == [] and report["outstanding"] == {"bytes": 0, "count": 0}
            and report["sites_total"] == 0, report, "something is older than the baseline")
    require(0 < report["baseline_ns"] < report["elapsed_ns"], report, "baseline")
    program.go()
    report = memleak.ask()
    require(sums(report, "leak_small") == (5, 80), report, "second round")
    require(sums(report, "leak_big") == (5, 5242880), report, "second round")
    for site in report["sites"]:
        require(site["growth"] == {"bytes": site["bytes"], "count": 5}, report, "growth")
        require(site["oldest_ns"] <= report["elapsed_ns"] - report["baseline_ns"], report, "age")
    program.go()
    require(memleak.ask()["sites"] == [], report, "what was freed")
    truth = program.go()
    expect(memleak.stop(), truth)


@each("mappings", "blocks")
def test_kinds(t, what):
    """Old mappings are left out like blocks, also after they have been moved."""
    if what == "blocks":
        program = t.program("many", "50", "10")
    else:
        program = t.program("mappings", "move")
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.ask(), truth)
    set_baseline(memleak)
    report = memleak.stop()
    require(report["final"] and report["sites"] == [], report, "not left out")


def test_both_spaces(t):
    """With -K, old kernel memory is left out as well."""
    program = t.program("kernel", "messages:100")
    memleak = t.attach(program, "-K")
    program.go()
    held = memleak.ask()
    require(any(site["space"] == "kernel" and site["count"] >= 100 for site in held["sites"]),
            held, "nothing of the kernel")
    set_baseline(memleak)
    report = memleak.stop()
    require(not any(site["count"] >= 100 for site in report["sites"]), report, "not left out")


def test_groups(t):
    """Groups sum up only the blocks after the baseline."""
    program = t.program("leak")
    memleak = t.attach(program, "--by", "module")
    program.go()
    set_baseline(memleak)
    program.go()
    report = memleak.stop()
    require([group["bytes"] for group in report["groups"]] == [5 * 16 + 5242880], report, "sums")
    require(report["groups"][0]["growth"]["count"] == 10, report, "growth")


def test_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "3600").ready()
    program.go()
    set_baseline(memleak)
    memleak.stop()
    text = memleak.out.text
    if not re.search(r"^\tbaseline: what was allocated in the first \d+\.\d s of tracing is left "
                     r"out$", text, re.M) or " blocks\n" in text:
        raise Failure(f"{text!r}")


@each("-C", "--count")
def test_no_ages(t, option):
    """Without ages, a line says that baselines do not work, and nothing is left out."""
    program = t.program("leak")
    memleak = t.memleak("--json", option, "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.signal(signal.SIGUSR2)
    memleak.wait_for("a word", lambda: "the baseline is not changed" in memleak.notes)
    if option == "-C":
        report = memleak.stop()
        require(sums(report, "leak_small") == (5, 80), report, "left out")
        require(report["baseline_ns"] is None, report, "baseline")
    else:
        memleak.signal(signal.SIGINT)
        memleak.finish(final=False)
        require(memleak.counts[-1]["calls"] >= 10, memleak.counts, "not counted")


def test_interval_stays(t):
    """Reports on request, made all the time, do not count towards COUNT or restart the interval."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.5", "2").ready()
    while memleak.code is None:
        number = len(memleak.take())
        memleak.signal(signal.SIGUSR1)
        memleak.wait_for("a report", lambda: len(memleak.take()) > number or  # noqa: B023
                         memleak.code is not None)
        last = memleak.reports[-1]
        require(last["elapsed_ns"] < PATIENCE * SECOND, last, "no interval ends")
    last = memleak.finish()
    if len(memleak.reports) < 3:
        raise Failure(f"{len(memleak.reports)} reports")
    require(last["elapsed_ns"] >= SECOND, last, "the last one is early")


def holds_back(pid, number):
    """True if the process blocks this signal."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            mask = int(re.search(r"^SigBlk:\s*(\w+)", file.read(), re.M).group(1), 16)
    except OSError:
        return False
    return mask >> (number - 1) & 1


def test_before_ready(t):
    """Signals that arrive before tracing has begun are handled afterwards."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600")
    memleak.wait_for("SIGUSR1 being blocked", lambda: holds_back(memleak.pid, signal.SIGUSR1),
                     every=0.0005)
    if "memleak: tracing" in memleak.notes:
        raise Broken("too late")
    memleak.signal(signal.SIGUSR1)
    memleak.signal(signal.SIGUSR2)
    memleak.ready()
    report = memleak.report_number(0)
    require(report["baseline_ns"] is None, report, "the first signal comes first")
    wait_for_baseline(memleak)
    program.go()
    report = memleak.stop()
    require(report["baseline_ns"] is not None and sums(report, "leak_small") == (5, 80), report,
            "what came after the baseline")


@each("USR1", "USR2")
def test_command_has_its_signals(t, name):
    """The command does not inherit the signals that memleak blocks."""
    memleak = t.command("sh", "-c", f"kill -{name} $$; exit 3")
    memleak.finish(128 + getattr(signal, "SIG" + name))


def attach_early(t):
    """
    Returns (memleak, program, end of the warm-up in nanoseconds). Before that, the program has
    allocated blocks, and a report has come during the warm-up.
    """
    for seconds in LONGER:
        program = t.program("leak")
        memleak = t.attach(program, "--warmup", str(seconds))
        program.go()
        report = memleak.ask()
        if report["elapsed_ns"] < seconds * SECOND:
            require(report["sites"] == [] and report["baseline_ns"] == seconds * SECOND, report,
                    "early")
            return memleak, program, seconds * SECOND
        memleak.stop()
    raise Broken("this machine is too slow to be early")


def test_warmup(t):
    """--warmup leaves out blocks of the first seconds, in totals and growth as well."""
    memleak, program, end_ns = attach_early(t)
    while memleak.ask()["elapsed_ns"] <= end_ns + TICK_NS:
        pass
    program.go()
    report = memleak.stop()
    require(sums(report, "leak_small") == (5, 80), report, "late")
    require(report["outstanding"] == {"bytes": 5242960, "count": 10}, report, "late")


def test_warmup_and_signal(t):
    """A baseline during the warm-up does not shorten the warm-up."""
    program = t.program("leak")
    memleak = t.attach(program, "--warmup", "3000")
    program.go()
    set_baseline(memleak)
    if "the warm-up continues" not in memleak.notes:
        raise Failure(memleak.notes)
    report = memleak.stop()
    require(report["sites"] == [] and report["baseline_ns"] == 3000 * SECOND, report, "early")
