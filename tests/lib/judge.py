# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests, prints how each ended, and judges: what failed runs once more, alone, at the end."""

import collections
import contextlib
import time

from .pool import run_all
from .result import Result

FAILED_MAX = 30  # after this many failures the rest is not run, and nothing is run again
FLAKY_MAX = 5    # more tests that pass only when they run again are a failure themselves


def lines_of(word, test, result, cpu):
    """A result's lines: the first has the word, the rest are the text, and figures."""
    line = f"{word:6} {test.name} ({result.seconds:.2f} s, {cpu:.2f} s of CPU)"
    if result.outcome == "skip":
        return [f"{line}: {result.text}"]
    lines = [line, *("       | " + part for part in result.text.splitlines())]
    lines += (f"figure {test.name}: {what} {value:.2f} {unit}, bar {bar:g} {unit}"
              for what, value, unit, bar in result.figures)
    return lines


def plural(count, noun):
    return f"{count} {noun}" + "s" * (count != 1)


class Judge:
    """
    With a folder for logs, each test has a line there, in a file for each round, and stdout has a
    line for each group and all that has not passed; else stdout has a line for each test.
    """

    def __init__(self, logs=None):
        self.logs = logs
        self.log = None
        self.results = {}  # test name → its last result
        self.failed = []   # tests that are to run again
        self.flaky = []    # names
        self.not_run = 0
        self.times = []
        self.cpu = 0.0
        self.begin = time.monotonic()
        self.kept = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kept.close()

    def keep(self, resource):
        """Enters a context that tests need, for as long as something may run again."""
        return self.kept.enter_context(resource)

    def skip(self, name, count, reason):
        """Counts tests that cannot run here; one line says why."""
        print(f"skip   {name}: {reason} ({plural(count, 'test')})", flush=True)
        self.results[name] = Result("skip", 0.0, reason, counts=(0, 0, count))

    def _print(self, lines, on_stdout):
        if self.log:
            print("\n".join(lines), file=self.log, flush=True)
        if on_stdout or not self.log:
            print("\n".join(lines), flush=True)

    def _open(self, name):
        """Begins the log of a round."""
        self._close()
        if self.logs:
            self.log = (self.logs / f"{name}.log").open("w", encoding="utf-8")

    def _close(self):
        if self.log:
            self.log.close()
            self.log = None

    def _take(self, test, result, cpu, word):
        self.cpu += cpu
        self.times.append((result.seconds, test.name))
        self.results[test.name] = result
        self._print(lines_of(word, test, result, cpu), result.outcome != "ok")

    @property
    def gives_up(self):
        return len(self.failed) > FAILED_MAX

    def run(self, name, tests, jobs):
        """Runs a round of tests; each group's line is printed when its last test has ended."""
        self._open(name)
        left = collections.Counter(test.area for test in tests)
        ended = collections.defaultdict(list)
        results = run_all(tests, jobs)
        for test, result, cpu in results if not self.gives_up else ():
            self._take(test, result, cpu, "again" if result.failed else result.outcome)
            if result.failed:
                self.failed.append(test)
            ended[test.area].append(result)
            if self.log and len(ended[test.area]) == left[test.area]:
                self._print_group(test.area, ended[test.area])
            if self.gives_up:
                break
        results.close()
        self.not_run += len(tests) - sum(map(len, ended.values()))
        self._close()

    def _print_group(self, area, results):
        passed, _, skipped = map(sum, zip(*(result.totals for result in results)))
        again = sum(result.failed for result in results)
        text = f"{passed} passed" + f", {again} to run again" * bool(again)
        text += f", {skipped} skipped" * bool(skipped)
        seconds = sum(result.seconds for result in results)
        print(f"{'again' if again else 'ok':6} group {area}: {text} ({seconds:.0f} s)", flush=True)

    def run_again(self):
        """Runs the tests that failed, one after another; what passes now is flaky."""
        if not self.failed or self.gives_up:
            return
        print(f"{plural(len(self.failed), 'test')} failed, and run again alone", flush=True)
        self._open("again")
        for test, result, cpu in run_all([test.again() for test in self.failed], 1):
            self._take(test, result, cpu, result.outcome)
            if not result.failed:
                self.flaky.append(test.name)
        self._close()

    def end(self, slowest=0):
        """Runs again what failed and prints the last lines; the exit code."""
        self.run_again()
        for seconds, name in sorted(self.times, reverse=True)[:slowest]:
            print(f"slow   {name} ({seconds:.2f} s)")
        if self.not_run:
            print(f"{plural(self.not_run, 'test')} did not run: too many others failed")
        if len(self.flaky) > FLAKY_MAX:
            print(f"FAIL   {len(self.flaky)} tests passed only when they ran again alone; "
                  f"{FLAKY_MAX} may")
        for name in self.flaky:
            print(f"flaky  {name}")
        print(f"{time.monotonic() - self.begin:.0f} s, {self.cpu:.0f} s of CPU")
        passed, failed, skipped = map(sum, zip(*(result.totals for result in self.results.values()),
                                               (0, 0, 0)))
        too_flaky = len(self.flaky) > FLAKY_MAX
        print(f"{passed} passed, {failed + too_flaky} failed, {skipped} skipped")
        return 1 if failed or too_flaky else 0
