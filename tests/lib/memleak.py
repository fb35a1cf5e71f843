# SPDX-License-Identifier: GPL-2.0-or-later
"""A running memleak: collects its reports and checks what must hold after every run."""

import datetime
import json
import os
import re
import signal
import struct
import subprocess
import time
from errno import ENOENT

from .case import Failure
from .json_schema import check_schema
from .process import PATIENCE, Process, alive, until
from .schema import check_counts, check_event, check_report, check_sequence
from .tracing import bpf

PROG_GET_FD_BY_ID = 13  # linux/bpf.h
SANITIZER = re.compile(r"ERROR: (Address|Leak)Sanitizer|runtime error:|AddressSanitizer:")


def held_ids(pid, kind):
    """Returns the ids of the BPF programs (prog) or maps (map) that a process has open."""
    ids = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            try:
                with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii", errors="replace") as file:
                    lines = file.read()
                ids.update(int(i) for i in re.findall(rf"^{kind}_id:\s*(\d+)", lines, re.M))
            except OSError:
                continue
    except OSError:
        pass
    return ids


def bpftool(*args):
    answer = subprocess.run(["bpftool", "-j", *map(str, args)], capture_output=True, check=False,
                            env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    return json.loads(answer.stdout or b"[]")


def living(ids):
    """
    Returns those of the ids that belong to BPF programs in the kernel. Asks the kernel itself:
    bpftool looks up the owners of programs by a BPF iterator, whose end waits for RCU.
    """
    return {number for number in ids if bpf(PROG_GET_FD_BY_ID, struct.pack("<I", number)) != ENOENT}


def children_of(pid):
    children = set()
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/children", encoding="ascii") as file:
                children.update(int(child) for child in file.read().split())
    except OSError:
        pass
    return children


def helpers_of(pid):
    """Returns memleak's helpers: they are children of its starter, which is a child of memleak."""
    return set().union(*map(children_of, children_of(pid)))


class Memleak(Process):
    """With JSON output, every line of stdout (or of the output file) is parsed and checked."""

    def __init__(self, path, args, *, output=None, **kwargs):
        super().__init__([path, *args], **kwargs)
        self.json = "--json" in self.argv or "json" in self.argv
        self.command = "--" in self.argv or "-c" in self.argv
        self.output = output
        self.reports = []
        self.events = []
        self.counts = []
        self.ids = set()
        self.helpers = set()
        self.starters = set()
        self.finished = False

    @property
    def notes(self):
        """stderr so far, as text."""
        return self.err.text

    def ready(self, seconds=PATIENCE):
        """Waits until every probe is in place."""
        self.wait_for("the line `memleak: tracing`",
                      lambda: re.search(r"^memleak: tracing.*\n", self.notes, re.M), seconds)
        self.look()
        return self

    def look(self):
        """Records the programs and helpers that must be gone after the end."""
        self.ids |= held_ids(self.pid, "prog")
        if not self.command:
            self.starters |= children_of(self.pid)
            self.helpers |= helpers_of(self.pid)

    def _take(self, lines):
        for line in lines:
            record = parse(line)
            if record.get("schema") == "memleak-event/1":
                check_event(record)
                self.events.append(record)
                continue
            if record.get("schema") == "memleak-count/1":
                check_counts(record)
                self.counts.append(record)
                continue
            check_report(record, "-a" in self.argv)
            self.reports.append(record)

    def take(self):
        """Parses all new output; returns the reports so far."""
        while self.json and not self.output and (line := self.out.take_line()) is not None:
            self._take([line])
        return self.reports

    def take_counts(self):
        """Like take(), but returns the records of --count."""
        self.take()
        return self.counts

    def report_number(self, number, seconds=PATIENCE):
        """Waits for the report with this index and returns it."""
        self.wait_for(f"report {number}", lambda: len(self.take()) > number, seconds)
        return self.reports[number]

    def fresh_report(self, seconds=PATIENCE):
        """Returns a report that was begun after this call; needs a short interval."""
        now = time.time()
        self.wait_for("new report", lambda: any(when(r) > now for r in self.take()), seconds)
        return next(r for r in self.reports if when(r) > now)

    def ask(self):
        """Requests a report by SIGUSR1 and returns it; needs an interval that does not end."""
        number = len(self.take())
        self.signal(signal.SIGUSR1)
        return self.report_number(number)

    def stop(self, code=0, number=signal.SIGINT):
        """Sends SIGINT and returns the final report."""
        self.look()
        self.signal(number)
        return self.finish(code)

    def finish(self, code=0, seconds=PATIENCE, final=True):
        """
        Waits until memleak ends by itself, checks what must hold after every run, and returns the
        last report.
        """
        self.wait(seconds)
        self.take()
        if self.json and self.output and os.path.exists(self.output):
            with open(self.output, "rb") as file:
                self._take(file.read().split(b"\n")[:-1])
        self.aftermath()
        if code is not None and self.code != code:
            raise Failure(f"memleak's exit code is {self.code}, not {code}")
        if self.json and final:
            check_sequence(self.reports)
        return self.reports[-1] if self.reports else None

    def aftermath(self):
        """Requires that no sanitizer reported anything, and that no probe or helper is left."""
        self.finished = True
        found = SANITIZER.search(self.notes)
        if found:
            raise Failure("a sanitizer spoke: " + found.group(0))
        if not until(lambda: not living(self.ids)):
            raise Failure(f"BPF programs {sorted(living(self.ids))} are left behind")
        helpers = self.helpers | self.starters
        if not until(lambda: not any(alive(pid) for pid in helpers)):
            raise Failure(f"helper processes {sorted(helpers)} are left behind")


def parse(line):
    """Parses an output line and checks it against docs/report.schema.json."""
    if re.search(rb"[\x00-\x1f\x7f]", line):
        raise Failure(f"control byte in a JSON line: {line[:200]!r}")
    try:
        record = json.loads(line.decode("utf-8"))
    except ValueError as error:
        raise Failure(f"not JSON ({error}): {line[:200]!r}") from error
    if not isinstance(record, dict):
        raise Failure(f"not a JSON object: {line[:200]!r}")
    check_schema(record)
    return record


def when(report):
    """Returns the report's time in seconds since 1970."""
    moment = datetime.datetime.strptime(report["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
    return moment.replace(tzinfo=datetime.timezone.utc).timestamp()
