# SPDX-License-Identifier: GPL-2.0-or-later
"""Many threads at once: sums are exact, and nothing is lost."""

from lib import expect, once, pitfall, slow, timeout


@once
@pitfall(4)
@timeout(180)
@slow
def test_eight_times_100000(t):
    program = t.program("threads")
    memleak = t.attach(program, interval="0.5")
    truth = program.go()
    expect(memleak.fresh_report(), truth)
    truth = program.go()
    expect(memleak.fresh_report(), truth)
    truth = program.go()
    expect(memleak.stop(), truth)


@once
@timeout(180)
@slow
def test_combined(t):
    program = t.program("threads", "20000")
    memleak = t.attach(program, "-C")
    program.go()
    truth = program.go()
    expect(memleak.stop(), truth)
