# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures what short-lived processes cost memleak: processor time and memory."""

import pathlib
import subprocess
import time

from measure import cpu_ns
from tracers import Memleak

RATE = 200  # processes a second
SECONDS = 30


def anonymous_kb(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    return int(text.split("RssAnon:")[1].split()[0])


def run_many(seconds):
    """Runs RATE processes a second, one after another; returns how many."""
    begin, cnt = time.monotonic(), 0
    while time.monotonic() < begin + seconds:
        subprocess.run("/bin/true", check=True)
        cnt += 1
        time.sleep(max(0, begin + cnt / RATE - time.monotonic()))
    return cnt


def ended(turns):
    print(f"memleak -A beside {RATE} processes a second that end at once: processor time of memleak "
          "for each,\nand the memory that it keeps of each after the first half.\n")
    tracer = Memleak(None, "-A", interval=5)
    pid = tracer.popen.pid
    run_many(SECONDS)
    used_ns, used_kb = cpu_ns(pid), anonymous_kb(pid)
    cnt = run_many(SECONDS)
    print(f"{'ms':>10}{'KB':>10}\n{(cpu_ns(pid) - used_ns) / cnt / 1e6:10.2f}"
          f"{(anonymous_kb(pid) - used_kb) / cnt:10.2f}\n")
    tracer.end()
