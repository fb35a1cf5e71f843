# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each case in a process of its own, several at once; those marked alone come last."""

import os
import pickle
import sys
import traceback


def _child(run, case, pipe):
    """In the child: the result goes through the pipe, whatever happens."""
    try:
        result = run(case)
    except BaseException:  # pylint: disable=broad-except
        result = ("BROKEN", 0.0, traceback.format_exc())
    with os.fdopen(pipe, "wb") as file:
        pickle.dump(result, file)
    sys.stdout.flush()
    os._exit(0)


def _start(run, case):
    reader, writer = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(run, case, writer)
    os.close(writer)
    return pid, os.fdopen(reader, "rb")


def _collect(running):
    """Waits for one child to end; its case, its result and the CPU seconds of all in it."""
    pid, status, usage = os.wait4(-1, 0)
    case, pipe = running.pop(pid)
    with pipe:
        data = pipe.read()
    result = ("BROKEN", 0.0, f"the case's process ended with status {status}")
    return case, pickle.loads(data) if data else result, usage.ru_utime + usage.ru_stime


def run_all(cases, jobs, run):
    """
    Yields (case, run(case), CPU seconds) as they end. A result must be small enough for a pipe to
    hold.
    """
    for at_once, part in ((jobs, [case for case in cases if not case.alone]),
                          (1, [case for case in cases if case.alone])):
        running = {}
        for case in part:
            while len(running) >= at_once:
                yield _collect(running)
            pid, pipe = _start(run, case)
            running[pid] = (case, pipe)
        while running:
            yield _collect(running)
