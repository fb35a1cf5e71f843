# SPDX-License-Identifier: GPL-2.0-or-later
"""Targets that cannot be traced, missing capabilities, and missing kernel features."""

import os
import shutil
import signal
import subprocess
import threading

from lib import Failure, Skip, each, expect, once, pitfall, untraced, wanted
from lib.cgroup import Cgroup, accounting, hierarchy


def one_line(memleak):
    if len(memleak.notes.splitlines()) != 1:
        raise Failure(f"not one line: {memleak.notes!r}")


def test_no_such_process(t):
    """The pid of a process that has just ended."""
    gone = t.process(["/bin/true"])
    gone.wait()
    one_line(t.refused("-p", str(gone.pid), "1", code=1, says=str(gone.pid)))


def test_no_such_process_among_others(t):
    program = t.program("leak")
    gone = t.process(["/bin/true"])
    gone.wait()
    t.refused("-p", f"{program.pid},{gone.pid}", "1", code=1, says=str(gone.pid))
    if program.go().count != 10:
        raise Failure("the living one was hurt")


@untraced
def test_pid_without_option(t):
    """A pid in the place of INTERVAL would trace the kernel: memleak asks for -p."""
    program = t.process(["sleep", "600"])
    # Ids below 300 and whole minutes are taken for intervals.
    while program.pid < 300 or program.pid % 60 == 0:
        program = t.process(["sleep", "600"])
    memleak = t.refused(str(program.pid), code=2, says=f"give -p {program.pid} to trace it")
    one_line(memleak)
    if f"{program.pid} is the pid of sleep" not in memleak.notes:
        raise Failure(memleak.notes)


def test_zombie(t):
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        one_line(t.refused("-p", str(pid), "1", code=1, says=str(pid)))
    finally:
        os.waitpid(pid, 0)


def test_kernel_thread(t):
    try:
        with open("/proc/2/cmdline", "rb") as file:
            if file.read() or os.readlink("/proc/2/exe"):
                raise Skip("process 2 is no kernel thread here")
    except FileNotFoundError:
        if not os.path.exists("/proc/2"):
            raise Skip("no kernel threads are seen here") from None
    one_line(t.refused("-p", "2", "1", code=1, says="kernel"))


def need_32_bit(t):
    """Skips the case if no 32-bit program can run here."""
    if os.uname().machine != "x86_64":
        raise Skip("there is a 32-bit program for x86-64 only")
    try:
        with subprocess.Popen([t.file_of("tiny32")], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) as process:
            process.kill()
    except OSError as error:
        raise Skip(f"this kernel runs no 32-bit program ({error.strerror})") from error


@pitfall(19)
def test_32_bit(t):
    """A 32-bit program is refused with a clear message: its registers would be misread."""
    need_32_bit(t)
    program = t.program("tiny32")
    memleak = t.refused("-p", str(program.pid), "1", code=1, says="32-bit")
    one_line(memleak)
    if program.finish() != 0:
        raise Failure("the program was hurt")


@pitfall(19)
def test_32_bit_command(t):
    need_32_bit(t)
    memleak = t.memleak("--json", "--output", t.tmp / "r", "1", "--", t.file_of("tiny32"))
    memleak.close_stdin()
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or "32-bit" not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_thread_id(t):
    """The id of a thread is no process: memleak says so or traces the process."""
    program = t.program("threads")
    tid = next(int(tid) for tid in os.listdir(f"/proc/{program.pid}/task")
               if int(tid) != program.pid)
    memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p", str(tid), "3600")
    memleak.wait_for("a word", lambda: memleak.notes.endswith("\n"))
    if "memleak: tracing" in memleak.notes:
        truth = program.go()
        expect(memleak.stop(), truth)
        return
    memleak.wait()
    memleak.aftermath()
    one_line(memleak)
    if memleak.code != 1 or str(program.pid) not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_itself(t):
    """memleak may be a descendant of the process that it traces: no deadlock."""
    program = t.program("leak")
    first = t.attach(program, interval="0.1")
    second = t.memleak("--json", "-o", "0", "-p", str(first.pid), "0.2", "3")
    second.wait()
    second.take()
    second.aftermath()
    if second.code not in (0, 1):
        raise Failure(f"exit code {second.code}")
    truth = program.go()
    expect(first.stop(), truth)


def run_as_nobody(t, *args):
    """Runs memleak as nobody, with the program in an unreadable folder."""
    shutil.copy(t.path, t.tmp / "memleak")
    t.tmp.chmod(0o755)
    (t.tmp / "memleak").chmod(0o755)
    t.path = t.tmp / "memleak"
    return t.refused(*args, code=1, says="root",
                     wrapper=("setpriv", "--reuid", "65534", "--regid", "65534",
                              "--clear-groups"))


def test_no_root(t):
    """All missing capabilities are listed at once."""
    program = t.program("leak")
    memleak = run_as_nobody(t, "--json", "-p", str(program.pid), "1")
    one_line(memleak)
    for name in ("CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"):
        if name not in memleak.notes:
            raise Failure(f"no {name}: {memleak.notes!r}")


def test_nobody_has_the_name(t):
    memleak = t.memleak("--json", "-o", "0", "--comm", "no such name", "3600")
    memleak.wait_for("a word", lambda: "no process is named no such name yet; waiting" in memleak.notes)
    memleak.stop()


def test_no_root_command(t):
    """If a command cannot be traced, it is not started."""
    marker = t.tmp / "marker"
    marker.touch()
    marker.chmod(0o666)
    run_as_nobody(t, "--json", "1", "--", "sh", "-c", f"echo ran > {marker}")
    if marker.read_text(encoding="ascii"):
        raise Failure("the command ran")


@each(("bpf", "bpf,-sys_admin"), ("perfmon", "perfmon,-sys_admin"))
def test_missing_capability(t, what):
    """A missing capability is named."""
    capability, dropped = what
    program = t.program("leak")
    t.refused("--json", "-p", str(program.pid), "1", code=1, says="CAP_" + capability.upper(),
              wrapper=("setpriv", "--bounding-set", "-" + dropped))


def test_no_ptrace_right(t):
    """If a process's files may not be read, memleak says so."""
    program = t.program("leak")
    t.refused("--json", "-p", str(program.pid), "1", code=1, says="CAP_SYS_PTRACE",
              wrapper=("setpriv", "--bounding-set", "-sys_ptrace"))


SKIPPED = {
    "tiny32": "1 32-bit program is not traced: memleak traces only 64-bit programs",
    "leak_stripped_static": "process {} is statically linked and has no symbols of allocator functions",
}


@each(*SKIPPED)
def test_skipped(t, name):
    """--comm names or counts the processes that it cannot trace, and says why."""
    if name == "tiny32":
        need_32_bit(t)
    path = t.tmp / f"skip{os.getpid()}"
    shutil.copy(t.file_of(name), path)
    program = t.program(name, path=path)
    memleak = t.memleak("--json", "--comm", path.name, "3600").ready()
    memleak.stop()
    if SKIPPED[name].format(program.pid) not in memleak.notes:
        raise Failure(f"not said: {memleak.notes!r}")


@each("-p", "--comm")
def test_unreadable_program(t, option):
    """A program with an unreadable file is traced through the C library, without symbols."""
    path = t.tmp / f"unread{os.getpid()}"
    shutil.copy(t.file_of("leak"), path)
    os.chown(path, 65534, 65534)
    path.chmod(0o111)
    program = t.program("leak", path=path)
    which = str(program.pid) if option == "-p" else path.name
    memleak = t.memleak("--json", "-o", "0", option, which, "3600", wrapper=(
        "setpriv", "--bounding-set", "-dac_override,-dac_read_search")).ready()
    program.go()
    report = memleak.stop()
    outstanding = report["outstanding"]
    wanted("blocks", [outstanding["count"], outstanding["bytes"]], [10, 5 * (16 + (1 << 20))])
    wanted("lost processes", report["lost"]["processes"], 1)
    wanted("names", {site["stack"][0]["symbol"] for site in report["sites"]}, {None})
    said = [f"{path} is not searched for allocator functions, and its own functions have no names: "
            "Permission denied" if option == "-p" else "1 process has files that memleak cannot read",
            f"functions of {path.name} have no names: memleak cannot read the file"]
    for words in said:
        if words not in memleak.notes:
            raise Failure(f"not said: {words}: {memleak.notes!r}")


def test_capabilities_are_enough(t):
    """Root is not needed: these capabilities suffice."""
    program = t.program("leak", wrapper=("setpriv", "--reuid", "65534", "--regid", "65534",
                                         "--clear-groups"))
    caps = "+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore,+sys_resource"
    keep = t.process(["setpriv", "--bounding-set", "-all," + caps, "true"], stderr=None)
    if keep.wait() != 0:
        raise Skip("setpriv does not know these capabilities")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600",
                        wrapper=("setpriv", "--bounding-set", "-all," + caps))
    memleak.wait_for("a word", lambda: memleak.notes.endswith("\n"))
    if "memleak: tracing" not in memleak.notes:
        raise Failure(memleak.notes)
    memleak.look()
    truth = program.go()
    expect(memleak.stop(), truth)


@each("bpf", "perf_event_open")
def test_kernel_without(t, name):
    """
    If the kernel lacks the system call, memleak says so in one line instead of an empty report.
    """
    program = t.program("leak")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600",
                        wrapper=(t.file_of("nosyscall"), name))
    memleak.wait_for("a word", lambda: memleak.notes.endswith("\n"))
    if name == "perf_event_open" and "memleak: tracing" in memleak.notes:
        truth = program.go()  # probes work without the system call
        expect(memleak.stop(), truth)
        return
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or memleak.out.data or not memleak.notes.startswith("memleak: "):
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")
    if name == "bpf" and "bpf" not in memleak.notes.lower().replace("memleak", ""):
        raise Failure(f"does not say what is missing: {memleak.notes!r}")


def test_few_file_descriptors(t):
    """With a low limit of open files, memleak works or names the limit."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600",
                        wrapper=("prlimit", "--nofile=24:24"))
    memleak.wait_for("a word", lambda: memleak.notes.endswith("\n"))
    if "memleak: tracing" in memleak.notes:
        truth = program.go()
        expect(memleak.stop(), truth, lines=False)
        return
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or "open files" not in memleak.notes.lower():
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


@once
def test_address_space(t):
    """With too little address space, memleak says that this is why it cannot start."""
    t.refused("-p", str(os.getpid()), "1", code=1, says=["ulimit -v", "40 MiB"],
              wrapper=("prlimit", f"--as={40 << 20}"))


def test_no_types(t):
    """Missing kernel type information (BTF) is reported by name."""
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        raise Skip("mount namespaces are not permitted")
    t.refused("-p", str(os.getpid()), "1", code=1, says="BTF", wrapper=(
        "unshare", "-m", "--propagation", "private", "sh", "-c",
        'mount -t tmpfs none /sys/kernel/btf && exec "$@"', "sh"))


@each(("one", 64, ("-p", str(os.getpid()))), ("all", 128, ("-A",)))
def test_memory_cgroup(t, what):
    """If the memory cgroup is too small, memleak says so before the kernel kills it."""
    _, mebibytes, targets = what
    with hierarchy(t, accounting()) as root, Cgroup(root) as cgroup:
        limit = next((cgroup.path / name for name in ("memory.max", "memory.limit_in_bytes")
                      if (cgroup.path / name).exists()), None)
        if not limit:
            raise Skip(f"the memory controller is not enabled in {root}")
        limit.write_text(str(mebibytes << 20), encoding="ascii")
        t.refused(*targets, "1", code=1, says=["cgroup", f"limit of {mebibytes} MiB"],
                  wrapper=cgroup.entry())


def test_signals_ignored_by_parent(t):
    """With SIGINT ignored, as for `memleak &` in a script, SIGTERM still ends it properly."""
    program = t.program("leak")
    memleak = t.attach(program, wrapper=("sh", "-c", 'trap "" INT; exec "$0" "$@"'))
    truth = program.go()
    report = memleak.stop(code=None, number=signal.SIGTERM)
    if report:
        expect(report, truth)


def test_stdin_is_closed(t):
    program = t.program("leak")
    memleak = t.attach(program, wrapper=("sh", "-c", 'exec "$0" "$@" <&-'))
    truth = program.go()
    expect(memleak.stop(), truth)


def test_many_targets_die_at_once(t):
    programs = [t.program("leak") for _ in range(8)]
    memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p",
                        ",".join(str(program.pid) for program in programs), "3600").ready()
    truths = [program.go() for program in programs]
    threads = [threading.Thread(target=program.signal, args=(signal.SIGKILL,))
               for program in programs]
    for thread in threads:
        thread.start()
    report = memleak.finish()
    if report["outstanding"]["count"] != sum(truth.count for truth in truths):
        raise Failure(f"{report['outstanding']}, sites {len(report['sites'])}")


def test_stopped_target(t):
    """A process stopped by a debugger or job control can be traced."""
    program = t.program("leak")
    program.signal(signal.SIGSTOP)
    memleak = t.attach(program)
    program.signal(signal.SIGCONT)
    truth = program.go()
    program.signal(signal.SIGSTOP)
    expect(memleak.stop(), truth)
    program.signal(signal.SIGCONT)
    program.go()


def test_truncated_under_us(t):
    """The program's file is truncated while it runs: symbols may be lost, but memleak goes on."""
    library = t.tmp / "libplugin.so"
    shutil.copy(t.file_of("libplugin.so"), library)
    program = t.program("dlopen", library, "stay")
    memleak = t.attach(program)
    truth = program.go()
    os.truncate(library, 5000)
    report = memleak.stop()
    if report["outstanding"]["count"] < truth.count:
        raise Failure(f"{report['outstanding']}, expected at least {truth.count} blocks")


def test_deleted_program(t):
    """The program's file is replaced, as by an upgrade: memleak uses the file that is mapped."""
    path = t.tmp / "leak"
    shutil.copy(t.file_of("leak"), path)
    program = t.program("leak", path=path)
    path.unlink()
    shutil.copy("/bin/true", path)
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth)


def test_seccomp_target(t):
    """A process with a seccomp filter survives: it is traced, or refused with the reason."""
    program = t.program("nosyscall", "bpf", t.file_of("leak"))
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600")
    memleak.wait_for("a word", lambda: memleak.notes.endswith("\n"))
    if "memleak: tracing" in memleak.notes:
        truth = program.go()
        expect(memleak.stop(), truth)
    else:
        memleak.wait()
        if memleak.code != 1 or "seccomp" not in memleak.notes:
            raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")
        program.go()
    for _ in range(3):
        program.go()
    if program.finish() != 7:
        raise Failure("the program was hurt")


@pitfall(18)
def test_seccomp_kernel(t):
    """If probes would make the kernel kill the process, it is refused; --force traces it anyway."""
    program = t.program("nosyscall", "bpf", t.file_of("leak"))
    env = {"MEMLEAK_SECCOMP": "kills"}
    t.refused("--json", "-p", str(program.pid), "1", code=1, says=("seccomp", "--force"), env=env)
    memleak = t.attach(program, "--force", env=env)
    truth = program.go()
    expect(memleak.stop(), truth)


@pitfall(18)
def test_go(t):
    """A Go program is refused with the reason; --force traces its C code."""
    program = t.program("leak_go")
    t.refused("--json", "-p", str(program.pid), "1", code=1, says=("Go", "--force", "pprof"))
    memleak = t.attach(program, "--force")
    truth = program.go()
    expect(memleak.stop(), truth)


def test_tracefs_is_not_needed(t):
    """memleak works without tracefs."""
    if subprocess.run(["unshare", "-m", "true"], check=False).returncode:
        raise Skip("no mount namespaces here")
    program = t.program("leak")
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600", wrapper=(
        "unshare", "-m", "sh", "-c",
        'umount -l /sys/kernel/tracing /sys/kernel/debug 2>/dev/null; exec "$0" "$@"'))
    memleak.ready()
    truth = program.go()
    expect(memleak.stop(), truth)
