# SPDX-License-Identifier: GPL-2.0-or-later
"""Other mount and pid namespaces: around the traced process, and around memleak."""

import os
import shutil
import signal
import subprocess

from lib import Failure, Skip, each, expect, pitfall


def copy_with_libraries(path, root):
    """The program and what it is linked with, into a folder that can be a root."""
    answer = subprocess.run(["ldd", path], capture_output=True, text=True, check=True)
    files = [word for line in answer.stdout.splitlines() for word in line.split()
             if word.startswith("/")]
    for file in files:
        target = root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(file), target)
    shutil.copy(path, root / "program")


@pitfall(13)
@each("chroot", "private_mount", "pid_namespace")
def test_container(t, name):
    """The program's files are not where their names say, seen from outside."""
    root = t.tmp / "root"
    root.mkdir()
    copy = f"mount -t tmpfs none {root} && cp -a {t.tmp}/files/. {root}"
    if name == "chroot":
        copy_with_libraries(t.file_of("leak"), root)
        wrapper = ("chroot", root)
    else:
        (t.tmp / "files").mkdir()
        copy_with_libraries(t.file_of("leak"), t.tmp / "files")
        wrapper = ("unshare", "-m", "--propagation", "private", "sh", "-c",
                   f'{copy} && exec chroot {root} "$0"')
    if name == "pid_namespace":
        wrapper = ("unshare", "-p", "-f", "--kill-child", *wrapper)
    program = t.program("leak", path="/program", wrapper=wrapper)
    pid = program.pid
    if name == "pid_namespace":
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = file.read().split()
        if not children:
            raise Skip("no pid namespaces here")
        pid = int(children[0])
    memleak = t.memleak("--json", "-o", "0", "-p", str(pid), "3600").ready()
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    if report["sites"][0]["pid"] != pid:
        raise Failure(f"pid {report['sites'][0]['pid']}, not {pid}")


# memleak itself in another pid namespace.

NEW_PIDS = ("unshare", "-p", "-f", "--mount-proc", "--kill-child")


def only_child(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    if len(children) != 1:
        raise Skip("no pid namespaces here")
    return int(children[0])


def numbers_of(pid):
    """What a process is called in each pid namespace, from ours on."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        fields = dict(line.split(":", 1) for line in file)
    return [int(number) for number in fields["NSpid"].split()]


@each("first", "second", "nested")
def test_memleak_in_container(t, name):
    """It takes and shows the numbers that are seen there, whatever others there are."""
    wrapper = {"first": NEW_PIDS, "second": (*NEW_PIDS, "sh", "-c", '"$0" "$@"; true'),
               "nested": NEW_PIDS + NEW_PIDS}[name]
    program = t.program("leak", wrapper=wrapper)
    first = only_child(program.pid)
    pid = numbers_of(first if name == "first" else only_child(first))[1]
    memleak = t.memleak("--json", "-t", "-a", "-o", "0", "-p", str(pid), "3600",
                        wrapper=("nsenter", "-t", str(first), "-p",
                                 f"--mount=/proc/{program.pid}/ns/mnt")).ready()
    truth = program.go()
    os.kill(only_child(memleak.pid), signal.SIGINT)
    report = memleak.finish()
    expect(report, truth)
    seen = {site["pid"] for site in report["sites"]}
    seen |= {block["tid"] for site in report["sites"] for block in site["allocs"]}
    seen |= {event[key] for event in memleak.events for key in ("pid", "tid")}
    if seen != {pid}:
        raise Failure(f"numbers {sorted(seen)} are shown, not {pid} alone")


def test_proc_of_another_namespace(t):
    """What /proc calls a process is not what it is called here: that is said."""
    t.refused("--json", "-p", "1", "1", code=1, says="/proc",
              wrapper=("unshare", "-p", "-f", "--kill-child"))
