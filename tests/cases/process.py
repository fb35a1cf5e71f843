# SPDX-License-Identifier: GPL-2.0-or-later
"""fork, exec, exit, several processes, and libraries that are loaded and unloaded."""

import os
import pathlib
import re
import signal
import struct
import subprocess
import time

from lib import (AFTER_EXEC, ROOT, Failure, alone, culprit, each, expect, owner,
                 pitfall, sample, slow, timeout)
from lib.context import FOREVER
from lib.links import attach
from lib.process import until
from lib.memleak import children_of, helpers_of, living
from lib.program import Truth


@pitfall(15)
@each("fork", "fork_and_stay", "vfork", "spawn", "exec", "exec_fails")
def test_process(t, name):
    program = t.program("process", name)
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth, may_lose=AFTER_EXEC if name == "exec" else ())
    if any(site["pid"] != program.pid for site in report["sites"]):
        raise Failure("a site of another process")


@pitfall(15)
def test_exec_from_thread(t):
    """exec in a thread: the leader is another task afterwards; what is missed is counted."""
    program = t.program("process", "exec_from_thread")
    memleak = t.attach(program, interval="0.2")
    first = program.go()
    report = memleak.fresh_report()
    missed = first.count - report["outstanding"]["count"]
    if not 0 <= missed <= first.count or missed and not report["lost"].get("exec"):
        raise Failure(f"{missed} blocks are neither reported nor counted as lost")
    truth = program.go()
    truth.sites["second_alloc", "heap"] = (10 - missed, (10 - missed) * 32)
    expect(memleak.stop(), truth, may_lose=(*AFTER_EXEC, "exec"))


@pitfall(15)
def test_exec_is_no_end(t):
    """No final report at exec; reports before and after it, and one final report at the exit."""
    program = t.program("process", "exec")
    memleak = t.attach(program, interval="0.2")
    memleak.report_number(0)
    truth = program.go()
    report = memleak.fresh_report()
    expect(report, truth, may_lose=AFTER_EXEC)
    truth = program.go()
    program.finish()
    expect(memleak.finish(), truth, may_lose=AFTER_EXEC)


@pitfall(12)
def test_exec_of_another_libc(t):
    """
    The new program has its allocator in another file, which is found and probed soon after exec.
    """
    path = t.file_of("again_musl")
    program = t.program("sh", "-c", 'read x; exec "$0"', path, path="/bin/sh", ready=False)
    memleak = t.attach(program, interval="0.1")
    program.send(b"\n")
    program.ready()

    def seen():
        program.go()
        return any(owner(site) == "again_alloc" for site in memleak.fresh_report()["sites"])

    begin = time.monotonic()
    if not until(seen):
        raise Failure("the new program's allocator is never seen")
    t.figure("until the new program's allocator is seen", time.monotonic() - begin, "s", 10)
    memleak.stop()


@pitfall(15)
def test_two_processes(t):
    """Two processes of one program have equal addresses: their blocks are kept apart."""
    programs = [t.program("leak_nopie", wrapper=("setarch", "-R")) for _ in range(2)]
    memleak = t.memleak("--json", "-o", "0", "-p", ",".join(str(p.pid) for p in programs),
                        "3600").ready()
    first = programs[0].go()
    programs[1].go()
    second = programs[1].go()
    report = memleak.stop()
    for program, truth in zip(programs, (first, second)):
        own = [site for site in report["sites"] if site["pid"] == program.pid]
        expect({**report, "sites": own, "sites_total": len(own)}, truth)
    if len(report["sites"]) != 4:
        raise Failure(f"{len(report['sites'])} sites of two programs with two each")


def test_one_of_two_ends(t):
    """The run goes on when one of two processes ends."""
    programs = [t.program("leak") for _ in range(2)]
    memleak = t.memleak("--json", "-o", "0", "-p", ",".join(str(p.pid) for p in programs),
                        "0.2").ready()
    programs[0].go()
    programs[0].close_stdin()
    programs[0].wait()
    memleak.fresh_report()
    truth = programs[1].go()
    report = memleak.fresh_report()
    own = [site for site in report["sites"] if site["pid"] == programs[1].pid]
    expect({**report, "sites": own, "sites_total": len(own)}, truth)
    programs[1].close_stdin()
    programs[1].wait()
    memleak.finish()


def test_same_process_twice(t):
    """-p 1,1 is the same as -p 1."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-o", "0", "-p", f"{program.pid},{program.pid}", "-p",
                        str(program.pid), "3600").ready()
    truth = program.go()
    expect(memleak.stop(), truth)


# Exits: in any phase, one final report lists what was outstanding at that moment.

@pitfall(16)
@each("before", "first", "second")
def test_exit(t, name):
    program = t.program("leak")
    memleak = t.attach(program)
    truth = Truth()
    for _ in range(("before", "first", "second").index(name)):
        truth = program.go()
    program.close_stdin()
    program.wait()
    expect(memleak.finish(), truth)


@pitfall(16)
def test_exit_between_reports(t):
    program = t.program("leak")
    memleak = t.attach(program, interval="0.2")
    memleak.report_number(1)
    truth = program.go()
    memleak.fresh_report()
    program.close_stdin()
    program.wait()
    expect(memleak.finish(), truth)


@pitfall(16)
def test_exit_shows_new_blocks(t):
    """The report after the target's end includes new blocks, unless -o was given."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), "3600").ready()
    truth = program.go()
    program.close_stdin()
    expect(memleak.finish(), truth)


def test_exit_with_age_given(t):
    program = t.program("leak")
    memleak = t.memleak("--json", "-o", "60000", "-p", str(program.pid), "3600").ready()
    program.go()
    program.close_stdin()
    if memleak.finish()["outstanding"]["count"]:
        raise Failure("blocks younger than -o are reported")


@pitfall(16)
@each("SIGKILL", "SIGSEGV")
def test_target_killed(t, name):
    program = t.program("leak")
    memleak = t.attach(program)
    truth = program.go()
    program.signal(getattr(signal, name))
    program.wait()
    expect(memleak.finish(), truth)


def test_killed_in_full_flight(t):
    """A process killed while it allocates: the final report is within the possible bounds."""
    program = t.program("churn")
    memleak = t.attach(program, interval="0.1")
    program.go()
    program.send()
    memleak.report_number(2)
    program.signal(signal.SIGKILL)
    program.wait()
    report = memleak.finish()
    if report["outstanding"]["count"] > 20000:
        raise Failure(f"{report['outstanding']} where 20,000 lived")


@sample(2)
@each(*[str(n) for n in range(12)])
def test_exit_while_attaching(t, name):
    """The target ends while memleak starts: no hang, nothing left behind, one clear message."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600")
    memleak.pump(int(name) * 0.01)
    program.signal(signal.SIGKILL)
    program.wait()
    memleak.close_stdin()
    memleak.wait()
    memleak.take()
    memleak.aftermath()
    if memleak.code not in (0, 1):
        raise Failure(f"exit code {memleak.code}")
    if memleak.code == 1 and not memleak.notes.startswith("memleak: "):
        raise Failure(f"no word why: {memleak.notes!r}")
    if memleak.code == 0 and (not memleak.reports or not memleak.reports[-1]["final"]):
        raise Failure("neither a final report nor an error")


def test_memleak_killed(t):
    """After kill -9 of memleak, the probes are gone and the program goes on."""
    program = t.program("leak")
    memleak = t.attach(program)
    if not memleak.ids:
        raise Failure("no BPF program was seen: this case could not fail")
    program.go()
    memleak.look()
    memleak.signal(signal.SIGKILL)
    memleak.wait()
    memleak.aftermath()
    for _ in range(3):
        program.go()
    if program.finish() != 7:
        raise Failure(f"the program's exit code is {program.code}, not 7")


@each("SIGHUP", "SIGINT")
def test_ignored_from_the_start(t, name):
    """SIGHUP stays ignored under nohup; SIGINT ignored by a shell's & is handled."""
    program = t.program("leak")
    memleak = t.attach(program, interval="0.2",
                       wrapper=("sh", "-c", f"trap '' {name[3:]}; exec \"$0\" \"$@\""))
    memleak.fresh_report()
    memleak.signal(getattr(signal, name))
    if name == "SIGINT":
        memleak.finish()
        return
    memleak.fresh_report()
    memleak.fresh_report()
    memleak.stop()


@each("SIGTERM", "SIGHUP")
def test_memleak_terminated(t, name):
    """Other signals end memleak cleanly, too, also under nohup."""
    program = t.program("leak")
    memleak = t.attach(program, wrapper=("env", f"--default-signal={name[3:]}"))
    truth = program.go()
    report = memleak.stop(code=None, number=getattr(signal, name))
    if memleak.code == 0:
        expect(report, truth)
    for _ in range(3):
        program.go()
    if program.finish() != 7:
        raise Failure(f"the program's exit code is {program.code}, not 7")


def slow_object(path):
    """Writes an ELF file with a billion bytes of symbols, which are not stored."""
    cnt = 40_000_000
    sections = [(0, 0, 0, 0), (2, 256, 24 * cnt, 2), (3, 128, 1, 0)]  # type, offset, size, link
    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62 if os.uname().machine == "x86_64" else 183, 1, 0, 0, 256 + 24 * cnt,
        0, 64, 0, 0, 64, len(sections), 2)
    with path.open("wb") as file:
        file.write(header)
        file.seek(256 + 24 * cnt)
        for kind, offset, size, link in sections:
            file.write(struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 8,
                                   24 if kind == 2 else 0))
    return path


def test_asked_to_end_while_searching(t):
    """A signal ends the search of a file that takes long. That is no error."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-O", slow_object(t.tmp / "slow.so"), "-p", str(program.pid),
                        FOREVER)
    memleak.wait_for("the search", lambda: any(
        pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="ascii") == "prober\n"
        for pid in helpers_of(memleak.pid)), every=0.01)
    memleak.stop()
    if "was asked to end before any probe was placed" not in memleak.notes:
        raise Failure(memleak.notes)


def test_probes_are_seen(t):
    """The check for left-over probes sees probes while memleak runs."""
    program = t.program("leak")
    memleak = t.attach(program)
    if not living(memleak.ids):
        raise Failure("no BPF program of memleak's is seen while it runs")
    memleak.stop()


@alone
def test_target_is_never_stopped(t):
    """The target is never stopped or ptraced."""
    program = t.program("churn")
    program.go()
    program.send()
    memleak = t.memleak("--json", "-p", str(program.pid), "0.1")
    seen = set()

    def look():
        with open(f"/proc/{program.pid}/status", encoding="ascii", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file)
        seen.add((fields["State"].split()[0], fields["TracerPid"].strip()))
        return "memleak: tracing" in memleak.notes

    memleak.wait_for("tracing", look, every=0.0005)
    memleak.stop()
    bad = [state for state in seen if state[0] in "tT" or state[1] != "0"]
    if bad:
        raise Failure(f"state and tracer: {bad}")


# Cases about libraries that are loaded and unloaded.

def loader_made(site):
    """True for blocks that dlopen allocates for itself."""
    frames = site["stack"][:2]
    return any(os.path.basename(frame["module"] or "").startswith(("ld-", "libc.so"))
               for frame in frames)


def check_plugin(t, report, truth):
    library = str(t.file_of("libplugin.so"))
    expect(report, truth, ignore=loader_made)
    for site in report["sites"]:
        if owner(site) == "plugin_leak" and culprit(site)["module"] != library:
            raise Failure(f"module {culprit(site)['module']}")


def test_dlopen(t):
    """A library loaded after memleak was attached."""
    program = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    memleak = t.attach(program)
    truth = program.go()
    check_plugin(t, memleak.stop(), truth)


@each("dlopen", "dlopen_static_pie")
def test_dlopened_allocator(t, name):
    """An allocator loaded later is found, although libc has one, too."""
    program = t.program(name, t.file_of("libbump.so"), "alloc")
    memleak = t.attach(program, interval="0.1")
    program.go()

    def seen():
        program.go()
        report = memleak.fresh_report()
        return any(frame["symbol"] == "foreign_alloc"
                   for site in report["sites"] for frame in site["stack"][:2])

    begin = time.monotonic()
    if not until(seen):
        raise Failure("the library's allocator is never seen")
    t.figure("until the library's allocator is seen", time.monotonic() - begin, "s", 1)
    memleak.stop()


def test_dlopened_operator_new(t):
    """A throwing operator new in a library loaded later: calls count once it is probed."""
    program = t.program("dlopen", t.file_of("libown_new.so"), "new")
    memleak = t.attach(program, "-v")
    program.go()
    memleak.wait_for("its probes", lambda: "_Unwind_RaiseException at" in memleak.notes)
    for _ in range(5):
        program.go()
    report = memleak.stop()
    got = [(site["count"], site["bytes"]) for site in report["sites"]
           if any(frame["symbol"] == "foreign_alloc" for frame in site["stack"][:2])]
    if got != [(5, 5 * 56)]:
        raise Failure(f"count and bytes {got}, not [(5, 280)]")


def test_raise_in_later_library(t):
    """A library that raises exceptions is probed, even if it is loaded after what may throw them."""
    source, program = t.tmp / "later.cpp", t.tmp / "later"
    source.write_text("""
#include <cstdio>
#include <dlfcn.h>
int main()
{
	volatile int *p = new int;
	puts("ready");
	fflush(stdout);
	getchar();
	return !dlopen("libgcc_s.so.1", RTLD_NOW) || getchar();
}
""", encoding="ascii")
    subprocess.run(["c++", "-g", "-static-libgcc", "-static-libstdc++", "-o", program, source,
                    ROOT / "tests/programs/own_new.cpp"], check=True)
    target = t.program("later", path=program)
    memleak = t.attach(target, "-v")
    target.send()
    raising = re.compile(r"_Unwind_RaiseException at \S*/libgcc_s\.so")
    memleak.wait_for("its probe", lambda: raising.search(memleak.notes))
    memleak.stop()


@pitfall(16)
def test_dlclose(t):
    """Functions of an unloaded library still have symbols."""
    program = t.program("dlopen", t.file_of("libplugin.so"), "unload")
    memleak = t.attach(program, interval="0.2")
    truth = program.go()
    check_plugin(t, memleak.fresh_report(), truth)
    truth = program.go()
    check_plugin(t, memleak.fresh_report(), truth)
    memleak.stop()


def test_dlclose_at_once(t):
    """A library loaded for less than a millisecond: symbols may be lost, blocks are not."""
    program = t.program("dlopen", t.file_of("libplugin.so"), "fast_unload")
    memleak = t.attach(program)
    program.go()
    report = memleak.stop()
    own = [site for site in report["sites"] if not loader_made(site) and owner(site) != "marker"]
    count, size = sum(site["count"] for site in own), sum(site["bytes"] for site in own)
    if (count, size) != (5, 240):
        raise Failure(f"{count} blocks, {size} bytes, not 5 and 240")


@each("session", "multi", "perf")
def test_main_thread_has_ended(t, kind):
    """The process goes on after its main thread has ended; /proc is read through another thread."""
    program = t.program("leaderless")
    memleak = attach(t, program, kind)
    truth = program.go()
    expect(memleak.stop(), truth)


def start_workers(t, what):
    return t.program("workers", what, f"w{os.getpid()}")


def check_workers(memleak, program, may_lose=()):
    """Checks reports while the worker runs and after its end."""
    for _ in range(2):
        truth = program.go()
        report = memleak.fresh_report()
        expect(report, truth, may_lose=may_lose)
        if any(site["pid"] != program.pid for site in report["sites"]):
            raise Failure("a site of another process")
    memleak.stop()


@sample(2, 1)
@each("session", "multi", "perf", "shape")
def test_workers(t, kind):
    """A process in the memory of another one frees the owner's blocks and allocates for it."""
    program = start_workers(t, "before")
    check_workers(attach(t, program, kind, interval="0.2"), program)


@sample(2)
@each("-f", "--comm", "-C", "-s1")
def test_workers_with(t, option):
    program = start_workers(t, "before")
    given = ["--comm", f"w{os.getpid()}"] if option == "--comm" else [option, "-p", str(program.pid)]
    older = [] if option == "-C" else ["-o", "0"]
    memleak = t.memleak("--json", *older, *given, "0.2").ready()
    check_workers(memleak, program)
    if "running and not traced" in memleak.notes:
        raise Failure(f"workers are not called traced: {memleak.notes}")


@slow
@timeout(120)
def test_worker_is_traced(t):
    """An all-clear does not say that a worker is a child process that is not traced."""
    program = start_workers(t, "before")
    memleak = t.memleak("-p", str(program.pid), "2.5", "6").ready()
    memleak.finish()
    text = memleak.out.text
    if "nothing seems to leak: nothing is outstanding" not in text or "child process" in text:
        raise Failure(text)


@each("-p", "-f", "--comm")
def test_worker_is_made(t, option):
    """
    A worker made later. With -p, its calls may be missed until one is traced, and the loss is
    reported. With -f and --comm, all processes are probed, and no call is missed.
    """
    program = start_workers(t, "later")
    given = ["--comm", f"w{os.getpid()}"] if option == "--comm" else ["-p", str(program.pid)]
    memleak = t.memleak("--json", "-o", "0", *(["-f"] if option == "-f" else []), *given, "0.2").ready()
    program.go()
    if option == "-p":
        memleak.wait_for("the note", lambda: "shares the memory of" in memleak.notes)
    check_workers(memleak, program, may_lose=("processes",) if option == "-p" else ())


def test_worker_executes(t):
    """After exec the process is no worker any more."""
    program = start_workers(t, "exec")
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth)


MANY, GIVEN = 200, 20


def reads_of(pid):
    """Returns the number of reads that a process has made."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("syscr"))


@slow
def test_many_given(t):
    """
    Many processes are given, and one of them runs in the memory of another: memleak reads the
    processes of the machine once, not once for each given process.
    """
    program = start_workers(t, "before")
    many = t.program("prefork", str(MANY))  # forks a child and a grandchild this number of times
    given = [program.pid, *children_of(program.pid), *list(children_of(many.pid))[:GIVEN]]
    memleak = t.memleak("--json", "-o", "0", "-p", ",".join(map(str, given)), FOREVER).ready()
    reads = reads_of(memleak.pid)
    truth = program.go()
    expect(memleak.ask(), truth)
    memleak.stop()
    if memleak.notes.count("tracing pid") != len(given) - 1:
        raise Failure(f"the worker is traced on its own: {memleak.notes!r}")
    if reads >= GIVEN * 2 * MANY:
        raise Failure(f"{reads} reads for {GIVEN} processes")
