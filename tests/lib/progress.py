# SPDX-License-Identifier: GPL-2.0-or-later
"""What is said about cases while they run: each of them, or a line for each group."""

import collections
import contextlib
import time

BAD = ("FAIL", "BROKEN")


def lines_of(case, outcome, seconds, cpu, text):
    line = f"{outcome:6} {case.name} ({seconds:.2f} s, {cpu:.2f} s of CPU)"
    if outcome in BAD:
        return [line, *("       | " + part for part in text.splitlines())]
    return [line + (f": {text}" if outcome == "skip" else "")]


class Progress:
    """With a log, each case is told there; stdout has the groups, and what has not passed."""

    def __init__(self, cases, log=None):
        self.left = collections.Counter(case.area for case in cases)
        self.outcomes = collections.defaultdict(collections.Counter)
        self.seconds = collections.Counter()
        self.times = []
        self.begin = time.monotonic()
        self.cpu = 0.0
        self.files = contextlib.ExitStack()
        self.log = log and self.files.enter_context(log.open("w", encoding="utf-8"))

    def tell(self, case, result, cpu):
        outcome, seconds, text = result
        lines = lines_of(case, outcome, seconds, cpu, text)
        self.cpu += cpu
        if self.log:
            print("\n".join(lines), file=self.log, flush=True)
        if not self.log or outcome != "ok":
            print("\n".join(lines), flush=True)
        self.times.append((seconds, case.name))
        self.outcomes[case.area][outcome] += 1
        self.seconds[case.area] += seconds
        self.left[case.area] -= 1
        if self.log and not self.left[case.area]:
            self.tell_group(case.area)

    def tell_group(self, area):
        passed, failed, skipped = self.totals(area)
        text = f"{passed} passed" + f", {failed} failed" * bool(failed)
        text += f", {skipped} skipped" * bool(skipped)
        print(f"{'FAIL' if failed else 'ok':6} group {area}: {text} ({self.seconds[area]:.0f} s)",
              flush=True)

    def totals(self, *areas):
        """(passed, failed, skipped) of these groups, or of all."""
        outcomes = sum((self.outcomes[area] for area in areas or [*self.outcomes]),
                       collections.Counter())
        return (outcomes["ok"], sum(outcomes[bad] for bad in BAD), outcomes["skip"])

    def end(self, slowest):
        """The last lines; whether something failed."""
        for seconds, name in sorted(self.times, reverse=True)[:slowest or 0]:
            print(f"slow   {name} ({seconds:.2f} s)")
        self.files.close()
        passed, failed, skipped = self.totals()
        print(f"{time.monotonic() - self.begin:.0f} s, {self.cpu:.0f} s of CPU")
        print(f"{passed} passed, {failed} failed, {skipped} skipped")
        return failed > 0
