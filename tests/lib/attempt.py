# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the cases, and runs one of them with one memleak."""

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
    """The cases whose names have one of the patterns in them, or fit it; raises Broken."""
    cases = []
    for path in sorted((ROOT / "tests/cases").glob("*.py")):
        cases += cases_of(path.stem, importlib.import_module("cases." + path.stem))
    return [case for case in cases if matches(case.name, patterns)]


class TooLong(BaseException):
    """The case's time is over. Not an Exception: no case may catch it."""


def on_alarm(_number, _frame):
    raise TooLong


def cut(text):
    return text if len(text) <= LONGEST else text[:LONGEST] + f"… ({len(text)} characters)"


def evidence(context):
    """What memleak and the programs said, indented."""
    for process in context.started:
        yield f"$ {' '.join(process.argv)}   (exit code {process.code})"
        for name, stream in (("stderr", process.err), ("stdout", process.out)):
            if stream.data and (isinstance(process, Memleak) or name == "stderr"):
                yield name + ":"
                yield cut(stream.text)


def crashes(context):
    """Why a memleak's end is a fault whatever the case looked at; None if there is no such."""
    for process in context.started:
        if not isinstance(process, Memleak):
            continue
        if found := SANITIZER.search(process.notes):
            return f"a sanitizer spoke: {found.group(0)}"
        if process.code and -process.code in CRASHES:
            return f"memleak was ended by {signal.Signals(-process.code).name}"
    return None


def refuses_agent(process):
    """True if that is a memleak whose options do not go with --agent."""
    return isinstance(process, Memleak) and "memleak: --agent " in process.notes


def call(case, context):
    """Runs the case's function; (outcome, text)."""
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
    """A case with the memleak that it is about."""
    case: Case
    memleak: pathlib.Path
    programs: pathlib.Path
    agent: pathlib.Path = None  # the library that its programs load
    round: str = ""             # begins the name, if the same cases run more than once

    @property
    def name(self):
        return self.round + self.case.name

    @property
    def area(self):
        return self.round + self.case.area

    @property
    def alone(self):
        return self.case.alone

    def again(self):
        return self

    def run(self):
        """Runs the case in this process; whatever it started has ended then."""
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
