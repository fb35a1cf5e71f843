# SPDX-License-Identifier: GPL-2.0-or-later
"""
Proofs: which blocks are still pointed to? Each scene of tests/programs/prove_* knows the kinds of
its blocks; tests/PROOF.md lists the scenes and the results of other tools.
"""

import os
import re
import shutil
import signal
from fnmatch import fnmatch
from pathlib import Path

from lib import Failure, Skip, each, frames_of, nightly, once, sample, slow, untraced, wanted
from lib.expect import fail, part_of, plain
from lib.fuse import Fuse
from lib.leak_tools import GO, add, run_lsan, run_valgrind, truth_of
from lib.memleak import children_of
from lib.process import ROOT

from .record import last_report

SOURCES = sorted((ROOT / "tests/programs").glob("prove_*.c*"))
SCENE = re.compile(r"^SCENE\((\w+)\)", re.M)
# Pairs (name of the scene, program).
SCENES = [(scene, source.stem) for source in SOURCES
          for scene in SCENE.findall(source.read_text(encoding="utf-8"))]
LOST = ("definite", "indirect")
KINDS = (*LOST, "possible", "reachable")


def names_of(site):
    return [plain(frame["symbol"]) for frame in frames_of(site) if frame["symbol"]]


def found_by_memleak(report, makers):
    """Returns {(function, kind): (count, bytes)} of the scene's functions, and of all others."""
    sums, others = {}, {}
    for site in report["sites"]:
        if site["kind"] != "heap":
            continue
        names = names_of(site)
        if not site["reach"]:
            fail(report, f"nothing was proved of {names}")
        for kind in KINDS:
            of = site["reach"][kind]
            if not of["count"]:
                continue
            if makers.isdisjoint(names):
                others[names[0] if names else "?", kind] = (of["count"], of["bytes"])
            else:
                add(sums, makers, names, kind, of["count"], of["bytes"])
    return sums, others


def compare(tool, sums, right):
    """Requires exactly the expected sums of every kind and function."""
    unknown = {function for function, kind in right if kind is None}
    sums = {key: value for key, value in sums.items() if key[0] not in unknown}
    right = {key: value for key, value in right.items() if key[0] not in unknown}
    if sums == right:
        return
    text = f"{tool} says otherwise:"
    for key in sorted({*sums, *right}):
        if sums.get(key) != right.get(key):
            text += f"\n  {key} {sums.get(key)}, expected {right.get(key)}"
    raise Failure(text)


def check_report(report, truth, *tools):
    check_totals(report, check_sites(report, truth, *tools))


def check_sites(report, truth, *tools):
    """Returns the sums of the scene's functions."""
    sums, others = found_by_memleak(report, truth.makers)
    compare("memleak", sums, truth.kinds_by("memleak", *tools))
    lost = {key: value for key, value in others.items() if key[1] in LOST}
    if lost:
        fail(report, f"lost, though no scene has planted it: {lost}")
    proof = report["proof"]
    if proof["unproved"] or not proof["method"]:
        fail(report, f"the proof says {proof}")
    return sums


def check_totals(report, *sums):
    for kind in LOST:
        count = sum(of[0] for one in sums for key, of in one.items() if key[1] == kind)
        if report["proof"][kind]["count"] != count:
            fail(report, f"the proof says {report['proof'][kind]} in all, sites {count} {kind}")


def is_named(site):
    """
    True if the site has symbols; on a busy machine they may come later. A stripped library has
    none.
    """
    return all(frame["symbol"] or
               any(library in (frame["module"] or "") for library in ("libstdc++", "ld-linux"))
               for frame in frames_of(site)[:1])


def is_judged(report):
    """True if all blocks are judged; blocks younger than a few kernel clock ticks are not."""
    return all(site["reach"] and
               sum(site["reach"][kind]["count"] for kind in KINDS) == site["count"]
               for site in report["sites"] if site["kind"] == "heap")


def is_proved(report):
    return is_judged(report) and all(is_named(site) for site in report["sites"]
                                     if site["kind"] == "heap")


def next_proof(memleak, method=None):
    """
    Returns a report that covers every block that exists now. Memory is copied before the tables are
    read, so the first report after now may show an older state. method: how the copy must be made.
    """
    memleak.fresh_report()
    report = memleak.fresh_report()
    while not is_proved(report) or method not in (None, report["proof"]["method"]):
        report = memleak.fresh_report()
    return report


def prove(t, scene, program, *words, method=None):
    """Checks every stage of a scene."""
    running = t.program(program, scene, *words)
    memleak = t.attach(running, "--prove", "--no-default-suppressions", interval="0.1")
    truth = running.go()
    check_report(next_proof(memleak, method), truth)
    while "stage" in truth.facts:
        truth = running.go()
        check_report(next_proof(memleak, method), truth)
    memleak.stop()
    running.finish()


AT_ONCE = 12  # scenes for one memleak


def go_all(programs):
    """Lets programs go on; ends those whose scene this machine lacks, and returns the others."""
    gone = []
    for program in programs:
        try:
            program.go()
            gone.append(program)
        except Skip:
            program.end()
    return gone


@sample(2)
@each(*((str(first), SCENES[first:first + AT_ONCE]) for first in range(0, len(SCENES), AT_ONCE)))
def test_scenes(t, value):
    """All that test_kinds does, with fewer memleaks."""
    programs = [t.program(program, scene) for scene, program in value[1]]
    memleak = t.attach(programs, "--prove", "--no-default-suppressions", interval="0.1")
    goes_on = programs = go_all(programs)
    while goes_on:
        report = next_proof(memleak)
        check_totals(report, *(check_sites(part_of(report, program), program.truth)
                               for program in programs))
        goes_on = go_all([one for one in goes_on if "stage" in one.truth.facts])
    memleak.stop()


@nightly
@each(*SCENES)
def test_kinds(t, value):
    """memleak alone, while the program waits."""
    prove(t, *value)


@slow
@sample(12, 1)
@each(*SCENES)
def test_copied(t, value):
    """
    A copy while one thread runs. On a busy machine copying may fail; then threads are stopped.
    """
    prove(t, *value, "busy", method="clone")


def test_copy_is_no_orphan(t):
    """No report counts the copy of a process as a process of the same program."""
    scene, program = SCENES[0]
    running = t.program(program, scene, "busy")
    memleak = t.memleak("--prove", "-p", str(running.pid), "1", "4").ready()
    running.go()
    memleak.finish()
    if "of the same program" in memleak.out.text:
        raise Failure(memleak.out.text)


def test_relocated(t):
    """Blocks that moved after memory was copied are not lost."""
    running = t.program("relocated")
    memleak = t.attach(running, "--prove", "--older", "0", interval="0.1")
    running.go()
    running.send()
    judged = 0
    for _ in range(20):
        report = memleak.fresh_report()
        proof = report["proof"]
        if any(proof[kind]["count"] for kind in LOST):
            fail(report, f"lost, though all are held: {proof}")
        judged += proof["reachable"]["count"]
    if not judged:
        raise Failure("no block was judged in any report")
    memleak.stop()
    running.finish()


@slow
@sample(12, 3)
@each(*SCENES)
def test_at_the_end(t, value):
    """A command is checked when it ends: its frames are in use, nothing was freed."""
    scene, program = value
    memleak = t.command(t.file_of(program), scene,
                        options=("--prove", "--no-default-suppressions"))
    memleak.send(GO)
    report = memleak.finish()
    check_report(report, truth_of(memleak.out.text), "end")
    if report["verdict"] == "unknown":
        raise Failure("no verdict, although only the proof stops the command")


@each(("chains_of_begins", "case4_a", "case4_b"), ("circle_with_head", "above_ring", "*_ring"))
def test_suppressed(t, value):
    """
    Blocks reachable from a suppressed lost block are left out with it, as in LeakSanitizer; also if
    a recording has all blocks.
    """
    scene, head, rest = value
    path, rules, recording = t.file_of("prove_shapes"), t.tmp / "known", t.tmp / "recording"
    rules.write_text(f"leak:^{head}$\n", encoding="utf-8")
    views = ("--no-default-suppressions", "--suppressions", rules)
    memleak = t.command(path, scene, options=("--prove", "--record", recording, *views))
    memleak.send(GO)
    report = memleak.finish()
    truth = truth_of(memleak.out.text)
    right = {key: value for key, value in truth.kinds_by("memleak", "end").items()
             if not fnmatch(key[0], rest) and key[0] != head}
    sums, _ = found_by_memleak(report, truth.makers)
    compare("memleak", sums, right)
    check_totals(report, sums)
    hidden = [of for key, of in truth.kinds_by("memleak").items()
              if fnmatch(key[0], rest) or key[0] == head]
    wanted("suppressed", report["suppressed"],
           [{"pattern": f"^{head}$", "count": sum(count for count, _ in hidden),
             "bytes": sum(size for _, size in hidden), "sites": len(hidden)}])
    again = last_report(t, *views, recording)
    for key in ("sites", "proof", "suppressed", "outstanding"):
        wanted(f"{key} of the recording", again[key], report[key])
    _, sums = run_lsan(path, scene, f"suppressions={rules}", "print_suppressions=0")
    compare("LeakSanitizer", sums, {key: of for key, of in right.items() if key[1] in LOST})


@sample(2, 1)
@each("arena", "heap", "arena_frame", "heap_frame")
def test_held(t, way):
    """Shows the holders of blocks if everything that leads to them is older than memleak."""
    running = t.program("held", way)
    holder = " ".join(running.truth.facts["holder"])
    memleak = t.attach(running, "--prove", interval="0.1")
    running.go()
    report = next_proof(memleak)
    site, = (site for site in report["sites"] if "new_value" in names_of(site))
    chain = [re.sub(r"\bthread \d+", "thread N", re.sub(r"\.c:\d+", ".c", link))
             for link in site["held_by"]]
    wanted("who holds", chain, [holder, "an untracked block × 3"])
    memleak.stop()
    running.finish()


def test_held_few(t):
    """For a lost site, the holders of its few held blocks are not shown."""
    memleak = t.command(t.file_of("prove_shapes"), "one_is_held", options=("--prove",))
    memleak.send(GO)
    site, = memleak.finish()["sites"]
    wanted("blocks", (site["reach"]["definite"]["count"], site["reach"]["reachable"]["count"]),
           (9, 1))
    wanted("who holds", site["held_by"], [])


@slow
def test_hung_program(t):
    """Variables of a program hold blocks although the file system of its file does not answer."""
    (t.tmp / "files").mkdir()
    path = Path(shutil.copy(t.file_of("prove_places"), t.tmp / "files"))
    with Fuse(path.parent, t.tmp / "mount") as fuse:
        running = t.program("prove_places", "globals", path=t.tmp / "mount" / path.name)
        memleak = t.attach(running, "--prove", "--no-default-suppressions", interval="0.1")
        running.go()
        fuse.hang()
        memleak.fresh_report()
        report = memleak.fresh_report()
        while not is_judged(report):
            report = memleak.fresh_report()
        fuse.resume()
        memleak.stop()
        running.finish()
    check_totals(report)
    wanted("held blocks", report["proof"]["reachable"]["count"] >= 3, True)


def is_full(report):
    """True if every block is old enough to be judged."""
    return all(site["reach"] for site in report["sites"] if site["kind"] == "heap")


PYTHON = """
import sys
class Server:
    def __init__(self):
        self.name, self.cache = "server", {}
server, cache = Server(), {}
print("ready", flush=True)
sys.stdin.read(1)
for i in range(60000):
    WHERE[i] = str(i)
print("full", flush=True)
sys.stdin.read(1)
"""


@slow
@each("pymalloc", "malloc", "attribute")
def test_held_by_script(t, way):
    """The holder is a python script's variable, or an attribute of a class."""
    where = "server.cache" if way == "attribute" else "cache"
    program = t.process(["/usr/bin/python3", "-c", PYTHON.replace("WHERE", where)],
                        env={"PYTHONMALLOC": "malloc" if way == "malloc" else "pymalloc"})
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.attach(program, "--prove", interval="0.1")
    program.send()
    program.wait_for("all objects", lambda: b"full" in program.out.data)
    holder = None
    while not holder or not holder.startswith("variable"):  # names are looked up for a limited time
        report = memleak.fresh_report()
        if is_full(report):
            table = max((site for site in report["sites"] if site["kind"] == "heap"),
                        key=lambda site: site["bytes"] / site["count"])
            holder = table["held_by"][0]
    name = "Server.cache" if way == "attribute" else "__main__.cache"
    wanted("who holds", holder, f"variable {name} (likely)")
    memleak.stop()
    program.send()
    program.wait()


def running_command(memleak, path):
    """Returns the process that memleak has started with this program."""
    return next(pid for pid in children_of(memleak.pid)
                if os.path.samefile(f"/proc/{pid}/exe", path))


@sample(2)
@each(*((f"{scene}_{name}", name, scene) for name in ("SIGKILL", "SIGABRT")
        for scene in ("thread_that_holds_nothing", "callee_saved_register")))
def test_killed(t, value):
    """A command ended by a signal, with threads asleep."""
    number, scene = getattr(signal, value[1]), value[2]
    if scene not in dict(SCENES):
        raise Skip("the scene is of another machine")
    path = t.file_of("prove_threads")
    memleak = t.command(path, scene, options=("--prove", "--no-default-suppressions"))
    memleak.send(GO[:1])
    memleak.wait_for("the scene", lambda: memleak.out.text.count("ready\n") == 2)
    os.kill(running_command(memleak, path), number)
    report = memleak.finish(code=128 + number)
    check_report(report, truth_of(memleak.out.text), "end")


def test_end_that_nobody_saw(t):
    """If a command could not be held at its end, memleak says that nothing is known."""
    path = t.file_of("prove_threads")
    memleak = t.command(path, "thread_that_holds_nothing",
                        options=("--prove", "--error-exitcode", "9"))
    memleak.send(GO[:1])
    memleak.wait_for("the scene", lambda: memleak.out.text.count("ready\n") == 2)
    tracer, = (pid for pid in children_of(memleak.pid)
               if Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") == "memleak tracer\n")
    os.kill(tracer, signal.SIGKILL)
    memleak.send(GO[1:])
    report = memleak.finish(code=1)
    wanted("processes", (report["proof"]["processes"], report["proof"]["unproved"]), (1, 1))


def known_to_lsan(truth):
    return {key: value for key, value in truth.kinds_by("lsan").items() if key[1] in (*LOST, None)}


@once
@slow
@sample(24)
@each(*SCENES)
def test_agreement(t, value):
    """memleak, valgrind and LeakSanitizer give the expected results for the same program."""
    scene, program = value
    path = t.file_of(program)
    truth, sums = run_valgrind(path, scene, t.tmp)
    compare("valgrind", sums, truth.kinds_by("valgrind"))
    truth, sums = run_lsan(path, scene)
    compare("LeakSanitizer", sums, known_to_lsan(truth))
    prove(t, scene, program)


@untraced
@once
def test_table(_):
    """tests/PROOF.md has exactly one row for each scene."""
    text = (ROOT / "tests/PROOF.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)} - {"sbrk"}
    scenes = {scene for scene, _ in SCENES}
    wanted("scenes without a row", sorted(scenes - named), [])
    wanted("rows without a scene", sorted(named - scenes), [])
