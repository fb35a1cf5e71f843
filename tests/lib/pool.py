# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each test in a process of its own, several at once; those marked alone come last."""

import os
import pickle
import sys
import traceback

from .result import Result


def _child(test, pipe):
    """In the child: the result goes through the pipe, whatever happens."""
    try:
        result = test.run()
    except BaseException:  # pylint: disable=broad-except
        result = Result("BROKEN", 0.0, traceback.format_exc())
    with os.fdopen(pipe, "wb") as file:
        pickle.dump(result, file)
    sys.stdout.flush()
    os._exit(0)


def _start(test):
    reader, writer = os.pipe()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _child(test, writer)
    os.close(writer)
    return pid, os.fdopen(reader, "rb")


def _collect(running):
    """Waits for one child to end; its test, its result and the CPU seconds of all in it."""
    pid, status, usage = os.wait4(-1, 0)
    test, pipe = running.pop(pid)
    with pipe:
        data = pipe.read()
    result = Result("BROKEN", 0.0, f"the test's process ended with status {status}")
    return test, pickle.loads(data) if data else result, usage.ru_utime + usage.ru_stime


def run_all(tests, jobs):
    """
    Yields (test, test.run(), CPU seconds) as they end. A result must be small enough for a pipe to
    hold. Closing the generator waits for the tests that still run.
    """
    running = {}
    try:
        for at_once, part in ((jobs, [test for test in tests if not test.alone]),
                              (1, [test for test in tests if test.alone])):
            for test in part:
                while len(running) >= at_once:
                    yield _collect(running)
                pid, pipe = _start(test)
                running[pid] = (test, pipe)
            while running:
                yield _collect(running)
    finally:
        while running:
            _collect(running)
