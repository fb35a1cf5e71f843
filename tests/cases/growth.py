# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on functions whose growth is known."""

import os
import re
import shutil
import signal
import subprocess

from lib import Failure, each, owner, sample, slow, timeout, wanted
from lib.http import address_of, scrape
from lib.process import PATIENCE

from .record import last_report, offline

SECONDS = 40


def judged(sites):
    """Returns trends by function, for the program's functions."""
    return {owner(site): site["trend"] for site in sites}


def bytes_of(report, name):
    return sum(site["bytes"] for site in report["sites"] if owner(site) == name)


def check_rate(reports, name, bytes_of=bytes_of):
    """
    Requires that a suspect's rate in the last report fits its bytes in all reports, and that none
    of its blocks was freed. On a slow machine, the program itself is slow.
    """
    seen = [(report["elapsed_ns"] / 1e9, bytes_of(report, name)) for report in reports]
    seen = [(at, size) for at, size in seen if size]
    (begin, before), (end, after) = seen[0], seen[-1]
    suspect = next(site for site in reports[-1]["suspects"] if owner(site) == name)
    rate = (after - before) / (end - begin)
    if not 0.7 * rate <= suspect["bytes_per_s"] <= 1.4 * rate:
        raise Failure(f"{name} grows by {rate:.0f} bytes/s: {suspect}")
    wanted(f"freed of {name}", suspect["trend"]["freed"], 0)


@slow
@timeout(180)
def test_verdicts(t):
    """Leaks of three speeds and one that begins late, beside a cache, churn, and a sawtooth."""
    program = t.program("growing", str(SECONDS))
    facts = program.truth.facts
    output = t.tmp / "reports"  # a file, as nothing reads a pipe while the program runs
    memleak = t.attach(program, "-o", "500", "--output", output, interval="3", output=output)
    program.go(SECONDS + 2 * PATIENCE)
    report = memleak.stop()
    known = judged(report["sites"])
    suspects = list(judged(report["suspects"]))
    if suspects != facts["grows"]:
        missing = {name: known.get(name) for name in facts['grows'] if name not in suspects}
        raise Failure(f"suspects {suspects}, without {missing}; {report.get('untraced')}")
    for name in facts["grows"]:
        check_rate(memleak.reports, name)
    for name in facts["stays"]:
        if known[name]["tendency"] in ("steady", "steps") and known[name]["score"]["total"] > 0.4:
            raise Failure(f"{name} does not grow: {known[name]}")
    if not known["churn"]["freed"]:
        raise Failure(f"nothing of churn was freed: {known['churn']}")
    wanted("freed of set_up", known["set_up"]["freed"], 0)


@slow
@timeout(120)
def test_words(t):
    """The verdict comes first and names function, line and rate."""
    path = t.tmp / "recording"
    program = t.program("growing", str(SECONDS))
    memleak = t.memleak("-p", str(program.pid), "-T", "1", "--why", "--record", path, "1").ready()
    program.send()
    pattern = re.compile(r"^▲ (?:a leak is likely: )?fast_leak \S*growing\.c:\d+"
                         r"(?:, called by \S.*,) grows (\d+\.\d) KiB/s, steadily for \d+ s; none of "
                         r"\d+ blocks freed\n(?:\S.*\n)*\n", re.M)
    memleak.wait_for("the verdict", lambda: pattern.search(memleak.out.text), 2 * PATIENCE)
    memleak.stop()
    rate = judged(last_report(t, path)["suspects"])["fast_leak"]["bytes_per_s"]
    wanted("rate", pattern.findall(memleak.out.text)[-1], f"{rate / 1024:.1f}")
    if not re.search(r"^    \(why: .*trend at .* blocks, \d+ freed .*: a leak, score (0\.9\d|1\.00)",
                     memleak.out.text, re.M):
        raise Failure(f"{memleak.out.text!r}")


VERDICT = re.compile(r"^(?:[?] too early to say what grows: .*|= nothing seems to leak: .*|"
                     r"[?] no leak found(?: yet)?, but .*|▲ a leak is likely: .*/s.*)$", re.M)


@slow
@timeout(120)
def test_few_reports(t):
    """Three reports are enough if they take 15 s, as verdicts also use samples in between."""
    path = t.tmp / "recording"
    program = t.program("growing", str(SECONDS))
    memleak = t.memleak("--record", path, "-p", str(program.pid), "5", "3").ready()
    program.send()
    memleak.finish()
    verdicts = [VERDICT.findall(text)
                for text in re.split(r"traced for \d+ s: ", memleak.out.text)[1:]]
    if len(verdicts) != 3 or not all(verdicts):
        raise Failure(f"a report has no verdict: {verdicts}")
    if "a leak is likely" not in verdicts[2][0] or \
            not re.search(r"^▲ (?:a leak is likely: )?fast_leak ", memleak.out.text, re.M):
        raise Failure(f"the last verdict is {verdicts}: {memleak.out.text}")
    again = offline(t, "report", "--all", path).decode()
    wanted("verdicts of the recording",
           [VERDICT.findall(text) for text in re.split(r"traced for \d+ s: ", again)[1:]], verdicts)


def advice(t, option):
    """Returns how reports advise an option that memleak refuses together with --agent."""
    return f"another run with {option}" if t.agent else option


@slow
@timeout(120)
def test_nothing_outstanding(t):
    """There is a verdict even if nothing is outstanding."""
    program = t.program("leak")
    memleak = t.memleak("-p", str(program.pid), "2.5", "6").ready()
    memleak.finish()
    verdicts = [VERDICT.findall(text)
                for text in re.split(r"traced for \d+ s: ", memleak.out.text)[1:]]
    if len(verdicts) != 6 or any(len(lines) != 1 for lines in verdicts):
        raise Failure(f"not one verdict in each of six reports: {memleak.out.text}")
    wanted("the last verdict", verdicts[-1], ["= nothing seems to leak: nothing is outstanding; "
                                              f"kernel memory is not traced ({advice(t, '-K')})"])


@slow
@timeout(120)
@each("audit", "prepare")
def test_spread(t, culprit):
    """
    A leak on thousands of stacks is one line with the total rate. Functions that also allocate
    blocks which are freed are not accused.
    """
    program = t.program("spread", *["kept"] * (culprit == "prepare"))
    memleak = t.attach(program, "-T", "9", interval="1")
    program.send()
    memleak.wait_for("a suspect with many paths", lambda: memleak.take() and any(
        suspect["paths"] >= 1000 for suspect in memleak.reports[-1]["suspects"]), 2 * PATIENCE)
    report = memleak.stop()
    wanted("suspects", [site["stack"][site["culprit"]]["symbol"] for site in report["suspects"]],
           [culprit])
    suspect = report["suspects"][0]
    # The number of blocks of lend() and query() does not grow.
    check_rate(memleak.reports[1:], owner(suspect),
               lambda report, _: report["outstanding"]["bytes"])
    wanted("paths", suspect["paths"], report["suspects_total"])


@slow
@timeout(120)
def test_templates(t):
    """Instances of a function template are one suspect with the total rate, in metrics as well."""
    program = t.program("templates")
    memleak = t.memleak("-T", "1", "--listen", "0", "-p", str(program.pid), "2").ready()
    program.send()
    pattern = re.compile(r"^▲ a leak is likely: handler<\.\.\.>::remember \S*templates\.cpp:\d+"
                         r"(?:, called by remember<\.\.\.>,)? grows (\d+\.\d) KiB/s, steadily "
                         r"for \d+ s, 60 paths$", re.M)
    memleak.wait_for("the verdict", lambda: pattern.search(memleak.out.text), 2 * PATIENCE)
    metrics = scrape(address_of(memleak))
    wanted("verdict", metrics.value("memleak_verdict", verdict="grows"), 1)
    (labels, rate), = metrics.samples["memleak_suspect_growth_bytes_per_second"]
    wanted("function", labels["function"], "handler<...>::remember")
    shown = 1024 * float(pattern.findall(memleak.out.text)[-1])
    if not 0.8 * shown <= rate <= 1.25 * shown:  # there may be another report between
        raise Failure(f"{rate} in metrics, {shown} in text")
    memleak.stop()


@slow
@timeout(120)
@each("libraries", "stripped", "workers")
def test_copies(t, what):
    """
    One function is one suspect with the total rate, in copies of a library and in workers that
    have names of their own.
    """
    libraries = [t.tmp / f"copy-{i}.so" for i in range(12)] if what != "workers" else []
    for library in libraries:
        shutil.copy(t.file_of("libplugin.so"), library)
        if what == "stripped":
            subprocess.run(["strip", "--strip-debug", library], check=True)
    program = t.program("copies", *libraries)
    memleak = t.memleak("--json", *["-f"] * (what == "workers"), "-p", str(program.pid), "1").ready()
    program.send()
    memleak.wait_for("a suspect", lambda: memleak.take() and memleak.reports[-1]["suspects"], 2 * PATIENCE)
    report = memleak.fresh_report()
    wanted("functions", [owner(suspect) for suspect in report["suspects"]],
           ["plugin_leak" if libraries else "remember"])
    wanted("all paths", report["suspects"][0]["paths"], report["sites_total"])


@slow
@timeout(240)
def test_copies_in_turn(t):
    """A plugin that leaks is copied and loaded again and again: its function is one suspect."""
    libraries = [t.tmp / f"copy-{i}.so" for i in range(10)]
    for library in libraries:
        shutil.copy(t.file_of("libplugin.so"), library)
    program = t.program("copies", "in-turn", *libraries)
    memleak = t.memleak("--json", "-p", str(program.pid), "1").ready()
    program.send()
    memleak.wait_for("eight copies, of five sites each", lambda: memleak.take() and
                     memleak.reports[-1]["sites_total"] > 8 * 5, 2 * PATIENCE)
    blamed = {suspect["stack"][suspect["culprit"]]["symbol"]
              for suspect in memleak.reports[-1]["suspects"]}
    wanted("functions", blamed - {"work_of"}, {"plugin_leak"})  # dlopen() allocates, too
    memleak.stop()


@slow
@timeout(120)
def test_arrays(t):
    """A constantly reallocated array keeps its age, and its growth is noticed."""
    program = t.program("arrays")
    memleak = t.attach(program, interval="1")
    program.send()
    memleak.wait_for("two suspects", lambda: memleak.take() and
                     len(memleak.reports[-1]["suspects"]) == 2, 2 * PATIENCE)
    report = memleak.stop()
    wanted("suspects", sorted(judged(report["suspects"])), ["grow_large", "grow_small"])
    for name in ("grow_large", "grow_small"):
        check_rate(memleak.reports, name)


@slow
@each("score", "growth")
def test_sort(t, order):
    """Growing sites come before larger ones."""
    program = t.program("growing", str(SECONDS))
    memleak = t.attach(program, "--sort", order, interval="0.5")
    program.send()

    def first():
        return {owner(report["sites"][0]) for report in memleak.take() if report["suspects"]}

    memleak.wait_for("a growing site", lambda: first() & {"fast_leak", "cache_fill"}, 2 * PATIENCE)
    memleak.stop()


def test_ages(t):
    """Each block is in the class of its age."""
    program = t.program("leak")
    memleak = t.attach(program)
    for _ in range(3):
        program.go()
        memleak.ask()
    report = memleak.stop()
    for site in report["sites"]:
        ages = site["ages"]
        wanted("blocks", sum(age["count"] for age in ages), site["count"])
        wanted("bytes", sum(age["bytes"] for age in ages), site["bytes"])
        oldest, newest = max(age["from_ns"] for age in ages), min(age["from_ns"] for age in ages)
        if not oldest <= site["oldest_ns"] < max(2 * oldest, 10**6):
            raise Failure(f"oldest {site['oldest_ns']}: {ages}")
        if not newest <= site["newest_ns"] < max(2 * newest, 10**6):
            raise Failure(f"newest {site['newest_ns']}: {ages}")


def test_freed(t):
    """Shows what was freed since the last report."""
    program = t.program("leak")
    memleak = t.attach(program)
    program.go()
    first = memleak.ask()
    program.go()
    program.go()  # frees all earlier blocks
    memleak.ask()
    report = memleak.stop()
    held = {site["id"]: site for site in first["sites"]}
    for site in report["sites"]:
        trend = site["trend"]
        if site["id"] in held and trend["seen"] - trend["freed"] != site["count"]:
            raise Failure(f"{trend} of {site['count']} blocks")


@sample(2)
@slow
@timeout(120)
@each("shared", "files", "descriptors", "threads", "children", "zombies", "anonymous", "used",
      "unmapped", "unread", "timers", "queues", "mappings", "nothing", "children.-f", "zombies.-f")
def test_untraced(t, way):
    """Untraced memory that grows is reported by kind and rate; without growth there is no line."""
    what, *options = way.split(".")
    apart = what == "queues"  # queues end with their namespace
    program = t.program("untraced", what, wrapper=("unshare", "-i") if apart else ())
    most = int(program.truth.facts["grows"][0])
    inside = ("nsenter", f"--ipc=/proc/{program.pid}/ns/ipc") if apart else ()
    memleak = t.memleak("--json", *options, "-p", str(program.pid), "1", wrapper=inside).ready()
    program.send()
    report = memleak.report_number(14)
    growths = report.get("untraced", [])
    parts = [growth["part"] for growth in growths]
    if what in ("shared", "files"):  # each piece is also a mapping
        parts = [part for part in parts if part != "mappings"]
    wanted("parts", parts, [{"unread": "sockets"}.get(what, what)] if most else [])
    if most and not 0 < growths[0]["per_s"] <= 1.1 * most:
        raise Failure(f"{what} grows by {most}/s at most: {growths}")
    if what == "files" and report["memory"]["files"] < 4 * report["memory"]["shared"]:
        raise Failure(f"mapped files are not shared memory: {report['memory']}")


@slow
@timeout(120)
def test_objects(t):
    """
    If untraced memory of java grows, the verdict names the command that counts its objects, and says how
    much it can still grow.
    """
    path = shutil.copy(t.file_of("untraced"), t.tmp / "java")
    program = t.program("untraced", "anonymous", path=path)
    memleak = t.memleak("-p", str(program.pid), "1", "14").ready()
    program.send()
    memleak.finish()
    if not re.search(r"^▲ anonymous memory \(RSS and swap\) grows .* since the start, in mappings with room for "
                     r"\d\S* [MG]iB more; java objects may grow there, to see which: jcmd PID GC.class_histogram$",
                     memleak.out.text, re.M):
        raise Failure(memleak.out.text)


@slow
@timeout(120)
@each("shared", "descriptors", "timers", "copied", "orphan")
def test_all_clear(t, what):
    """"Nothing seems to leak" is printed only if the kernel's figures of the process agree."""
    program = t.program("untraced", what)
    # On a busy machine, a copy may get older than the default of 500 ms.
    older = ("-o", "5000") if what == "copied" else ()
    memleak = t.memleak(*older, "-p", str(program.pid), "5", "3").ready()
    program.send()
    memleak.finish()
    last = re.split(r"traced for \d+ s: ", memleak.out.text)[-1]
    clear = "nothing seems to leak" in last
    lines = {
        "shared": r"^▲ shared memory grows [\d.]+ MiB/s for \d+ s and is not traced: " + advice(t, "-K"),
        "descriptors": r"^▲ the number of open descriptors grows [\d.]+/s for \d+ s: "
                       + advice(t, "--fds shows"),
        "timers": r"^▲ the number of POSIX timers grows [\d.]+/s for \d+ s: strace -k -e timer_create -p \d+ shows",
        "copied": r"^\? not known yet whether memory leaks: the largest heap block younger than --older "
                  r"grows [\d.]+ [KM]iB/s for \d+ s: -o 0 shows it$",
    }
    grows = what in lines and re.search(lines[what], last, re.M) is not None
    note = r"\d+ process(es)? of the same program whose parents? (has|have) ended (is|are) not traced \(--comm"
    noted = re.search(note, last) is not None
    if (clear, grows) != ((False, True) if what in lines else (noted, False)):
        raise Failure(f"the last report is {last}")


@slow
@timeout(120)
@each(("all",), ("sampled", "--sample-bytes", "64k"))
def test_copied(t, way):
    """No all-clear is given while a block is replaced by larger copies before it is old enough."""
    program = t.program("untraced", "copied")
    memleak = t.attach(program, "-o", "5000", *way[1:], interval="1")
    program.send()
    report = memleak.report_number(14)
    wanted("verdict and undecided", (report["verdict"], report["undecided"]), ("unknown", 1))
    wanted("untraced", report.get("untraced", []), [])


@slow
def test_left_segments(t):
    """No all-clear is given while children leave System V segments behind."""
    program = t.program("untraced", "segments", wrapper=("unshare", "-i"))
    inside = ("nsenter", f"--ipc=/proc/{program.pid}/ns/ipc")  # the segments end with it
    memleak = t.memleak("--json", "-p", str(program.pid), "1", wrapper=inside).ready()
    program.send()
    wanted("verdict", memleak.report_number(14)["verdict"], "unknown")


@slow
def test_trifle(t):
    """
    A function that leaks a few bytes is not named while memory grows that no function is named for.
    """
    program = t.program("untraced", "trifle")
    memleak = t.attach(program, interval="1")
    program.send()
    report = memleak.report_number(14)
    wanted("suspects", [owner(suspect) for suspect in report["suspects"]], [])
    wanted("the report judges", report["verdict"] in ("unknown", "untraced"), True)


def test_copied_named(t):
    """With -o 0, the function that copies is in the reports."""
    program = t.program("untraced", "copied")
    memleak = t.attach(program, "-o", "0", interval="0.3")
    program.send()
    while "copy_larger" not in judged(memleak.fresh_report()["sites"]):
        pass


def test_stopped(t):
    """While the process is stopped, nothing is judged."""
    program = t.program("untraced", "nothing")
    memleak = t.memleak("--json", "-p", str(program.pid), "1").ready()
    os.kill(program.pid, signal.SIGSTOP)
    memleak.fresh_report()
    wanted("stopped", memleak.fresh_report()["verdict"], "unknown")
    os.kill(program.pid, signal.SIGCONT)
    memleak.fresh_report()
    wanted("continued", memleak.fresh_report()["verdict"], "early")
