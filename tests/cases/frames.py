# SPDX-License-Identifier: GPL-2.0-or-later
"""Frames are stored as file and offset, independent of what is mapped now, and where."""

import os
import pathlib
import re
import shutil

from lib import Failure, Skip, each, expect, frames_of
from lib.expect import owner

from .process import loader_made

OWN = ("call_plugin", "use", "main")


def files_of(t):
    return t.file_of("libframes_first.so"), t.file_of("libframes_other.so")


def need_same_place(truth):
    if truth.facts["same"] != ["1"]:
        raise Skip("the second library was not loaded where the first one was")


def site_of(report, function):
    found = [site for site in report["sites"] if owner(site) == function]
    if len(found) != 1:
        raise Failure(f"{len(found)} sites of {function}")
    return found[0]


def chain(site):
    return [frame["symbol"] for frame in frames_of(site)][:5]


def check(report, truth, modules):
    """Each function has one site, with the right file and the program's callers."""
    expect(report, truth, ignore=loader_made)
    for function, module in modules.items():
        site = site_of(report, function)
        if chain(site) != [function, "plugin_work", *OWN]:
            raise Failure(f"{function}: {chain(site)}")
        found = {frame["module"] for frame in frames_of(site)[:2]}
        if found != {str(module)}:
            raise Failure(f"{function} is in {found}, not {module}")
        if site["stack_end"] != "complete":
            raise Failure(f"{function}: {site['stack_end']}")


def test_same_place(t):
    """Libraries loaded one after another at the same addresses, also when all are unloaded."""
    first, other = files_of(t)
    program = t.program("frames", first, other, "wait")
    memleak = t.attach(program, interval="0.2")
    truth = program.go()
    before = memleak.fresh_report()
    check(before, truth, {"first_leak": first})
    truth = program.go()
    need_same_place(truth)
    modules = {"first_leak": first, "other_leak": other}
    report = memleak.fresh_report()
    check(report, truth, modules)
    old, new = site_of(report, "first_leak"), site_of(report, "other_leak")
    if frames_of(old)[0]["module_offset"] != frames_of(new)[0]["module_offset"]:
        raise Failure("the functions are not at the same place of their files")
    if frames_of(old)[0]["addr"] != frames_of(new)[0]["addr"]:
        raise Failure("the functions were not at the same address")
    truth = program.go()
    check(memleak.fresh_report(), truth, modules)
    report = memleak.stop()
    check(report, truth, modules)
    if site_of(before, "first_leak")["id"] != site_of(report, "first_leak")["id"]:
        raise Failure("the site has another id than before")


def test_quickly(t):
    """
    Libraries change faster than memleak can read mappings: unknown frames are counted as lost, not
    guessed. A library may become known between two of its blocks.
    """
    first, other = files_of(t)
    program = t.program("frames", first, other, "quick")
    memleak = t.attach(program)
    truth = program.go()
    need_same_place(truth)
    report = memleak.stop()
    sites = [site for site in report["sites"] if not loader_made(site)]
    for size, right in ((48, "first_leak"), (56, "other_leak")):
        own = [site for site in sites if site["bytes"] == site["count"] * size]
        if sum(site["count"] for site in own) != 5:
            raise Failure(f"sites {own} of 5 blocks of {size} bytes")
        for site in own:
            sites.remove(site)
            if site["stack"] and frames_of(site)[0]["symbol"] not in (right, None):
                raise Failure(f"blocks of {right}: {chain(site)}")
        if sum(site["stack_end"] == "complete" for site in own) > 1:
            raise Failure(f"one path in several sites: {own}")
    if sites:
        raise Failure(f"other sites {sites}")
    if cut_blocks(report) > report["lost"]["unwind"]:
        raise Failure(f"{cut_blocks(report)} blocks have cut stacks, lost {report['lost']}")


def cut_blocks(report):
    return sum(site["count"] for site in report["sites"] if site["stack_end"] == "cut")


@each("libframes_other.so", "libframes_wide.so")
def test_churn(t, name):
    """
    Libraries constantly replace each other: no block is attributed to another library's function.
    """
    first, other = t.file_of("libframes_first.so"), t.file_of(name)
    program = t.program("frames", first, other, "churn")
    memleak = t.attach(program, interval="0.02")
    program.go()
    report = memleak.stop()
    functions = {48: "first_leak", 56: "other_leak", 64: "widely_leak"}
    count = 0
    for site in report["sites"]:
        frames = frames_of(site)
        symbols = [frame["symbol"] for frame in frames[:2]]
        if loader_made(site) or not frames:
            continue
        count += site["count"]
        right = functions.get(site["bytes"] / site["count"])
        if symbols[0] not in (right, None) or symbols[1:] not in (["plugin_work"], [None], []):
            raise Failure(f"{site['count']} blocks of {right}, {site['bytes']} bytes: "
                          f"{chain(site)}")
    if count != 1000:
        raise Failure(f"{count} blocks, not 1000")


def test_other_layout(t):
    """Code that replaced other code at the same address never gives wrong frames."""
    first, other = t.file_of("libframes_first.so"), t.file_of("libframes_wide.so")
    program = t.program("frames", first, other, "wait")
    memleak = t.attach(program, interval="0.2")
    program.go()
    memleak.fresh_report()
    truth = program.go()
    need_same_place(truth)
    report = memleak.stop()
    expect(report, truth, ignore=loader_made)
    names = [frame["symbol"] for site in report["sites"] if owner(site) == "widely_leak"
             for frame in frames_of(site)]
    expected = ["widely_leak", "plugin_work", *OWN]
    if not names or names[:5] != expected[:len(names)]:
        raise Failure(f"the stack is {names}")


def test_replaced(t):
    """Another file with the same name."""
    first, other = files_of(t)
    library, new = t.tmp / "library.so", t.tmp / "new"
    shutil.copy(first, library)
    shutil.copy(other, new)
    program = t.program("frames", library, library, "wait")
    memleak = t.attach(program, interval="0.2")
    truth = program.go()
    check(memleak.fresh_report(), truth, {"first_leak": library})
    new.rename(library)
    truth = program.go()
    modules = {"first_leak": library, "other_leak": library}
    report = memleak.fresh_report()
    check(report, truth, modules)
    ids = [frames_of(site_of(report, name))[0]["build_id"] for name in modules]
    if None in ids or ids[0] == ids[1]:
        raise Failure(f"build ids {ids}")
    truth = program.go()
    check(memleak.stop(), truth, modules)


def stored(memleak):
    found = re.search(r"user stacks: (\d+) stored", memleak.notes)
    if not found:
        raise Failure("memleak does not say how many stacks it stored")
    return int(found.group(1))


def places(report, pid):
    return sorted([(frame["module"], frame["module_offset"]) for frame in site["stack"]]
                  for site in report["sites"] if site["pid"] == pid)


def test_two_processes(t):
    """Equal paths in two processes are stored once, wherever their code is mapped."""
    if pathlib.Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        raise Skip("addresses are not randomised here")
    counts = []
    for cnt in (1, 2):
        programs = [t.program("leak") for _ in range(cnt)]
        pids = ",".join(str(program.pid) for program in programs)
        memleak = t.memleak("--json", "-v", "-o", "0", "-T", "100000", "-p", pids, "3600").ready()
        for program in programs:
            program.go()
        report = memleak.stop()
        counts.append(stored(memleak))
    if not counts[0] or counts[0] != counts[1]:
        raise Failure(f"{counts[0]} stacks of one process, {counts[1]} of two")
    one, two = (places(report, program.pid) for program in programs)
    if one != two:
        raise Failure(f"{one} and {two}")
    addresses = [{frame["addr"] for site in report["sites"] if site["pid"] == program.pid
                  for frame in site["stack"]} for program in programs]
    if addresses[0] == addresses[1]:
        raise Failure("both have the same addresses")


def test_touched(t):
    """A file whose timestamps change is still the same file."""
    copy = t.tmp / "again"
    shutil.copy(t.file_of("again"), copy)
    program = t.program("again", path=copy)
    memleak = t.attach(program, interval="0.2")
    program.go()
    before = site_of(memleak.fresh_report(), "again_alloc")
    os.utime(copy, (1, 1))
    memleak.fresh_report()
    program.go()
    after = site_of(memleak.stop(), "again_alloc")
    if (after["id"], after["count"]) != (before["id"], 2):
        raise Failure(f"{before['count']} blocks of {before['id']}, "
                      f"{after['count']} of {after['id']}")
    if frames_of(after)[0]["addr"] != frames_of(before)[0]["addr"]:
        raise Failure("the address is another one")
