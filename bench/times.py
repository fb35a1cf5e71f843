# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the durations measured by cases, each with its upper bar."""

import re
import subprocess

from lib.process import ROOT
from measure import BUILD

# Areas and cases that record figures.
CASES = ("baseline.interval_stays", "churn.new_blocks", "hostile.end_while", "listen_clients.",
         "options.fraction", "process.*allocator", "process.*another_libc", "punctual.",
         "report.intervals", "report.duration", "scale.*million_blocks",
         "target_filter.hint_is_lost", "target_filter.interrupted_while_named")
FIGURE = re.compile(r"^figure (\S+): (.*) (\S+) (\S+), bar (\S+) \S+$")


def patterns():
    """Returns CASES as arguments of tests/run, where shell patterns must match whole names."""
    return [case + "*" if "*" in case else case for case in CASES]


def times(_):
    print("Figures of cases, which decide nothing there; > is above its bar.\n")
    print(f"  {'case':44} {'what':52} {'value':>8} {'bar':>6}")
    run = subprocess.run([ROOT / "tests/run", "--memleak", BUILD / "memleak", "--programs",
                          BUILD / "tests/programs", *patterns()], text=True,
                         stdout=subprocess.PIPE, check=False)
    figures = dict.fromkeys(line for line in run.stdout.splitlines() if FIGURE.match(line))
    for case, what, value, unit, bar in (FIGURE.match(line).groups() for line in figures):
        mark = ">" if float(value) > float(bar) else " "
        print(f"{mark} {case:44} {what:52} {value:>8} {bar:>6} {unit}")
    if run.returncode:
        print(f"\ncases failed: {run.stdout.splitlines()[-1]}")
    print()
