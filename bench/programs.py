# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures real programs with each tracer: a compiler, an interpreter, a server."""

import fcntl
import os
import statistics
import struct
import subprocess
import termios
import time

import peers
from measure import BUILD, Program, cpu_ns, ratio, show_ratio
from pair import FLOOR, LIBBPF, SAMPLED
from tracers import Bpftrace, Libbpf, Memleak, floor, memleak_knows

SOURCE = """
#include <map>
#include <regex>
#include <string>
std::map<std::string, std::regex> all;
bool any(const std::string &s)
{
	for (auto &one : all)
		if (std::regex_search(s, one.second))
			return true;
	return false;
}
"""
# Lists of this length are too large for Python's own allocator.
OBJECTS = """
import sys
sys.stdin.read()
for round in range(60):
	rows = {str(i): [i] * (70 + i % 50) for i in range(4000)}
	del rows
"""
REQUESTS = 10000
BPFTRACE = "bpftrace"


def tracers():
    """Returns {name: function that starts the tracer}."""
    found = {FLOOR: floor, "memleak": Memleak, "memleak -C": lambda pid: Memleak(pid, "-C")}
    if memleak_knows(SAMPLED[0]):
        found["memleak " + " ".join(SAMPLED)] = lambda pid: Memleak(pid, *SAMPLED)
    if peers.libbpf_memleak():
        found[LIBBPF] = Libbpf
    return found


def server_tracers():
    """Like tracers() without libbpf-tools' memleak, which needs an allocator that exports mmap."""
    found = tracers()
    found.pop(LIBBPF, None)
    if peers.installed("bpftrace"):
        found[BPFTRACE] = Bpftrace
    return found


def compiler():
    """Returns the command of the C++ compiler proper, which reads stdin, and its input."""
    path = subprocess.run(["g++", "-print-prog-name=cc1plus"], capture_output=True, text=True,
                          check=True).stdout.strip()
    text = subprocess.run(["g++", "-E", "-x", "c++", "-"], input=SOURCE, capture_output=True,
                          text=True, check=True).stdout
    return (path, "-quiet", "-fpreprocessed", "-o", BUILD / "bench/compiled.s", "-"), text


def waiting_bytes(pipe):
    """Returns the number of unread bytes in a pipe."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))[0]


def run_seconds(argv, text, trace):
    """Returns a program's CPU time in seconds, from when it first waits for input."""
    program = Program(*argv)
    program.popen.stdin.write("\n")
    while waiting_bytes(program.popen.stdin):
        time.sleep(0.001)
    program.tracer = trace(program.pid) if trace else None
    before = cpu_ns(program.pid)
    program.popen.stdin.write(text)
    program.popen.stdin.close()
    program.popen.stdout.read()
    _, status, usage = os.wait4(program.pid, 0)
    program.popen.returncode = os.waitstatus_to_exitcode(status)
    if program.popen.returncode:
        raise SystemExit(f"{argv[0]} failed")
    program.end()
    return usage.ru_utime + usage.ru_stime - before / 1e9


def show(title, times, unit):
    peer = times.get(LIBBPF) or times.get(BPFTRACE)
    print(f"{title:34}{unit:>12}{'to untraced':>14}{'to floor':>10}{'to peer':>10}")
    for name, column in times.items():
        print(f"{name:34}{statistics.median(column):12.2f}"
              f"{ratio(column, times['untraced']):14.2f}" +
              show_ratio(column, times[FLOOR]) + show_ratio(column, peer))
    print(flush=True)


def batch(title, argv, text, turns):
    ways = {"untraced": None, **tracers()}
    times = {name: [] for name in ways}
    for _ in range(turns):
        for name, trace in ways.items():
            times[name].append(run_seconds(argv, text, trace))
    show(title, times, "s")


class Server(Program):
    """A redis-server that listens on a socket in its folder."""

    def __init__(self):
        super().__init__("redis-server", "--port", "0", "--unixsocket", "socket", "--save", "",
                         executable=peers.installed("redis-check-rdb", "redis-tools"))
        self.socket = f"{self.folder.name}/socket"
        while not os.path.exists(self.socket):
            time.sleep(0.01)
        self.times = []

    def turn(self):
        answer = subprocess.run(
            ["redis-benchmark", "-s", self.socket, "-t", "set", "-n", str(REQUESTS), "-r", "10000",
             "-d", "600", "-P", "16", "--csv"], capture_output=True, text=True, check=True)
        per_second = float(answer.stdout.splitlines()[-1].split(",")[1].strip('"'))
        self.times.append(1e6 / per_second)

    def end(self):
        self.popen.terminate()
        super().end()


def server(turns):
    if not peers.installed("redis-check-rdb", "redis-tools"):
        return
    servers = {"untraced": Server()}
    for name, trace in server_tracers().items():
        servers[name] = Server()
        servers[name].tracer = trace(servers[name].pid)
    for _ in range(turns):
        for each in servers.values():
            each.turn()
    times = {name: each.times for name, each in servers.items()}
    for each in servers.values():
        each.end()
    show("redis-server, SET by redis-benchmark", times, "us/request")


def programs(turns):
    print("Processor time of a program with a tracer on it (its own is not counted), and the time "
          "that a\nserver takes for a request. The floor: empty programs at malloc and free alone. "
          "The peer:\nlibbpf-tools' memleak; of the server's allocator, which it cannot trace, "
          "bpftrace.\n")
    few = max(turns // 12, 1)
    batch("cc1plus, <regex> and <map>", *compiler(), few)
    batch("python3, lists in a dictionary", ("/usr/bin/python3", "-c", OBJECTS), "", few)
    server(max(turns // 4, 1))
