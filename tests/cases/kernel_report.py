# SPDX-License-Identifier: GPL-2.0-or-later
"""
memleak without a process: the whole kernel, with last allocating process, never memleak itself.
"""

import os
import pathlib
import re

from lib import Failure, Skip, alone, each, lane, once, pitfall, timeout
from lib.kernel import (THINGS, by_program, culprit_of, expect_things, kernel_part, names_of,
                        plain, require, settled, share_kernel, sites_of, whole_kernel,
                        wrong_things)


@once
@lane("kernel")
@timeout(180)
@each("messages:1000", "keys", "rings:10", "arrays:20")
def test_exact(t, thing):
    """Counts for the whole kernel are exact; pid and comm are null, last_pid and last_comm set."""
    share_kernel(t, whole=True)
    program = t.program("kernel", thing)
    memleak = whole_kernel(t)
    name = thing.split(":")[0]
    for _ in range(2):
        truth = program.go()
        report = settled(memleak, lambda report, truth=truth: not others(report, program, name)
                         and not wrong_things(report, truth), f"{truth.kernel}")
        for site in sites_of(report, name, truth.kernel[name][0]):
            require(site["pid"] is None and site["comm"] is None, report, "pid, comm not null")
            require(site["last_pid"] == program.pid and site["last_comm"] == "kernel", report,
                    f"last_pid {site['last_pid']} last_comm {site['last_comm']}")
    truth = program.go()
    settled(memleak, lambda report: not wrong_things(report, truth), f"{truth.kernel}")
    memleak.stop()


def others(report, program, name):
    """Returns sites of the thing where other processes allocate, too."""
    return [site for site in sites_of(report, name, "slab") + sites_of(report, name, "page")
            if site["last_pid"] != program.pid or site["several_pids"]]


@lane("kernel")
@timeout(120)
def test_plain_command(t):
    """`memleak 1 2`: the leak is in the second report, and first when sorted by growth."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:20000:4048")
    memleak = t.memleak("-o", "0", "--format", "bcc", "--sort", "growth", "1", "2").ready()
    program.go()
    memleak.finish()
    text = memleak.out.text
    reports = re.split(r"^\[\d\d:\d\d:\d\d\] Top ", text, flags=re.M)[1:]
    if len(reports) != 2:
        raise Failure(f"{len(reports)} reports: {text[:2000]!r}")
    found = [report for report in reports if re.search(
        r"^\t81920000 bytes in 20000 allocations from stack\n\t\t(\S+)", report, re.M)]
    if not found:
        raise Failure(f"81920000 bytes in 20000 allocations are in no report: {text[:4000]!r}")
    first = re.search(r"^\t\d+ bytes in \d+ allocations from stack\n\t\t([\w.]+)", found[0], re.M)
    if plain(first.group(1)).lstrip("_") not in THINGS["messages"]:
        raise Failure(f"the first frame of the first site is {first.group(1)}")
    if not re.search(rf"last by pid {program.pid} kernel", found[0]):
        raise Failure(f"not said whose: {found[0][:2000]!r}")


@each("--obj /nonexistent", "--symbols-prefix je_", "--alloc pool", "--free pool", "--force",
      "--unwind fp", "")
def test_options_of_user_memory(t, name):
    """Options for user memory have no effect without a process, and memleak says so."""
    share_kernel(t)
    memleak = t.memleak("--json", *name.split(), "0.2", "1")
    memleak.finish()
    if ("concern user memory" in memleak.notes) != bool(name):
        raise Failure(f"notes: {memleak.notes!r}")


@lane("kernel")
@timeout(120)
def test_kernel_option_alone(t):
    """-K without a process traces the whole kernel as well."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:100")
    memleak = whole_kernel(t, "-K")
    truth = program.go()
    report = memleak.stop()
    expect_things(report, truth)
    require(all(site["space"] == "kernel" and site["pid"] is None for site in report["sites"]),
            report, "user sites")


@lane("kernel")
@timeout(120)
def test_reclaimable(t):
    """Names of files are reclaimable cache; messages are not."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:100")
    memleak = whole_kernel(t)
    for index in range(500):
        (t.tmp / f"file{index}").touch()
    program.go()
    report = memleak.stop()
    if not any(site["cache"] for site in kernel_part(report)):
        raise Skip("this kernel's events do not tell the cache")
    names = [site for site in kernel_part(report) if culprit_of(site) == "d_alloc"]
    require(sum(site["count"] for site in names) >= 500, report, "no 500 names of files")
    for site in names:
        require(site["reclaimable"], report, f"{site['cache']} is not reclaimable")
    for site in sites_of(report, "messages", "slab"):
        require(not site["reclaimable"], report, "messages are reclaimable")
    marks = [site["reclaimable"] for site in report["sites"]]
    require(marks == sorted(marks), report, "reclaimable memory is not listed last")
    require(report["kernel_memory"]["unreclaimable"] > 0 and
            report["kernel_memory_before"]["unreclaimable"] > 0, report, "nothing of /proc/meminfo")


@lane("kernel")
@timeout(120)
def test_growing_caches(t):
    """
    Names of files are growth of a cache that the kernel can reclaim; messages are growth of a cache
    that it cannot reclaim. Processors keep free objects, which may become messages without growth.
    """
    share_kernel(t, whole=True)
    if not os.access("/proc/slabinfo", os.R_OK):
        raise Skip("this kernel does not list its slab caches")
    files, messages, size = 20000, 2000, 4048
    program = t.program("kernel", f"messages:{messages}:{size}")
    memleak = whole_kernel(t)
    for index in range(files):
        (t.tmp / f"file{index}").touch()
    program.go()
    report = memleak.stop()
    growths = report["kernel_growth"]["caches"]
    grown = [growth["grown_bytes"] for growth in growths]
    require(grown == sorted(grown, reverse=True), report, f"not sorted: {grown}")
    require(all(growth["bytes"] >= growth["grown_bytes"] for growth in growths), report,
            f"grown by more than there is: {growths}")
    for name, reclaimable, least in (("dentry", True, files * 128),
                                     ("(kmalloc|msg_msg)-(.*-)?4k", False, messages * size // 2)):
        require(sum(growth["grown_bytes"] for growth in growths
                    if re.fullmatch(name, growth["name"]) and
                    growth["reclaimable"] == reclaimable) > least, report,
                f"{name} grew by less than {least}: {growths}")


@lane("kernel")
@timeout(120)
def test_two_senders(t):
    """Two processes allocate at one site: the site says that there are several."""
    share_kernel(t, whole=True)
    first, second = (t.program("kernel", "messages:100") for _ in range(2))
    memleak = whole_kernel(t)
    first.go()
    for site in sites_of(memleak.fresh_report(), "messages", "slab"):
        require(not site["several_pids"], None, "several_pids with one process")
    second.go()
    report = memleak.stop()
    sites = sites_of(report, "messages", "slab")
    require(sum(site["count"] for site in sites) == 200, report, "not 200 messages")
    for site in sites:
        require(site["several_pids"] and site["last_pid"] == second.pid, report,
                f"several_pids {site['several_pids']}, last_pid {site['last_pid']}")


@lane("kernel")
@timeout(120)
def test_owner(t):
    """The process with most of the blocks is a site's owner, whoever allocated there last."""
    share_kernel(t, whole=True)
    first, second = t.program("kernel", "messages:150"), t.program("kernel", "messages:40")
    memleak = whole_kernel(t)
    first.go()
    second.go()
    for site in sites_of(memleak.stop(), "messages", "slab"):
        require((site["owner_pid"], site["owner_comm"], site["last_pid"]) ==
                (first.pid, "kernel", second.pid), None, f"owner {site['owner_pid']}")


@lane("kernel")
@pitfall(28)
@each("reports", "blocks", "helper")
@timeout(180)
def test_never_its_own(t, what):
    """
    memleak and its helpers allocate kernel memory when reading tables, symbolizing and writing
    reports; none of it is shown.
    """
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:5000:16")
    memleak = whole_kernel(t, *(("-a",) if what == "blocks" else ()), interval="0.2")
    number = len(memleak.take())
    for index in range(number + 5):
        memleak.report_number(index)
        memleak.look()
        if what != "reports" and index == number + 2:
            program.go()
    memleak.stop()
    own = {memleak.pid} | memleak.helpers | memleak.starters
    if len(own) < 2:
        raise Failure("no helper was seen")
    for report in memleak.reports:
        for site in kernel_part(report):
            require(site["last_pid"] not in own, report,
                    f"{site['count']} blocks by {site['last_comm']}: {names_of(site)}")


@alone  # a site has one owner, so any other process that starts would matter
@timeout(120)
def test_other_memleak(t):
    """Maps, programs and helpers of another memleak are not shown, either."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:100")
    memleak = whole_kernel(t)
    other = t.attach(program)
    other.look()
    program.go()
    report = memleak.fresh_report()
    own = {other.pid} | other.helpers | other.starters
    if len(own) < 2:
        raise Failure("no helper was seen")
    # Before it executed memleak, its process got pages from the runner, and pages for the new
    # program's arguments. The site of the latter is shared by all programs that start.
    runner = pathlib.Path("/proc/self/comm").read_text(encoding="utf-8").strip()
    for site in kernel_part(report):
        of_arguments = any(name.startswith("get_user_pages_remote") for name in names_of(site))
        require(site["last_comm"] == runner or site["last_pid"] not in own and
                (of_arguments or site["owner_pid"] not in own), report,
                f"{site['bytes']} bytes by {site['last_comm']}: {names_of(site)}")
    require(sites_of(report, "messages", "slab"), report, "no messages")
    other.stop()
    memleak.stop()


@lane("kernel")
@pitfall(27)
@timeout(120)
def test_says_what_it_watches(t):
    """Prints the traced events, and the frees that cannot be traced on this kernel."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:100", "pipes:20:8")
    memleak = whole_kernel(t, "-P", "-v")
    program.go()
    report = memleak.stop()
    require("kernel" in memleak.notes, report, f"stderr {memleak.notes!r}")
    require(report["calls"] > 0, report, "not one event of a whole kernel")
    kinds = {site["kind"] for site in kernel_part(report)}
    require("slab" in kinds and "page" in kinds, report, f"kinds {kinds}")


@once
@lane("kernel")
@timeout(120)
def test_vmalloc_in_bulk(t):
    """
    400 terminals with two buffers of vmalloc() each: pages are counted once if the function that
    allocates them can be hooked; else their sum is reported as not seen.
    """
    share_kernel(t, whole=True)
    if not re.search(r"VmallocUsed: +[1-9]", open("/proc/meminfo").read()):
        raise Skip("this kernel does not tell what vmalloc() holds")
    memleak = whole_kernel(t, "-v")
    has_bulk = re.search(r" (__alloc_pages_bulk|alloc_pages_bulk_noprof)$",
                         open("/proc/kallsyms").read(), re.M)
    hooked = has_bulk and "are traced by fentry" in memleak.notes

    def seen(report):
        return sum(site["bytes"] for site in kernel_part(report)
                   if site["kind"] == "page" and "n_tty_open" in names_of(site))

    def known(report):
        require(not hooked or not report["inferred"]["vmalloc_hidden"], report, "still not seen")
        return report["inferred"]["vmalloc_hidden"] + seen(report)

    before = known(memleak.fresh_report())
    terminals = [descriptor for _ in range(400) for descriptor in os.openpty()]
    report = memleak.fresh_report()
    held = known(report)
    require(not hooked or seen(report) % (2 * 400 * 4096) == 0, report,
            f"{seen(report)} bytes are no whole number of pages for each buffer")
    for descriptor in terminals:
        os.close(descriptor)
    most = 0 if hooked else before + (held - before) // 4
    settled(memleak, lambda report: known(report) <= most, "terminals")
    memleak.stop()
    if held - before < 2 * 400 * 8192:
        raise Failure(f"{held - before} bytes more for 400 terminals")


@lane("kernel")
@timeout(120)
def test_names(t):
    """Every frame is in a function of the kernel or a module, and most have names."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:100", "keys:50")
    memleak = whole_kernel(t)
    program.go()
    report = memleak.stop()
    frames = [frame for site in kernel_part(report) for frame in site["stack"]]
    require(frames, report, "no frames")
    for frame in frames:
        require(int(frame["addr"], 16) >> 63, report, f"address {frame['addr']}")
        require(frame["symbol"] is None or frame["offset"] is not None, report, "no offset")
    named = sum(frame["symbol"] is not None for frame in frames)
    require(named * 10 >= len(frames) * 9, report, f"{named} of {len(frames)} frames have a name")
    for site in by_program(report, program):
        require(culprit_of(site) != "(no stack)", report, "a stack of the allocator alone")
