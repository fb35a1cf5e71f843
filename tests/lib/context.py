# SPDX-License-Identifier: GPL-2.0-or-later
"""The first argument of each case: starts programs and memleak, and provides a folder for files."""

import os
import pathlib
import re
import shutil
import tempfile
import time

from .case import Broken, Failure, Skip
from .expect import part_of
from .memleak import Memleak
from .process import PATIENCE, ROOT, Process
from .program import Program
from .slowness import STRETCH

FOREVER = "3600"
STACK_DEPTH = 512  # maximum frames that an agent records; memleak itself cuts the stacks it reads
KNOBS = b"memleak: test knobs"  # contained in a memleak that reads test knobs: base/test_knobs.c
LAST_PID = pathlib.Path("/proc/sys/kernel/ns_last_pid")
X86_ONLY = {"tiny32", "locked_map"}  # sources that compile only for x86
SANITIZER_ENV = {
    "ASAN_OPTIONS": "exitcode=99:detect_leaks=1:abort_on_error=0",
    "LSAN_OPTIONS": "exitcode=99",
    "UBSAN_OPTIONS": "halt_on_error=1:exitcode=99:print_stacktrace=1",
}


def everywhere_built():
    """Returns the test programs that every machine can build."""
    text = (ROOT / "tests/programs/programs.mk").read_text(encoding="utf-8").replace("\\\n", " ")
    return set(re.search(r"^PLAIN := (.*)", text, re.M)[1].split() +
               re.search(r"^VARIANTS := (.*)", text, re.M)[1].split() +
               [path.stem for path in (ROOT / "tests/programs").glob("*.c")]) - X86_ONLY


class Context:
    def __init__(self, memleak, programs, agent=None):
        self.path = memleak
        self.agent = agent  # library that programs load; None without an agent
        self.programs = pathlib.Path(programs)
        self.started = []
        self.figures = []
        self.patience = round(3 * STRETCH)  # factor for the time that reports wait for symbols
        self.folder = None

    @property
    def sanitized(self):
        """True if this memleak was built with sanitizers."""
        return b"__asan_init" in self.path.read_bytes()

    def demand_knobs(self, env):
        """Skips the case if this memleak was built without the knobs that the case needs."""
        knobs = [name for name in env if name.startswith("MEMLEAK_")]
        if not knobs:
            return
        program = self.path.read_bytes()
        if KNOBS not in program:
            raise Skip("it needs test knobs: make O=build/check TEST_KNOBS=1 all programs, "
                       "then O=build/check tests/run")
        for name in knobs:
            if name.encode() + b"\0" not in program:
                raise Broken(f"memleak has no test knob {name}")

    def figure(self, what, value, unit, bar):
        """
        Stores a measurement that cannot fail the case: `bench/run times` prints it beside bar, its
        limit.
        """
        self.figures.append((what, value, unit, bar))

    @property
    def tmp(self):
        """Folder of the case, removed after it."""
        if not self.folder:
            self.folder = pathlib.Path(tempfile.mkdtemp(prefix="memleak-test-"))
        return self.folder

    def file_of(self, name):
        """
        Returns the path of a test program; skips the case if only other machines can build it.
        """
        path = self.programs / name
        if path.exists():
            return path
        if path.name in everywhere_built():
            raise Broken(f"{name} is not built: make programs")
        raise Skip(f"{name} is not built on this machine")

    def process(self, argv, **kwargs):
        process = Process(argv, **kwargs)
        self.started.append(process)
        return process

    def environment(self, preload=None):
        """Returns variables that make a program load the agent, if any, and another library."""
        loaded = [os.fspath(library) for library in (self.agent, preload) if library]
        return {**({"LD_PRELOAD": ":".join(loaded)} if loaded else {}),
                **({"MEMLEAK_AGENT": f"0:f{STACK_DEPTH}:"} if self.agent else {})}

    def program(self, name, *args, path=None, preload=None, ready=True, wrapper=(), **kwargs):
        """Starts a test program and waits until it is ready."""
        env = self.environment(preload)
        if env:
            kwargs["env"] = {**kwargs.get("env", {}), **env}
        program = Program([*wrapper, path or self.file_of(name), *args], **kwargs)
        self.started.append(program)
        if ready:
            program.ready()
        return program

    def successor(self, ended, *args):
        """Starts a test program that reuses the pid of a process that has ended."""
        deadline = time.monotonic() + PATIENCE  # another process may have the pid for a while
        while time.monotonic() < deadline:
            try:
                last = LAST_PID.read_text(encoding="ascii")
                LAST_PID.write_text(str(ended.pid - 1), encoding="ascii")
            except OSError as error:
                raise Skip(f"no number of a process can be chosen: {error}") from error
            program = self.program(*args, ready=False)
            # Otherwise new processes take the pids that other cases wait for.
            LAST_PID.write_text(last, encoding="ascii")
            if program.pid == ended.pid:
                program.ready()
                return program
            program.end()
            time.sleep(0.1)
        raise Broken(f"another process has the number {ended.pid}, or got the next one each time")

    def memleak(self, *args, wrapper=(), env=None, **kwargs):
        """Starts memleak with these arguments, plus --agent if programs load the agent."""
        if self.agent and {"-p", "--", "-c"} & set(args):
            args = ("--agent", *args)
            env = {**(env or {}), "MEMLEAK_AGENT_SINCE": "join"}
        self.demand_knobs(env or {})
        path = self.path
        if wrapper:
            args = [*wrapper[1:], path, *args]
            path = wrapper[0]
        memleak = Memleak(path, [os.fspath(arg) for arg in args],
                          env={**SANITIZER_ENV, "MEMLEAK_PATIENCE": str(self.patience),
                               **(env or {})}, **kwargs)
        self.started.append(memleak)
        return memleak

    def attach(self, program, *options, interval=FOREVER, **kwargs):
        """
        Starts memleak on a program, or a list of programs, with JSON output and all blocks and sites
        shown; returns once it traces.
        """
        programs = program if isinstance(program, list) else [program]
        options = ("-o", "0", *options) if "-o" not in options and "-C" not in options else options
        memleak = self.memleak("--json", "-T", "100000", *options, "-p",
                               ",".join(str(one.pid) for one in programs), interval, **kwargs)
        return memleak.ready()

    def traced_at_once(self, programs, *options):
        """
        Traces programs by one memleak, because its start takes more time than they do. Lets each go
        on once; yields the report's part about it, and its truth.
        """
        memleak = self.attach(programs, *options)
        truths = [program.go() for program in programs]
        report = memleak.stop()
        for program, truth in zip(programs, truths):
            yield part_of(report, program), truth

    def command(self, *argv, options=(), interval=FOREVER, **kwargs):
        """Runs `memleak -- CMD` with reports to a file, as stdout belongs to the command."""
        output = self.tmp / "reports"
        return self.memleak("--json", "-T", "100000", "-o", "0", "--output", output, *options,
                            interval, "--", *argv, output=output, **kwargs)

    def refused(self, *args, code, says, **kwargs):
        """
        Requires that memleak ends with this exit code, prints no report, and prints these words to
        stderr.
        """
        memleak = self.memleak(*args, **kwargs)
        memleak.close_stdin()
        memleak.wait()
        memleak.aftermath()
        if memleak.code != code:
            raise Failure(f"exit code {memleak.code}, not {code}")
        if memleak.out.data:
            raise Failure(f"something on stdout: {memleak.out.text[:200]!r}")
        lines = memleak.notes.splitlines()
        if not lines or not all(line.startswith("memleak: ") for line in lines):
            raise Failure(f"stderr is not one line of memleak's: {memleak.notes!r}")
        for word in [says] if isinstance(says, str) else says:
            if word.lower() not in memleak.notes.lower():
                raise Failure(f"stderr does not say {word!r}: {memleak.notes!r}")
        return memleak

    def close(self):
        """Ends all processes that still run, newest first, by pid."""
        for process in reversed(self.started):
            process.end()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
