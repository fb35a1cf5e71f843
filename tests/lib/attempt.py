# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the cases, and runs one case with one memleak."""

import dataclasses
import fnmatch
import importlib
import pathlib
import signal
import time
import traceback

from .case import Broken, Case, Failure, Skip, cases_of
from .context import Context
from .memleak import SANITIZER, Memleak
from .process import ROOT
from .result import BAD, TEXT_MAX, Result
from .slowness import SLOWNESS
from .without_agent import reason_without_agent

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)
LONGEST = 4000  # characters of one stream shown after a failure


def matches(name, patterns):
    return not patterns or any(p in name or fnmatch.fnmatch(name, p) for p in patterns)


def find_cases(patterns=()):
    """Returns the cases whose names contain or match one of the patterns; raises Broken."""
    cases = []
    for path in sorted((ROOT / "tests/cases").glob("*.py")):
        cases += cases_of(path.stem, importlib.import_module("cases." + path.stem))
    return [case for case in cases if matches(case.name, patterns)]


class TooLong(BaseException):
    """The case ran out of time. Not an Exception, so that no case catches it."""


def on_alarm(_number, _frame):
    raise TooLong


def cut(text):
    return text if len(text) <= LONGEST else text[:LONGEST] + f"… ({len(text)} characters)"


def evidence(context):
    """Yields what memleak and the programs printed, indented."""
    for process in context.started:
        yield f"$ {' '.join(process.argv)}   (exit code {process.code})"
        for name, stream in (("stderr", process.err), ("stdout", process.out)):
            if stream.data and (isinstance(process, Memleak) or name == "stderr"):
                yield name + ":"
                yield cut(stream.text)


def crashes(context):
    """Returns a fault in the way a memleak ended that no case can excuse; None if there is none."""
    for process in context.started:
        if not isinstance(process, Memleak):
            continue
        if found := SANITIZER.search(process.notes):
            return f"a sanitizer spoke: {found.group(0)}"
        if process.code and -process.code in CRASHES:
            return f"memleak was ended by {signal.Signals(-process.code).name}"
    return None


def refuses_agent(process):
    """True if the process is a memleak whose options conflict with --agent."""
    return isinstance(process, Memleak) and any(
        words in process.notes for words in ("memleak: --agent ", "memleak: with --agent, "))


def call(case, context):
    """Runs the case's function; returns (outcome, text)."""
    seconds = case.timeout * SLOWNESS
    if context.agent and (reason := reason_without_agent(case.name)):
        return "skip", reason
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        case.run(context)
        return "ok", ""
    except Skip as reason:
        return "skip", str(reason)
    except TooLong:
        return "FAIL", f"not done after {seconds:.0f} s"
    except Failure as failure:
        if any(refuses_agent(process) for process in context.started):
            return "skip", "not with an agent"
        return "FAIL", str(failure)
    except Broken as broken:
        return "BROKEN", str(broken)
    except Exception:  # pylint: disable=broad-except
        return "BROKEN", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@dataclasses.dataclass
class Attempt:
    """A case, and the memleak to run it with."""
    case: Case
    memleak: pathlib.Path
    programs: pathlib.Path
    agent: pathlib.Path = None  # library that its programs load
    round: str = ""             # prefix of the name, if the cases run more than once

    @property
    def name(self):
        return self.round + self.case.name

    @property
    def area(self):
        return self.round + self.case.area

    @property
    def alone(self):
        return self.case.alone

    @property
    def lane(self):
        return self.case.lane

    def again(self):
        return self

    def run(self):
        """Runs the case in this process; all processes that it started have ended afterwards."""
        context = Context(self.memleak, self.programs, self.agent)
        if self.case.users_deadlines:
            context.patience = 1
        start = time.monotonic()
        try:
            outcome, text = call(self.case, context)
        finally:
            try:
                context.close()
            except Broken as broken:
                outcome, text = "BROKEN", str(broken)
        seconds = time.monotonic() - start
        crash = crashes(context)
        if crash:
            outcome, text = "FAIL", f"{crash}\n{text}"
        if outcome in BAD:
            text = "\n".join((text, *evidence(context)))[:TEXT_MAX]
        return Result(outcome, seconds, text, tuple(context.figures), final=crash is not None)
