# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs each test in a child process, several at once; tests marked alone run last."""

import os
import pickle
import sys
import tempfile
import traceback

from .result import Result


def _child(test, output):
    """Runs the test in the child; writes a result to the file whatever happens."""
    try:
        try:
            result = test.run()
        except BaseException:  # pylint: disable=broad-except
            result = Result("BROKEN", 0.0, traceback.format_exc())
        pickle.dump(result, output)
        output.flush()
        sys.stdout.flush()
    finally:
        os._exit(0)


def _start(test):
    output = tempfile.TemporaryFile()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        _child(test, output)
    return pid, output


def _result_in(output, status):
    output.seek(0)
    try:
        return pickle.load(output)
    except (EOFError, pickle.UnpicklingError):
        return Result("BROKEN", 0.0, f"the test's process ended with status {status}")


def _collect(running):
    """
    Waits for a child to end; returns its test, its result and the CPU seconds of all its processes.
    """
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid in running:  # other pids are orphans that this process has adopted
            break
    test, output = running.pop(pid)
    with output:
        return test, _result_in(output, status), usage.ru_utime + usage.ru_stime


def run_all(tests, jobs):
    """
    Yields (test, test.run(), CPU seconds) as tests end. Closing the generator waits for the tests
    that still run.
    """
    running = {}
    try:
        for at_once, part in ((jobs, [test for test in tests if not test.alone]),
                              (1, [test for test in tests if test.alone])):
            for test in part:
                while len(running) >= at_once:
                    yield _collect(running)
                pid, output = _start(test)
                running[pid] = (test, output)
            while running:
                yield _collect(running)
    finally:
        while running:
            _collect(running)
