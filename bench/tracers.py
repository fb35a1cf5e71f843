# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracers of a process. Constructors return when tracing has begun; end() stops a tracer."""

import os
import re
import subprocess
import sys
import time

import peers
from measure import BUILD, allocator, start

NEVER = "100000"  # seconds to the first report
KINDS = {"uprobe_multi links of sessions": "session", "uprobe_multi links": "multi"}

# Like memleak for one allocator: records each block by address, with its stack.
BPFTRACE = """
BEGIN { printf("ready\\n"); }
uprobe:LIBC:malloc { @size[tid] = arg0; }
uretprobe:LIBC:malloc /@size[tid]/ {
	@bytes[retval] = @size[tid]; @stack[retval] = ustack; delete(@size[tid]);
}
uprobe:LIBC:free { delete(@bytes[arg0]); delete(@stack[arg0]); }
END { clear(@size); clear(@bytes); clear(@stack); }
"""


class Tracer:
    def __init__(self, argv, ready, talk="stdout", others=subprocess.DEVNULL, cwd=None, **env):
        """Waits for a line on `talk` beginning with `ready`. The other stream goes to `others`."""
        other = "stdout" if talk == "stderr" else "stderr"
        begin = time.monotonic()
        self.popen = start(
            list(map(str, argv)), text=True, bufsize=1, stdin=subprocess.PIPE, cwd=cwd,
            env={**os.environ, **env}, **{talk: subprocess.PIPE, other: others})
        self.notes = ""
        for line in getattr(self.popen, talk):
            self.notes += line
            if line.startswith(ready):
                self.begin_ms = (time.monotonic() - begin) * 1000
                break
        else:
            sys.exit(f"{argv[0]} does not trace:\n{self.notes}")

    def end(self):
        begin = time.monotonic()
        self.popen.terminate()
        for stream in (self.popen.stdout, self.popen.stderr):
            self.notes += stream.read() if stream else ""
        self.popen.wait()
        self.end_ms = (time.monotonic() - begin) * 1000


class Memleak(Tracer):
    def __init__(self, pid, *options, stack_cache=True, scripts=True, links=None, interval=NEVER,
                 reports=subprocess.DEVNULL):
        env = {"MEMLEAK_STACK_CACHE": "yes" if stack_cache else "no",
               "MEMLEAK_SCRIPTS": "yes" if scripts else "no"}
        if links:
            env["MEMLEAK_LINKS"] = links
        target = ("-p", pid) if pid else ()
        super().__init__((BUILD / "memleak", "-v", "-T", "1", *options, *target, interval),
                         "memleak: tracing", "stderr", reports, **env)

    def stacks(self, space):
        found = re.search(rf"{space} stacks: .*", self.notes)
        return found[0] if found else f"{space} stacks: no line about them"

    def kind(self):
        """Returns the kind of memleak's links, as an argument of bench/floor."""
        found = re.search(r"probes are attached through (.*)", self.notes)
        return KINDS.get(found[1], "perf")

    def place(self, function):
        """Returns the file offset of memleak's probe, in hexadecimal."""
        return re.search(rf": {function} at \S+\+0x([0-9a-f]+), entry", self.notes)[1]


class Ended(Tracer):
    """A tracer of bench/. It ends when its stdin is closed."""

    def __init__(self, *argv):
        super().__init__(argv, "ready", others=None)

    def end(self):
        self.popen.stdin.close()
        self.notes += self.popen.stdout.read()
        self.popen.wait()


class Floor(Ended):
    """Empty BPF programs at the same places as memleak's."""

    def __init__(self, pid, memleak, what):
        super().__init__(BUILD / "bench/floor", memleak.kind(), what, pid, allocator(pid),
                         memleak.place("malloc"), memleak.place("free"))


def floor(pid):
    """Starts the floor of a process, after memleak has found the places and ended."""
    memleak = Memleak(pid)
    memleak.end()
    return Floor(pid, memleak, "calls")


class KernelFloor(Ended):
    def __init__(self):
        super().__init__(BUILD / "bench/floor", "kernel")


class Libbpf(Tracer):
    """libbpf-tools' memleak, tracing a process or the kernel."""

    def __init__(self, pid=None, *options, interval=NEVER):
        # Start it in the folder of the library: it does not support long paths.
        folder, name = os.path.split(allocator(pid)) if pid else (None, None)
        target = ("-p", pid, "-O", f"./{name}") if pid else ()
        super().__init__(("stdbuf", "-oL", *peers.libbpf_memleak(), *target, *options, interval),
                         "Tracing outstanding", others=subprocess.STDOUT, cwd=folder)


class Bpftrace(Tracer):
    def __init__(self, pid):
        script = BPFTRACE.replace("LIBC", allocator(pid))
        super().__init__((peers.installed("bpftrace"), "-B", "line", "-p", pid, "-e", script),
                         "ready", others=subprocess.STDOUT, BPFTRACE_MAP_KEYS_MAX="1000000")


def memleak_knows(option):
    answer = subprocess.run([BUILD / "memleak", "--help"], capture_output=True, text=True,
                            check=False)
    return option in answer.stdout
