# SPDX-License-Identifier: GPL-2.0-or-later
"""--fds: where open descriptors were opened, and what is open besides."""

import re

from lib import AFTER_EXEC, Failure, each, slow, timeout, wanted
from lib.expect import check_lost, source_lines, find_source
from lib.program import Truth


def blamed(site):
    return site["stack"][site["culprit"]]


def check_sites(report, truth, may_lose=()):
    """Each function with the exact number of its descriptors, at a line that opens one."""
    sums = {}
    for site in report["sites"]:
        frame = blamed(site)
        count, size = sums.get((frame["symbol"], site["kind"]), (0, 0))
        sums[frame["symbol"], site["kind"]] = (count + site["count"], size + site["bytes"])
        if "LEAK" not in source_lines(find_source(frame["file"]))[frame["line"] - 1]:
            raise Failure(f"{frame['file']}:{frame['line']} opens nothing")
    wanted("descriptors", sums, truth.sites)
    check_lost(report, may_lose)


@each("open", "close")
def test_exact(t, part):
    """Each way to open descriptors, and each way to close them."""
    program = t.program("fds", part)
    older = int(program.truth.facts["older"][0])
    memleak = t.attach(program, "--fds")
    truth = program.go()
    report = memleak.stop()
    check_sites(report, truth)
    wanted("older", report["descriptors"],
           {"older": older - (part == "close"), "missed": 0, "closed_unseen": 0, "unread": 0})
    wanted("numbers of descriptors closed unseen", report["inferred"]["replaced"], 0)


def test_unseen(t):
    """Descriptors that memleak does not trace are found in /proc, and counted."""
    program = t.program("fds", "unseen")
    older = int(program.truth.facts["older"][0])
    memleak = t.attach(program, "--fds")
    facts = program.go().facts
    report = memleak.stop()
    wanted("descriptors", report["descriptors"],
           {"older": older, "missed": int(facts["missed"][0]),
            "closed_unseen": int(facts["closed_unseen"][0]), "unread": 0})
    wanted("outstanding", report["outstanding"], {"bytes": 1, "count": 1})


def test_exec(t):
    """After exec, the inherited descriptors count as older, and the new program has its own."""
    program = t.program("fds", "exec")
    memleak = t.attach(program, "--fds")
    truth = program.go()
    report = memleak.stop()
    check_sites(report, truth, may_lose=AFTER_EXEC)
    wanted("descriptors", report["descriptors"],
           {"older": int(truth.facts["older"][0]), "missed": 0, "closed_unseen": 0, "unread": 0})


@each("follow", "alone")
def test_fork(t, how):
    """A child has its own descriptor table, which is traced if children are traced."""
    program = t.program("fds", "fork")
    memleak = t.attach(program, "--fds", *("-f",) * (how == "follow"))
    truth = program.go()
    report = memleak.stop()
    held = {}
    for site in report["sites"]:
        held[site["pid"]] = held.get(site["pid"], 0) + site["count"]
    children = {pid: count for pid, (count, _) in truth.children.items()}
    wanted("descriptors", held,
           {program.pid: 1, **(children if how == "follow" else {})})


@each("alone", "follow")
def test_command(t, how):
    """Reports the descriptors that the last executed program has open at its end."""
    memleak = t.command(t.file_of("fds"), "exec_at_once", options=("--fds", *("-f",) * (how == "follow")))
    report = memleak.finish()
    truth = Truth.of(memleak.out.text.replace("ready\n", ""))
    check_sites(report, truth, may_lose=AFTER_EXEC)


@slow
@timeout(120)
@each("grow", "turn")
def test_verdict(t, what):
    """A function that keeps descriptors is named with its rate; a server that closes is not."""
    program = t.program("fds", what)
    memleak = t.memleak("--fds", "-p", str(program.pid), "1", "14").ready()
    program.send()
    memleak.finish()
    last = re.split(r"traced for \d+ s: ", memleak.out.text)[-1]
    grows = re.search(r"^▲ a leak is likely: keep_file programs/fds\.c:\d+.* grows by [\d.]+ "
                      r"descriptors/s", last, re.M)
    clear = "no descriptor seems to leak" in last
    if (grows is not None, clear) != ((True, False) if what == "grow" else (False, True)):
        raise Failure(f"the last report is {last}")
