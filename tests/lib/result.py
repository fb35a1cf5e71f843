# SPDX-License-Identifier: GPL-2.0-or-later
"""The result of one test."""

import typing

BAD = ("FAIL", "BROKEN")
TEXT_MAX = 40000  # maximum number of characters of a result's text that are printed


class Result(typing.NamedTuple):
    outcome: str  # ok, skip, FAIL, or BROKEN: the test could not do its part
    seconds: float
    text: str = ""       # the reason of a skip, the evidence of a failure
    figures: tuple = ()  # (what, value, unit, bar)
    counts: tuple = None  # (passed, failed, skipped) of a program that has several tests
    final: bool = False  # not excused by a slow machine: a crash or a sanitizer's finding

    @property
    def failed(self):
        return self.outcome in BAD

    @property
    def totals(self):
        return self.counts or (int(self.outcome == "ok"), int(self.failed),
                               int(self.outcome == "skip"))
