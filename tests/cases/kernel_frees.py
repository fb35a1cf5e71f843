# SPDX-License-Identifier: GPL-2.0-or-later
"""Frees that are easily missed: in interrupts, in bulk, in parts, and beside other BPF programs."""

import re

from lib import Failure, each, lane, once, pitfall, slow, timeout
from lib.kernel import (SLAB_PAGES, by_program, check_kernel_lost, culprit_of, expect_things,
                        kernel_part, names_of, plain, require, settled, share_kernel, sites_of,
                        whole_kernel)
from lib.process import PATIENCE
from lib.program import Truth

NO_MESSAGES = Truth.of("kernel messages 0 0 slab")


def held(report, holds):
    """Returns the number of outstanding blocks at the sites for which holds(site) is true."""
    return sum(site["count"] for site in kernel_part(report) if holds(site))


# Frees beside other BPF programs.

@once
@lane("kernel")
@pitfall(21)
@timeout(180)
@slow
def test_beside_other_programs(t):
    """
    Four threads run in heap probes of one memleak: another memleak misses no free in the kernel.
    """
    share_kernel(t, whole=True)
    program = t.program("kernel_flow", "messages", "20000", "4")
    memleak = whole_kernel(t)
    other = t.attach(program, "-K", interval="0.5")
    for _ in range(2):
        program.go()
        for report in (memleak.fresh_report(), other.fresh_report()):
            expect_things(report, NO_MESSAGES)
    if other.stop()["calls"] < 2 * 4 * 20000:
        raise Failure("the heap was not watched: nothing ran beside")
    memleak.stop()


@once
@lane("kernel")
@pitfall(21)
@timeout(180)
@slow
def test_two_tracers(t):
    """Two memleaks trace the whole kernel beside each other."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "-t", "4", "messages:20000")
    first, second = whole_kernel(t), whole_kernel(t)
    for _ in range(3):
        truth = program.go()
        for memleak in (first, second):
            expect_things(memleak.fresh_report(), truth)
    first.stop()
    second.stop()


# Frees in interrupts.

@once
@lane("kernel")
@pitfall(22)
@timeout(180)
def test_made_in_interrupts(t):
    """
    Sockets of connections not yet accepted are allocated while packets are received, in whichever
    task was interrupted: they belong to no process.
    """
    share_kernel(t, whole=True)
    program = t.program("kernel_flow", "children", "500")
    memleak = whole_kernel(t)

    def children(report):
        return [site for site in kernel_part(report) if site["kind"] == "slab"
                and culprit_of(site) in ("sk_prot_alloc", "sk_clone_lock", "sk_clone")
                and any("syn_recv_sock" in name for name in names_of(site))]

    def all_made(report):  # the last packets may still be in flight
        count = sum(site["count"] for site in children(report))
        return count and count % 500 == 0

    program.go()
    report = settled(memleak, all_made, "sockets of 500 connections")
    sites = children(report)
    require(all(site["interrupt"] for site in sites), report, "not said to be in interrupts")
    for site in sites:  # the interrupted task has nothing to do with the allocation
        require(not any("syscall" in name or "connect" in name for name in names_of(site)),
                report, f"{names_of(site)}")
    program.go()
    settled(memleak, lambda report: not children(report), "closed sockets")
    memleak.stop()


@pitfall(22)
def test_interrupts_are_nobodys(t):
    """-K -p: allocations in interrupts are not attributed to the interrupted process."""
    share_kernel(t)
    program = t.program("kernel_flow", "children", "500")
    memleak = t.attach(program, "-K")
    program.go()
    report = memleak.stop()
    require(held(report, lambda site: culprit_of(site) == "sk_prot_alloc") >= 500, report,
            "the process's own ends of the connections")
    for site in kernel_part(report):
        require(not site["interrupt"], report, "a site in interrupts")
        require(not any("syn_recv_sock" in name for name in names_of(site)), report,
                "a socket made in an interrupt is said to be the process's")


def in_network(site):
    return any(name.startswith(("ip_", "udp_", "__ip_append", "skb_", "alloc_skb"))
               for name in map(plain, names_of(site)))


@once
@lane("kernel")
@pitfall(22)
@each(("fragments", 1000), ("packets", 20000))
@timeout(180)
def test_flood(t, what):
    """
    After a second and third equal flood of packets no more blocks are left than after the first.
    """
    share_kernel(t, whole=True)
    program = t.program("kernel_flow", what[0], str(what[1]))
    memleak = whole_kernel(t)
    levels = []
    for _ in range(3):
        program.go()
        # A few hundred of 34,000 or 40,000 buffers may wait to be freed with others.
        report = settled(memleak, lambda report: held(report, in_network) <= 1000, "buffers")
        levels.append(held(report, in_network))
    memleak.stop()
    if levels[2] > levels[0] + 500:
        raise Failure(f"outstanding after each flood: {levels}")


# Frees in bulk.

@once
@pitfall(25)
@each("skb_heads", "skb_data")
@timeout(120)
@slow
def test_freed_in_bulk(t, what):
    """Fragments: heads of buffers are freed by kmem_cache_free_bulk, which has no tracepoint."""
    share_kernel(t)
    program = t.program("kernel_flow", "fragments", "1000")
    memleak = t.attach(program, "-K", interval="0.3")

    def fragments(report):
        return held(report, lambda site: any("ip_append_data" in name for name in names_of(site))
                    and (site["cache"] or "").startswith("skb") == (what == "skb_heads"))

    program.go()
    settled(memleak, lambda report: fragments(report) <= 340, "1 % of 34,000 buffers")
    program.go()
    settled(memleak, lambda report: fragments(report) <= 340, "1 % of 68,000 buffers")
    check_kernel_lost(memleak.stop())


@slow
@once
@pitfall(25)
@each(("watches", 100000, ("do_epoll_ctl", "ep_insert", "sys_epoll_ctl")),
      ("timerfds", 40000, ("sys_timerfd_create",)),
      ("options", 100000, ("ip_options_get", "ip_options_get_alloc", "ip_options_get_from_user")))
@timeout(240)
def test_freed_by_kfree_rcu(t, what):
    """
    Objects freed in bulk after a grace period, without a tracepoint: none is shown any more, or at
    most 1 % if these frees cannot be hooked and are concluded otherwise. For objects in slabs that
    the allocator keeps in reserve, the report says that they may have been freed unseen.
    """
    flow, count, functions = what
    share_kernel(t)
    program = t.program("kernel_flow", flow, str(count))
    memleak = t.attach(program, "-K", "-F", "-v", interval="0.5")
    most = 0 if re.search("are traced by (fentry|kprobe)", memleak.notes) else count // 100
    calls = memleak.fresh_report()["calls"]

    def left(report):
        return sum(site["count"] - site["unseen_frees"] for site in kernel_part(report)
                   if culprit_of(site) in functions)

    for number in range(1, 3):
        program.go(2 * PATIENCE)
        report = settled(memleak, lambda report: left(report) <= most, f"{most} of {count} {flow}")
        require(report["calls"] - calls >= number * count, report, "allocations were not seen")
        require(report["inferred"]["frees_hidden"] == bool(most), report, "hidden frees")
        require(not [site for site in report["suspects"] if culprit_of(site) in functions],
                report, "what was freed is a suspect")
    check_kernel_lost(report)
    memleak.stop()


@once
@pitfall(25)
@slow
def test_repairs_repair_nothing_that_is_held(t):
    """-F, while other blocks are allocated and freed: held blocks stay exact."""
    share_kernel(t)
    program = t.program("kernel", "messages:2000", "pipes:40", "eventfds:400")
    memleak = t.attach(program, "-K", "-F", interval="0.3")
    churn = t.program("kernel_flow", "timerfds", "20000")
    for _ in range(2):
        truth = program.go()
        churn.go()
        expect_things(memleak.fresh_report(), truth)
    for _ in range(3):
        truth = program.go()
        expect_things(memleak.fresh_report(), truth)
    memleak.stop()


# Frees of slab pages, and of split pages.

def slab_pages(report):
    """Returns the sites of pages allocated by the slab allocator."""
    return [site for site in kernel_part(report) if site["kind"] == "page"
            and any(SLAB_PAGES.match(name) for name in names_of(site))]


@once
@lane("kernel")
@pitfall(24)
@each("process", "kernel")
@timeout(180)
def test_slab_pages_are_not_counted_twice(t, mode):
    """80 MB of slab objects: the slab allocator's pages are not counted in addition."""
    share_kernel(t, whole=mode == "kernel")
    program = t.program("kernel", "messages:10000:4048", "eventfds:2000", "keys:300")
    memleak = (whole_kernel(t) if mode == "kernel" else
               t.attach(program, "-K", interval="0.5"))
    for _ in range(2):
        truth = program.go()
        report = memleak.fresh_report()
        expect_things(report, truth)
        require(not slab_pages(report), report, f"pages of slabs: {slab_pages(report)[:1]}")
        pages = sum(site["bytes"] for site in kernel_part(report) if site["kind"] == "page"
                    and site["last_pid"] == program.pid)
        require(pages < truth.kernel["messages"][2] // 10, report,
                f"{pages} bytes of pages for slab objects")
    program.go()
    settled(memleak, lambda report: not sites_of(report, "messages", "slab"), "no messages")
    memleak.stop()


@once
@pitfall(26)
@slow
def test_split_pages(t):
    """
    Huge pages that the kernel splits, half of each freed page by page: the other half is still
    held.
    """
    share_kernel(t)
    program = t.program("kernel", "huge:4")
    memleak = t.attach(program, "-K", "--movable", interval="0.3")
    for _ in range(2):
        truth = program.go()
        expect_things(memleak.fresh_report(), truth)
    program.go()
    # One page of each may stay in a list until the kernel frees a batch.
    report = memleak.fresh_report()
    for site in sites_of(report, "huge", "page"):
        require(site["count"] <= 8 and site["bytes"] == 4096 * site["count"], report,
                "huge pages are still held")
    memleak.stop()


@once
def test_movable_pages_only_if_asked(t):
    """Pages mapped by user space are no leak of the kernel."""
    share_kernel(t)
    program = t.program("kernel", "huge:4", "pipes:20")
    memleak = t.attach(program, "-K")
    truth = program.go()
    truth.kernel["huge"] = ("page", 0, 0)
    expect_things(memleak.stop(), truth)


@lane("kernel")
@pitfall(26)
@timeout(120)
def test_never_negative(t):
    """Frees of older pages and objects do not change the sums."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:1000", "pipes:40", "rings:10", "huge:2")
    program.go()
    program.go()
    memleak = whole_kernel(t)
    for _ in range(4):
        truth = program.go()
        report = memleak.fresh_report()
        require(not [site for site in by_program(report, program)
                     if any(site in sites_of(report, thing, kind)
                            for thing, (kind, _, _) in truth.kernel.items())],
                report, "blocks of before")
    memleak.stop()


@once
@pitfall(24)
def test_large_kmalloc_is_one_block(t):
    """A kmalloc too large for the slab allocator allocates pages: one block, not two."""
    share_kernel(t)
    program = t.program("kernel", "arrays:50")
    memleak = t.attach(program, "-K", interval="0.3")
    for _ in range(3):
        truth = program.go()
        report = memleak.fresh_report()
        expect_things(report, truth)
        around = [site for site in kernel_part(report) if site["bytes"] >= 16384
                  and any("pipe_fcntl" in name or "pipe_resize" in name
                          for name in names_of(site))]
        require(sum(site["bytes"] for site in around) == truth.kernel["arrays"][2], report,
                "counted in another way as well")
    memleak.stop()
