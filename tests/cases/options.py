# SPDX-License-Identifier: GPL-2.0-or-later
"""The command line: refused arguments, help and version."""

import re

from lib import Failure, each, pitfall, untraced

GARBAGE = (
    ("unknown_long", ["--nonsense"]), ("unknown_short", ["-Q"]),
    ("pid_text", ["-p", "abc"]), ("pid_zero", ["-p", "0"]), ("pid_negative", ["-p", "-5"]),
    ("pid_trailing", ["-p", "1x"]), ("pid_empty", ["-p", ""]), ("pid_comma", ["-p", "1,"]),
    ("pid_two_commas", ["-p", "1,,2"]), ("pid_huge", ["-p", "99999999999999999999"]),
    ("pid_missing", ["-p"]), ("pid_float", ["-p", "1.5"]), ("pid_plus", ["-p", "+"]),
    ("interval_zero", ["-p", "1", "0"]), ("interval_negative", ["-p", "1", "-1"]),
    ("interval_text", ["-p", "1", "abc"]), ("interval_nan", ["-p", "1", "nan"]),
    ("interval_inf", ["-p", "1", "inf"]), ("interval_huge", ["-p", "1", "1e300"]),
    ("interval_trailing", ["-p", "1", "1s2"]), ("interval_empty", ["-p", "1", ""]),
    ("count_zero", ["-p", "1", "1", "0"]), ("count_negative", ["-p", "1", "1", "-1"]),
    ("count_float", ["-p", "1", "1", "1.5"]), ("count_text", ["-p", "1", "1", "x"]),
    ("count_huge", ["-p", "1", "1", "99999999999999999999999"]),
    ("duration_zero", ["-p", "1", "-d", "0"]), ("duration_text", ["-p", "1", "-d", "x"]),
    ("duration_count", ["-p", "1", "-d", "1", "1", "1"]),
    ("third_number", ["-p", "1", "1", "1", "1"]),
    ("min_above_max", ["-p", "1", "-z", "10", "-Z", "9"]),
    ("min_text", ["-p", "1", "-z", "x"]), ("min_negative", ["-p", "1", "-z", "-1"]),
    ("min_suffix", ["-p", "1", "-z", "1Q"]), ("min_empty", ["-p", "1", "-z", ""]),
    ("min_overflow", ["-p", "1", "-z", "99999999999G"]),
    ("min_wraps", ["-p", "1", "-z", "18446744073709551616"]),
    ("max_text", ["-p", "1", "-Z", "1 k"]), ("max_only_suffix", ["-p", "1", "-Z", "k"]),
    ("combined_allocs", ["-p", "1", "-C", "-a"]),
    ("combined_older", ["-p", "1", "-C", "-o", "100"]),
    ("older_text", ["-p", "1", "-o", "x"]), ("older_negative", ["-p", "1", "-o", "-1"]),
    ("older_overflow", ["-p", "1", "-o", "99999999999999999999"]),
    ("sample_zero", ["-p", "1", "-s", "0"]), ("sample_text", ["-p", "1", "-s", "x"]),
    ("sample_negative", ["-p", "1", "-s", "-2"]),
    ("sample_huge", ["-p", "1", "-s", "99999999999"]),
    ("sample_bytes_zero", ["-p", "1", "--sample-bytes", "0"]),
    ("sample_bytes_huge", ["-p", "1", "--sample-bytes", "1025G"]),
    ("sample_bytes_text", ["-p", "1", "--sample-bytes", "x"]),
    ("sample_twice", ["-p", "1", "-s", "10", "--sample-bytes", "1k"]),
    ("sample_bytes_combined", ["-p", "1", "-C", "--sample-bytes", "1k"]),
    ("top_text", ["-p", "1", "-T", "x"]), ("top_negative", ["-p", "1", "-T", "-1"]),
    ("sort_word", ["-p", "1", "--sort", "color"]), ("sort_empty", ["-p", "1", "--sort", ""]),
    ("format_word", ["-p", "1", "--format", "xml"]),
    ("stacks_zero", ["-p", "1", "--stack-storage-size", "0"]),
    ("stacks_text", ["-p", "1", "--stack-storage-size", "many"]),
    ("depth_zero", ["-p", "1", "--perf-max-stack-depth", "0"]),
    ("depth_huge", ["-p", "1", "--perf-max-stack-depth", "100000"]),
    ("allocs_zero", ["-p", "1", "--max-allocs", "0"]),
    ("allocs_beyond_the_word", ["-p", "1", "--max-allocs", "16777216"]),
    ("allocs_huge", ["-p", "1", "--max-allocs", "99999999999"]),
    ("code_zero", ["-p", "1", "--error-exitcode", "0"]),
    ("code_256", ["-p", "1", "--error-exitcode", "256"]),
    ("code_text", ["-p", "1", "--error-exitcode", "x"]),
    ("pid_and_command", ["-p", "1", "--", "true"]), ("pid_and_c", ["-p", "1", "-c", "true"]),
    ("c_and_command", ["-c", "true", "--", "true"]), ("c_empty", ["-c", ""]),
    ("c_blank", ["-c", "  "]), ("c_open_quote", ["-c", "echo 'x"]), ("c_missing", ["-c"]),
    ("no_command", ["--"]), ("flag_with_value", ["-p", "1", "--json=yes"]),
)


@untraced
@pitfall(37)
@each(*GARBAGE)
def test_refused(t, what):
    """Exit code 2 and one line that names the mistake."""
    name, args = what
    memleak = t.refused(*args, code=2, says=[])
    lines = memleak.notes.splitlines()
    if len(lines) > 2:
        raise Failure(f"a page instead of a line: {memleak.notes!r}")
    if name.startswith("unknown") and args[0].lstrip("-") not in memleak.notes:
        raise Failure(f"what is unknown is not named: {memleak.notes!r}")


@untraced
def test_hostile_argument(t):
    """Control bytes in arguments are escaped in messages."""
    memleak = t.refused("--sort", "\x1b[31mred\n\x07", "-p", "1", code=2, says="red")
    if re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", bytes(memleak.err.data)):
        raise Failure(f"control bytes: {bytes(memleak.err.data)!r}")


@untraced
def test_brief_help(t):
    """--help fits a screen and has what most users need."""
    memleak = t.memleak("-h")
    if memleak.wait() != 0 or memleak.notes:
        raise Failure(f"exit code {memleak.code}, stderr {memleak.notes!r}")
    lines = memleak.out.text.splitlines()
    if len(lines) > 40 or max(map(len, lines)) > 100:
        raise Failure("no screen")
    if not any("--pid" in line for line in lines) or "--help" not in lines[-1]:
        raise Failure(memleak.out.text)
    memleak.aftermath()


@untraced
def test_help(t):
    memleak = t.memleak("--help")
    if memleak.wait() != 0 or memleak.notes:
        raise Failure(f"exit code {memleak.code}, stderr {memleak.notes!r}")
    text = memleak.out.text
    options = ("--pid", "--command", "--trace", "--show-allocs", "--older", "--combined-only",
               "--wa-missing-free", "--sample-rate", "--sample-bytes", "--top", "--min-size",
               "--max-size", "--obj", "--symbols-prefix", "--percpu", "--sort",
               "--stack-storage-size", "--perf-max-stack-depth", "--verbose", "--help", "--version",
               "--format", "--json", "--output", "--max-allocs", "--error-exitcode")
    missing = [option for option in options if option not in text]
    if missing:
        raise Failure(f"help says nothing of {missing}")
    if max(map(len, text.splitlines())) > 120:
        raise Failure("help is wider than 120 columns")
    memleak.aftermath()


@untraced
@each("-V", "--version")
def test_version(t, name):
    memleak = t.memleak(name)
    if memleak.wait() != 0 or not re.fullmatch(r"memleak \d+\.\d+\S*\n", memleak.out.text):
        raise Failure(f"exit code {memleak.code}, stdout {memleak.out.text!r}")
    memleak.aftermath()


@untraced
def test_help_to_full_disk(t):
    """A full disk is reported even for help."""
    with open("/dev/full", "wb") as full:
        memleak = t.memleak("--help", stdout=full)
    if memleak.wait() != 1:
        raise Failure(f"exit code {memleak.code}")


@each("0.1", "0.05")
def test_fraction(t, name):
    """
    Intervals may be fractions of a second: no report comes early, and once four come
    within a second.
    """
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), name).ready()
    memleak.wait_for("four reports within a second", lambda: any(
        last["elapsed_ns"] - first["elapsed_ns"] < 1e9
        for first, last in zip(memleak.take(), memleak.reports[3:])))
    memleak.stop()
    for number, report in enumerate(memleak.reports[:-1], 1):
        if report["elapsed_ns"] < number * float(name) * 1e9:
            raise Failure(f"report {number} after {report['elapsed_ns']} ns")
    t.figure("until the first report", memleak.reports[0]["elapsed_ns"] / 1e9, "s", 1)


def test_options_after_numbers(t):
    """Options may follow interval and count."""
    program = t.program("leak")
    memleak = t.memleak("0.1", "2", "--json", "-p", str(program.pid))
    memleak.finish()
    if len(memleak.reports) != 2:
        raise Failure(f"{len(memleak.reports)} reports, not 2")


def test_verbose_goes_to_stderr(t):
    """With -vv, stdout has only reports."""
    program = t.program("leak")
    memleak = t.memleak("-vv", "--json", "-p", str(program.pid), "0.1", "2")
    memleak.finish()
    if len(memleak.reports) != 2 or len(memleak.notes.splitlines()) < 3:
        raise Failure(f"{len(memleak.reports)} reports, stderr {memleak.notes!r}")
