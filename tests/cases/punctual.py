# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever targets do, reports come in time, and memleak ends in time."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import threading
import time

from lib import Broken, Failure, Skip, culprit, each, expect, lane, owner, slow, timeout, wanted
from lib.fuse import Fuse
from lib.memleak import children_of, helpers_of, held_ids, when
from lib.process import PATIENCE, state_of, until

from .confinement import NOBODY
from .hostile import PAGE, write_elf

USERS_DEADLINES = True  # use the real deadline for symbols, not a longer one for tests
INTERVAL = 1  # seconds
LATEST = 2 * INTERVAL + 1  # target for the time between two reports, in seconds
BEGIN_LOCKED = 8  # target for the time until tracing of locked processes begins, in seconds
END = 2  # target for the time until memleak has ended, in seconds


def see_reports(memleak, cnt):
    """Waits for this number of reports."""
    first = len(memleak.take())
    for number in range(first, first + cnt):
        memleak.report_number(number)


def stop(t, memleak, **kwargs):
    """Ends memleak and stores figures of how punctual it was; returns the last report."""
    begin = time.monotonic()
    report = memleak.stop(**kwargs)
    t.figure("end", time.monotonic() - begin, "s", END)
    times = [when(report) for report in memleak.reports]
    gaps = [after - before for before, after in zip(times, times[1:])]
    if gaps:
        t.figure("longest time between two reports", max(gaps), "s", LATEST)
    return report


def expect_leaks(report, program, function):
    """Expects the five leaks of a function of a program."""
    leaks = [site for site in report["sites"]
             if site["pid"] == program.pid and owner(site) == function]
    if sum(site["count"] for site in leaks) != 5:
        raise Failure(f"{leaks}")


FUNCTIONS = 50000


def write_slow(path):
    """
    Writes a file whose unwind table takes long: for each function, the instructions of the CIE are
    run, which are a million nops.
    """
    cie = struct.pack("<IBBBBB", 0, 1, 0, 1, 0x78, 16) + bytes(1000000)
    frames = [struct.pack("<I", len(cie)) + cie]
    at = len(frames[0])
    for number in range(FUNCTIONS):
        frames.append(struct.pack("<IIQQ", 20, at + 4, PAGE + number, 1))
        at += len(frames[-1])
    return write_elf(path, [], frames=b"".join(frames))


@slow
def test_slow_unwind_table(t):
    """A file whose unwind table takes longer than the deadline."""
    program = t.program("mapper", write_slow(t.tmp / "slow.so"), "100")
    memleak = t.attach(program, interval=str(INTERVAL))
    see_reports(memleak, 1)
    program.go()
    program.go()  # ends its mapping and unmapping
    see_reports(memleak, 4)
    stop(t, memleak)


def find_helper(memleak, name):
    memleak.look()
    for pid in memleak.helpers:
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            if file.read().strip() == name:
                return pid
    return None


def helper_of(memleak, name):
    pid = find_helper(memleak, name)
    if not pid:
        raise Broken(f"no helper {name}")
    return pid


@slow
def test_hung_symbolizer(t):
    """The symbolizer hangs: reports come without symbols, the last one as well."""
    program = t.program("leak")
    memleak = t.attach(program, interval=str(INTERVAL))
    see_reports(memleak, 1)
    pid = helper_of(memleak, "symbolizer")
    os.kill(pid, signal.SIGSTOP)
    truth = program.go()
    memleak.fresh_report()
    wanted("state of the symbolizer after a report", state_of(pid), "T")
    see_reports(memleak, 2)
    report = stop(t, memleak)
    if "stops waiting for names" not in memleak.notes:
        raise Failure(f"nothing is said of the names: {memleak.notes!r}")
    if report["outstanding"]["count"] != truth.count:
        raise Failure(f"{report['outstanding']}, not {truth.count} blocks")
    frames = [frame for site in report["sites"] for frame in site["stack"]]
    if not any(frame["module"].endswith("/leak") and frame["module_offset"] for frame in frames):
        raise Failure(f"no file and offset: {frames}")


@slow
@each("unwinder", "prober")
def test_hung(t, name):
    """
    Reading unwind tables or functions of a new file hangs: reports and the end are not delayed.
    """
    program = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    memleak = t.attach(program, interval=str(INTERVAL))
    see_reports(memleak, 1)
    pid = helper_of(memleak, name)
    os.kill(pid, signal.SIGSTOP)
    program.go()
    memleak.fresh_report()
    if name == "unwinder":  # a hanging prober is ended before the report
        wanted("state of the unwinder after a report", state_of(pid), "T")
    see_reports(memleak, 2)
    stop(t, memleak)


FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")  # cgroup v1: frozen processes are unkillable


def freeze(pid):
    """
    Freezes a process, as if it waited for a hung file system. Returns the cgroup's folder, to thaw
    it.
    """
    folder = FREEZER / f"memleak-test-{os.getpid()}"
    try:
        folder.mkdir()
        (folder / "cgroup.procs").write_text(str(pid), encoding="ascii")
        (folder / "freezer.state").write_text("FROZEN", encoding="ascii")
    except OSError as error:
        raise Skip(f"no freezer of cgroups of version 1 here: {error}") from error
    return folder


@slow
def test_unkillable(t):
    """A helper that cannot be killed is abandoned, and another one is started without delay."""
    library = t.file_of("libbump.so")
    first = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    second = t.program("dlopen", library, "alloc")
    memleak = t.memleak("--json", "-v", "-o", "0", "-p", f"{first.pid},{second.pid}",
                        str(INTERVAL)).ready()
    see_reports(memleak, 1)
    pid = helper_of(memleak, "prober")
    folder = freeze(pid)
    try:
        first.go()
        see_reports(memleak, 4)
        second.go()
        memleak.wait_for("its probes", lambda: f"malloc at {library}+" in memleak.notes)
        see_reports(memleak, 2)
        state = (folder / "cgroup.procs").read_text(encoding="ascii")
    finally:
        (folder / "freezer.state").write_text("THAWED", encoding="ascii")
    if str(pid) not in state.split():
        raise Broken("it was killed")
    stop(t, memleak)
    if not until(lambda: not os.path.exists(f"/proc/{pid}")):
        raise Failure("it is left")
    folder.rmdir()


def hang(memleak, name, ended):
    """Stops every helper with this name that memleak starts."""
    while not ended.wait(0.005):
        for pid in helpers_of(memleak.pid):
            try:
                with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                    if file.read().strip() == name:
                        os.kill(pid, signal.SIGSTOP)
            except OSError:
                pass


@contextlib.contextmanager
def hanging(memleak, name):
    """Stops these helpers until the block ends."""
    ended = threading.Event()
    thread = threading.Thread(target=hang, args=(memleak, name, ended))
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


HOSTILE = {"mappings": 2, "symbols": 4}  # number of processes
OWN_TIME = 20  # time budget of a user for helpers, in seconds
OWN_FILES = 2  # number of files within this budget that take the maximum time
SYMBOLS = 200000
MAPPINGS = 60000


def hostile_program(t, what, number):
    """Starts a program that is slow to read once it goes on."""
    wrapper = ("setpriv", *NOBODY)
    path = t.tmp / f"{number}.so"
    symbols = [(b"malloc" if i % 5 else b"free", PAGE + i) for i in range(SYMBOLS)]
    write_elf(path, symbols if what == "symbols" else [])
    return t.program("mapper", path, str(MAPPINGS if what == "mappings" else 100),
                     wrapper=wrapper)


@slow
@timeout(120)
@each("mappings", "symbols")
def test_hostile_user(t, what):
    """
    A user's processes have the maximum number of mappings, or files with very many allocator
    functions; another user's process loads a library that leaks. This leak is reported with its
    whole stack.
    """
    t.tmp.chmod(0o755)
    hostile = [hostile_program(t, what, number) for number in range(HOSTILE[what])]
    honest = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p",
                        ",".join(str(program.pid) for program in [honest, *hostile]),
                        str(INTERVAL)).ready()
    see_reports(memleak, 1)
    for program in hostile:
        program.go()
    for program in hostile[1:]:  # one process keeps mapping; more would use up all CPUs
        program.go()
    see_reports(memleak, 1)
    honest.go()

    def leak():
        sites = [site for site in memleak.take()[-1]["sites"]
                 if site["pid"] == honest.pid and owner(site) == "plugin_leak"]
        return sum(site["count"] for site in sites if site["stack_end"] == "complete")

    begin = time.monotonic()
    memleak.wait_for("the leak", lambda: leak() == 5)
    t.figure("until the honest leak has its stack", time.monotonic() - begin, "s", OWN_TIME)
    given_up = memleak.notes.count("reading it takes too long")
    if given_up > OWN_FILES:
        raise Failure(f"{given_up} hostile files came before the honest one: {memleak.notes!r}")
    see_reports(memleak, 1)
    if "user 0's processes" in memleak.notes or "are not searched for" in memleak.notes:
        raise Failure(f"the honest one pays, or for what takes no time: {memleak.notes!r}")
    stop(t, memleak)


# The first three files use up the user's budget: OWN_TIME, which grows by 1 s in 10 s.
SLOW_FILES = 4


@slow
@timeout(120)
def test_hanging_tables(t):
    """
    Reading the unwind tables of a user's files takes too long: a line says that new files get none.
    """
    t.tmp.chmod(0o755)
    programs = [t.program("mapper", write_slow(t.tmp / f"{i}.so"), "100",
                          wrapper=("setpriv", *NOBODY)) for i in range(SLOW_FILES)]
    memleak = t.memleak("--json", "-o", "0", "-p", ",".join(str(p.pid) for p in programs),
                        str(INTERVAL)).ready()
    see_reports(memleak, 1)
    # Saves CPU time: each file would take a helper some 15 s, so it is stopped before it finishes.
    with hanging(memleak, "unwinder"):
        for program in programs:
            program.go()
            program.go()  # ends its mapping and unmapping
        memleak.wait_for("a line", lambda: "user 65534's processes takes too long: new files get "
                         "no unwind tables" in memleak.notes, 2 * PATIENCE)
    before, line, _ = memleak.notes.partition("new files are not searched for")
    # Nor are files searched for functions once the tables have used up the budget, and only then.
    if "user 0's processes" in memleak.notes or (
            line and before.count("no unwind table for") < SLOW_FILES - 1):
        raise Failure(f"the honest one pays, or for what takes no time: {memleak.notes!r}")
    stop(t, memleak)


CROWD = 16


@slow
@timeout(120)
def test_many_with_mappings(t):
    """
    Many idle processes have the maximum number of mappings: reading all of them takes longer than a
    report may take. This delays neither the beginning of tracing nor reports.
    """
    mapper = t.program("mapper", write_elf(t.tmp / "mapped.so", []), str(MAPPINGS), str(CROWD))
    mapper.go()
    mapper.go()
    honest = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    pids = ",".join(str(pid) for pid in [*children_of(mapper.pid), honest.pid])
    arguments = ("--json", "-o", "0", "-T", "1000", "-p", pids, str(INTERVAL))
    memleak = t.memleak(*arguments)
    if not until(lambda: find_helper(memleak, "unwinder")):
        raise Broken("no file is looked at")
    stop(t, memleak)
    if memleak.notes.count("tracing pid") > CROWD:
        raise Failure(f"all mappings were read before the end: {memleak.notes!r}")
    memleak = t.memleak(*arguments).ready()
    see_reports(memleak, 2)
    honest.go()
    see_reports(memleak, 3)
    report = stop(t, memleak)
    expect_leaks(report, honest, "plugin_leak")


PROBED = 200


@slow
def test_many_probed_files(t):
    """Many files have allocator functions: removing their probes does not delay the end."""
    paths = [write_elf(t.tmp / f"{i}.so", [(b"je_malloc", PAGE), (b"je_free", PAGE + 64)])
             for i in range(PROBED)]
    program = t.program("mapped", *paths)
    memleak = t.attach(program, interval=str(INTERVAL))
    probed = int(re.search(r"(\d+) functions probed", memleak.notes).group(1))
    if probed < 2 * PROBED:
        raise Broken(f"{probed} functions are probed")
    truth = program.go()
    see_reports(memleak, 1)
    expect(stop(t, memleak), truth)


@slow
@each("early", "late", "below")
def test_hung_file_system(t, when_mapped):
    """
    A process maps code of a hung file system, or of an overlay over it, before or after tracing
    begins: nothing hangs, and a line says so.
    """
    (t.tmp / "files").mkdir()
    shutil.copy(t.file_of("libplugin.so"), t.tmp / "files")
    path = t.tmp / "mount" / "libplugin.so"
    honest = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    early = when_mapped != "late"
    with Fuse(t.tmp / "files", t.tmp / "mount") as fuse:
        if when_mapped == "below":
            fuse.cover()
        program = t.program("mapped", path) if early else t.program("mapper", path, "10")
        if early:
            fuse.hang()
        memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p", f"{program.pid},{honest.pid}",
                            str(INTERVAL)).ready()
        see_reports(memleak, 1)
        if not early:
            fuse.hang()
        program.go()
        honest.go()
        see_reports(memleak, 3)
        report = stop(t, memleak)
    expect_leaks(report, honest, "plugin_leak")
    if f"no unwind table for {path}: another process serves it" not in memleak.notes:
        raise Failure(f"nothing is said of the table: {memleak.notes!r}")
    if report["lost"]["processes"] != int(early) or early != (
            "is not searched for allocator functions" in memleak.notes):
        raise Failure(f"{report['lost']}, {memleak.notes!r}")


@slow
def test_hung_memory(t):
    """
    A process's list of libraries continues in memory that never becomes readable: the wait is
    short, and the reader ends when it can.
    """
    (t.tmp / "files").mkdir()
    shutil.copy(t.file_of("libplugin.so"), t.tmp / "files")
    honest = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    with Fuse(t.tmp / "files", t.tmp / "mount") as fuse:
        program = t.program("linked", t.tmp / "mount" / "libplugin.so")
        fuse.hang()
        memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p", f"{program.pid},{honest.pid}",
                            str(INTERVAL)).ready()
        see_reports(memleak, 1)
        honest.go()
        see_reports(memleak, 3)
        report = stop(t, memleak)
    expect_leaks(report, honest, "plugin_leak")


def is_locked(pid):
    """True if a thread of the process waits for a page to be written."""
    with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
        return file.read() == "folio_wait_bit"


def libc_of(program):
    """Returns the path of the C library that a program maps."""
    with open(f"/proc/{program.pid}/maps", encoding="ascii") as file:
        return next(path for path in file.read().split() if "/libc.so" in path)


# While a memory map is locked, memleaks that read the mappings of all processes may have to wait.
@lane("user")
@slow
@each("late", "early", "resumed", "given", "proved")
def test_locked_memory(t, when_locked):
    """
    A process waits for a hung file system and keeps its memory map locked meanwhile, so that
    nobody can read its mappings: other processes' reports come in time, and a line says so. Once
    the file system answers, the process is traced.
    """
    resumes = when_locked in ("resumed", "given")
    (t.tmp / "files").mkdir()
    (t.tmp / "files" / "data").write_bytes(bytes(PAGE))
    honest = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    with Fuse(t.tmp / "files", t.tmp / "mount") as fuse:
        name = shutil.copy(t.file_of("locked_map"), t.tmp / "dlopen")
        program = t.program("locked_map", t.tmp / "mount" / "data", path=name)

        def lock():
            fuse.hang()
            program.send()
            if not until(lambda: is_locked(program.pid)):
                raise Broken("the memory map is not locked")

        targets = ("--comm", "dlopen")
        if when_locked in ("late", "given", "proved"):
            targets = ("-p", f"{program.pid},{honest.pid}")
        if when_locked == "proved":
            targets += ("--prove",)
        is_late = when_locked in ("late", "proved")
        if is_late:
            # The mappings of given processes are read before each report. None of their files is
            # probed: while the memory map is locked, probes could not be removed.
            targets += ("-O", libc_of(honest))
        else:
            lock()
        # LeakSanitizer would wait at the end for memleak's thread that reads the mappings.
        memleak = t.memleak("--json", "-v", "-o", "0", "-T", "1000", *targets, str(INTERVAL),
                            env={"ASAN_OPTIONS": "exitcode=99:detect_leaks=0"}).ready()
        see_reports(memleak, 1)
        if is_late:
            lock()
        honest.go()
        see_reports(memleak, 2)
        note = f"the mappings of process {program.pid} cannot be read now"
        memleak.wait_for("a line about the process", lambda: note in memleak.notes)
        if resumes:
            fuse.resume()
            program.ready()
            memleak.wait_for("a probe", lambda: f"malloc at {name}" in memleak.notes)
            program.go()
        report = stop(t, memleak)
    expect_leaks(report, honest, "plugin_leak")
    if resumes:
        expect_leaks(report, program, "run")
    if memleak.notes.count(note) != 1:
        raise Failure(f"not one line about the process: {memleak.notes!r}")


LOCKED = 60  # number of processes, fewer than one user may keep memleak waiting for


@lane("user")
@slow
@each("--comm", "-p")
def test_many_locked_memories(t, option):
    """
    Processes of which each keeps its memory map locked are waited for together: once memleak goes
    on after the first of them, a thread of memleak waits for each.
    """
    (t.tmp / "files").mkdir()
    for number in range(LOCKED):
        (t.tmp / "files" / str(number)).write_bytes(bytes(PAGE))
    honest = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    with Fuse(t.tmp / "files", t.tmp / "mount") as fuse:
        name = shutil.copy(t.file_of("locked_map"), t.tmp / "dlopen")
        programs = [t.program("locked_map", t.tmp / "mount" / str(number), path=name)
                    for number in range(LOCKED)]
        fuse.hang()
        for program in programs:
            program.send()
        if not until(lambda: all(is_locked(program.pid) for program in programs)):
            raise Broken("the memory maps are not locked")
        pids = ",".join(str(program.pid) for program in [honest, *programs])
        begin = time.monotonic()
        memleak = t.memleak("--json", "-o", "0", "-T", "1000", option,
                            "dlopen" if option == "--comm" else pids, str(INTERVAL),
                            env={"ASAN_OPTIONS": "exitcode=99:detect_leaks=0"})
        memleak.wait_for("lines about two processes",
                         lambda: memleak.notes.count("cannot be read now") > 1)
        threads = len(os.listdir(f"/proc/{memleak.pid}/task"))
        if threads <= LOCKED:
            raise Failure(f"{threads} threads for {LOCKED} processes")
        memleak.ready()
        t.figure("time until tracing begins", time.monotonic() - begin, "s", BEGIN_LOCKED)
        honest.go()
        see_reports(memleak, 2)
        report = stop(t, memleak)
    expect_leaks(report, honest, "plugin_leak")
    wanted("lines about processes", memleak.notes.count("cannot be read now"), LOCKED)


def waits_for_helper(memleak):
    """True if memleak has loaded its programs and polls, which it does not do while loading."""
    with open(f"/proc/{memleak.pid}/wchan", encoding="ascii") as file:
        polls = file.read().startswith("poll_")
    return polls and bool(held_ids(memleak.pid, "prog"))


@slow
@each("tables", "symbols")
def test_end_before_tracing(t, what):
    """
    Before tracing begins, memleak waits longer for files; it still ends at once while a helper
    hangs.
    """
    path = t.tmp / "slow.so"
    if what == "tables":
        program = t.program("mapper", write_slow(path), "100")
        only = ()
    else:
        program = t.program("mapper", write_elf(path, [(b"malloc", PAGE)] * 5 * SYMBOLS), "100")
        only = ("-O", str(path))
    program.go()
    memleak = t.memleak("--json", *only, "-p", str(program.pid), str(INTERVAL))
    name = "unwinder" if what == "tables" else "prober"
    until(lambda: find_helper(memleak, name))
    if not until(lambda: waits_for_helper(memleak)):
        raise Broken("memleak does not wait")
    os.kill(helper_of(memleak, name), signal.SIGSTOP)
    if "tracing" in memleak.notes:
        raise Broken(f"tracing has begun: {memleak.notes!r}")
    stop(t, memleak)
    if "takes too long" in memleak.notes:
        raise Failure(f"the file was waited for: {memleak.notes!r}")


MEMORY_MAX = 300 << 20  # bytes, some 100 MB of which memleak uses with any target


def memory_of(pid):
    """Returns the peak memory of a process, in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


READ_MAX = 16 << 20  # maximum bytes of maps read from a process at a time: base/proc_maps.h


def read_by(pid):
    """Returns the number of bytes that a process has read."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("rchar"))


@slow
def test_many_mappings(t):
    """
    A process has the maximum number of mappings, all with long paths, and keeps mapping: maps are
    read once a second at most, and not beyond the limit.
    """
    folder = t.tmp.joinpath(*["d" * 200] * 18)
    folder.mkdir(parents=True)
    shutil.copy(t.file_of("libplugin.so"), folder)
    program = t.program("mapper", folder / "libplugin.so", str(MAPPINGS))
    memleak = t.attach(program, interval=str(INTERVAL))
    see_reports(memleak, 1)
    truth = program.go()
    before, read_before = time.monotonic(), read_by(memleak.pid)
    see_reports(memleak, 5)
    often = (read_by(memleak.pid) - read_before) / READ_MAX
    seconds = time.monotonic() - before
    memory = memory_of(memleak.pid)
    while any("+0x" in owner(site) for site in memleak.fresh_report()["sites"]):
        pass  # names are looked up for a limited time
    report = stop(t, memleak)
    expect(report, truth)
    if often > seconds + 1:
        raise Failure(f"read {often:.1f} times in {seconds:.1f} s")
    if memory > MEMORY_MAX and not t.sanitized:
        raise Failure(f"{memory >> 20} MB")


ROUNDS, EACH = 8, 50
FILES = 256  # maximum number of open files of memleak
FILES_MIN = 128  # number of files it may have open at first


@slow
def test_many_libraries(t):
    """
    Libraries are loaded and unloaded by the hundred: few files stay open, and the last leak is
    seen.
    """
    for number in range(ROUNDS * EACH):
        shutil.copy(t.file_of("libplugin.so"), t.tmp / f"{number}.so")
    program = t.program("reload", t.tmp, str(ROUNDS), str(EACH))
    memleak = t.attach(program, interval="0.2",
                       wrapper=("prlimit", f"--nofile={FILES}:{FILES}"))
    fresh = len(os.listdir(f"/proc/{memleak.pid}/fd"))
    for _ in range(ROUNDS):
        program.go()
        memleak.fresh_report()
        program.go()
        memleak.fresh_report()
    cnt = len([fd for fd in os.scandir(f"/proc/{memleak.pid}/fd")
               if os.path.realpath(fd.path).startswith(str(t.tmp))])
    report = memleak.stop()
    if cnt > FILES / 4:
        raise Failure(f"{cnt} of the libraries are open, besides {fresh} files")
    leaks = [site for site in report["sites"] if owner(site) == "plugin_leak"]
    modules = {culprit(site)["module"] for site in leaks}
    last = t.tmp / f"{ROUNDS * EACH - 1}.so"
    if os.fspath(last) not in modules or len(modules) != ROUNDS:
        raise Failure(f"leaks in {sorted(modules)}")


@slow
def test_too_many_libraries(t):
    """A process has more libraries than memleak may open files: memleak says so."""
    for number in range(FILES_MIN + 50):
        shutil.copy(t.file_of("libplugin.so"), t.tmp / f"{number}.so")
    libraries = ":".join(os.fspath(path) for path in t.tmp.glob("*.so"))
    program = t.process(["env", f"LD_PRELOAD={libraries}", "sleep", "3600"])
    if not until(lambda: b"sleep" in open(f"/proc/{program.pid}/cmdline", "rb").read()[:6]):
        raise Broken("sleep does not begin")
    memleak = t.memleak("--json", "-p", str(program.pid), str(INTERVAL),
                        wrapper=("prlimit", f"--nofile={FILES_MIN}:{FILES_MIN}"))
    memleak.finish(1, final=False)
    if "too many are open" not in memleak.notes or "defines malloc" in memleak.notes:
        raise Failure(f"nothing is said of the files: {memleak.notes!r}")


STORM = 20
FIRST_USER = 70000


def storm(t, name, program, users):
    """Starts programs, each from a separate file, for this number of users."""
    t.tmp.chmod(0o755)
    for number in range(STORM):
        user = str(FIRST_USER + number % users)
        folder = t.tmp / str(number)
        folder.mkdir()
        shutil.copy(program, folder / name)
        t.process(["setpriv", "--reuid", user, "--regid", user, "--clear-groups", folder / name,
                   "3600"])


def hung_storm(t, program, users):
    """
    Many programs begin at once while the prober hangs. Postponed files are searched after the
    prober works again.
    """
    name = f"hung{os.getpid()}"
    memleak = t.memleak("--json", "-v", "-o", "0", "--comm", name, str(INTERVAL)).ready()
    see_reports(memleak, 1)
    with hanging(memleak, "prober"):
        storm(t, name, program, users)
        see_reports(memleak, 8)
    memleak.wait_for("a probe", lambda: ": malloc at " in memleak.notes)
    report = stop(t, memleak)
    missed = len(set(re.findall(r"/(\d+)/\S+ is not searched", memleak.notes)))
    if not missed <= report["lost"]["processes"] + report["lost"]["exec"] <= STORM:
        raise Failure(f"{report['lost']}, and {missed} are not searched")


@slow
@each("one_user", "many_users")
def test_hung_storm(t, users):
    """Neither the files of one user nor those of many users delay reports."""
    hung_storm(t, "/bin/sleep", 1 if users == "one_user" else STORM)


@slow
def test_hung_static_storm(t):
    """A static program is first checked for being the dynamic loader; this check hangs as well."""
    hung_storm(t, t.file_of("leak_static"), STORM)


@slow
def test_exec_storm(t):
    """Programs begin and end all the time, each from a new file."""
    name = f"storm{os.getpid()}"
    loop = ('i=0; while :; do i=$((i+1)); mkdir -p $0/$i; cp /bin/ls $0/$i/$1; $0/$i/$1 /; '
            'rm -r $0/$i; done')
    for number in range(2):
        folder = t.tmp / str(number)
        folder.mkdir()
        t.process(["sh", "-c", loop, folder, name], stdout=subprocess.DEVNULL)
    memleak = t.memleak("--json", "-o", "0", "--comm", name, str(INTERVAL)).ready()
    see_reports(memleak, 5)
    memleak.wait_for("a report with calls",
                     lambda: any(report["calls"] for report in memleak.take()))
    stop(t, memleak)
