# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel memory of a process: exact counts and bytes, and nothing left at the end."""

import re

from lib import Skip, Truth, each, once, pitfall, sample, slow, timeout
from lib.kernel import (culprit_of, expect_things, kernel_part, names_of, require, settled,
                        share_kernel, sites_of, wrong_things)
from lib.expect import fail, part_of

# Memory that the kernel frees later: from a workqueue, a garbage collector, or after a grace
# period.
LATER = ("keys", "maps")
CACHES = {"messages": r"512$", "eventfds": r"-64$", "keys": r"512$", "datagrams": r"-2k$",
          "timerfds": r"-\d+$"}


def expect_gone(memleak, truth):
    """Requires that everything is freed, at once or as soon as the kernel does it."""
    if any(thing in LATER for thing in truth.kernel):
        settled(memleak, lambda report: not wrong_things(report, truth), f"{truth.kernel}")
    else:
        expect_things(memleak.fresh_report(), truth)


def check_sites(report, program, thing, kind):
    """Checks pid, cache, and that stacks reach the system call."""
    for site in sites_of(report, thing, kind):
        require(site["pid"] == program.pid and site["comm"] == "kernel", report,
                f"pid {site['pid']}, comm {site['comm']}")
        require(site["last_pid"] == program.pid and site["last_comm"] == "kernel", report,
                f"last_pid {site['last_pid']}, last_comm {site['last_comm']}")
        require(not site["several_pids"] and not site["interrupt"], report, "several, interrupt")
        require(not site["several_caches"], report, f"{thing}: several caches")
        if thing in CACHES and site["cache"]:
            require(re.search(CACHES[thing], site["cache"]), report, f"cache {site['cache']}")
        if kind != "slab":
            require(site["cache"] is None, report, f"a {kind} with cache {site['cache']}")
        edge = [name for name in names_of(site)[1:] if re.search(r"syscall|el0_svc", name)]
        require(edge, report, f"{thing}: no system call in {names_of(site)}")


@once
def test_exact(t):
    """Allocated, allocated once more, freed, by a process for each thing."""
    share_kernel(t)
    programs = {thing.split(":")[0]: t.program("kernel", thing) for thing in
                ("messages", "pipes:40", "arrays:20", "watches", "eventfds", "keys", "datagrams",
                 "rings:10")}
    memleak = t.attach(list(programs.values()), "-K", interval="0.3")
    for _ in range(2):
        truths = {thing: program.go() for thing, program in programs.items()}
        report = memleak.fresh_report()
        for thing, program in programs.items():
            part = part_of(report, program)
            expect_things(part, truths[thing])
            check_sites(part, program, thing, truths[thing].kernel[thing][0])
    gone = Truth()
    for program in programs.values():
        gone.kernel.update(program.go().kernel)
    expect_gone(memleak, gone)
    memleak.stop()


@once
def test_exact_percpu(t):
    """-P: per-CPU memory; a block covers all CPUs."""
    share_kernel(t)
    program = t.program("kernel", "maps:10:16")
    memleak = t.attach(program, "-K", "-P", interval="0.3")
    for _ in range(2):
        truth = program.go()
        report = memleak.fresh_report()
        expect_things(report, truth)
        check_sites(report, program, "maps", "percpu")
        for site in sites_of(report, "maps", "percpu"):
            require(site["bytes"] == 64 * site["count"], report, f"{site['bytes']} bytes")
    expect_gone(memleak, program.go())
    memleak.stop()


@once
@slow
def test_percpu_pages_are_not_counted_twice(t):
    """-P: 5 MB per CPU, for which the kernel allocates pages: these are not counted in addition."""
    share_kernel(t)
    program = t.program("kernel", "maps:20:4096")
    memleak = t.attach(program, "-K", "-P", interval="0.3")
    report = None
    for _ in range(2):
        truth = program.go()
        report = memleak.fresh_report()
        expect_things(report, truth)
    pages = [site for site in kernel_part(report) if site["kind"] == "page"
             and {"pcpu_populate_chunk", "pcpu_alloc_pages"} & set(names_of(site))]
    require(not pages, report, f"pages of percpu memory: {pages[:1]}")
    memleak.stop()


def test_no_percpu_unless_asked(t):
    share_kernel(t)
    program = t.program("kernel", "maps:10:16")
    memleak = t.attach(program, "-K")
    program.go()
    report = memleak.stop()
    require(kernel_part(report), report, "no kernel site at all")
    require(not [site for site in report["sites"] if site["kind"] == "percpu"], report, "percpu")


def test_cache_is_named(t):
    """Each site names its slab cache if the kernel shows it."""
    share_kernel(t)
    program = t.program("kernel", "eventfds")
    memleak = t.attach(program, "-K")
    program.go()
    report = memleak.stop()
    files = [site for site in kernel_part(report)
             if culprit_of(site) in ("alloc_empty_file", "alloc_file")]
    require(sum(site["count"] for site in files) >= 100, report, "no 100 open files")
    if not any(site["cache"] for site in kernel_part(report)):
        raise Skip("this kernel's events do not tell the cache")
    for site in files:
        require(site["cache"] and "filp" in site["cache"], report, f"cache {site['cache']}")


@sample(2)
@once
@each("messages:800", "pipes:80:8", "eventfds:400", "messages:40000:16")
@timeout(180)
def test_threads(t, thing):
    """Eight threads at once: exact counts."""
    share_kernel(t)
    program = t.program("kernel", "-t", "8", thing)
    memleak = t.attach(program, "-K", interval="0.5")
    for _ in range(2):
        truth = program.go()
        expect_things(memleak.fresh_report(), truth)
    expect_things(memleak.fresh_report(), truth)
    truth = program.go()
    expect_things(memleak.fresh_report(), truth)
    memleak.stop()


@once
@pitfall(23)
def test_kinds_apart(t):
    """Slab objects, pages and per-CPU memory: freeing one does not affect the others."""
    share_kernel(t)
    program = t.program("kernel", "pipes:40", "messages:500", "maps:10:16", "rings:10",
                        "eventfds:100")
    memleak = t.attach(program, "-K", "-P", interval="0.3")
    for _ in range(2):
        truth = program.go()
        expect_things(memleak.fresh_report(), truth)
    for _ in range(5):
        truth = program.go()
        settled(memleak, lambda report, truth=truth: not wrong_things(report, truth),
                f"{truth.kernel}")
    report = memleak.stop()
    expect_things(report, truth)


@once
@pitfall(23)
@each("slab", "page", "percpu")
def test_addresses(t, kind):
    """-a: slab objects have kernel addresses, and no two blocks of a kind share an address."""
    thing, what = {"slab": ("messages", "messages:100"), "page": ("rings", "rings:10"),
                   "percpu": ("maps", "maps:10:16")}[kind]
    share_kernel(t)
    program = t.program("kernel", what)
    memleak = t.attach(program, "-K", "-P", "-a")
    truth = program.go()
    report = memleak.stop()
    expect_things(report, truth)
    blocks = [alloc for site in kernel_part(report) if site["kind"] == kind
              for alloc in site["allocs"]]
    if len({block["addr"] for block in blocks}) != len(blocks):
        fail(report, f"two {kind} blocks at one address")
    for site in sites_of(report, thing, kind):
        sizes = {alloc["size"] for alloc in site["allocs"]}
        require(sizes == {site["bytes"] // site["count"]}, report, f"sizes {sizes}")
        require(all(alloc["tid"] == program.pid for alloc in site["allocs"]), report, "tid")
        if kind == "slab":
            require(all(int(alloc["addr"], 16) >> 63 for alloc in site["allocs"]), report,
                    "a slab object below the kernel's addresses")
