# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests, prints their results, and decides: failed tests run once more, alone, at the end."""

import collections
import contextlib
import time

from .pool import run_all
from .result import Result

FAILED_MAX = 30  # after more failures no further test is started, and none is run again
FLAKY_MAX = 5    # maximum number of tests that pass only in their second run


def lines_of(word, test, result, cpu):
    """
    Returns the lines of a result: the first has the word, the others the text and the figures.
    """
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
    With a folder for logs: writes a log for each round of tests with a line per test, and prints
    only groups and tests that did not pass. Without one: prints a line for each test.
    """

    def __init__(self, logs=None):
        self.logs = logs
        self.log = None
        self.results = {}  # test name → last result
        self.again = []    # failed tests, to be run again at the end
        self.final = 0     # failures that no second run can excuse
        self.flaky = []    # names
        self.not_judged = 0
        self.times = []
        self.cpu = 0.0
        self.begin = time.monotonic()
        self.kept = contextlib.ExitStack()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kept.close()

    def keep(self, resource):
        """Enters a context that stays open while tests may still be run again."""
        return self.kept.enter_context(resource)

    def skip(self, name, count, reason):
        """Counts tests that cannot run here and prints why."""
        print(f"skip   {name}: {reason} ({plural(count, 'test')})", flush=True)
        self.results[name] = Result("skip", 0.0, reason, counts=(0, 0, count))

    def fail(self, name, reason):
        """Counts a failure outside of tests, such as a failed build."""
        print(f"FAIL   {name}: {reason}", flush=True)
        self.results[name] = Result("BROKEN", 0.0, reason, final=True)
        self.final += 1

    def _print(self, lines, on_stdout):
        if self.log:
            print("\n".join(lines), file=self.log, flush=True)
        if on_stdout or not self.log:
            print("\n".join(lines), flush=True)

    def _open(self, name):
        """Opens the log of a round."""
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
        return len(self.again) + self.final > FAILED_MAX

    def _take_first(self, test, result, cpu):
        retried = result.failed and not result.final
        self._take(test, result, cpu, "again" if retried else result.outcome)
        if retried:
            self.again.append(test)
        self.final += result.failed and result.final

    def run(self, name, tests, jobs):
        """Runs a round of tests; prints a line for each group when its last test has ended."""
        names = collections.Counter([test.name for test in tests] + [*self.results])
        if twice := [name for name, count in names.items() if count > 1]:
            self.fail(name, f"several tests have the name {twice[0]}")
            return
        self._open(name)
        left = collections.Counter(test.area for test in tests)
        ended = collections.defaultdict(list)
        results = run_all(tests, jobs)
        for test, result, cpu in results if not self.gives_up else ():
            self._take_first(test, result, cpu)
            ended[test.area].append(result)
            if self.log and len(ended[test.area]) == left[test.area]:
                self._print_group(test.area, ended[test.area])
            if self.gives_up:
                break
        results.close()
        self.not_judged += len(tests) - sum(map(len, ended.values()))
        self._close()

    def _print_group(self, area, results):
        passed, _, skipped = map(sum, zip(*(result.totals for result in results)))
        failed = sum(result.failed for result in results)
        text = f"{passed} passed" + f", {failed} failed for now" * bool(failed)
        text += f", {skipped} skipped" * bool(skipped)
        seconds = sum(result.seconds for result in results)
        print(f"{'again' if failed else 'ok':6} group {area}: {text} ({seconds:.0f} s)", flush=True)

    def run_again(self):
        """Runs the failed tests again, one after another; those that pass now are flaky."""
        if self.gives_up:
            for test in self.again:
                print(f"FAIL   {test.name}")
            return
        if self.again:
            print(f"{plural(len(self.again), 'test')} failed, and run again alone", flush=True)
        self._open("again")
        for test, result, cpu in run_all([test.again() for test in self.again], 1):
            if result.outcome == "skip":
                result = result._replace(outcome="FAIL", counts=None,
                                         text=f"failed, and was skipped then: {result.text}")
            self._take(test, result, cpu, result.outcome)
            if not result.failed:
                self.flaky.append(test.name)
        self._close()

    def end(self, slowest=0):
        """Runs failed tests again and prints the summary; returns the exit code."""
        self.run_again()
        for seconds, name in sorted(self.times, reverse=True)[:slowest]:
            print(f"slow   {name} ({seconds:.2f} s)")
        if self.not_judged:
            print(f"{plural(self.not_judged, 'test')} were not judged: "
                  f"more than {FAILED_MAX} others failed")
        if len(self.flaky) > FLAKY_MAX:
            self.fail("flaky", f"{len(self.flaky)} tests passed only when they ran again; "
                      f"{FLAKY_MAX} may")
        if not any(result.totals[0] for result in self.results.values()):
            self.fail("all", "no test passed")
        for name in self.flaky:
            print(f"flaky  {name}")
        print(f"{time.monotonic() - self.begin:.0f} s, {self.cpu:.0f} s of CPU")
        passed, failed, skipped = map(sum, zip(*(result.totals for result in self.results.values())))
        print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
        return 1 if failed else 0
