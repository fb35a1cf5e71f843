# SPDX-License-Identifier: GPL-2.0-or-later
"""Mount and pid namespaces of the traced process, and of memleak."""

import os
import pathlib
import shutil
import signal
import subprocess

from lib import Failure, Skip, each, expect, pitfall, sample, wanted
from lib.apart import NEW_PIDS, numbers_of, only_child
from lib.libraries import libraries_of


def copy_with_libraries(path, root):
    """Copies a program and its libraries into a folder that can be a root directory."""
    for file in libraries_of(path):
        target = root / file.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(file), target)
    shutil.copy(path, root / "program")


@pitfall(13)
@each("chroot", "private_mount", "pid_namespace")
def test_container(t, name):
    """The program's paths are valid only in its mount namespace."""
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


@each("library", "device", "pipe", "proc")
def test_object_leads_out_of_the_root(t, name):
    """
    Links in the path given by -O are resolved within the program's root: nothing outside is opened.
    """
    root = t.tmp / "root"
    root.mkdir()
    copy_with_libraries(t.file_of("leak"), root)
    leads_to = {"library": t.file_of("libbump.so"), "device": "/dev/zero", "proc": "/proc/kcore",
                "pipe": t.tmp / "pipe"}[name]
    if name == "pipe":
        os.mkfifo(leads_to)
    (root / "allocator.so").symlink_to(leads_to)
    program = t.program("leak", path="/program", wrapper=("chroot", root))
    t.refused("--json", "-O", "/allocator.so", "-p", str(program.pid), "1", code=1,
              says="cannot read /allocator.so: No such file or directory")


@each("device", "pipe", "proc")
def test_object_is_no_file(t, name):
    """-O with files that must not be read, or whose reading could block."""
    path = {"device": "/dev/zero", "proc": "/proc/cpuinfo", "pipe": t.tmp / "pipe"}[name]
    if name == "pipe":
        os.mkfifo(path)
    program = t.program("leak")
    t.refused("--json", "-O", path, "-p", str(program.pid), "1", code=1,
              says=f"cannot read {path}: not an ELF file")


# Containers from one image: each has a separate overlay over the same files.

OVERLAY = ("unshare", "-m", "--propagation", "private", "sh", "-c",
           'mount -t overlay none -o "lowerdir=$0/lower:$0/empty" "$0/root" && exec "$0/root/$1"')


def of_one_image(t, name, beside):
    """Starts two programs from the same file; beside: one of them is not in an overlay."""
    for folder in ("lower", "empty", "root"):
        (t.tmp / folder).mkdir()
    path = t.tmp / "lower" / name
    path.write_text("#!/bin/sh\n", encoding="ascii")
    path.chmod(0o755)
    if subprocess.run([*OVERLAY, t.tmp, name], check=False, capture_output=True).returncode:
        raise Skip("no overlay can be mounted here")
    shutil.copy(t.file_of("leak_static"), path)
    first = t.program("leak_static", name, path=t.tmp, wrapper=OVERLAY)
    if beside:
        return [first, t.program("leak_static", path=path)]
    return [first, t.program("leak_static", name, path=t.tmp, wrapper=OVERLAY)]


@each("overlays", "beside")
def test_one_image(t, what):
    """No call is counted twice if two containers share a file."""
    name = f"i{os.getpid()}"
    programs = of_one_image(t, name, what == "beside")
    memleak = t.memleak("--json", "--count=process", "--comm", name, "3600").ready()
    for program in programs * 3:
        program.go()
    memleak.signal(signal.SIGINT)
    memleak.finish(final=False)
    calls = {row["pid"]: row["calls"] for row in memleak.counts[-1]["entries"]}
    wanted("calls", calls, {program.pid: 41 for program in programs})


@each("overlays", "beside")
def test_blocks_of_one_image(t, what):
    name = f"b{os.getpid()}"
    programs = of_one_image(t, name, what == "beside")
    memleak = t.memleak("--json", "-o", "0", "--comm", name, "3600").ready()
    truths = {program.pid: program.go() for program in programs}
    report = memleak.stop()
    sums = {pid: [(site["count"], site["bytes"]) for site in report["sites"]
                  if site["pid"] == pid and site["kind"] == "heap"] for pid in truths}
    wanted("blocks", {pid: sorted(sites) for pid, sites in sums.items()},
           {pid: sorted(truth.sites.values()) for pid, truth in truths.items()})
    wanted("lost", {key: n for key, n in report["lost"].items() if n}, {})


# memleak in another pid namespace.

@each("first", "second", "nested")
def test_memleak_in_container(t, name):
    """memleak takes and shows the pids of its own namespace, whatever the other ones are."""
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
    """If /proc belongs to another pid namespace, memleak says so."""
    t.refused("--json", "-p", "1", "1", code=1, says="/proc",
              wrapper=("unshare", "-p", "-f", "--kill-child"))


@sample(2)
@each("memleak:-5", "memleak:500", "program:-5", "program:500")
def test_time_namespace(t, case):
    """Ages of blocks are right in a time namespace with another clock."""
    who, offset = case.split(":")
    if not pathlib.Path("/proc/self/timens_offsets").exists():
        raise Skip("no time namespaces here")
    apart = ("unshare", "-T", "--monotonic", offset)
    program = t.program("leak", wrapper=apart if who == "program" else ())
    memleak = t.attach(program, wrapper=apart if who == "memleak" else (), interval="0.2")
    truth = program.go()
    report = memleak.fresh_report()
    expect(report, truth)
    oldest = max(site["oldest_ns"] for site in report["sites"])
    if oldest > report["elapsed_ns"]:
        raise Failure(f"{oldest} ns old, {report['elapsed_ns']} ns after the beginning")
    memleak.stop()
