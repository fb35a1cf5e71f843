# SPDX-License-Identifier: GPL-2.0-or-later
"""Children inherit copies of their parents' blocks."""

import re
import signal

from lib import Failure, Truth, each, nightly, sample, timeout, wanted
from lib.expect import check_line, fail, owner

from .prove import KINDS, next_proof

OWN = re.compile(r"(first|second|child|grow|map|new)_alloc")
ALL = ("frees", "nothing", "same_address", "realloc", "grandchild", "exit", "gone_exec", "exec",
       "mappings", "many")


def holdings(report):
    """
    Returns {(pid, function, kind): (count, bytes, inherited count)} of the program's functions.
    """
    found = {}
    for site in report["sites"]:
        if not OWN.fullmatch(owner(site)):
            continue
        check_line(report, site)
        key = (site["pid"], owner(site), site["kind"])
        sums = found.get(key, (0, 0, 0))
        inherited = site.get("inherited", {"count": 0})["count"]
        found[key] = (sums[0] + site["count"], sums[1] + site["bytes"], sums[2] + inherited)
    return found


def check(report, truth, first=False):
    """
    A process is in one report after its end. If the report to check is not the first, an earlier
    report may have had the process.
    """
    found, lost = holdings(report), {key: n for key, n in report["lost"].items() if n}
    if lost:
        fail(report, f"lost: {lost}")
    if not truth.holds:
        raise Failure("the program says nothing of what it holds")
    ended = {key[0] for key in truth.held}
    if not first:
        ended &= {key[0] for key in found}
    right = {**truth.holds, **{key: n for key, n in truth.held.items() if key[0] in ended}}
    wrong = {key: (found.get(key), right.get(key)) for key in {*found, *right}
             if found.get(key) != right.get(key)}
    if wrong:
        fail(report, "\n".join(f"{key}: found {got}, not {sums}"
                               for key, (got, sums) in sorted(wrong.items())))
    inherited = sum(n for _, _, n in found.values())
    if report.get("inherited", {"count": 0})["count"] < inherited:
        fail(report, f"the report's sum of what is inherited is less than {inherited}")


def run(t, what, *options, pace=0, recent=None, interval="3600"):
    program = t.program("inherited", what, str(pace))
    env = {} if recent is None else {"MEMLEAK_RECENT_BUCKETS": recent}
    memleak = t.attach(program, "-f", *options, interval=interval, env=env)
    truth = program.go()
    report = memleak.stop()
    check(report, truth, first=interval == "3600")
    return report, program


def test_together(t):
    """All that test_exact does, with one memleak."""
    programs = [t.program("inherited", what, "0") for what in ALL]
    memleak = t.attach(programs, "-f")
    truth = Truth()
    for program in programs:
        own = program.go()
        truth.holds.update(own.holds)
        truth.held.update(own.held)
    check(memleak.stop(), truth, first=True)


@nightly
@each(*ALL)
def test_exact(t, what):
    """Each process has its own and its inherited blocks."""
    run(t, what)


@sample(2)
@each("frees", "same_address", "realloc", "grandchild", "exit", "many")
def test_no_recent(t, what):
    """All blocks are in the block table."""
    run(t, what, recent="0")


@sample(2)
@each("same_address", "realloc", "many")
def test_few_recent(t, what):
    """Some blocks are in the block table, some in the recent-block cache."""
    run(t, what, recent="64")


@sample(2)
@each("frees", "same_address", "grandchild", "exit", "gone_exec")
@timeout(120)
def test_many_reports(t, what):
    """After reports, data that is not needed any more is dropped, and nothing else."""
    run(t, what, pace=1300, interval="0.3")


@each("frees", "realloc", "mappings")
def test_listed(t, what):
    """-a lists no block twice."""
    run(t, what, "-a")


def test_parent_ends(t):
    """The given process ends first; after some reports its child still has all blocks."""
    program = t.program("inherited", "orphan")
    memleak = t.attach(program, "-f", interval="0.3")
    truth = program.go()
    truth.holds = {key: sums for key, sums in truth.holds.items() if key[0] != program.pid}
    program.finish()
    for _ in range(4):
        memleak.fresh_report()
    check(memleak.stop(), truth)


def test_generations(t):
    """Generations of children, of which all but the last end before they can be examined."""
    program = t.program("inherited", "generations")
    memleak = t.attach(program, "-f")
    memleak.signal(signal.SIGSTOP)
    truth = program.go()
    memleak.signal(signal.SIGCONT)
    check(memleak.stop(), truth, first=True)


@each("frees", "realloc", "grandchild")
def test_sampled(t, what):
    """Samples keep their weights, here close to one."""
    report, _ = run(t, what, "--sample-bytes", "1")
    if not report["sampling"]:
        fail(report, "nothing is sampled")


def test_full(t):
    """If frees of inherited blocks do not fit into the table, the report says so."""
    program = t.program("inherited", "same_address")
    memleak = t.attach(program, "-f", "--max-allocs", "20")
    program.go()
    if not memleak.stop()["lost"]["inherited"]:
        raise Failure("nothing is said to be lost")


def test_births(t):
    """Inherited blocks keep their age."""
    report, program = run(t, "nothing")
    ages = {}
    for site in report["sites"]:
        if OWN.fullmatch(owner(site)):
            ages.setdefault(owner(site), set()).add((site["oldest_ns"], site["newest_ns"]))
    if not ages or any(len(set_) != 1 for set_ in ages.values()):
        fail(report, f"ages {ages}")


def test_command(t):
    """Inherited blocks of a command, from its first allocation on."""
    program = t.command(t.file_of("inherited"), "grandchild", options=("-f",))
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    program.send(b"x")
    program.wait_for("holds", lambda: program.out.data.count(b"ready") == 2)
    lines = program.out.text
    program.send(b"x")
    report = program.finish()
    if report is None or not lines:
        raise Failure("no report")


def test_without_blocks(t):
    """With -C inherited blocks are unknown, so children begin with none."""
    program = t.program("inherited", "nothing")
    memleak = t.memleak("--json", "-T", "1000", "-C", "-f", "-p", str(program.pid), "3600").ready()
    program.go()
    report = memleak.stop()
    pids = {site["pid"] for site in report["sites"] if OWN.fullmatch(owner(site))}
    if pids != {program.pid}:
        fail(report, f"processes {pids} have blocks")


def test_not_followed(t):
    """Without -f children are not traced."""
    program = t.program("inherited", "frees")
    memleak = t.attach(program)
    truth = program.go()
    truth.holds = {key: sums for key, sums in truth.holds.items() if key[0] == program.pid}
    truth.held = {}
    check(memleak.stop(), truth)


def proved(report):
    """Returns holdings by proved kind."""
    found = {}
    for site in report["sites"]:
        for kind in KINDS if site["reach"] else ():
            of = site["reach"][kind]
            inherited = site.get("inherited", {"count": 0})["count"]
            if of["count"]:
                found[site["pid"], owner(site), kind] = (of["count"], of["bytes"], inherited)
    return found


def test_proved(t):
    """A block is lost in one process and held in the other."""
    program = t.program("heirs")
    memleak = t.attach(program, "-f", "--prove", "--no-default-suppressions", interval="0.2")
    truth = program.go()
    report = next_proof(memleak)
    wanted("what is proved", proved(report), truth.holds)
    wanted("processes of the proof", report["proof"]["processes"], 2)
    memleak.stop()
    program.finish()
