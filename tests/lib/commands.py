# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that are programs: commands, unit test programs, fuzzers."""

import collections
import contextlib
import dataclasses
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time

from .memleak import SANITIZER
from .result import TEXT_MAX, Result
from .slowness import SLOWNESS

SECONDS = 900 * SLOWNESS  # maximum time, reached only by a hang
SKIPPED = 77              # exit code of a command that cannot do its part on this machine
SANITIZER_CODE = 99       # exit code of a program with a finding, set by tests/check
TAP = re.compile(r"(ok|not ok) \d+(?: - (.*)| # SKIP (.*))$")
NO_LEAK = re.compile(r"ERROR: (?!LeakSanitizer)\w*Sanitizer|runtime error:")
PLAN = re.compile(r"1\.\.(\d+)$")


def run_command(argv, **kwargs):
    """Returns (exit code or None after a hang, seconds, all output)."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([os.fspath(arg) for arg in argv], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True, **kwargs)
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            # A test that fails may leave processes, which would slow down other tests.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return code, time.monotonic() - begin, text


def failure(code, seconds, text, **kwargs):
    """Returns the result of a command that failed. A crash or a sanitizer's finding is final."""
    said = f"exit code {code}" if code is not None else f"not done after {SECONDS:.0f} s"
    cut = text if len(text) <= TEXT_MAX else "…" + text[-TEXT_MAX:]
    final = code is not None and (code < 0 or code == SANITIZER_CODE) or \
        SANITIZER.search(text) is not None
    return Result("FAIL", seconds, f"{said}\n{cut}", final=final, **kwargs)


@dataclasses.dataclass
class Command:
    """Passes if the command's exit code is 0, and is skipped if it is SKIPPED."""
    name: str
    argv: tuple
    alone: bool = False
    lane: str = None
    cwd: pathlib.Path = None

    @property
    def area(self):
        return self.name.partition(".")[0]

    def again(self):
        return self

    def run(self):
        code, seconds, text = run_command(self.argv, cwd=self.cwd)
        if code == SKIPPED:
            return Result("skip", seconds, text.strip())
        return Result("ok", seconds) if code == 0 else failure(code, seconds, text)


@dataclasses.dataclass
class UnitProgram(Command):
    """Runs a cmocka program and counts its tests; a crash counts as at least one failure."""

    def run(self):
        code, seconds, text = run_command(
            self.argv, cwd=self.cwd, env={**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"})
        counts, skips, planned, before = collections.Counter(), [], 0, ""
        for line in text.splitlines():
            if found := TAP.match(line):
                test = (found[2] or found[3]).removesuffix(" # SKIP")
                word = "skip" if "# SKIP" in line else found[1]
                counts[word] += 1
                if word == "skip":
                    skips.append(f"skip {test}: {before.removeprefix('skipped: ')}")
            elif found := PLAN.match(line.strip()):
                planned += int(found[1])
            before = line
        passed, failed, skipped = counts["ok"], counts["not ok"], counts["skip"]
        if code == 0 and not failed and passed + skipped == planned > 0:
            return Result("ok", seconds, "\n".join(skips), counts=(passed, 0, skipped))
        if code == 0 and not failed:
            text += f"\n{passed + skipped} of {planned} tests ended"
        result = failure(code, seconds, text, counts=(passed, max(failed, 1), skipped))
        if failed and code == SANITIZER_CODE and not NO_LEAK.search(text):
            return result._replace(final=False)  # a test that fails frees nothing
        return result


@dataclasses.dataclass
class Fuzzer(Command):
    """
    Creates the seeds of a fuzzer and runs it in its folder. A crash or leak is final; an input that
    took too much time or memory is tried again by itself.
    """
    seeds: tuple = ()
    inputs: tuple = ()  # inputs that were too slow in the first attempt

    def findings(self):
        return {path for path in self.cwd.iterdir()
                if re.match(r"(crash|leak|timeout|oom)-", path.name)}

    def run(self):
        before = self.findings()
        begin = time.monotonic()
        code, _, text = run_command(self.seeds) if not self.inputs else (0, 0, "")
        if code == 0:
            code, _, text = run_command((*self.argv, *(self.inputs or ("corpus", "seeds"))),
                                        cwd=self.cwd)
        seconds = time.monotonic() - begin
        if code == 0:
            return Result("ok", seconds)
        found = sorted(path.name for path in self.findings() - before)
        result = failure(code, seconds, text)
        slow = found and all(name.startswith(("timeout-", "oom-")) for name in found)
        return result._replace(final=not self.inputs and bool(found) and not slow)

    def again(self):
        slow = tuple(sorted(path.name for path in self.findings()
                            if path.name.startswith(("timeout-", "oom-"))))
        return dataclasses.replace(self, inputs=slow) if slow else self
