#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the judge with made-up tests, and the parsers of test programs' output."""

import contextlib
import dataclasses
import io
import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from lib.case import Failure  # noqa: E402
from lib.commands import Command, UnitProgram  # noqa: E402
from lib.judge import FAILED_MAX, FLAKY_MAX, Judge  # noqa: E402
from lib.pool import BACKGROUND, PROCESSORS, phases  # noqa: E402
from lib.result import Result  # noqa: E402
from lib.schema import FRAME, check_frame  # noqa: E402


@dataclasses.dataclass
class Made:
    """A test with preset outcomes of its first and second run."""
    name: str
    first: str
    second: str = "ok"
    area = "made"
    alone: bool = False
    lane: str = None

    def again(self):
        return dataclasses.replace(self, first=self.second)

    def run(self):
        if self.first == "dies":
            os._exit(3)
        if self.first == "raises":
            raise ValueError(self.first)
        if self.first == "crash":
            return Result("FAIL", 0, "crash", final=True)
        # More text than a pipe holds must not block the run.
        return Result(self.first, 0, "\ufffd" * 100_000 if self.first == "FAIL" else "")


def ends(*tests):
    """Returns (exit code, last line, names of flaky tests)."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), Judge() as judge:
        judge.run("made", list(tests), 2)
        code = judge.end()
    lines = output.getvalue().splitlines()
    return code, lines[-1], [line[7:] for line in lines if line.startswith("flaky ")]


def wanted(what, found, right):
    if found != right:
        sys.exit(f"{what}: {found}, not {right}")


def order(tests, jobs):
    """Returns the names of the tests in each queue of each phase."""
    return [["".join(test.name for test in queue) for queue in queues]
            for queues in phases(tests, jobs)]


def counts(*argv):
    result = UnitProgram("unit.made", argv).run()
    return result.outcome, result.counts, result.final


def frame_passes(**values):
    try:
        check_frame({**dict.fromkeys(FRAME), "inlined": False, **values})
    except Failure:
        return False
    return True


def main():
    good = Made("good", "ok")
    wanted("passes", ends(good), (0, "1 passed, 0 failed, 0 skipped", []))
    wanted("fails once", ends(good, Made("b", "FAIL")),
           (0, "2 passed, 0 failed, 0 skipped", ["b"]))
    wanted("fails twice", ends(good, Made("b", "FAIL", "FAIL")),
           (1, "1 passed, 1 failed, 0 skipped", []))
    wanted("fails, then skips", ends(good, Made("b", "FAIL", "skip"))[0], 1)
    wanted("crashes once", ends(good, Made("b", "crash")), (1, "1 passed, 1 failed, 0 skipped", []))
    wanted("dies twice", ends(good, Made("b", "dies", "dies"))[0], 1)
    wanted("raises twice", ends(good, Made("b", "raises", "raises"))[0], 1)
    wanted("skips", ends(good, Made("b", "skip")), (0, "1 passed, 0 failed, 1 skipped", []))
    wanted("nothing passes", ends(Made("b", "skip"))[0], 1)
    wanted("one name twice", ends(good, good)[0], 1)
    many = [Made(f"b{number}", "FAIL") for number in range(FLAKY_MAX + 1)]
    wanted("some flaky", ends(good, *many[1:])[0], 0)
    wanted("too many flaky", ends(good, *many)[:2], (1, f"{FLAKY_MAX + 2} passed, 1 failed, 0 skipped"))
    many = [Made(f"b{number}", "FAIL") for number in range(2 * FAILED_MAX)]
    wanted("gives up", ends(good, *many)[0], 1)

    tests = [Made("a", "ok", alone=True), Made("b", "ok", lane="x"), Made("c", "ok"),
             Made("d", "ok", lane="y"), Made("e", "ok", lane="x"), Made("f", "ok")]
    wanted("order", order(tests, 2), [["cf", "cf"], ["be", "d"], ["a"]])
    background = [Made(name, "ok", lane=BACKGROUND) for name in "uvw"]
    wanted("background", order([*tests, *background], 2),
           [["cf", "cf"], ["be", "d", *["uvw"] * PROCESSORS], ["a"]])
    wanted("order of one job", order(tests, 1), [["abcdef"]])
    wanted("lanes pass", ends(*tests), (0, "6 passed, 0 failed, 0 skipped", []))

    wanted("units", counts("printf", "1..2\nok 1 - a\nok 2 - b\n"), ("ok", (2, 0, 0), False))
    wanted("a unit skips", counts("printf", "1..1\nskipped: why\nnot ok 1 # SKIP a\n"),
           ("ok", (0, 0, 1), False))
    wanted("units end early", counts("printf", "1..2\nok 1 - a\n"), ("FAIL", (1, 1, 0), False))
    wanted("no units", counts("true"), ("FAIL", (0, 1, 0), False))
    wanted("units crash", counts("sh", "-c", "echo 1..1; echo ok 1 - a; kill -SEGV $$"),
           ("FAIL", (1, 1, 0), True))
    result = Command("made", ("sh", "-c", "echo 'x.c:1: runtime error: y'; exit 1")).run()
    wanted("a sanitizer speaks", (result.outcome, result.final), ("FAIL", True))

    wanted("frames", [frame_passes(line=line) for line in (1, 1, True, 0, 0)],
           [True, True, False, False, False])


if __name__ == "__main__":
    main()
