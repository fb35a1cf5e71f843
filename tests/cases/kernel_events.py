# SPDX-License-Identifier: GPL-2.0-or-later
"""-tt in the kernel: each allocation and free with its stack."""

import collections
import re

from lib import Failure, Skip, each, lane, once, slow, timeout, wanted
from lib.expect import check_lost
from lib.kernel import (THINGS, culprit_of, names_of, settled, share_kernel, whole_kernel,
                        wrong_things)

# For each thing: the events of a block, and functions of which each stack must have one.
FLOWS = {
    "messages": (("kmalloc", {"do_msgsnd", "ksys_msgsnd", "sys_msgsnd"}),
                 ("kfree", {"do_msgrcv", "ksys_msgrcv", "sys_msgrcv"})),
    "pipes": (("mm_page_alloc", {"vfs_write", "ksys_write", "sys_write"}),
              ("mm_page_free", {"pipe_release", "put_pipe_info", "free_pipe_info"})),
    "maps": (("percpu_alloc_percpu", {"sys_bpf", "__sys_bpf"}),
             ("percpu_free_percpu", {"bpf_map_free_deferred", "array_map_free", "bpf_array_free_percpu"})),
}
TRACING = re.compile(r"(bpf_prog_[0-9a-f]{16}|bpf_trace_run|bpf_trampoline|__traceiter_|__bpf_trace_|"
                     r"trace_call_bpf|perf_trace_run)")


def kernel_events(memleak, function):
    return [event for event in memleak.events if event["function"] == function]


def check_stack(event, functions):
    names = names_of(event)
    if not functions.intersection(names):
        raise Failure(f"none of {sorted(functions)} in {event}")
    if any(TRACING.match(name) for name in names):
        raise Failure(f"tracing itself in {event}")
    wanted("end of the stack", event["stack_end"], "complete")


def check_thing(memleak, thing, count):
    """Requires this number of allocations, each freed once, in the expected functions."""
    (alloc, callers), (free, freers) = FLOWS[thing]
    made = [event for event in kernel_events(memleak, alloc) if culprit_of(event) in THINGS[thing]]
    wanted(f"allocations of {thing}", len(made), count)
    for event in made:
        check_stack(event, callers)
    frees = collections.defaultdict(list)
    for event in kernel_events(memleak, free):
        frees[event["addr"]].append(event)
    for event in made:
        mine = [one for one in frees[event["addr"]] if freers.intersection(names_of(one))]
        if not mine:
            raise Failure(f"no such free of {event}: {frees[event['addr']]}")
        for one in mine:
            check_stack(one, freers)
            wanted("size", one["size"], event["size"])


@each("messages:300", "pipes:20:16", "maps:10:16")
@slow
def test_stacks(t, what):
    """Slab objects, pages and per-CPU memory of a process: stacks of allocations and frees."""
    share_kernel(t)
    thing = what.partition(":")[0]
    program = t.program("kernel", what)
    memleak = t.attach(program, "-K", "-P", "-tt", interval="0.3")
    program.go()
    truth = program.go()
    gone = program.go()
    settled(memleak, lambda report: not wrong_things(report, gone), "all is freed")
    check_lost(memleak.stop(), ("recursion",))
    check_thing(memleak, thing, truth.kernel[thing][1])


@slow
@lane("kernel")
@timeout(120)
def test_whole_kernel(t):
    """Without a process: the whole kernel, for sizes selected by -z and -Z."""
    share_kernel(t, whole=True)
    program = t.program("kernel", "messages:300:3000")
    memleak = whole_kernel(t, "-tt", "-z", "4k", "-Z", "4k", interval="0.5")
    program.go()
    truth = program.go()
    program.go()
    memleak.fresh_report()
    memleak.stop()
    check_thing(memleak, "messages", truth.kernel["messages"][1])
    if any(event["pid"] == memleak.pid for event in memleak.events):
        raise Failure("what memleak does itself is told of")


@each("raw_tp")
@slow
def test_programs(t, kind):
    """Also with the BPF programs for older kernels."""
    share_kernel(t)
    program = t.program("kernel", "messages:50")
    memleak = t.attach(program, "-K", "-tt", env={"MEMLEAK_KERNEL_PROGRAMS": kind})
    program.go()
    truth = program.go()
    program.go()
    memleak.stop()
    check_thing(memleak, "messages", truth.kernel["messages"][1])


@once
@slow
def test_hooked(t):
    """Frees without a tracepoint, if their function can be hooked."""
    share_kernel(t)
    program = t.program("kernel_flow", "options", "200")
    memleak = t.attach(program, "-K", "-tt", "-v")
    if not re.search("are traced by (fentry|kprobe)", memleak.notes):
        raise Skip("this kernel's functions cannot be hooked")
    program.go()
    memleak.stop()
    callers = {"do_ip_setsockopt", "ip_setsockopt", "do_sock_setsockopt", "sys_setsockopt"}
    found = [event for event in kernel_events(memleak, "kvfree_call_rcu")
             if callers.intersection(names_of(event))]
    if len(found) < 190:
        raise Failure(f"{len(found)} frees of 200 IP options")
    for event in found:
        check_stack(event, callers)


@once
def test_full(t):
    """Stacks that do not fit into the table are counted; their events are still printed."""
    share_kernel(t)
    program = t.program("kernel", "messages:100", "pipes:20", "eventfds:20")
    memleak = t.attach(program, "-K", "-tt", "--stack-storage-size", "2")
    for _ in range(3):
        program.go()
    lost = memleak.stop()["lost"]["stacks_full"]
    empty = [event for event in memleak.events if not event["stack"]]
    if not 0 < len(empty) <= lost:
        raise Failure(f"{len(empty)} events without a stack, {lost} stacks were lost")
    for event in empty:
        wanted("end of the stack", event["stack_end"], None)


def test_text(t):
    """Text output: frames are printed below the event, the innermost first."""
    share_kernel(t)
    program = t.program("kernel", "messages:20", "pipes:5")
    memleak = t.memleak("-K", "-tt", "-o", "0", "-p", str(program.pid), "3600").ready()
    for _ in range(4):
        program.go()
    memleak.stop()
    head = rf"^\d\d:\d\d:\d\d\.\d{{3}} {program.pid}/{program.pid} kernel"
    for line in (r"alloc kmalloc 0x[0-9a-f]+ 512 bytes\n\t\w*(load_msg|alloc_msg|do_msgsnd)\S*\+0x.*"
                 r"\n(\t.*\n)*\t\w*(sys_msgsnd|do_syscall_64|do_el0_svc)",
                 r"free kfree 0x[0-9a-f]+ 512 bytes\n\t\w*(free_msg|do_msgrcv)\S*\+0x.*"
                 r"\n(\t.*\n)*\t\w*(sys_msgrcv|do_syscall_64|do_el0_svc)",
                 r"alloc mm_page_alloc 0x[0-9a-f]+ 4096 bytes\n\t(anon_)?pipe_\w+\+0x",
                 r"free mm_page_free 0x[0-9a-f]+ 4096 bytes\n\t\w*pipe_\w+\+0x"):
        if not re.search(f"{head} {line}", memleak.out.text, re.M):
            raise Failure(f"no {line} in {memleak.out.text[:2000]!r}")
    if re.search(r"^.* free .*\n\t_*(kfree|kmem_cache_free|free_frozen_pages|free_pages)\+0x",
                 memleak.out.text, re.M):
        raise Failure("a free begins with the allocator's own function")
