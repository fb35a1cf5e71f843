# SPDX-License-Identifier: GPL-2.0-or-later
"""What a message costs, for which the kernel allocates and frees once."""

import statistics

import peers
from measure import Calls, difference, show_ratio
from pair import FLOOR, LIBBPF
from tracers import KernelFloor, Libbpf, Memleak

ROUNDS = 20000
WINDOWS = 5  # of one turn


def ways_to(pid):
    """What starts each tracer; None has none."""
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
    # Differences of one turn may be near nothing: ratios are those of the medians.
    added = {name: [difference(column, untraced)] for name, column in times.items()}
    print(f"{'':26}{'ns':>10}{'added':>10}{'to floor':>10}{'to peer':>10}{'in all':>10}")
    for name, column in times.items():
        print(f"{name:26}{statistics.median(column):10.0f}{added[name][0]:10.0f}" +
              show_ratio(added[name], added[FLOOR]) +
              show_ratio(added[name], added.get(LIBBPF)) + show_ratio(column, untraced))
    print(f"\nlast with -K -p: {told}\n")
