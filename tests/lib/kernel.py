# SPDX-License-Identifier: GPL-2.0-or-later
"""
Finds the kernel sites of a report that belong to each object that programs/kernel_things allocates.
Function names and inlining differ between kernels, so each object has a list of names.
"""

import fcntl
import os
import re
import time

from .case import Failure
from .expect import check_lost, fail
from .process import PATIENCE

# Frames that only pass an allocation on: the culprit is the first other frame.
ALLOCATOR = re.compile(
    r"_*(kv?[mzc]alloc|kmem_cache_alloc|krealloc|kmemdup|slab_alloc|slab_post_alloc|new_slab|"
    r"alloc_pages|alloc_frozen_pages|folio_alloc|vma_alloc_folio|get_free_page|get_zeroed_page|"
    r"alloc_page|pcpu_alloc|alloc_percpu|trace_|traceiter_|bpf_trace_run|bpf_prog_|bpf_trampoline_|"
    r"perf_trace_|alloc_pages_vma)\w*$")

# Functions through which the slab allocator allocates its own pages.
SLAB_PAGES = re.compile(r"(new_slab|allocate_slab|alloc_slab_page|_*slab_alloc\w*|"
                        r"refill_objects|cache_grow_begin)$")

THINGS = {
    "messages": {"load_msg", "alloc_msg", "do_msgsnd", "ksys_msgsnd", "sys_msgsnd"},
    "pipes": {"pipe_write", "anon_pipe_write", "anon_pipe_get_page"},
    "arrays": {"pipe_resize_ring", "pipe_set_size", "pipe_fcntl"},
    "watches": {"ep_ptable_queue_proc"},
    "eventfds": {"do_eventfd", "sys_eventfd2"},
    "timerfds": {"sys_timerfd_create"},
    "keys": {"user_preparse"},
    "datagrams": {"kmalloc_reserve", "alloc_skb", "alloc_skb_with_frags"},
    "rings": {"packet_set_ring", "alloc_pg_vec", "alloc_one_pg_vec_page"},
    "huge": {"do_huge_pmd_anonymous_page", "vma_alloc_anon_folio_pmd"},
    "maps": {"bpf_map_alloc_percpu", "bpf_array_alloc_percpu", "array_map_alloc"},
}
# Where a culprit also allocates other things, a caller must match as well.
CALLERS = {"datagrams": "unix_dgram_sendmsg"}


def plain(symbol):
    """
    Strips the suffixes and prefixes that compilers and architectures add to a function's name.
    """
    symbol = re.sub(r"\.(isra|part|constprop|cold|llvm)\b.*", "", symbol or "?")
    symbol = re.sub(r"^__(do|se|x64|ia32|arm64)_(compat_)?sys_", "sys_", symbol)
    return symbol


def names_of(site):
    return [plain(frame["symbol"]) for frame in site["stack"]]


def culprit_of(site):
    """Returns the function that called the allocator, without leading underscores."""
    for name in names_of(site):
        if not ALLOCATOR.match(name):
            return name.lstrip("_")
    return "(no stack)"


def kernel_part(report):
    return [site for site in report["sites"] if site["space"] == "kernel"]


def user_part(report):
    """Returns the report without kernel sites, for expect()."""
    sites = [site for site in report["sites"] if site["space"] == "user"]
    return {**report, "sites": sites, "sites_total": len(sites)}


def sites_of(report, thing, kind):
    """Returns the sites where a thing is allocated. A large kmalloc may be reported as pages."""
    kinds = (kind, "page") if thing == "arrays" else (kind,)
    found = [site for site in kernel_part(report)
             if site["kind"] in kinds and culprit_of(site) in THINGS[thing]]
    if thing in CALLERS:
        found = [site for site in found if CALLERS[thing] in names_of(site)]
    if thing == "datagrams":  # skip the socket buffers' descriptors, whose cache may be unknown
        found = [site for site in found if site["bytes"] >= 1024 * site["count"]]
    return found


def sum_of_thing(report, thing, kind):
    sites = sites_of(report, thing, kind)
    return sum(site["count"] for site in sites), sum(site["bytes"] for site in sites)


def wrong_things(report, truth):
    """
    Returns {thing: (got, wanted)} for differences. Huge pages may be split into any number of
    pieces.
    """
    wrong = {}
    for thing, (kind, count, size) in truth.kernel.items():
        got = sum_of_thing(report, thing, kind)
        wanted = (got[0] if thing == "huge" and count else count,
                  got[1] if size is None else size)
        if got != wanted:
            wrong[thing] = (got, wanted)
    return wrong


def check_kernel_lost(report, may_lose=()):
    """
    Requires that nothing was lost, except events in an interrupt while the same BPF program ran on
    the CPU: the kernel skips and counts these. They are rare and belong to no task.
    """
    check_lost(report, ("recursion", *may_lose))
    recursion = report["lost"]["recursion"]
    require(recursion <= 100 + report["calls"] // 1000, report, f"{recursion} events were left out")


def expect_things(report, truth, may_lose=()):
    """Requires every thing that the program holds, with exact count and bytes."""
    check_kernel_lost(report, may_lose)
    if report["sites_total"] != len(report["sites"]):
        fail(report, "only the top of the sites is shown: the case needs a larger -T")
    wrong = wrong_things(report, truth)
    if wrong:
        fail({**report, "sites": kernel_part(report)},
             "\n".join(f"{thing}: (count, bytes) {got}, the truth is {wanted}"
                       for thing, (got, wanted) in wrong.items()))


def settled(memleak, holds, what, seconds=PATIENCE):
    """
    Returns the first report for which holds(report) is true: for memory that the kernel frees
    later, from a workqueue or after a grace period. Needs a short interval.
    """
    deadline = time.monotonic() + seconds
    report = memleak.fresh_report()
    while not holds(report):
        if time.monotonic() > deadline:
            fail({**report, "sites": kernel_part(report)}, f"not settled: {what}")
        report = memleak.fresh_report()
    return report


def share_kernel(t, whole=False):
    """
    Takes a lock until the case ends: a case that traces the whole kernel excludes all others, also
    those of other runs on this machine.
    """
    t.kernel_lock = os.open("/tmp/memleak-kernel-cases.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC,
                            0o666)
    fcntl.flock(t.kernel_lock, fcntl.LOCK_EX if whole else fcntl.LOCK_SH)


def whole_kernel(t, *options, interval="0.5"):
    """Starts memleak without a process, with JSON output and all blocks and sites shown."""
    options = options if "-o" in options or "-C" in options else ("-o", "0", *options)
    return t.memleak("--json", "-T", "100000", *options, interval).ready()


def by_program(report, program):
    """Returns the kernel sites where this program is the only one that has allocated."""
    return [site for site in kernel_part(report)
            if site["last_pid"] == program.pid and not site["several_pids"]]


def require(holds, report, text):
    if not holds:
        if report is None:
            raise Failure(text)
        fail({**report, "sites": kernel_part(report)}, text)
