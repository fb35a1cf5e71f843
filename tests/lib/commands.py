# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that are programs: a command, a program of unit tests, a fuzzer."""

import collections
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

from .result import TEXT_MAX, Result
from .slowness import SLOWNESS

SECONDS = 900 * SLOWNESS  # only a hang takes longer
# cmocka 1.1 prints "not ok 1 # SKIP name" for a test that was skipped.
TAP = re.compile(r"(ok|not ok) \d+ (?:- )?(# SKIP )?(.*?)( # SKIP.*)?$")


def run_command(argv, **kwargs):
    """(exit code or None after a hang, seconds, everything it printed)."""
    begin = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen([os.fspath(arg) for arg in argv], stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True, **kwargs)
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        output.seek(0)
        text = output.read().decode("utf-8", "replace")
    return code, time.monotonic() - begin, text


def last_part(text):
    """The end of a text, where failures are told."""
    return text if len(text) <= TEXT_MAX else "…" + text[-TEXT_MAX:]


@dataclasses.dataclass
class Command:
    """Passes if the command's exit code is 0."""
    name: str
    argv: tuple
    alone: bool = False
    cwd: pathlib.Path = None

    @property
    def area(self):
        return self.name.partition(".")[0]

    def again(self):
        return self

    def run(self):
        code, seconds, text = run_command(self.argv, cwd=self.cwd)
        if code == 0:
            return Result("ok", seconds)
        said = f"exit code {code}" if code is not None else f"not done after {SECONDS:.0f} s"
        return Result("FAIL", seconds, f"{said}\n{last_part(text)}")


@dataclasses.dataclass
class UnitProgram(Command):
    """A program of cmocka tests, each of which counts; one that dies is a failure more."""

    def run(self):
        code, seconds, text = run_command(
            self.argv, cwd=self.cwd, env={**os.environ, "CMOCKA_MESSAGE_OUTPUT": "TAP"})
        counts, skips, before = collections.Counter(), [], ""
        for line in text.splitlines():
            if found := TAP.match(line):
                word = "skip" if found[2] or found[4] else found[1]
                counts[word] += 1
                if word == "skip":
                    skips.append(f"skip {found[3]}: {before.removeprefix('skipped: ')}")
            before = line
        passed, failed, skipped = counts["ok"], counts["not ok"], counts["skip"]
        if code == 0 and not failed and passed + skipped:
            return Result("ok", seconds, "\n".join(skips), counts=(passed, 0, skipped))
        return Result("FAIL", seconds, f"exit code {code}\n{last_part(text)}",
                      counts=(passed, max(failed, 1), skipped))


@dataclasses.dataclass
class FoundInputs(Command):
    """Passes if the inputs that a fuzzer kept after a failure do no harm now."""
    kept: tuple = ()

    def run(self):
        result = super().run()
        if not result.failed:
            return result
        paths = "\n".join(map(str, self.kept))
        return result._replace(text=f"{result.text}\nthe inputs:\n{paths}")


@dataclasses.dataclass
class Fuzzer(Command):
    """Runs a fuzzer in its folder. A second attempt runs the inputs that it found to be harmful."""
    program: pathlib.Path = None

    def findings(self):
        return sorted(path for path in self.cwd.iterdir()
                      if re.match(r"(crash|leak|timeout|oom|slow-unit)-", path.name))

    def run(self):
        for path in self.findings():
            if path.name.startswith("slow-unit-"):
                path.unlink()
        return super().run()

    def again(self):
        kept = tuple(path for path in self.findings() if not path.name.startswith("slow-unit-"))
        return FoundInputs(self.name, (self.program, *kept), cwd=self.cwd, kept=kept) if kept else self


def copy_for_nobody(folder, *sources):
    """Copies folders to a place where every user may read them."""
    folder.chmod(0o755)
    for source, name in sources:
        shutil.copytree(source, folder / name)
