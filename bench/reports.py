# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures reports over a million blocks: cost of the tracer, and effect on the program."""

import pathlib
import statistics
import subprocess
import threading
import time

import peers
from measure import Calls, cpu_ns
from tracers import NEVER, Libbpf, Memleak

BLOCKS = 1000000
SITES = 5000
MANY_SITES = 10000  # one block each: only the sums over calls tell whether they grow
DEPTH = 13
INTERVAL = 2  # seconds between reports
WINDOW = f"pairs {DEPTH} 1 2000"  # takes a few milliseconds
BUSY = 0.1  # share of a CPU above which a tracer is making a report
IDLE_SECONDS = 2


def children_of(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return path.read_text(encoding="ascii").split()


class Reports:
    """Reads a tracer's reports, and records its CPU time at each report."""

    def __init__(self, tracer, sign):
        self.pid = tracer.popen.pid
        self.stream = tracer.popen.stdout
        self.sign = sign
        self.came = threading.Condition()
        self.used_ns = []
        threading.Thread(target=self._follow, daemon=True).start()

    def _follow(self):
        for line in self.stream:
            if self.sign in line:
                with self.came:
                    self.used_ns.append(self.cpu_ns())
                    self.came.notify()

    def processes(self):
        """Returns the pids of the tracer and of its helpers."""
        children = children_of(self.pid)
        return [self.pid, *children, *(pid for child in children for pid in children_of(child))]

    def cpu_ns(self):
        return sum(cpu_ns(pid) for pid in self.processes())

    def peak_mib(self):
        """Returns peak MiB of the tracer, and of all helpers; shared pages count repeatedly."""
        texts = [pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
                 for pid in self.processes()]
        sizes = [int(text.split("VmHWM:")[1].split()[0]) / 1024 for text in texts]
        return sizes[0], sum(sizes[1:])

    def wait(self, cnt):
        with self.came:
            target = len(self.used_ns) + cnt
            self.came.wait_for(lambda: len(self.used_ns) >= target)


def windows(program, reports, cnt):
    """Returns [(seconds, CPU seconds of the tracer, ns of a pair)] during cnt reports."""
    first = len(reports.used_ns)
    found = []
    while len(reports.used_ns) < first + cnt:
        begin, used = time.monotonic(), reports.cpu_ns()
        ns = program.measure(WINDOW)
        found.append((time.monotonic() - begin, (reports.cpu_ns() - used) / 1e9, ns))
    return found


def idle_percent(program, trace):
    """Returns the tracer's CPU usage without reports, in percent, while the program runs pairs."""
    program.tracer = trace(program.pid, NEVER)
    reports_none = Reports(program.tracer, "")
    begin, used = time.monotonic(), reports_none.cpu_ns()
    while time.monotonic() < begin + IDLE_SECONDS:
        program.measure(WINDOW)
    percent = (reports_none.cpu_ns() - used) / 1e7 / (time.monotonic() - begin)
    program.tracer.end()
    return percent


def row(name, trace, sign, cnt, sites=SITES, blocks=BLOCKS):
    program = Calls("pairs", 1)
    program.measure("pairs 4 1 1")
    idle = idle_percent(program, trace)
    program.tracer = trace(program.pid, INTERVAL)
    reports_made = Reports(program.tracer, sign)
    program.measure(f"hold {DEPTH} {sites} {blocks}")
    reports_made.wait(2)  # the second one began after all blocks were allocated
    found = windows(program, reports_made, cnt)
    each_ms = (reports_made.used_ns[-1] - reports_made.used_ns[-1 - cnt]) / cnt / 1e6
    peak, helpers = reports_made.peak_mib()
    program.popen.kill()  # its blocks are no longer needed
    program.end()
    during = [ns for seconds, used, ns in found if used > BUSY * seconds]
    between = [ns for seconds, used, ns in found if used <= BUSY * seconds]
    pairs = [statistics.median(times) if times else float("nan") for times in (between, during)]
    print(f"{name:14}{each_ms:12.0f}{peak:12.0f}{helpers:12.0f}{idle:12.3f}{pairs[0]:12.0f}"
          f"{pairs[1]:12.0f}{pairs[1] / pairs[0]:12.2f}", flush=True)


def memleak(pid, interval):
    return Memleak(pid, "--json", interval=interval, reports=subprocess.PIPE)


def libbpf(pid, interval):
    return Libbpf(pid, interval=interval)


def reports(turns):
    print(f"Reports over {BLOCKS} blocks of {SITES} sites, one each {INTERVAL} seconds: processor "
          "time of the tracer for each, ms;\nthe peak of its and of its helpers' resident memory; "
          "what it uses of a processor when it\nmakes no report; a pair of malloc and free of the "
          f"program between and during reports, ns.\nThe last row is for {MANY_SITES} blocks, each "
          "of a site of its own.\n")
    print(f"{'':14}" + "".join(f"{title:>12}" for title in (
        "ms/report", "MiB", "MiB helpers", "idle, %", "between", "during", "ratio")))
    cnt = 4 if turns > 8 else 2
    row("memleak", memleak, '"final"', cnt)
    if peers.libbpf_memleak():
        row("libbpf-tools", libbpf, "] Top ", cnt)
    row("many sites", memleak, '"final"', cnt, MANY_SITES, MANY_SITES)
    print()
