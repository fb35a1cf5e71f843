# SPDX-License-Identifier: GPL-2.0-or-later
"""What a case is: a function test_NAME(t, ...) with decorators, and the ways it can end."""

import ast
import pathlib

BROKEN = 99  # exit code of a test program that cannot do its part
DEFAULT_TIMEOUT = 90


class Failure(Exception):
    """memleak did not do what it must."""


class Skip(Exception):
    """This machine cannot run the case; the text says why."""


class Broken(Exception):
    """The test itself could not do its part: counts as failed."""


def pitfall(*rows):
    """The case guards these rows of the list of faults; its name says so."""
    def mark(function):
        function.pitfalls = rows
        return function
    return mark


def timeout(seconds):
    def mark(function):
        function.timeout = seconds
        return function
    return mark


def alone(function):
    """The case measures time: no other runs beside it."""
    function.alone = True
    return function


def once(function):
    """
    What the case is about happens in the kernel, and nothing in memleak that other cases do not
    have it do: not run again with a memleak that watches its own memory.
    """
    function.once = True
    return function


def slow(function):
    """The case takes some two seconds of CPU time or more: left out of `make check`."""
    function.slow = True
    return function


def each(*values):
    """One case per value, which is the function's second argument and ends the name."""
    def mark(function):
        function.values = values
        return function
    return mark


class Case:
    def __init__(self, area, function, value=None):
        self.area = area
        self.function = function
        self.value = value
        self.timeout = getattr(function, "timeout", DEFAULT_TIMEOUT)
        self.alone = getattr(function, "alone", False)
        self.once = getattr(function, "once", False)
        # `make check` runs these: the first value of each function, but for what takes long.
        self.brief = (not getattr(function, "slow", False) and not self.alone and
                      value == getattr(function, "values", (None,))[0])
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
    """Of two functions of one name Python keeps the last and says nothing."""
    seen = {}
    for node in ast.parse(pathlib.Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            if node.name in seen:
                raise Broken(f"{module.__file__}:{node.lineno}: {node.name} hides that of line "
                             f"{seen[node.name]}")
            seen[node.name] = node.lineno


def cases_of(area, module):
    """The cases of a module in the order in which they are written."""
    check_none_hidden(module)
    for name, function in vars(module).items():
        if not name.startswith("test_") or not callable(function):
            continue
        if hasattr(function, "values"):
            for value in function.values:
                yield Case(area, function, value)
        else:
            yield Case(area, function)
