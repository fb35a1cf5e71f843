# SPDX-License-Identifier: GPL-2.0-or-later
"""
Runs each test in a child process: first several at once, then lanes of tests beside each other, and
last the tests that nothing may run beside.
"""

import collections
import os
import pickle
import sys
import tempfile
import traceback

from .result import Result

BACKGROUND = "background"  # lane of tests that compute; they must be nice to those that wait
PROCESSORS = os.cpu_count() or 1


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
    Waits for a child to end; returns its queue, its test, its result and the CPU seconds of all its
    processes.
    """
    while True:
        pid, status, usage = os.wait4(-1, 0)
        if pid in running:  # other pids are orphans that this process has adopted
            break
    test, output, queue = running.pop(pid)
    with output:
        return queue, test, _result_in(output, status), usage.ru_utime + usage.ru_stime


def phases(tests, jobs):
    """
    Returns lists of queues, to be emptied one list after another. One test of each queue runs at a
    time; of a queue that is in a list N times, N tests run at a time.
    """
    if jobs == 1:
        return [[collections.deque(tests)]]
    others, alone, lanes = collections.deque(), collections.deque(), {}
    for test in tests:
        queue = alone if test.alone else others
        if test.lane and not test.alone:
            queue = lanes.setdefault(test.lane, collections.deque())
        queue.append(test)
    background = [lanes[BACKGROUND]] * (PROCESSORS - 1) if BACKGROUND in lanes else []
    return [others] * jobs, [*lanes.values(), *background], [alone]


def run_all(tests, jobs):
    """
    Yields (test, test.run(), CPU seconds) as tests end. Closing the generator waits for the tests
    that still run.
    """
    running = {}
    try:
        for idle in phases(tests, jobs):
            while idle or running:
                while idle:
                    queue = idle.pop(0)
                    if queue:
                        test = queue.popleft()
                        pid, output = _start(test)
                        running[pid] = (test, output, queue)
                if running:
                    queue, *ended = _collect(running)
                    idle.append(queue)
                    yield tuple(ended)
    finally:
        while running:
            _collect(running)
