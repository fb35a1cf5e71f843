# SPDX-License-Identifier: GPL-2.0-or-later
"""What libraries keep for themselves is in all totals, and not in the way."""

import re

from lib import Failure, each, owner

SHOWN = ("--no-default-suppressions",)


def require(holds, report, text):
    if not holds:
        raise Failure(f"{text}: {report!r}")


def command(t, *argv, options=(), code=0):
    return t.command(t.file_of("start_up"), *argv, options=options).finish(code)


def check_sum(report):
    for key in ("bytes", "count"):
        shown = sum(site[key] for site in report["sites"])
        require(shown + report["start_up"][key] == report["outstanding"][key], report, "sums")
    require(len(report["sites"]) + report["start_up"]["sites"] == report["sites_total"], report,
            "number of sites")


def test_not_shown(t):
    report = command(t, "plain")
    require(report["sites"] == [] and report["start_up"]["count"], report, "shown")
    check_sum(report)


def test_shown(t):
    """As one asks for it; the buffer of stdout is always there."""
    report = command(t, "plain", options=SHOWN)
    require(report["start_up"] == {"bytes": 0, "count": 0, "sites": 0}, report, "left out")
    require(any(frame["symbol"] == "_IO_file_doallocate" for site in report["sites"]
                for frame in site["stack"]), report, "no buffer of stdout")
    check_sum(report)


@each("100000", "1")
def test_leak(t, top):
    """The program's own block is what is shown, be it the smallest."""
    report = command(t, "leak", options=("-T", top))
    require([(owner(site), site["bytes"]) for site in report["sites"]] == [("leak_own", 5)],
            report, "sites")
    check_sum(report)


def test_thread(t):
    report = command(t, "thread")
    require(all(site["kind"] == "stack" for site in report["sites"]), report, "sites")
    check_sum(report)


def test_streams(t):
    """Buffers of streams that are never closed are no start-up."""
    report = command(t, "streams", "7")
    buffers = [site for site in report["sites"] if site["count"] == 7 and
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
    t.memleak("-o", "0", "--output", output, "3600", "--", t.file_of("start_up"), "plain").finish()
    text = output.read_text()
    if not re.search(r"^\tnot shown: \d+ bytes, \d+ allocations, \d+ sites that the C and C\+\+ "
                     r"libraries keep for themselves \(--no-default-suppressions\)$", text, re.M):
        raise Failure(f"{text!r}")
