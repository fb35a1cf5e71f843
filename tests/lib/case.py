# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases: functions test_NAME(t, ...) with decorators, and exceptions for the ways to end."""

import ast
import pathlib

BROKEN = 99  # exit code of a test program that cannot do its part
DEFAULT_TIMEOUT = 90
LENIENCE = 3  # a case counts as hanging after its timeout times this


class Failure(Exception):
    """memleak did something wrong."""


class Skip(Exception):
    """This machine cannot run the case; the text says why."""


class Broken(Exception):
    """The test itself could not do its part: counts as failed."""


def pitfall(*rows):
    """Marks which rows of the list of faults (PITFALLS.md) the case guards against."""
    def mark(function):
        function.pitfalls = rows
        return function
    return mark


def timeout(seconds):
    """Sets the maximum time of the case on a quiet machine, in seconds."""
    def mark(function):
        function.timeout = seconds
        return function
    return mark


def alone(function):
    """Marks a case that nothing may run beside: its result depends on the machine's load."""
    function.alone = True
    return function


def lane(name):
    """
    Marks a case that runs after those without a lane, one at a time, beside tests of other lanes.
    Cases of "kernel" compare kernel memory that no other case may use meanwhile; cases of "user"
    would make other cases that trace processes wait. Both sleep most of the time.
    """
    def mark(function):
        function.lane = name
        return function
    return mark


def once(function):
    """
    Marks a case about the kernel. Other cases cover memleak's code for it, so the case is not run
    again with a sanitized memleak.
    """
    function.once = True
    return function


def slow(function):
    """Marks a case that takes about two seconds of CPU time or more: `make check` leaves it out."""
    function.slow = True
    return function


def untraced(function):
    """Marks a case that needs no rights: it runs where memleak cannot trace (lib/tracing.py)."""
    function.untraced = True
    return function


def sample(step, first=0):
    """
    Marks a product of values too large for `make gate`, which runs each step-th of them; `make
    nightly` runs the others.
    """
    def mark(function):
        function.sample = (step, first)
        return function
    return mark


def nightly(function):
    """Marks a case whose subject cheaper cases cover: only `make nightly` runs it."""
    function.nightly = True
    return function


def each(*values):
    """
    Makes one case per value; the value is the function's second argument and ends the case's name.
    """
    if not values:
        raise Broken("@each has no values")

    def mark(function):
        function.values = values
        return function
    return mark


class Case:
    def __init__(self, module, area, function, value=None, index=0):
        self.area = area
        self.function = function
        self.value = value
        self.timeout = LENIENCE * getattr(function, "timeout", DEFAULT_TIMEOUT)
        self.alone = getattr(function, "alone", False)
        self.lane = getattr(function, "lane", None)
        self.once = getattr(function, "once", False)
        self.users_deadlines = getattr(module, "USERS_DEADLINES", False)
        self.untraced = getattr(function, "untraced", False)
        step, first = getattr(function, "sample", (1, 0))
        is_nightly = getattr(function, "nightly", False)
        self.gate = index % step == first and not is_nightly
        # `make check` runs only these: the first value of each function, unless it is slow.
        self.brief = (not getattr(function, "slow", False) and not self.alone and not self.lane and
                      not is_nightly and value == getattr(function, "values", (None,))[0])
        rows = getattr(function, "pitfalls", ())
        name = function.__name__.removeprefix("test_")
        self.name = area + "." + "".join(f"pitfall_{row:02d}_" for row in rows) + name
        if value is not None:
            self.name += "." + (value if isinstance(value, str) else str(value[0]))

    def run(self, t):
        if self.value is None:
            self.function(t)
        else:
            self.function(t, self.value)


def check_none_hidden(module):
    """Fails if two functions have the same name, as Python silently keeps only the last."""
    seen = {}
    for node in ast.parse(pathlib.Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            if node.name in seen:
                raise Broken(f"{module.__file__}:{node.lineno}: {node.name} hides that of line "
                             f"{seen[node.name]}")
            seen[node.name] = node.lineno


def cases_of(area, module):
    """Returns the cases of a module in the order of the source."""
    check_none_hidden(module)
    for name, function in vars(module).items():
        if not name.startswith("test_") or not callable(function):
            continue
        if hasattr(function, "values"):
            for index, value in enumerate(function.values):
                yield Case(module, area, function, value, index)
        else:
            yield Case(module, area, function)
