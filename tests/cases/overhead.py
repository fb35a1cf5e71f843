# SPDX-License-Identifier: GPL-2.0-or-later
"""
--max-overhead: estimates while the sampling step changes. A test knob sets the step, so nothing
depends on what tracing costs this machine.
"""

import os

from lib import Failure, Truth, expect
from lib.memleak import parse

from .record import offline

TICK = "0.2"
KIB = 1024
INTERVALS = [0] + [KIB << 2 * i for i in range(8)]


class Steps:
    """A memleak with --max-overhead, whose sampling step the case sets."""

    def __init__(self, t, program, *options, step=0):
        self.path = t.tmp / "step"
        self.write(step)
        self.memleak = t.attach(program, "--max-overhead", "50%", *options, interval=TICK,
                                env={"MEMLEAK_SAMPLING_STEP": str(self.path)})

    def write(self, step):
        new = self.path.with_suffix(".new")
        new.write_text(f"{step}\n", encoding="ascii")
        os.replace(new, self.path)

    def go_to(self, step):
        """Sets the step, and waits until it is in effect."""
        self.write(step)
        while self.memleak.fresh_report()["max_overhead"]["interval"] != INTERVALS[step]:
            pass


def check(report, truth):
    """The estimates are within five standard errors, and each stack is one site."""
    for what, exact in (("count", truth.count), ("bytes", truth.bytes)):
        off = abs(report["outstanding"][what] - exact)
        error = report["standard_error"][what] if report["sampling"] else 0
        if off > 5 * error:
            raise Failure(f"{report['outstanding']}: {exact} {what}, error {error}")
    if len(report["sites"]) != len(truth.sites):
        raise Failure(f"{len(report['sites'])} sites, not {len(truth.sites)}")
    lost = {kind: cnt for kind, cnt in report["lost"].items() if cnt}
    if lost:
        raise Failure(f"lost events: {lost}")


def is_exact(report):
    return not report["sampling"] or not any(report["standard_error"].values())


def expect_estimate(steps, truth):
    """A fresh report has good estimates, and not all blocks."""
    report = steps.memleak.fresh_report()
    check(report, truth)
    if is_exact(report):
        raise Failure("no block was left out")
    return report


def test_weights(t):
    """Blocks keep the weight of the step in which they were sampled, also if their stack is one."""
    program = t.program("batches", "aaaaf")
    steps = Steps(t, program)
    truth = program.go()
    report = steps.memleak.fresh_report()
    expect(report, truth)
    if report["sampling"] is not None:
        raise Failure(f"sampling {report['sampling']}, without samples")
    steps.go_to(6)
    report = steps.memleak.fresh_report()
    expect(report, truth)
    if not is_exact(report) or report["sampling"] != {"mode": "steps", "interval": INTERVALS[6]}:
        raise Failure(f"the blocks of the first step have an error: {report['standard_error']}")
    for step in (3, 0, 2):
        steps.go_to(step)
        truth = program.go()
        if expect_estimate(steps, truth)["outstanding"]["bytes"] == truth.bytes:
            raise Failure("no block was left out")
    program.go()
    expect(steps.memleak.fresh_report(), Truth())
    steps.memleak.stop()


def test_realloc(t):
    """A block that realloc() moves gets the weight of the present step, coarser or finer."""
    program = t.program("batches", "agggf")
    steps = Steps(t, program)
    program.go()
    for step in (3, 1):
        steps.go_to(step)
        expect_estimate(steps, program.go())
    steps.go_to(0)
    program.go()
    check(steps.memleak.fresh_report(), program.truth)
    program.go()
    expect(steps.memleak.fresh_report(), Truth())
    steps.memleak.stop()


def test_frees_without_samples(t):
    """Frees of blocks that were not sampled are not lost, and do not count as earlier blocks."""
    program = t.program("batches", "uaf")
    steps = Steps(t, program)
    steps.go_to(5)
    program.go()
    expect(steps.memleak.fresh_report(), Truth())
    truth = program.go()
    check(steps.memleak.fresh_report(), truth)
    program.go()
    expect(steps.memleak.fresh_report(), Truth())
    steps.memleak.stop()


def test_recording(t):
    """A recording shows the same step and the same estimates."""
    program = t.program("batches", "aa")
    path = t.tmp / "run.mlk"
    steps = Steps(t, program, "--record", path)
    program.go()
    steps.go_to(3)
    program.go()
    final = steps.memleak.stop()
    read = parse(offline(t, "report", "--json", "-T", "100000", path).splitlines()[-1])
    for key in ("outstanding", "standard_error", "sampling", "max_overhead"):
        if read[key] != final[key]:
            raise Failure(f"{key}: {read[key]}, not {final[key]}")


def test_failure(t):
    """If the coarsest step costs too much, a note says so, and tracing ends with a final report."""
    program = t.program("batches", "aa")
    steps = Steps(t, program)
    truth = program.go()
    steps.memleak.look()
    steps.write(9)
    steps.memleak.finish()
    expect(steps.memleak.reports[-1], truth)
    if steps.memleak.notes.count("tracing ends, because it costs") != 1:
        raise Failure(f"stderr is {steps.memleak.notes!r}")
