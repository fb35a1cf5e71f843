# SPDX-License-Identifier: GPL-2.0-or-later
"""memleak in a container run by crun, configured as in docs/kubernetes.yaml."""

import json
import os
import pathlib
import re
import shutil
import signal

from lib import ROOT, Failure, Skip, expect, wanted
from lib.memleak import children_of, parse
from lib.process import until

from .confinement import check

PROFILE = pathlib.Path("/usr/share/containers/seccomp.json")  # golang-github-containers-common
PARANOID = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
# Profiles differ in which capabilities allow these calls: see docs/kubernetes.yaml.
TRACING = {"bpf", "perf_event_open"}
# crun does not support machines with both cgroup versions, so only version 2 is mounted for it.
ALONE = ("unshare", "-m", "--propagation", "private", "sh", "-c",
         'test -d /sys/fs/cgroup/unified && mount --bind /sys/fs/cgroup/unified /sys/fs/cgroup; '
         'exec "$0" "$@"')


def capabilities():
    text = (ROOT / "docs/kubernetes.yaml").read_text(encoding="utf-8")
    return ["CAP_" + name for name in
            re.search(r"^ *add: \[(.*)\]$", text, re.M).group(1).split(", ")]


def filter_of(profile, caps, gives):
    """
    Returns a seccomp filter, as a runtime makes it from its profile; gives: allows tracing calls.
    """
    rules = [{"names": sorted(TRACING), "action": "SCMP_ACT_ALLOW"}] if gives else []
    for rule in profile["syscalls"]:
        needs, excludes = rule.get("includes") or {}, rule.get("excludes") or {}
        names = [name for name in rule["names"] if not gives or name not in TRACING]
        if (names and set(needs.get("caps", ())) <= set(caps) and
                not set(excludes.get("caps", ())) & set(caps) and
                "amd64" in needs.get("arches", ["amd64"])):
            kept = {key: rule[key] for key in ("action", "errnoRet", "args")
                    if rule.get(key) is not None}
            rules.append({"names": names, **kept})
    return {"defaultAction": profile["defaultAction"],
            "defaultErrnoRet": profile.get("defaultErrnoRet", 1),
            "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_X32"],
            "syscalls": rules}


def config_of(root, memleak, args, gives):
    caps = capabilities()

    def read_only(source, place):
        return {"destination": place, "type": "bind", "source": os.fspath(source),
                "options": ["bind", "ro"]}

    profile = json.loads(PROFILE.read_text(encoding="utf-8"))
    return {
        "ociVersion": "1.0.0",
        "process": {
            "user": {"uid": 0, "gid": 0}, "args": args, "cwd": "/", "noNewPrivileges": True,
            "capabilities": {name: caps for name in ("bounding", "effective", "permitted")},
        },
        "root": {"path": os.fspath(root), "readonly": True},
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/sys", "type": "sysfs", "source": "sysfs", "options": ["ro"]},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"},
            read_only("/usr", "/usr"), read_only(memleak, "/memleak"),
        ],
        "linux": {
            # Without a pid namespace, the container uses the host's.
            "namespaces": [{"type": name} for name in ("mount", "ipc", "uts", "network")],
            "maskedPaths": ["/proc/acpi", "/proc/kcore", "/proc/keys", "/proc/timer_list",
                            "/sys/firmware"],
            "readonlyPaths": ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys",
                              "/proc/sysrq-trigger"],
            "seccomp": filter_of(profile, caps, gives),
        },
    }


def contain(t, *args, gives=True):
    """Runs a command by crun, in a container that has only /usr and memleak."""
    root = t.tmp / "root"
    root.mkdir(exist_ok=True)
    for name in ("usr", "proc", "sys", "dev"):
        (root / name).mkdir(exist_ok=True)
    (root / "memleak").touch()
    for name in ("bin", "sbin", "lib", "lib64"):
        if not (root / name).is_symlink():
            (root / name).symlink_to(f"usr/{name}")
    config = config_of(root, t.path.resolve(), [str(arg) for arg in args], gives)
    (t.tmp / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return t.process([*ALONE, "crun", "--cgroup-manager=disabled", f"--root={t.tmp}/state", "run",
                      f"--bundle={t.tmp}", f"c{os.getpid()}"])


def demand_containers(t):
    if os.uname().machine != "x86_64" or not shutil.which("crun") or not PROFILE.exists():
        raise Skip("needs crun, and golang-github-containers-common for its filter of system calls")
    if PARANOID.exists() and int(PARANOID.read_text(encoding="ascii")) > 2:
        raise Skip(f"{PARANOID} is above 2")
    first = contain(t, "/bin/true")
    if first.wait() != 0:
        raise Skip(f"crun cannot run a container here: {first.err.text.strip()}")


def test_leak(t):
    """
    A leak outside the container is found, helpers have no capabilities, and nothing is left behind.
    """
    demand_containers(t)
    program = t.program("leak")
    crun = contain(t, "/memleak", "--json", "-o", "0", "-T", "1000", "-p", program.pid, "3600")
    crun.wait_for("tracing", lambda: "memleak: tracing" in crun.err.text)
    memleak, = children_of(crun.pid)
    starter, = children_of(memleak)
    helpers = children_of(starter)
    if not helpers:
        raise Failure("it has no helpers")
    for pid in helpers:
        check(pid, "container")
    truth = program.go()
    os.kill(memleak, signal.SIGINT)
    wanted("code", crun.wait(), 0)
    report = parse(crun.out.data.splitlines()[-1])
    expect(report, truth)
    if not until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in [starter, *helpers])):
        raise Failure("helpers are left")


def test_bpf_denied(t):
    """If the filter requires CAP_SYS_ADMIN for bpf(), a line says so."""
    demand_containers(t)
    crun = contain(t, "/memleak", "-p", os.getpid(), "1", "1", gives=False)
    wanted("code", crun.wait(), 1)
    wanted("lines", crun.err.text.splitlines()[-1:], [
        "memleak: bpf(2) is not permitted: a seccomp filter or security module denies it"])
