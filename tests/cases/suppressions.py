# SPDX-License-Identifier: GPL-2.0-or-later
"""--suppressions: leaves known sites out, and reports what was left out."""

import re

from lib import Failure, each, expect, owner, sum_of, untraced
from lib.leak_tools import GO

SMALL = ("leak_small", "heap")
BIG = ("leak_big", "heap")


def require(holds, report, text):
    if not holds:
        raise Failure(f"{text}: {report!r}")


def rules(t, *patterns, name="known"):
    path = t.tmp / name
    path.write_text("# known\n\n" + "".join(f"leak:{pattern}\n" for pattern in patterns))
    return path


def suppressed(report):
    return {entry["pattern"]: (entry["count"], entry["bytes"], entry["sites"])
            for entry in report["suppressed"]}


def test_left_out(t):
    """Suppressed sites are in no total; each pattern shows its sum; growth stays right."""
    program = t.program("leak")
    memleak = t.attach(program, "--suppressions", rules(t, "^leak_big$", "never"), interval="0.3")
    program.go()
    for number in (5, 10):
        report = memleak.fresh_report()
        require(sum_of(report) == {SMALL: (number, 16 * number)}, report, "sites")
        require(report["outstanding"] == {"bytes": 16 * number, "count": number}
                and report["sites_total"] == 1, report, "totals")
        require(suppressed(report) == {"^leak_big$": (number, number << 20, 1),
                                       "never": (0, 0, 0)}, report, "suppressed")
        program.go()
    report = memleak.stop()
    require(report["sites"] == [] and suppressed(report)["^leak_big$"] == (0, 0, 0), report,
            "what was freed")


@each("leak_small", "^main$", "programs/leak$", "leak.c$")
def test_any_frame(t, pattern):
    """Patterns match function, module or source file of any frame."""
    program = t.program("leak")
    memleak = t.attach(program, "--suppressions", rules(t, pattern))
    program.go()
    report = memleak.stop()
    left = {BIG: (5, 5 << 20)} if "sm" in pattern else {}
    require(sum_of(report) == left, report, "sites")
    sites = 2 - len(left)
    require(suppressed(report)[pattern][2] == sites, report, "suppressed")


def test_no_frame(t):
    pattern = "LEAK_SMALL"
    program = t.program("leak")
    memleak = t.attach(program, "--suppressions", rules(t, pattern))
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    require(suppressed(report) == {pattern: (0, 0, 0)}, report, "suppressed")


def test_inlined(t):
    """Patterns match an inlined function, which has no code of its own."""
    program = t.program("cxx", "inline")
    memleak = t.attach(program, "--suppressions", rules(t, "inlined_alloc"))
    truth = program.go()
    count, size = truth.sites.pop(("inlined_alloc", "heap"))
    report = memleak.stop()
    expect(report, truth)
    require(suppressed(report)["inlined_alloc"] == (count, size, 1), report, "suppressed")


def test_files_add_up(t):
    """The first matching pattern counts the site, whichever file it is in."""
    program = t.program("leak")
    memleak = t.attach(program, "--suppressions", rules(t, "leak_small", name="one"),
                       "--suppressions", rules(t, "leak_big", "leak_*", name="two"))
    program.go()
    report = memleak.stop()
    require(suppressed(report) == {"leak_small": (5, 80, 1), "leak_big": (5, 5 << 20, 1),
                                   "leak_*": (0, 0, 0)}, report, "suppressed")


def test_every_site(t):
    """All of thousands of sites are symbolized for matching, although few are shown."""
    program = t.program("sites", "4096", "4096")
    memleak = t.memleak("--json", "-o", "0", "-T", "1", "--suppressions", rules(t, "^right$"),
                        "-p", str(program.pid), "3600").ready()
    program.go()
    report = memleak.stop()
    require(report["outstanding"] == {"bytes": 32, "count": 1}, report, "left")
    require(suppressed(report)["^right$"] == (4095, 4095 * 32, 4095), report, "suppressed")


@each("-a", "-C", "--by module", "--by thread", "--largest", "--peak", "--sample-bytes 1")
def test_views(t, view):
    """Suppressed sites are in no view."""
    program = t.program("leak")
    memleak = t.attach(program, *view.split(), "--suppressions", rules(t, "leak_big"))
    program.go()
    report = memleak.stop()
    require(report["outstanding"] == {"bytes": 80, "count": 5}, report, "totals")
    require(sum(entry["bytes"] for entry in report["sites"] + report.get("groups", [])) == 80,
            report, "entries")
    require(all(block["size"] == 16 for block in report.get("largest", [])), report, "largest")
    if view == "--peak":
        require(report["peak"]["bytes"] == 80, report, "peak")


def test_kernel(t):
    """Patterns match modules of kernel frames, too."""
    program = t.program("kernel", "messages:100")
    memleak = t.attach(program, "-K", "--suppressions", rules(t, "^kernel$"))
    program.go()
    report = memleak.stop()
    require(not any(site["space"] == "kernel" for site in report["sites"]), report, "kernel sites")
    require(suppressed(report)["^kernel$"][0] >= 100, report, "suppressed")


def test_text(t):
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "--suppressions", rules(t, "leak_big"), "-p", str(program.pid),
                        "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.text
    if not re.search(r"^\tsuppressed: 5\.0 MiB in 5 blocks at 1 site$", text, re.M):
        raise Failure(f"{text!r}")
    if "leak_big" in text or "5 blocks" not in text:
        raise Failure(f"{text!r}")


@each(("leak_*", 0), ("leak_small", 9))
def test_exit_code(t, case):
    """--error-exitcode considers only sites that are not suppressed."""
    pattern, code = case
    program = t.program("leak")
    memleak = t.attach(program, "--error-exitcode", "9", "--suppressions", rules(t, pattern))
    program.go()
    memleak.stop(code)


@untraced
@each(("kind", b"race:x\n"), ("empty", b"leak:\n"), ("zero", b"leak:a\n\nleak:\0\n"),
      ("huge", b"x" * 1000000))
def test_bad_file(t, case):
    """A bad file gives one line with file name and line."""
    path = t.tmp / "bad"
    path.write_bytes(case[1])
    t.refused("--suppressions", path, "-p", "1", code=2, says=(f"{path}:",))


@untraced
def test_no_file(t):
    t.refused("--suppressions", t.tmp / "none", "-p", "1", code=2, says=("No such file",))


def proposed(t, program, *options):
    """Returns what --gen-suppressions prints, and the report."""
    memleak = t.memleak("-o", "0", "--gen-suppressions", *options, "-p", str(program.pid),
                        "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.text
    return text, re.findall(r"^leak:.*$", text, re.M)


def test_proposed(t):
    """The printed lines, put into a file unchanged, suppress exactly these sites."""
    text, lines = proposed(t, t.program("leak"), "-T", "1")
    if lines != ["leak:^leak_big$"] or not re.search(
            r"^# 5\.0 MiB in 5 blocks\nleak:\^leak_big\$\n\Z", text, re.M):
        raise Failure(f"{text!r}")
    path = t.tmp / "known"
    path.write_text(text[text.index("# "):])
    program = t.program("leak")
    memleak = t.attach(program, "--suppressions", path)
    program.go()
    report = memleak.stop()
    require(sum_of(report) == {SMALL: (5, 80)}, report, "sites")
    require(suppressed(report) == {"^leak_big$": (5, 5 << 20, 1)}, report, "suppressed")


@each("template", "inline", "new")
def test_proposed_names(t, name):
    """Printed lines match C++ names, whatever characters they contain."""
    _, lines = proposed(t, t.program("cxx", name))
    path = t.tmp / "known"
    path.write_text("\n".join(lines))
    program = t.program("cxx", name)
    memleak = t.attach(program, "--suppressions", path)
    program.go()
    report = memleak.stop()
    require(lines and report["sites"] == [], report, f"left by {lines}")
    require(all(entry["sites"] for entry in report["suppressed"]), report, "takes nothing")


def test_proposed_json(t):
    program = t.program("leak")
    memleak = t.attach(program, "--gen-suppressions")
    program.go()
    report = memleak.stop()
    require([site["suppression"] for site in report["sites"]] == ["^leak_big$", "^leak_small$"],
            report, "patterns")


@each("nothing", "the_head", "what_hangs")
def test_proved(t, value):
    """
    A suppressed definite block is not a loss, and blocks reachable from it are left out with it, as
    in LeakSanitizer. If only the reachable block is suppressed, the definite block is still lost.
    """
    patterns = {"nothing": (), "the_head": ("^cut_node$",), "what_hangs": ("^cut_leaf$",)}[value]
    memleak = t.command(t.file_of("prove_shapes"), "tree_that_was_cut",
                        options=("--prove", "--error-exitcode", "9", "--suppressions",
                                 rules(t, *patterns)))
    memleak.send(GO)
    report = memleak.finish(code=0 if value == "the_head" else 9)
    left = {owner(site): site["reach"] for site in report["sites"]}
    require(("cut_node" in left) == (value != "the_head"), report, "the head")
    require(("cut_leaf" in left) == (value == "nothing"), report, "what hangs from it")
    require(any(reach["lost"]["count"] for reach in left.values()) == (value != "the_head"),
            report, "what is lost")
