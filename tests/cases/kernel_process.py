# SPDX-License-Identifier: GPL-2.0-or-later
"""-K with a process: user memory and kernel memory allocated on its behalf, and nothing else."""

from lib import AFTER_EXEC, Failure, expect, once, owner, slow, timeout, wanted
from lib.kernel import (expect_things, kernel_part, require, share_kernel, sites_of, sum_of_thing,
                        user_part)
from lib.memleak import when
from lib.program import Truth

NO_MESSAGES = Truth.of("kernel messages 0 0 slab")


def test_side_by_side(t):
    """User and kernel sites in one report, both exact, with one total."""
    share_kernel(t)
    program = t.program("leak")
    memleak = t.attach(program, "-K")
    truth = program.go()
    report = memleak.stop()
    expect(user_part(report), truth, may_lose=("recursion",))
    # 5 MiB were mapped but not written to; at least their page tables are kernel memory.
    require(kernel_part(report), report, "no kernel site")
    require(all(site["pid"] == program.pid for site in report["sites"]), report, "another process")
    total = sum(site["bytes"] for site in report["sites"])
    require(report["outstanding"]["bytes"] == total, report, f"the sites' sum is {total}")


def test_without_kernel(t):
    """-p alone shows no kernel memory."""
    share_kernel(t)
    program = t.program("kernel", "messages")
    memleak = t.attach(program)
    program.go()
    report = memleak.stop()
    require(not kernel_part(report), report, "kernel sites without -K")


@slow
def test_only_this_process(t):
    """Two equal processes; each memleak sees only its own."""
    share_kernel(t)
    first, second = t.program("kernel", "messages:100"), t.program("kernel", "messages:300")
    one = t.attach(first, "-K", interval="0.3")
    two = t.attach(second, "-K", interval="0.3")
    truths = first.go(), second.go()
    for memleak, truth, program in ((one, truths[0], first), (two, truths[1], second)):
        report = memleak.fresh_report()
        expect_things(report, truth)
        require(all(site["pid"] == program.pid for site in report["sites"]), report, "pid")
        memleak.stop()


@slow
@timeout(120)
def test_socket_leak(t):
    """All kernel memory of the sockets gives one verdict, which blames the system call."""
    share_kernel(t)
    program = t.program("untraced", "sockets")
    each_s = int(program.truth.facts["grows"][0])
    memleak = t.memleak("--json", "-T", "100", "-K", "-p", str(program.pid), "1").ready()
    program.send()
    report = memleak.report_number(14)
    suspects = [suspect for suspect in report["suspects"] if suspect["space"] == "kernel"]
    names = [suspect["stack"][suspect["culprit"]]["symbol"] for suspect in suspects]
    wanted("blamed", names, ["__sys_socket"])
    per_socket = sum(site["bytes"] / site["count"] for site in kernel_part(report)
                     if site["trend"]["tendency"] == "steady" and site["count"] > each_s * 5)
    rate = suspects[0]["bytes_per_s"]
    require(suspects[0]["paths"] >= 3 and 0 < rate <= 1.1 * each_s * per_socket, report,
            f"{rate} bytes/s in {suspects[0]['paths']} paths of {each_s} sockets/s of {per_socket}")
    memleak.stop()


def test_two_processes(t):
    """-p A,B: each process has its own sites, although their stacks are equal."""
    share_kernel(t)
    programs = t.program("kernel", "messages:100"), t.program("kernel", "messages:300")
    memleak = t.memleak("--json", "-T", "100000", "-o", "0", "-K", "-p",
                        ",".join(str(program.pid) for program in programs), "3600").ready()
    truths = {program.pid: program.go() for program in programs}
    report = memleak.stop()
    for pid, truth in truths.items():
        sites = [site for site in report["sites"] if site["pid"] == pid]
        expect_things({**report, "sites": sites, "sites_total": len(sites)}, truth)


@once
def test_pid_of_another(t):
    """-p A,B: a new process that reuses the pid of A is not traced."""
    share_kernel(t)
    first, second = t.program("kernel", "messages:100"), t.program("kernel", "messages:300")
    memleak = t.memleak("--json", "-T", "100000", "-o", "0", "-K", "-p",
                        f"{first.pid},{second.pid}", "0.3").ready()
    first.end()
    memleak.fresh_report()
    t.successor(first, "kernel", "messages:200").go()
    truth = second.go()
    report = memleak.stop()
    expect_things(report, truth)


@once
@slow
def test_freed_by_another(t):
    """
    Messages from the traced process to another are gone once received; others never appear.
    """
    share_kernel(t)
    receiver = t.program("kernel_flow", "receive")
    sender = t.program("kernel_flow", "send", str(receiver.pid))
    memleak = t.attach(sender, "-K", interval="0.3")
    other = t.attach(receiver, "-K", interval="0.3")
    truth = sender.go()
    expect_things(memleak.fresh_report(), truth)
    report = other.fresh_report()
    require(not sites_of(report, "messages", "slab"), report, "the receiver sent nothing")
    receiver.go()
    expect_things(memleak.fresh_report(), NO_MESSAGES)
    memleak.stop()
    other.stop()


@once
@slow
def test_left_behind(t):
    """After the process has ended, the final report shows what it left in the kernel."""
    share_kernel(t)
    receiver = t.program("kernel_flow", "receive")
    sender = t.program("kernel_flow", "send", str(receiver.pid))
    memleak = t.attach(sender, "-K")
    truth = sender.go()
    sender.signal(9)
    report = memleak.finish()
    expect_things(report, truth)


@once
@slow
def test_child(t):
    """Allocations of a child do not count for the process."""
    share_kernel(t)
    program = t.program("kernel_flow", "child")
    memleak = t.attach(program, "-K", interval="0.3")
    for _ in range(2):
        program.go()
        report = memleak.fresh_report()
        require(kernel_part(report), report, "not even the fork is seen")
        expect_things(report, NO_MESSAGES)
    memleak.stop()


def test_exec(t):
    """After exec, the kernel memory held for the process is still reported."""
    share_kernel(t)
    program = t.program("kernel_flow", "exec")
    memleak = t.attach(program, "-K", interval="0.3")
    truth = Truth.of("kernel messages 10 5120 slab")
    program.go()
    expect_things(memleak.fresh_report(), truth)
    program.go()
    report = memleak.fresh_report()
    expect_things(report, truth, may_lose=(*AFTER_EXEC, "exec"))
    require(all(site["pid"] == program.pid for site in sites_of(report, "messages", "slab")),
            report, "pid")
    memleak.stop()


@once
def test_all_threads(t):
    """Allocations by all threads count, whenever the threads were started."""
    share_kernel(t)
    program = t.program("kernel", "-t", "8", "messages:800")
    memleak = t.attach(program, "-K")
    truth = program.go()
    report = memleak.stop()
    expect_things(report, truth)
    for site in sites_of(report, "messages", "slab"):
        require(site["last_pid"] == program.pid, report, f"last_pid {site['last_pid']}")


def test_command(t):
    """-K -- CMD: from its first system call on."""
    share_kernel(t)
    memleak = t.command(t.file_of("kernel"), "messages:100", options=("-K",), interval="0.3")
    memleak.wait_for("ready", lambda: "ready\n" in memleak.out.text)
    memleak.send(b"x")
    memleak.wait_for("second ready", lambda: memleak.out.text.count("ready\n") == 2)
    number = memleak.output.read_bytes().count(b"\n")
    memleak.wait_for("two more reports", lambda: memleak.output.read_bytes().count(b"\n")
                     > number + 1, every=0.02)
    memleak.close_stdin()
    memleak.finish()
    counts = [sum_of_thing(report, "messages", "slab") for report in memleak.reports]
    require((100, 51200) in counts, None, f"(count, bytes) of the messages: {counts}")


def test_growth(t):
    """Sites that have grown most since the last report come first, reclaimable ones last."""
    share_kernel(t)
    program = t.program("kernel", "pipes:20:16", "messages:1000:16")
    memleak = t.attach(program, "-K", "--sort", "growth", interval="0.3")
    memleak.fresh_report()
    for _ in range(2):
        before = memleak.fresh_report()
        truth = program.go()
        report = memleak.fresh_report()
        expect_things(report, truth)
        grown = [r for r in memleak.reports if when(before) < when(r) <= when(report)]
        for thing, count in (("pipes", 320), ("messages", 1000)):
            found = sum(site["growth"]["count"] for r in grown
                        for site in sites_of(r, thing, truth.kernel[thing][0]))
            require(found == count, report, f"{thing} grew by {found}")
    orders = [[(not site["reclaimable"], site["growth"]["bytes"]) for site in r["sites"]]
              for r in memleak.reports]
    if any(order != sorted(order, reverse=True) for order in orders):
        raise Failure(f"not sorted by growth: {orders}")
    memleak.stop()


@timeout(120)
@slow
def test_heap_and_messages(t):
    """Uprobes and tracepoints of one memleak do not affect each other."""
    share_kernel(t)
    program = t.program("kernel_flow", "messages", "5000", "4")
    memleak = t.attach(program, "-K", interval="0.5")
    for _ in range(2):
        program.go()
        report = memleak.fresh_report()
        expect_things(report, NO_MESSAGES)
        require(not any(owner(site) == "churn_block" for site in report["sites"]), report,
                "blocks that were freed")
    memleak.stop()
