# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever targets do, reports keep their time and memleak ends when it is told to."""

import os
import shutil
import signal
import subprocess
import threading
import time

from lib import Broken, Failure, culprit, each, expect, owner, slow, timeout
from lib.memleak import helpers_of, held_ids, when
from lib.process import SLOWNESS, until

from .confinement import NOBODY

INTERVAL = 1  # seconds
LATEST = (2 * INTERVAL + 1) * SLOWNESS
END = 2 * SLOWNESS


def see_reports(memleak, cnt):
    """So many reports come, each in its time."""
    first = len(memleak.take())
    for number in range(first, first + cnt):
        memleak.report_number(number)
    times = [when(report) for report in memleak.reports]
    gaps = [after - before for before, after in zip(times, times[1:])]
    if gaps and max(gaps) > LATEST:
        raise Failure(f"{max(gaps):.1f} s between two reports: {gaps}")


def stop(memleak, **kwargs):
    """It ends in time; the last report."""
    begin = time.monotonic()
    report = memleak.stop(**kwargs)
    if time.monotonic() - begin > END:
        raise Failure(f"it took {time.monotonic() - begin:.1f} s to end")
    return report


@slow
def test_slow_unwind_table(t):
    """A file whose table takes longer to make than anybody waits."""
    program = t.program("dlopen", t.file_of("libslow_unwind.so"), "stay")
    memleak = t.attach(program, interval=str(INTERVAL))
    see_reports(memleak, 1)
    program.go()
    see_reports(memleak, 4)
    stop(memleak)


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
    """What reads names does not answer: reports come without them, the last one as well."""
    program = t.program("leak")
    memleak = t.attach(program, interval=str(INTERVAL))
    see_reports(memleak, 1)
    os.kill(helper_of(memleak, "symbolizer"), signal.SIGSTOP)
    truth = program.go()
    see_reports(memleak, 3)
    report = stop(memleak)
    if "does not wait longer for names" not in memleak.notes:
        raise Failure(f"nothing is said of the names: {memleak.notes!r}")
    if report["outstanding"]["count"] != truth.count:
        raise Failure(f"{report['outstanding']}, not {truth.count} blocks")
    frames = [frame for site in report["sites"] for frame in site["stack"]]
    if not any(frame["module"].endswith("/leak") and frame["module_offset"] for frame in frames):
        raise Failure(f"no file and offset: {frames}")


@slow
@each("unwinder", "prober")
def test_hung(t, name):
    """Neither tables nor functions of a new file come: reports and the end do not wait for them."""
    program = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    memleak = t.attach(program, interval=str(INTERVAL))
    see_reports(memleak, 1)
    os.kill(helper_of(memleak, name), signal.SIGSTOP)
    program.go()
    see_reports(memleak, 3)
    stop(memleak)


HOSTILE = 4
OWN_TIME = 20  # seconds that a user may keep a helper busy, and one file half of that


@slow
@timeout(120)
def test_hostile_user(t):
    """
    Processes of a user have files whose tables take for ever; another user's process loads a
    library that leaks. That leak is told of, with its whole stack, and a line says who waits.
    """
    t.tmp.chmod(0o755)
    hostile = []
    for number in range(HOSTILE):
        path = shutil.copy(t.file_of("libslow_unwind.so"), t.tmp / f"{number}.so")
        hostile.append(t.program("dlopen", path, "stay", wrapper=("setpriv", *NOBODY)))
    honest = t.program("dlopen", t.file_of("libplugin.so"), "stay")
    memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p",
                        ",".join(str(program.pid) for program in [honest, *hostile]),
                        str(INTERVAL)).ready()
    see_reports(memleak, 1)
    for program in hostile:
        program.go()
    see_reports(memleak, 1)
    honest.go()

    def leak():
        sites = [site for site in memleak.take()[-1]["sites"]
                 if site["pid"] == honest.pid and owner(site) == "plugin_leak"]
        return sum(site["count"] for site in sites if site["stack_end"] == "complete")

    memleak.wait_for("the leak", lambda: leak() == 5, seconds=OWN_TIME * SLOWNESS)
    see_reports(memleak, 1)
    memleak.wait_for("a line", lambda: "processes of user 65534 takes too long" in memleak.notes,
                     seconds=2 * OWN_TIME * SLOWNESS)
    if "of user 0 takes" in memleak.notes:
        raise Failure(f"the honest one pays: {memleak.notes!r}")
    stop(memleak)


def waits_for_helper(memleak):
    """Its programs are loaded, and it polls, as loading does not."""
    with open(f"/proc/{memleak.pid}/wchan", encoding="ascii") as file:
        polls = file.read().startswith("poll_")
    return polls and bool(held_ids(memleak.pid, "prog"))


@slow
def test_end_before_tracing(t):
    """Files are waited for longer before tracing begins, but not by whoever wants the end."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), str(INTERVAL))
    until(lambda: find_helper(memleak, "unwinder"))
    os.kill(helper_of(memleak, "unwinder"), signal.SIGSTOP)
    if not until(lambda: waits_for_helper(memleak)):
        raise Broken("memleak does not wait for the table")
    memleak.look()
    if "tracing" in memleak.notes:
        raise Broken(f"tracing has begun: {memleak.notes!r}")
    stop(memleak)


MAPPINGS = 60000
MEMORY_MAX = 300 << 20  # some 100 MB of which memleak takes with any target


def memory_of(pid):
    """The most that a process has had, in bytes."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


READ_MAX = 16 << 20  # of what one process has mapped, at a time: base/proc_maps.h


def read_by(pid):
    """How many bytes a process has read."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("rchar"))


@slow
def test_many_mappings(t):
    """
    A process has as many mappings as it may have, all with long paths, and maps more all the time:
    they are read once a second at most, and no more of them than fits.
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
    report = stop(memleak)
    expect(report, truth)
    if often > seconds + 1:
        raise Failure(f"read {often:.1f} times in {seconds:.1f} s")
    if memory > MEMORY_MAX and not t.sanitized:
        raise Failure(f"{memory >> 20} MB")


ROUNDS, EACH = 8, 50
FILES = 256  # that memleak may have open
FILES_MIN = 128  # with which it begins


@slow
def test_many_libraries(t):
    """Libraries come and go by the hundred: few files stay open, and the last leak is seen."""
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
    """A process has more libraries than memleak may open: it says so."""
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


def hang(memleak, name, ended):
    """Whatever helper of that name memleak starts does not answer."""
    while not ended.wait(0.005):
        for pid in helpers_of(memleak.pid):
            try:
                with open(f"/proc/{pid}/comm", encoding="ascii") as file:
                    if file.read().strip() == name:
                        os.kill(pid, signal.SIGSTOP)
            except OSError:
                pass


STORM = 20


@slow
def test_hung_storm(t):
    """
    Many programs begin at once, and searching the file of each takes longer than is waited. What
    was held back is searched when it does not any more.
    """
    name = f"hung{os.getpid()}"
    memleak = t.memleak("--json", "-v", "-o", "0", "--comm", name, str(INTERVAL)).ready()
    see_reports(memleak, 1)
    ended = threading.Event()
    thread = threading.Thread(target=hang, args=(memleak, "prober", ended))
    thread.start()
    try:
        for number in range(STORM):
            folder = t.tmp / str(number)
            folder.mkdir()
            shutil.copy("/bin/sleep", folder / name)
            t.process([folder / name, "3600"])
        see_reports(memleak, 5)
    finally:
        ended.set()
        thread.join()
    memleak.wait_for("a probe", lambda: ": malloc at " in memleak.notes)
    stop(memleak)


@slow
def test_exec_storm(t):
    """Programs begin and end all the time, each of a file that is new."""
    name = f"storm{os.getpid()}"
    loop = ('i=0; while :; do i=$((i+1)); mkdir -p $0/$i; cp /bin/ls $0/$i/$1; $0/$i/$1 /; '
            'rm -r $0/$i; done')
    for number in range(2):
        folder = t.tmp / str(number)
        folder.mkdir()
        t.process(["sh", "-c", loop, folder, name], stdout=subprocess.DEVNULL)
    memleak = t.memleak("--json", "-o", "0", "--comm", name, str(INTERVAL)).ready()
    see_reports(memleak, 5)
    if not any(report["calls"] for report in memleak.reports):
        raise Failure("none was traced")
    stop(memleak)
