# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory kept by runtime libraries counts in all totals, but does not distract."""

import re

from lib import Failure, each, owner

SHOWN = ("--no-default-suppressions",)


def require(holds, report, text):
    if not holds:
        raise Failure(f"{text}: {report!r}")


PROGRAMS = ("runtime_init", "runtime_init_static")


def command(t, *argv, options=(), code=0, program="runtime_init"):
    return t.command(t.file_of(program), *argv, options=options).finish(code)


def others(report):
    """Returns the sites that are not runtime initialisation; requires that these come first."""
    flags = [site["start_up"] for site in report["sites"]]
    require(flags == sorted(flags), report, "order")
    return [site for site in report["sites"] if not site["start_up"]]


def check_sum(report):
    """The sum for runtime initialisation equals the sum of marked sites, if all are shown."""
    marked = [site for site in report["sites"] if site["start_up"]]
    require(report["start_up"] == {"bytes": sum(site["bytes"] for site in marked),
                                   "count": sum(site["count"] for site in marked),
                                   "sites": len(marked)}, report, "sum")
    require(len(report["sites"]) == report["sites_total"], report, "number of sites")


@each(*PROGRAMS)
def test_marked(t, program):
    report = command(t, "plain", program=program)
    require(others(report) == [] and report["start_up"]["count"], report, "not marked")
    check_sum(report)


def test_not_marked(t):
    """With the option, nothing is marked; the buffer of stdout is always there."""
    report = command(t, "plain", options=SHOWN)
    require(len(others(report)) == report["sites_total"], report, "marked")
    require(any(frame["symbol"] == "_IO_file_doallocate" for site in report["sites"]
                for frame in site["stack"]), report, "no buffer of stdout")
    check_sum(report)


def test_static_cxx(t):
    """The pool for exceptions belongs to the C++ library linked into the program."""
    report = command(t, program="cxx_static", code=99)  # without arguments it ends at once
    require(others(report) == [] and report["start_up"]["bytes"] > 72704, report, "not marked")
    check_sum(report)


@each("100000", "1", "static")
def test_leak(t, case):
    """The program's own block comes first, even if it is the smallest."""
    top, program = ("100000", PROGRAMS[1]) if case == "static" else (case, PROGRAMS[0])
    report = command(t, "leak", options=("-T", top), program=program)
    require([(owner(site), site["bytes"]) for site in others(report)] == [("leak_own", 5)],
            report, "sites")
    if top != "1":
        check_sum(report)


@each(*PROGRAMS)
def test_thread(t, program):
    report = command(t, "thread", program=program)
    require(all(site["kind"] == "stack" for site in others(report)), report, "sites")
    check_sum(report)


@each(*PROGRAMS)
def test_streams(t, program):
    """Buffers of streams that are never closed are not runtime initialisation."""
    report = command(t, "streams", "7", program=program)
    buffers = [site for site in others(report) if site["count"] == 7 and
               any(frame["symbol"] == "_IO_file_doallocate" for frame in site["stack"])]
    require(len(buffers) == 1, report, "buffers")
    check_sum(report)


@each(("plain", (), 0), ("leak", (), 9), ("shown", SHOWN, 9),
      ("process", ("--by", "process"), 0), ("process_shown", ("--by", "process", *SHOWN), 9))
def test_exit_code(t, case):
    name, options, code = case
    command(t, "leak" if name == "leak" else "plain", options=("--error-exitcode", "9", *options),
            code=code)


def test_text(t):
    output = t.tmp / "text"
    t.memleak("-o", "0", "--output", output, "3600", "--", t.file_of("runtime_init"), "plain").finish()
    text = output.read_text()
    if not re.search(r"^\tnot shown: [\d.]+ \w+ in \d+ blocks? at \d+ sites? that the C and C\+\+ "
                     r"libraries keep for themselves \(--no-default-suppressions\)$", text, re.M) or \
            re.search(r" in \d+ blocks?$", text, re.M):
        raise Failure(f"{text!r}")
