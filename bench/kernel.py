# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures kernel tracing: one allocation and one free for each message sent."""

import statistics

import peers
from measure import Calls, difference, show_ratio
from pair import FLOOR, LIBBPF
from tracers import KernelFloor, Libbpf, Memleak

ROUNDS = 20000
WINDOWS = 5  # measurements in one turn


def ways_to(pid):
    """Returns {name: function that starts a tracer, or returns None for no tracer}."""
    ways = {
        "untraced": lambda: None,
        FLOOR: KernelFloor,
        "memleak": lambda: Memleak(None),
        "memleak -K -p": lambda: Memleak(pid, "-K"),
        "memleak -K -p, all walked": lambda: Memleak(pid, "-K", stack_cache=False),
    }
    if peers.libbpf_memleak():
        ways[LIBBPF] = Libbpf
    return ways


def kernel(turns):
    print("msgsnd and msgrcv, ns. What traces the kernel runs for all processes, so it is started "
          "for each turn.\nThe floor: empty programs at kmalloc and kfree; the peer: libbpf-tools' "
          "memleak; ratios of what is\nadded.\n")
    calls = Calls("calls", "messages", ROUNDS)
    ways = ways_to(calls.pid)
    times = {name: [] for name in ways}
    told = ""
    for _ in range(max(turns // 4, 1)):
        for name, way in ways.items():
            tracer = way()
            calls.measure()
            times[name].append(statistics.median(calls.measure() for _ in range(WINDOWS)))
            if tracer:
                tracer.end()
            if name == "memleak -K -p":
                told = tracer.stacks("kernel")
    calls.end()
    untraced = times["untraced"]
    # Differences within one turn may be close to 0, so use ratios of medians.
    added = {name: [difference(column, untraced)] for name, column in times.items()}
    print(f"{'':26}{'ns':>10}{'added':>10}{'to floor':>10}{'to peer':>10}{'in all':>10}")
    for name, column in times.items():
        print(f"{name:26}{statistics.median(column):10.0f}{added[name][0]:10.0f}" +
              show_ratio(added[name], added[FLOOR]) +
              show_ratio(added[name], added.get(LIBBPF)) + show_ratio(column, untraced))
    print(f"\nlast with -K -p: {told}\n")
