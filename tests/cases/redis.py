# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares memleak with redis-server's own figures of memory from jemalloc."""

import shutil
import socket

from lib import Failure, Skip, each, sample
from lib.process import until

VALUES = 5000
# Lengths of values that fill jemalloc's size classes, with five bytes before the string and one
# after.
SIZES = {"1024": 1024 - 6, "4096": 4096 - 6, "20480": 20480 - 6}


class Redis:
    """A redis-server without persistence, and a connection to it."""

    def __init__(self, t):
        if not shutil.which("redis-server"):
            raise Skip("redis-server is not installed")
        path = t.tmp / "socket"
        self.process = t.process(["redis-server", "--port", "0", "--save", "", "--appendonly",
                                  "no", "--unixsocket", path], cwd=t.tmp)
        self.process.wait_for("its socket", path.exists)
        self.socket = socket.socket(socket.AF_UNIX)
        if not until(lambda: self.socket.connect_ex(str(path)) == 0):
            raise Failure("redis-server takes no connection")
        self.answers = self.socket.makefile("rb")
        if b"mem_allocator:jemalloc" not in self.ask(b"INFO", b"memory"):
            raise Skip("redis-server does without jemalloc")

    def ask(self, *words):
        """Returns the answer to a command, without its length."""
        command = b"*%d\r\n" % len(words)
        command += b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        self.socket.sendall(command)
        line = self.answers.readline()
        if line[:1] == b"-":
            raise Failure(f"redis-server: {line!r}")
        return self.answers.read(int(line[1:]) + 2) if line[:1] == b"$" else line

    def used(self):
        for line in self.ask(b"INFO", b"memory").splitlines():
            if line.startswith(b"used_memory:"):
                return int(line.split(b":")[1])
        raise Failure("redis-server does not say what it uses")


def heap_bytes(report):
    return sum(site["bytes"] for site in report["sites"] if site["kind"] == "heap")


@sample(2)
@each(*SIZES)
def test_keys_added(t, size):
    """Adds keys with values that fill size classes: outstanding memory grows as redis says."""
    redis = Redis(t)
    memleak = t.attach(redis.process, interval="0.1")
    before = redis.used(), heap_bytes(memleak.fresh_report())
    for i in range(VALUES):
        redis.ask(b"SET", b"key:%d" % i, b"x" * SIZES[size])
    after = redis.used(), heap_bytes(memleak.fresh_report())
    memleak.stop()
    grown = after[0] - before[0], after[1] - before[1]
    if not abs(grown[1] - grown[0]) <= 0.05 * grown[0]:
        raise Failure(f"redis has grown by {grown[0]} bytes, what is outstanding by {grown[1]}")
