# SPDX-License-Identifier: GPL-2.0-or-later
"""
Compares memleak with a program that makes random operations and keeps records of its memory. In
many rounds both must agree on each site to the byte. A failure names the seed: SHADOW_SEED=N
repeats it, SHADOW_SECONDS=N runs longer, SHADOW_GROUPS=A,B uses fewer kinds of operations,
SHADOW_OPERATIONS=N sets the length of rounds.
"""

import itertools
import os
import random
import re
import sys
import time
from collections import Counter

from lib import Failure, each, lane, slow, timeout
from lib.apart import Apart
from lib.libraries import library

SECONDS = float(os.environ.get("SHADOW_SECONDS", "3"))
LONG = int(SECONDS) + 90
GROUPS = ("plain", "aligned", "resized", "texts", "operators", "odd", "mapped", "cut", "moved", "brief",
          "signals", "starved", "trimmed", "deep", "bursts")
FORKS = (*GROUPS, "forked", "ended", "executed")
SITE = re.compile(r"site_\d\d")


def site_of(site):
    """Returns the innermost function of the program that has records; None if there is none."""
    return next((frame["symbol"] for frame in site["stack"]
                 if frame["symbol"] and SITE.fullmatch(frame["symbol"])), None)


def sums_of(sites, pids):
    """
    Returns {(pid, function, kind): [count, bytes, inherited count]} of these processes, or of all.
    """
    found = {}
    for site in sites:
        name = site_of(site)
        if not name or pids and site["pid"] not in pids:
            continue
        sums = found.setdefault((site["pid"], name, site["kind"]), [0, 0, 0])
        sums[0] += site["count"]
        sums[1] += site["bytes"]
        sums[2] += site.get("inherited", {"count": 0})["count"]
    return found


def differences(found, right):
    """Returns {key: (memleak's sum, the program's sum)} where they differ."""
    none = [0, 0, 0]
    return {key: (found.get(key, none), list(right.get(key, none))) for key in {*found, *right}
            if found.get(key, none) != list(right.get(key, none))}


def missed_by(wrong):
    """
    Returns the minimum number of missed calls that explains these wrong sums of a process. One
    missed mapping may be in many parts, all at its site; the mapping that it replaced still counts
    at another site: too much there, too little here.
    """
    heap = sum(max(abs(got[0] - right[0]), 1)
               for (_, _, kind), (got, right) in wrong.items() if kind == "heap")
    mapped = [got[1] > right[1] for (_, _, kind), (got, right) in wrong.items() if kind != "heap"]
    return heap + max(mapped.count(True), mapped.count(False))


class Play:
    """A run of the program with one seed, and its comparison with memleak."""

    def __init__(self, name, groups=GROUPS, threads=1, operations=3000):
        self.name = name
        self.seed = int(os.environ.get("SHADOW_SEED", random.getrandbits(48)))
        self.groups = os.environ.get("SHADOW_GROUPS", ",".join(groups))
        self.threads = threads
        self.operations = int(os.environ.get("SHADOW_OPERATIONS", operations))
        self.round = 0
        self.ended = set()

    @property
    def args(self):
        return (str(self.seed), str(self.operations), str(self.threads), self.groups)

    def __str__(self):
        return (f"SHADOW_SEED={self.seed} SHADOW_OPERATIONS={self.operations} "
                f"SHADOW_GROUPS={self.groups} {self.name}, {self.threads} threads, "
                f"round {self.round}")

    def check(self, report, truth, pids=None):
        """
        Compares a report with the truth. Ended processes are in one report, which may be an earlier
        one. Each difference must be explained by losses.
        """
        found = sums_of(report["sites"], pids)
        if not truth.holds:
            raise Failure(f"{self}: the program says nothing of what it has")
        shown = {key[0] for key in found}
        held = {} if pids else {key: n for key, n in truth.held.items() if key[0] in shown}
        right = {key: n for key, n in {**truth.holds, **held}.items() if not pids or key[0] in pids}
        if pids:
            right = {key: (n[0], n[1], 0) for key, n in right.items()}
        wrong = differences(found, right)
        lost = {key: n for key, n in report["lost"].items() if n}
        if not wrong:
            return lost
        # Children inherit what was missed for their parent, once each.
        missed = Counter()
        for pid in {pid for pid, _, _ in wrong}:
            missed[pid] = missed_by({key: n for key, n in wrong.items() if key[0] == pid})
        lines = [f"{pid} {name} {kind}: memleak says {got}, the program {sums}"
                 for (pid, name, kind), (got, sums) in sorted(wrong.items())]
        lines += [f"{site['pid']} {site['kind']} of no site: {site['count']} of {site['bytes']} bytes, "
                  f"stack {site['stack_end']}: {[frame['symbol'] for frame in site['stack']]}"
                  for site in report["sites"] if site["pid"] in missed and not site_of(site)]
        lines.append(f"{report['outstanding']} in all, {sum(site['count'] for site in report['sites'])} "
                     f"in sites; inferred {report['inferred']}")
        if max(missed.values()) > sum(lost.values()):
            raise Failure("\n".join([f"{self}: lost {lost}", *lines]))
        return lost

    def rounds(self, memleak, program, pids=None):
        deadline = time.monotonic() + SECONDS
        losses = {}
        for self.round in itertools.count():
            truth = program.go()
            report = memleak.fresh_report()
            losses.update(self.check(report, truth, pids))
            if os.environ.get("SHADOW_TELL"):
                print(f"{self}: {len(truth.holds)} sums agree, lost {losses}", file=sys.stderr,
                      flush=True)
            if time.monotonic() > deadline:
                return truth


def run(t, name, *options, program="shadow", preload=None, follow=False, **kwargs):
    play = Play(name, **kwargs)
    shadow = t.program(program, *play.args, preload=preload)
    memleak = t.attach(shadow, "--reserved", *options, *(["-f"] if follow else []), interval="0.2")
    pids = None if follow else {shadow.pid}
    truth = play.rounds(memleak, shadow, pids)
    if follow:
        memleak.stop()
        return
    shadow.close_stdin()
    shadow.wait()
    play.check(memleak.finish(), truth, pids)


@timeout(LONG)
@each("one", "threads", "forks")
def test_agrees(t, name):
    """The C library's allocator, with one thread, with several, and with untraced children."""
    run(t, name, threads=1 if name == "one" else 4, groups=FORKS if name == "forks" else GROUPS)


@timeout(LONG)
@each("jemalloc", "tcmalloc", "tcmalloc_full", "mimalloc")
@slow
def test_preloaded(t, name):
    """
    Leaves out limited memory: each of these allocators sometimes crashes if a thread starts without
    memory.
    """
    run(t, name, preload=library(name), threads=3,
        groups=tuple(group for group in GROUPS if group != "starved"))


@timeout(LONG)
@each("static", "musl")
@slow
def test_built(t, name):
    run(t, name, program="shadow_" + name, threads=int(os.environ.get("SHADOW_THREADS", 3)))


@lane("user")
@timeout(LONG)
@each("one", "threads", "static")
@slow
def test_followed(t, name):
    """With --follow, children begin with all of their parent's blocks and then differ."""
    run(t, name, program="shadow_static" if name == "static" else "shadow", follow=True, groups=FORKS,
        threads=1 if name == "one" else 3, operations=1200)


@timeout(LONG)
@slow
def test_frame_pointers(t):
    """The sums do not depend on how stacks are walked."""
    run(t, "fp", "--unwind", "fp", threads=3)


@timeout(LONG)
@slow
def test_all_processes(t):
    """All processes in a separate pid namespace."""
    apart, play = Apart(t), Play("all processes", threads=3)
    shadow = apart.start(t.program, "shadow", *play.args)
    memleak = apart.start(t.memleak, "--json", "--reserved", "-T", "100000", "-o", "0", "-A", "0.2").ready()
    play.rounds(memleak, shadow)
    memleak.stop()
