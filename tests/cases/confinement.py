# SPDX-License-Identifier: GPL-2.0-or-later
"""However memleak is run, its helpers that read target files have no capabilities."""

import os
import pathlib
import re
import shutil
import signal
import subprocess

from lib import ROOT, Failure, Skip, each, expect, once, sample, slow, untraced, wanted
from lib.http import address_of, fetch
from lib.process import PATIENCE

from .target_filter import waiting_report

CAPS = "+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore"
NOBODY = ("--reuid", "65534", "--regid", "65534", "--clear-groups")
# The service has ambient capabilities; the container runs as root with few capabilities.
DEPLOYMENTS = {
    "root": (),
    "service": ("setpriv", *NOBODY, "--inh-caps", CAPS, "--ambient-caps", CAPS,
                "--bounding-set", "-all," + CAPS, "--no-new-privs"),
    "container": ("setpriv", "--inh-caps", "-all", "--bounding-set", "-all," + CAPS,
                  "--no-new-privs"),
}


def deploy(t, deployment):
    """Returns a command prefix for memleak, and a program that memleak may trace."""
    wrapper = DEPLOYMENTS[deployment]
    if wrapper and t.process([*wrapper, "true"], stderr=None).wait() != 0:
        raise Skip("setpriv does not know these capabilities")
    return wrapper, t.program("leak", wrapper=("setpriv", *NOBODY) if deployment == "service" else ())


def facts_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return dict(re.findall(r"^(\w+):\t(.*)$", file.read(), re.M))


def check(pid, deployment):
    facts = facts_of(pid)
    sets = ["CapInh", "CapPrm", "CapEff", "CapAmb"]
    if deployment == "root":  # others may not change these settings
        sets.append("CapBnd")
        users = set(facts["Uid"].split() + facts["Gid"].split())
        if facts["Groups"].strip() or len(users) > 1 or int(users.pop()) <= 65535:
            raise Failure(f"not a user of its own: {facts}")
    left = [name for name in sets if int(facts[name], 16)]
    if left or facts["NoNewPrivs"] != "1" or facts["Seccomp"] != "2":
        raise Failure(f"{facts['Name']} has rights: {left} {facts}")


# Capability numbers as in linux/capability.h.
KEPT = {"CAP_DAC_READ_SEARCH": 2, "CAP_SYS_PTRACE": 19, "CAP_SYS_RESOURCE": 24, "CAP_SYSLOG": 34,
        "CAP_PERFMON": 38, "CAP_BPF": 39, "CAP_CHECKPOINT_RESTORE": 40}
REPLACING = {"CAP_CHOWN": 0, "CAP_DAC_OVERRIDE": 1, "CAP_FOWNER": 3}


def demand_few_rights(memleak, kept):
    """
    Checks every thread. If the value is above 2, Debian's kernels require CAP_SYS_ADMIN for events.
    """
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        if int(file.read()) > 2:
            kept = {**kept, "CAP_SYS_ADMIN": 21}
    mask = sum(1 << number for number in kept.values())
    tasks = os.listdir(f"/proc/{memleak.pid}/task")
    if len(tasks) < 2:
        raise Failure(f"threads: {tasks}")
    for task in tasks:
        facts = facts_of(f"{memleak.pid}/task/{task}")
        more = {name: hex(int(facts[name], 16) & ~mask) for name in ("CapPrm", "CapEff", "CapBnd")}
        if set(more.values()) != {"0x0"}:
            raise Failure(f"{facts['Name']} has more than it needs: {more}")
        if int(facts["CapInh"], 16) or int(facts["CapAmb"], 16) or facts["NoNewPrivs"] != "1":
            raise Failure(f"{facts}")


@once
@each(*DEPLOYMENTS)
def test_own_rights(t, deployment):
    """memleak keeps only the capabilities that it needs; helpers started later have none."""
    wrapper, program = deploy(t, deployment)
    memleak = t.attach(program, "-f", wrapper=wrapper)
    demand_few_rights(memleak, KEPT)
    first = set(memleak.helpers)
    for pid in first:
        os.kill(pid, signal.SIGKILL)
    truth = program.go()
    memleak.signal(signal.SIGUSR1)
    memleak.report_number(0)
    memleak.look()
    later = memleak.helpers - first
    if not later:
        raise Failure("no helper has begun again")
    for pid in later:
        check(pid, deployment)
    demand_few_rights(memleak, KEPT)
    expect(memleak.stop(), truth)


def test_rights_to_replace(t):
    """memleak keeps the capabilities to replace output files in any user's folder."""
    folder = t.tmp / "folder"
    folder.mkdir(mode=0o700)
    os.chown(folder, 65534, 65534)
    program = t.program("leak")
    memleak = t.memleak("--format", "html", "-p", str(program.pid), "--output", folder / "page",
                        "3600", env={"SUDO_UID": "65534", "SUDO_GID": "65534"}).ready()
    demand_few_rights(memleak, {**KEPT, **REPLACING})
    before = os.stat(folder / "page")
    memleak.stop()
    after = os.stat(folder / "page")
    if after.st_ino == before.st_ino or (after.st_uid, after.st_mode & 0o777) != (65534, 0o600):
        raise Failure(f"not replaced: {before} {after}")


def test_own_rights_with_command(t):
    """memleak reads the mappings of a command before it drops rights: no thread keeps them."""
    memleak = t.memleak("--json", "-o", "0", "3600", "--", "sleep", "3600").ready()
    demand_few_rights(memleak, {**KEPT, "CAP_KILL": 5})
    memleak.stop(code=128 + signal.SIGTERM)


@once
@each(*DEPLOYMENTS)
def test_helpers_have_no_rights(t, deployment):
    wrapper, program = deploy(t, deployment)
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600", wrapper=wrapper)
    memleak.ready()
    helpers = memleak.helpers
    if len(helpers) < 2:
        raise Failure(f"helpers: {helpers}")
    for pid in helpers:
        check(pid, deployment)
    truth = program.go()
    expect(memleak.stop(), truth)


@untraced
@each(*(f"{deployment}:{what}" for deployment in DEPLOYMENTS for what in ("reads", "serves", "downloads")))
def test_calls(t, how):
    """System calls with harmful arguments are refused, and needed calls are not."""
    deployment, what = how.split(":")
    confined = t.process([*DEPLOYMENTS[deployment], t.file_of("confined"), what])
    code = confined.wait()
    if code or "harmful calls" not in confined.out.text:
        raise Failure(f"ended with {code}: {confined.out.text}")


def test_probes_without_admin(t):
    """If probes are perf events, which require CAP_SYS_ADMIN, one line says so."""
    wrapper, program = deploy(t, "container")
    memleak = t.memleak("--json", "-p", str(program.pid), "1", wrapper=wrapper,
                        env={"MEMLEAK_LINKS": "perf"})
    wanted("code", memleak.wait(), 1)
    wanted("lines", memleak.notes.splitlines(),
           ["memleak: before Linux 6.6, CAP_SYS_ADMIN is needed to probe programs: give it to "
            "memleak, too"])


@once
@each(*DEPLOYMENTS)
def test_http_server_has_no_rights(t, deployment):
    """The HTTP server has no capabilities."""
    wrapper, program = deploy(t, deployment)
    memleak = t.attach(program, "--listen", "0", wrapper=wrapper)
    fetch(address_of(memleak), "/metrics")
    memleak.look()
    server, = [pid for pid in memleak.helpers if facts_of(pid)["Name"] == "HTTP server"]
    check(server, deployment)
    memleak.stop()


FETCHER_USER = 0x6d6d0000


@once
@each("root", "sudo", "container")
def test_fetcher(t, who):
    """
    Debug files from servers are read by a process without capabilities, run as sudo's user, or as a
    separate user with a private cache. In a container whose root cannot change its user, the process
    stays root. It always has a system call filter.
    """
    cache = t.tmp / "cache"
    cache.mkdir()
    t.tmp.chmod(0o755)
    if who == "sudo":
        os.chown(cache, 65534, 65534)
        user = 65534
        env = {"DEBUGINFOD_CACHE_PATH": os.fspath(cache), "SUDO_UID": "65534", "SUDO_GID": "65534"}
    else:
        user = FETCHER_USER if who == "root" else 0
        env = {"CACHE_DIRECTORY": os.fspath(cache)}
        cache = cache / "debuginfod"
    with waiting_report(t, "other", "/bin/sleep", "1000", env=env,
                        wrapper=DEPLOYMENTS.get(who, ())) as (memleak, *_):
        memleak.look()
        all_facts = [facts_of(pid) for pid in memleak.helpers]
        facts, = [facts for facts in all_facts if facts["Name"] == "symbol fetcher"]
        adjustment = pathlib.Path(f"/proc/{facts['Pid']}/oom_score_adj").read_text("ascii")
    wanted("user and group", {int(word) for word in facts["Uid"].split() + facts["Gid"].split()},
           {user})
    wanted("groups", facts["Groups"].strip(), "")
    if who != "sudo":
        st = os.stat(cache)
        wanted("cache", (st.st_uid, st.st_gid, st.st_mode & 0o777), (user, user, 0o700))
    if not any(path.stat().st_uid == user for path in cache.iterdir()):
        raise Failure(f"nothing in the cache: {list(cache.iterdir())}")
    wanted("rights", [int(facts[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
           [0, 0, 0, 0])
    wanted("NoNewPrivs", facts["NoNewPrivs"], "1")
    wanted("Seccomp", facts["Seccomp"], "0" if t.sanitized else "2")
    wanted("oom_score_adj", adjustment, "1000\n")
    if "is downloaded from http://127.0.0.1:" not in memleak.notes:
        raise Failure(memleak.notes)
    memleak.stop()


@sample(2)
@each("foreign", "open", "link", "file")
def test_no_cache(t, name):
    """
    A cache that the fetcher does not own, or that others may write, is not used; a line says that
    nothing is fetched.
    """
    cache, other = t.tmp / "debuginfod", t.tmp / "other"
    t.tmp.chmod(0o755)
    other.mkdir()
    if name == "link":
        cache.symlink_to(other)
    elif name == "file":
        cache.write_text("")
    else:
        cache.mkdir()
        cache.chmod(0o777 if name == "open" else 0o755)
        os.chown(cache, *[0 if name == "open" else 65534] * 2)
    before = [os.lstat(path) for path in (cache, other)]
    path = shutil.copy(t.file_of("leak"), t.tmp / "stripped")
    subprocess.run(["strip", path], check=True)
    program = t.program("leak", path=path)
    memleak = t.attach(program, env={"DEBUGINFOD_URLS": "http://127.0.0.1:9/",
                                     "CACHE_DIRECTORY": os.fspath(t.tmp)})
    program.go()
    memleak.stop()
    wanted("lines", memleak.notes.count("debug information is not downloaded"), 1)
    after = [os.lstat(path) for path in (cache, other)]
    wanted("owners", [(st.st_uid, st.st_mode) for st in after],
           [(st.st_uid, st.st_mode) for st in before])


STARTER = {"CAP_CHOWN": 0, "CAP_KILL": 5, "CAP_SETGID": 6, "CAP_SETUID": 7, "CAP_SETPCAP": 8, "CAP_SYS_CHROOT": 18,
           "CAP_SYS_ADMIN": 21, "CAP_SYS_NICE": 23}


def starter_of(memleak):
    memleak.look()
    pid, = memleak.starters
    return pid


@once
def test_starter(t):
    """
    The starter of helpers has only the capabilities and files that it needs, and a session of its
    own: a helper that reads the terminal in the background would stop all processes of its group.
    """
    program = t.program("leak")
    memleak = t.attach(program)
    pid = starter_of(memleak)
    facts = facts_of(pid)
    mask = sum(1 << number for number in STARTER.values())
    more = {name: hex(int(facts[name], 16) & ~mask) for name in ("CapPrm", "CapEff", "CapBnd")}
    if set(more.values()) != {"0x0"} or int(facts["CapInh"], 16) or int(facts["CapAmb"], 16):
        raise Failure(f"more than it needs: {more} {facts}")
    files = {os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0]
             for fd in os.listdir(f"/proc/{pid}/fd")}
    if not t.sanitized:  # sanitizers report to stderr
        wanted("files", files, {"/dev/null", "socket"})
    wanted("session", os.getsid(pid), pid)
    truth = program.go()
    expect(memleak.stop(), truth)


def test_starter_gone(t):
    """If the starter is killed, only new symbols are missing, and a line says so."""
    program = t.program("leak")
    memleak = t.attach(program, interval="0.2")
    memleak.report_number(0)
    os.kill(starter_of(memleak), signal.SIGKILL)
    truth = program.go()
    memleak.fresh_report()
    report = memleak.stop()
    wanted("blocks", report["outstanding"]["count"], truth.count)
    wanted("lines", memleak.notes.count("the process that starts helpers "), 1)


def test_killed(t):
    """kill -9 of memleak ends all of its helpers."""
    memleak = t.attach(t.program("leak"))
    memleak.look()
    memleak.signal(signal.SIGKILL)
    memleak.wait()
    memleak.aftermath()


def values_of(key):
    """Returns the values of all lines with this key in the unit."""
    text = (ROOT / "docs/memleak.service").read_text(encoding="utf-8")
    return " ".join(re.findall(rf"^{key}=(.*)$", text, re.M)).split()


@untraced
def test_capabilities_of_docs(_):
    """The unit and the DaemonSet grant the same capabilities as the deployments of these cases."""
    caps = {name.lstrip("+").upper() for name in CAPS.split(",")}
    for key in ("AmbientCapabilities", "CapabilityBoundingSet"):
        wanted(key, {name.removeprefix("CAP_") for name in values_of(key)}, caps)
    text = (ROOT / "docs/kubernetes.yaml").read_text(encoding="utf-8")
    wanted("DaemonSet", set(re.search(r"add: \[(.*)\]", text)[1].split(", ")), caps)


def calls_in(name):
    """Returns the system calls of a systemd group, including nested groups."""
    answer = subprocess.run(["systemd-analyze", "syscall-filter", name], capture_output=True,
                            text=True, check=True)
    words = [line.strip() for line in answer.stdout.splitlines()[1:]]
    calls = {word for word in words if word and word[0] not in "@#"}
    return calls.union(*(calls_in(word) for word in words if word.startswith("@")))


@slow
def test_calls_of_unit(t):
    """The unit's filter allows every system call that memleak and its helpers make."""
    if not shutil.which("strace") or not shutil.which("systemd-analyze"):
        raise Skip("strace or systemd-analyze is missing: Debian's strace and systemd have them")
    calls = set()
    for word in values_of("SystemCallFilter"):
        calls |= calls_in(word) if word.startswith("@") else {word}
    t.program("leak")
    trace = t.tmp / "calls"
    strace = t.process(["strace", "-f", "-qq", "-o", trace, *DEPLOYMENTS["service"], t.path, "--comm",
                        "leak", "--by", "process", "--sample-bytes", "512k", "-T", "20", "0.5", "2"])
    strace.wait(3 * PATIENCE)  # strace stops many processes at every system call
    made = set(re.findall(r"^\d+ +(\w+)\(", trace.read_text(errors="replace"), re.M))
    # Uretprobes use a system call that older straces print as a number; systemd knows it since 257.
    missing = made - calls - {"uretprobe", "syscall_0x14f"}
    if missing or not {"bpf", "perf_event_open"} <= made:
        raise Failure(f"not let through: {missing}; made: {sorted(made)}")
