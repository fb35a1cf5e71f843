# SPDX-License-Identifier: GPL-2.0-or-later
"""Many processes: all, by name, by cgroup, and children; each is reported separately."""

import contextlib
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import time
from ctypes.util import find_library

from lib import AFTER_EXEC, Broken, Failure, Skip, alone, each, slow, timeout, wanted
from lib.apart import Apart, numbers_of, only_child
from lib.cgroup import Cgroup, hierarchy
from lib.context import FOREVER
from lib.expect import fail, owner
from lib.links import WORDS
from lib.memleak import children_of, helpers_of
from lib.process import PATIENCE, until
from lib.slowness import IS_SLOW


ALLOCS = re.compile(r"(parent|child|leaf)_alloc")


def is_nameless(site):
    """True if the stack was cut, which is counted as lost, so that no function is known."""
    return site["stack_end"] == "cut" and not any(frame["symbol"] for frame in site["stack"])


def sums(reports, nameless=()):
    """
    Returns {pid: (count, bytes)} of the program's functions, from the reports that show the pid;
    for pids in nameless, sites without names are included.
    """
    found = {}
    for report in reports:
        here = {}
        for site in report["sites"]:
            if ALLOCS.fullmatch(owner(site)) or (site["pid"] in nameless and is_nameless(site)):
                count, size = here.get(site["pid"], (0, 0))
                here[site["pid"]] = (count + site["count"], size + site["bytes"])
        found.update(here)
    return found


# With -A other processes lose data, too: losses of tables may concern any process.
TABLES = ("allocs_full", "stacks_full", "sites_full", "mappings", "processes", "threads_full")


def check(reports, truth, all_=False, nameless=(), may_lose=()):
    """Requires the truth of each process separately."""
    found, last = sums(reports, nameless), reports[-1]
    lost = {key: n for key, n in last["lost"].items()
            if n and key not in may_lose and (not all_ or key in TABLES)}
    if lost:
        fail(last, f"lost: {lost}")
    for pid, wanted in truth.children.items():
        if found.get(pid) != wanted:
            fail(last, f"process {pid} holds {found.get(pid)}, not {wanted}")
    strangers = set(found) - set(truth.children)
    if strangers:
        fail(last, f"{strangers} are none of the program's processes")


def with_inherited(truth):
    """Adds the inherited blocks to the truth of children."""
    for pid, (count, size) in truth.inherits.items():
        own = truth.children[pid]
        truth.children[pid] = (own[0] + count, own[1] + size)
    return truth


def find(t, *options, interval=FOREVER, **kwargs):
    options = options if "-p" in options else ("--ended", *options)
    return t.memleak("--json", "-T", "100000", "-o", "0", *options, interval, **kwargs).ready(120)


@each("server", "exec")
def test_follow(t, what):
    """-f -p: children without exec, and children that run exec."""
    program = t.program("family", what, "5")
    memleak = t.attach(program, "-f")
    truth = with_inherited(program.go())
    report = memleak.stop()
    check([report], truth)


def open_files(pid):
    return sorted(os.path.realpath(file.path) for file in os.scandir(f"/proc/{pid}/fd"))


@slow
def test_own_files(t):
    """memleak closes the files that it opens for processes which end."""
    children = 40
    program = t.program("family", "short", str(children))
    memleak = t.attach(program, "-f")
    memleak.ask()
    before = open_files(memleak.pid)
    program.go()
    memleak.ask()
    after = open_files(memleak.pid)
    memleak.stop()
    if len(after) - len(before) > children / 4:
        raise Failure(f"files were left open: {[file for file in after if file not in before]}")


def test_follow_running(t):
    """-f -p: children and grandchildren that already run, and their later children."""
    program = t.program("prefork", "3")
    memleak = t.attach(program, "-f")
    truth = program.go()
    report = memleak.stop()
    check([report], truth)
    if "tracing 6 running descendants" not in memleak.notes:
        raise Failure(f"the descendants are not counted: {memleak.notes}")


def test_running_without_follow(t):
    """-p alone: running descendants are not traced, but counted in a message."""
    program = t.program("prefork", "3")
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    truth.children = {program.pid: truth.children[program.pid]}
    check([report], truth)
    if "6 descendants of the traced process are running and not traced: use -f" not in memleak.notes:
        raise Failure(f"the descendants are not counted: {memleak.notes}")


@alone
def test_pid_of_another(t):
    """-p A,B: a new process that reuses the pid of A is not traced."""
    first = t.program("family", "server", "1")
    second = t.program("family", "server", "1")
    memleak = t.memleak("--json", "-T", "100000", "-o", "0", "-p", f"{first.pid},{second.pid}",
                        "0.2").ready()
    first.end()
    memleak.fresh_report()
    t.successor(first, "family", "server", "1").go()
    truth = second.go()
    report = memleak.stop()
    truth.children = {second.pid: truth.children[second.pid]}
    check([report], truth)
    if "executed another program" in memleak.notes:
        raise Failure("the other process is taken for the first")


@each("server", "exec")
def test_follow_command(t, what):
    program = t.command(t.file_of("family"), what, "5", options=("-f",))
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    program.send(b"xxx")
    report = program.finish()
    if report is None:
        raise Failure("no report")


def test_children_are_not_followed(t):
    """Without -f children are not traced, and memleak says so."""
    program = t.program("family", "server", "3")
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    truth.children = {program.pid: truth.children[program.pid]}
    check([report], truth)
    if "children are not followed" not in memleak.notes:
        raise Failure("it is not said that there are children")


def rename(t, name, program="family"):
    """Copies the program to a name that no other process has."""
    path = t.tmp / name
    shutil.copy(t.file_of(program), path)
    return path


@each("server", "exec")
def test_comm(t, what):
    """Running processes with the name, their children with the name, and later ones."""
    path = rename(t, f"f{os.getpid()}")
    first = t.program("family", what, "3", path=path)
    memleak = find(t, "--comm", path.name)
    truth = first.go()
    second = t.program("family", what, "2", path=path)
    truth.children.update(second.go().children)
    # The second process began to allocate before it printed ready.
    truth.children[second.pid] = (20, 2000)
    check([memleak.stop()], truth)


@each("left_out", "counted")
def test_ended(t, how):
    """Blocks that an ended process held are not in the totals, unless requested."""
    path = rename(t, f"e{os.getpid()}", "leak")
    first, second = (t.program("leak", path=path) for _ in range(2))
    options = ["--ended"] if how == "counted" else []
    memleak = t.memleak("--json", "-o", "0", *options, "--comm", path.name, FOREVER).ready()
    truth = {program.pid: program.go() for program in (first, second)}
    held = {pid: (sum(count for count, _ in said.sites.values()),
                  sum(size for _, size in said.sites.values())) for pid, said in truth.items()}
    first.end()
    report = memleak.stop()
    living = [second.pid] if how == "left_out" else list(held)
    total = report["outstanding"]
    wanted("outstanding", (total["count"], total["bytes"]),
           tuple(sum(numbers) for numbers in zip(*(held[pid] for pid in living))))
    wanted("processes", {site["pid"] for site in report["sites"]}, set(living))
    count, size = held[first.pid]
    wanted("ended", report.get("ended"),
           {"processes": 1, "bytes": size, "count": count} if how == "left_out" else None)


@each("family", "family_static")
def test_brief_first(t, program):
    """The first processes of a program end before it can be probed; later ones are traced."""
    path = rename(t, f"b{os.getpid()}", program)
    memleak = find(t, "--comm", path.name, interval="0.2")
    memleak.signal(signal.SIGSTOP)
    for _ in range(3):
        t.process([path]).wait()
    memleak.signal(signal.SIGCONT)
    memleak.fresh_report()
    second = t.program("family", "server", "3", path=path)
    truth = second.go()
    truth.children[second.pid] = (20, 2000)
    report = memleak.stop()
    if report["lost"]["exec"] != 3:
        fail(report, f"{report['lost']['exec']} programs were not seen, not 3")
    report["lost"]["exec"] = 0
    check([report], truth)


def test_records_are_lost(t):
    """If records of new processes are lost, the missed processes are counted."""
    path = rename(t, f"l{os.getpid()}")
    page = resource.getpagesize()
    memleak = find(t, "--comm", path.name, interval="0.2", env={"MEMLEAK_RECORDS_BYTES": str(page)})
    cnt = page // 100
    memleak.signal(signal.SIGSTOP)
    for _ in range(cnt):
        t.process([path]).wait()
    memleak.signal(signal.SIGCONT)
    memleak.fresh_report()
    lost = memleak.stop()["lost"]
    if not lost["processes"] or lost["mappings"] or lost["exec"] + lost["processes"] != cnt:
        raise Failure(f"of {cnt} programs lost: {lost}")


def test_hint_is_lost(t):
    """
    A library is loaded while the record ring is full: its allocator is probed, nothing is lost.
    """
    path = rename(t, f"h{os.getpid()}", "dlopen")
    page = resource.getpagesize()
    program = t.program("dlopen", t.file_of("libbump.so"), "alloc", path=path)
    memleak = find(t, "--comm", path.name, interval="0.1", env={"MEMLEAK_RECORDS_BYTES": str(page)})
    memleak.signal(signal.SIGSTOP)
    for _ in range(page // 100):
        t.process([path]).wait()
    program.go()
    memleak.signal(signal.SIGCONT)

    def seen():
        program.go()
        return any(site["pid"] == program.pid and owner(site) == "foreign_alloc"
                   for site in memleak.fresh_report()["sites"])

    begin = time.monotonic()
    if not until(seen):
        raise Failure("the library's allocator is never seen")
    t.figure("until the library's allocator is seen", time.monotonic() - begin, "s", 5)
    lost = memleak.stop()["lost"]
    if not lost["processes"] or lost["mappings"]:
        raise Failure(f"lost: {lost}")


@contextlib.contextmanager
def waiting_report(t, *args, env=None, wrapper=()):
    """
    Returns (memleak, program, truth, path) while a report waits for a debuginfod server. The cache
    is empty: in a cache that runs share, libdebuginfod finds that the file is missing, and asks no
    server for 10 minutes.
    """
    if not find_library("debuginfod"):
        raise Skip("no libdebuginfod")
    path = rename(t, f"n{os.getpid()}")
    subprocess.run(["strip", path], check=True)
    # The user that downloads files opens the cache by its path.
    t.tmp.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        url = "http://127.0.0.1:{}/".format(server.getsockname()[1])
        program = t.program("family", *args, path=path)
        memleak = find(t, "-v", "--comm", path.name, interval="0.2",
                       env={"DEBUGINFOD_URLS": url, "CACHE_DIRECTORY": os.fspath(t.tmp),
                            **(env or {})},
                       wrapper=wrapper)
        truth = program.go()
        with server.accept()[0]:
            yield memleak, program, truth, path


def test_others_while_named(t):
    """
    While a report waits for symbols, its process runs exec to another name, and a process with the
    name begins: the new process is probed at once, and the report has all frames.
    """
    with waiting_report(t, "other", "/bin/sleep", "1000") as (memleak, program, truth, path):
        cnt = len(memleak.take())
        program.send(b"x")
        if not until(lambda: comm_and_state_of(program.pid) == ("sleep", "S")):
            raise Broken("the program executes no other")
        (t.tmp / "later").mkdir()
        later = pathlib.Path(shutil.copy(t.file_of("own_malloc_static"),
                                         t.tmp / "later" / path.name))
        second = t.program("own_malloc_static", path=later)
        memleak.wait_for("its probes", lambda: f"pid {second.pid}: malloc at" in memleak.notes)
        if len(memleak.take()) != cnt:
            raise Failure("its probes came after the report")
    report = memleak.report_number(cnt)
    # The functions have no symbols, but their offsets are known.
    own = [site for site in report["sites"]
           if site["pid"] == program.pid and
           any(frame["module"] == os.fspath(path) for frame in site["stack"])]
    if any(int(frame["addr"], 16) == 0 for site in own for frame in site["stack"]):
        fail(report, "places have no addresses")
    count, size = truth.children[program.pid]
    if sum(site["count"] for site in own) < count or sum(site["bytes"] for site in own) < size:
        fail(report, f"{truth.children} in {path}")
    memleak.stop()


def test_interrupted_while_named(t):
    """
    A signal ends memleak while a report waits for a server that does not answer: this report comes
    before the server answers, and then the last one.
    """
    with waiting_report(t, "server", "1") as (memleak, _, _, _):
        cnt = len(memleak.take())
        memleak.signal(signal.SIGINT)
        begun = memleak.report_number(cnt)
        last = memleak.finish()
    wanted("reports", (begun["final"], last["final"]), (False, True))
    t.figure("between the report that waited and the last one",
             (last["elapsed_ns"] - begun["elapsed_ns"]) / 1e9, "s", 9)


def test_private_libc(t):
    """Probes on the C library do not slow down memleak, which uses a private copy."""
    program = t.program("family", "server", "1", path=rename(t, f"o{os.getpid()}"))
    memleak = find(t, "--comm", f"o{os.getpid()}")
    for pid in {memleak.pid} | children_of(memleak.pid) | helpers_of(memleak.pid):
        maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()
        if any("libc.so" in line and " r-xp " in line for line in maps) and not t.sanitized:
            raise Failure(f"process {pid} of memleak runs the code of libc.so")
    truth = program.go()
    check([memleak.stop()], truth)


@slow
def test_memleak_itself(t):
    """A memleak with a private copy of the C library can be traced by another memleak."""
    if t.sanitized:
        raise Skip("there, memleak has the sanitizer's allocator")
    program = t.program("family", "server", "1", path=rename(t, f"i{os.getpid()}"))
    first = find(t, "--comm", f"i{os.getpid()}", interval="0.2")
    second = t.memleak("--json", "-p", str(first.pid), "0.3").ready()
    second.wait_for("a block of the report's", lambda: any(
        frame["symbol"] == "take_snapshot" for report in second.take()
        for site in report["sites"] for frame in site["stack"]))
    second.stop()
    truth = program.go()
    check([first.stop()], truth)


def test_comm_left(t):
    """After exec to another name a process is no target, and its blocks are gone."""
    name = f"l{os.getpid()}"
    path = rename(t, name)
    program = t.program("family", "other", "/bin/sleep", "1000", path=path)
    memleak = find(t, "--comm", name, interval="0.2")
    truth = program.go()
    check([memleak.fresh_report()], truth)
    program.send(b"x")
    # The process has its new name some time before the new program runs and sleeps.
    if not until(lambda: comm_and_state_of(program.pid) == ("sleep", "S")):
        raise Broken("the program executes no other")
    report = memleak.fresh_report()
    if report["sites"]:
        fail(report, "what the process held before is reported")
    memleak.stop()


def test_brief_children(t):
    """Short-lived children of a process that was already running: each is reported once."""
    path = rename(t, f"b{os.getpid()}")
    program = t.program("family", "brief", "100", path=path)
    memleak = find(t, "--comm", path.name, interval="0.5")
    truth = program.go()
    memleak.stop()
    check(memleak.reports, truth)


def comm_and_state_of(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    comm, _, rest = stat.partition("(")[2].rpartition(")")
    return comm, rest.split()[0]


def heap_of(report, pid):
    """Returns the blocks of the process's functions, without those of the C library's start."""
    return sorted((site["count"], site["bytes"]) for site in report["sites"]
                  if site["pid"] == pid and site["kind"] == "heap"
                  and owner(site).startswith("leak"))


def links_of(pid):
    """Returns the number of BPF links of a process."""
    cnt = 0
    for fd in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            cnt += os.readlink(fd) == "anon_inode:bpf_link"
    return cnt


@each("session", "multi")
def test_unused_files(t, kind):
    """
    Probes are removed after the last process that maps their file, and placed again for the next.
    """
    path = t.tmp / f"u{os.getpid()}"
    other = t.tmp / "other" / path.name
    other.parent.mkdir()
    for copy in (path, other):
        shutil.copy(t.file_of("leak_static"), copy)
    stays = t.program("leak_static", path=other)
    memleak = t.memleak("--json", "-v", "-o", "0", "--comm", path.name, "0.1",
                        env={"MEMLEAK_POOL_ROUND_MS": "1", "MEMLEAK_LINKS": kind}).ready()
    if WORDS[kind] not in memleak.notes:
        memleak.stop()
        raise Skip(f"the kernel has no {WORDS[kind].strip()}")
    memleak.fresh_report()
    before = links_of(memleak.pid)
    for _ in range(2):
        program = t.program("leak_static", path=path)
        for _ in range(6):
            memleak.fresh_report()
        if links_of(memleak.pid) <= before:
            raise Failure("probes of a file that is mapped are gone")
        truth = program.go()
        wanted("blocks", heap_of(memleak.fresh_report(), program.pid),
               sorted(truth.sites.values()))
        program.end()
        if not until(lambda: links_of(memleak.pid) == before):
            raise Failure("probes of a file that nobody maps stay")
    truth = stays.go()
    wanted("blocks", heap_of(memleak.stop(), stays.pid), sorted(truth.sites.values()))


@each("v1", "v2")
def test_cgroup(t, version):
    """
    Processes in the cgroup and below, their children, processes moved into it, but none that
    leaves.
    """
    with hierarchy(t, version) as root, Cgroup(root) as cgroup:
        first = t.program("family", "server", "2")
        cgroup.take(first.pid, "below/cgroup.procs")
        stranger = t.program("family", "server", "2")
        memleak = find(t, "--cgroup", cgroup.path.name)
        second = t.program("family", "exec", "2")
        cgroup.take(second.pid)
        truth = first.go()
        stranger.go()
        truth.children.update(second.go().children)
        report = memleak.stop()
        check([report], truth)
        for program in (first, second, stranger):
            program.end()


@each("v1", "v2")
def test_cgroup_again(t, version):
    """If the cgroup is created again at the same path, its processes are traced from the start."""
    with hierarchy(t, version) as root, Cgroup(root) as cgroup:
        first = t.program("family", "server", "2", wrapper=cgroup.entry())
        memleak = find(t, "--cgroup", cgroup.path.name, interval="0.5")
        truth = first.go()
        check([memleak.fresh_report()], truth)
        first.end()
        cgroup.remake()
        second = t.program("family", "exec", "2", wrapper=cgroup.entry())
        told(memleak, "was created again")
        truth = second.go()
        truth.children[second.pid] = (20, 2000)
        memleak.fresh_report()  # the last report of ended processes
        check([memleak.fresh_report()], truth, may_lose=AFTER_EXEC if IS_SLOW else ())
        memleak.stop()
        second.end()


@each("v1", "v2")
def test_cgroup_elsewhere(t, version):
    """
    If a cgroup is created elsewhere, its processes are found; if there is none, memleak says so.
    """
    with hierarchy(t, version) as root, Cgroup(root) as cgroup:
        first = t.program("family", "server", "2", wrapper=cgroup.entry("below/cgroup.procs"))
        memleak = find(t, "--cgroup", cgroup.path / "below", interval="0.5")
        first.end()
        (cgroup.path / "below").rmdir()
        told(memleak, "is gone")
        (cgroup.path / "below").mkdir()
        cgroup.remake()
        second = t.program("family", "server", "2", wrapper=cgroup.entry("below/cgroup.procs"))
        told(memleak, "was created again: tracing its processes, 1 so far")
        truth = second.go()
        check([memleak.fresh_report()], truth)
        memleak.stop()
        second.end()


@each("libpod", "crio")
def test_cgroup_container(t, runtime):
    """A container's id is part of two cgroup names; one of them belongs to its monitor process."""
    number = f"{os.getpid():064x}"[::-1]
    with hierarchy(t, "v2") as root, Cgroup(root) as cgroup, \
            cgroup.more(f"{runtime}-{number}.scope", f"{runtime}-conmon-{number}.scope") as paths:
        memleak = t.memleak("--cgroup", number[:12]).ready()
        if f"/{paths[0].name}, and" not in memleak.notes:
            raise Failure(memleak.notes)
        memleak.stop()


def test_cgroup_ambiguous(t):
    """If a name is ambiguous, memleak lists the cgroups."""
    name = f"memleak-{os.getpid()}.service"
    with hierarchy(t, "v2") as root, Cgroup(root) as cgroup, \
            cgroup.more(name, f"below/{name}") as paths:
        notes = t.refused("--cgroup", name, code=1, says="several cgroups have that name").notes
        if not {str(path) for path in paths} <= set(re.split(r"[,\s]+", notes)):
            raise Failure(notes)


def told(memleak, words):
    memleak.wait_for(f"a note: {words}", lambda: words in memleak.notes, 10)


def test_quota(t):
    """
    One process cannot fill the block table: refused blocks are counted, other processes lose none.
    """
    path = rename(t, f"s{os.getpid()}")
    hog = t.program("family", "hog", "5000", path=path)
    other = t.program("family", "server", "3", path=path)
    memleak = find(t, "--comm", path.name, "--max-allocs", "1000")
    hog.go()
    truth = other.go()
    report = memleak.stop()
    found = sums([report])
    kept = found.pop(hog.pid)[0]
    if not 790 <= kept <= 810:
        fail(report, f"{kept} of 1000 blocks are the one's who wants more")
    if found != truth.children:
        fail(report, f"the others hold {found}, not {truth.children}")
    lost = {key: n for key, n in report["lost"].items() if n}
    if lost != {"share_full": 5010 - kept}:
        fail(report, f"lost: {lost}")
    losses = [{"pid": hog.pid, "comm": path.name, "share_full": 5010 - kept}]
    if report.get("lost_by") != losses:
        fail(report, f"lost_by is {report.get('lost_by')}, not {losses}")


@alone
def test_all(t):
    """-A: all processes of a separate pid namespace."""
    apart = Apart(t)
    first = apart.start(t.program, "family", "server", "3")
    second = apart.later(t, "family", "exec", "3")
    memleak = apart.start(find, t, "-A")
    truth = first.go()
    second.send(b"\n")
    second.ready()
    truth.children.update(second.go().children)
    truth.children[numbers_of(only_child(second.pid))[-1]] = (20, 2000)
    check([memleak.stop()], truth, all_=True)


class Mounted:
    """A tmpfs of the processes apart, with a copy of a test program or library."""

    def __init__(self, t, apart, name):
        self._apart = apart
        self._folder = t.tmp / "mounted"
        self._folder.mkdir()
        self.path = self._folder / name
        if not self._succeeds("mount", "-t", "tmpfs", "none", self._folder):
            raise Skip("no tmpfs can be mounted here")
        if not self._succeeds("cp", t.file_of(name), self._folder):
            raise Broken("the file cannot be copied")

    def _succeeds(self, *argv):
        argv = (*self._apart.wrapper, *argv)
        return subprocess.run(argv, stderr=subprocess.DEVNULL).returncode == 0

    def unmount(self, memleak):
        """Unmounts the file system within a few reports; it must not be in use by then."""
        for _ in range(15):
            memleak.fresh_report()
            if self._succeeds("umount", self._folder):
                return
        raise Failure("the file system is in use")


@each("leak", "leak_static")
def test_unmount(t, name):
    """A file system can be unmounted soon after its programs end: no file of it is kept open."""
    apart = Apart(t)
    mounted = Mounted(t, apart, name)
    program = apart.start(t.program, name, path=mounted.path)
    memleak = apart.start(find, t, "-A", interval="1")
    program.go()
    report = memleak.fresh_report()
    wanted("names", {owner(site) for site in report["sites"]}, {"leak_small", "leak_big"})
    program.end()
    mounted.unmount(memleak)
    memleak.stop()


@each("-A", "-p")
def test_unmount_unloaded(t, how):
    """
    The file system of a library can be unmounted soon after a process that goes on has unloaded the
    library. Its functions keep their names.
    """
    apart = Apart(t)
    mounted = Mounted(t, apart, "libplugin.so")
    program = apart.start(t.program, "dlopen", mounted.path, "unload")
    if how == "-A":
        memleak = apart.start(find, t, "-A", interval="1")
    else:
        memleak = t.attach(program, interval="1")
    program.go()
    report = memleak.fresh_report()
    wanted("names", {owner(site) for site in report["sites"]} & {"plugin_leak"}, {"plugin_leak"})
    program.go()
    mounted.unmount(memleak)
    report = memleak.stop()
    wanted("names", {owner(site) for site in report["sites"]} & {"plugin_leak"}, {"plugin_leak"})


def trace_all(t, *arguments):
    """Runs memleak -A; returns the reported sums of the program's processes, and the truth."""
    apart = Apart(t)
    program = apart.start(t.program, "family", *arguments)
    # Writes to a file: a full pipe would block memleak, and mapping events would overflow.
    output = t.tmp / "reports"
    memleak = apart.start(find, t, "-A", "--stats", "--output", output, interval="1",
                          output=output)
    truth = program.go()
    memleak.stop()
    return memleak.reports, truth


@slow
@alone
@timeout(120)
def test_many_short_ones(t):
    """Processes that live a millisecond or two: reports have what each held at its end."""
    reports, truth = trace_all(t, "short", "200")
    # Without bpf_find_vma, code is known only once the loader has read the mappings.
    old = tuple(map(int, os.uname().release.split(".")[:2])) < (5, 17)
    nameless = truth.children if old and reports[-1]["lost"]["unwind"] else ()
    check(reports, truth, all_=True, nameless=nameless)


@slow
@alone
@timeout(120)
def test_slow_exec(t):
    """A process that is examined in the middle of an exec goes on."""
    check(*trace_all(t, "heavy", "300"), all_=True)


def check_brisk(report):
    """Allows one cut stack in a thousand."""
    stacks, cut = report["stats"]["user"]["stacks"], report["lost"]["unwind"]
    if cut > (stacks["walked"] + stacks["recognised"]) / 1000:
        fail(report, f"{cut} stacks are cut, of {stacks}")


@alone
@timeout(120)
@slow
def test_brisk_all(t):
    """-A: a program executed 200 times a second; its file is known after the first time."""
    reports, truth = trace_all(t, "brisk", "600")
    check(reports, truth, all_=True)
    check_brisk(reports[-1])


@alone
@timeout(120)
@slow
def test_brisk_follow(t):
    """-f: a program executed 200 times a second."""
    program = t.program("family", "brisk", "600")
    output = t.tmp / "reports"
    memleak = find(t, "-f", "-p", str(program.pid), "--stats", "--output", output, interval="1",
                   output=output)
    truth = program.go()
    memleak.stop()
    check(memleak.reports, truth, all_=True)
    check_brisk(memleak.reports[-1])


@slow
def test_command_beside(t):
    """
    The command is stopped at the dynamic loader's hook, where other memleaks have a probe, too.
    """
    program = t.program("family", "server", "1", path=rename(t, f"c{os.getpid()}"))
    memleak = find(t, "--comm", f"c{os.getpid()}")
    command = t.command(t.file_of("family"), "server", "2", options=("-f",))
    command.wait_for("ready", lambda: b"ready" in command.out.data)
    command.send(b"xxx")
    beside = command.finish()
    if not sums([beside]):
        fail(beside, "nothing of the command was seen")
    truth = program.go()
    check([memleak.stop()], truth)
