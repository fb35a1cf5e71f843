# SPDX-License-Identifier: GPL-2.0-or-later
"""Where reports go: files, full disks, closed pipes."""

import os
import re
import select
import signal
import socket
import subprocess

from lib import Failure, each, expect
from lib.memleak import parse
from lib.process import PATIENCE


def test_file(t):
    """The file is truncated at the start; stdout stays empty; reports appear at once."""
    path = t.tmp / "reports"
    path.write_text("what was there before\n" * 100, encoding="ascii")
    program = t.program("leak")
    memleak = t.attach(program, "--output", path, interval="0.2", output=path)
    truth = program.go()
    memleak.wait_for("two reports in the file",
                     lambda: path.read_bytes().count(b"\n") >= 2, every=0.02)
    if b"before" in path.read_bytes():
        raise Failure("the file was not emptied")
    expect(memleak.stop(), truth)
    if memleak.out.data:
        raise Failure(f"stdout: {memleak.out.text!r}")


def test_reports_are_whole(t):
    """Each report is one write: a packet on a SOCK_SEQPACKET socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.setsockopt(socket.SOL_SOCKET, 32, 1 << 22)  # SO_SNDBUFFORCE
    program = t.program("sites", "100", "100")
    memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p", str(program.pid), "0.2", "3",
                        stdout=theirs)
    theirs.close()
    with ours:
        ours.settimeout(PATIENCE)
        memleak.ready()
        truth = program.go()
        messages = [ours.recv(1 << 22) for _ in range(3)]
        memleak.wait()
    memleak.aftermath()
    reports = [parse(message.removesuffix(b"\n")) for message in messages]
    expect(reports[-1], truth)
    if len(messages[-1]) < 65536:
        raise Failure("the report is too small for this case to fail")


@each("output", "record", "both", "html")
def test_spared(t, name):
    """If tracing fails, files are unchanged; one file cannot serve two purposes."""
    path = t.tmp / "kept"
    path.write_bytes(b"what was there before\n")
    options = {"output": ["--output", path], "record": ["--record", path],
               "both": ["--output", path, "--record", path],
               "html": ["--format", "html", "--output", path]}[name]
    process = t.program("leak").pid if name == "both" else 4194305
    says = "are the same file" if name == "both" else "no process with pid"
    t.refused(*options, "-p", str(process), code=1, says=says)
    if path.read_bytes() != b"what was there before\n":
        raise Failure(f"{path.read_bytes()!r}")


def test_appends(t):
    """Data that other processes append to the file is not overwritten."""
    path = t.tmp / "reports"
    program = t.program("leak")
    memleak = t.attach(program, "--output", path)
    with open(path, "ab") as file:
        file.write(b'{"other":1}\n')
    memleak.json = False
    memleak.stop()
    lines = path.read_bytes().splitlines()
    if len(lines) != 2 or lines[0] != b'{"other":1}' or not parse(lines[1])["final"]:
        raise Failure(f"{lines}")


@each("/dev/full", "/nonexistent/folder/file", "/tmp", "/proc/version")
def test_cannot_write(t, name):
    """An unwritable file is an error with its name and exit code 1."""
    program = t.program("leak")
    memleak = t.memleak("--json", "--output", name, "-p", str(program.pid), "0.1")
    memleak.wait()
    memleak.aftermath()
    lines = memleak.notes.splitlines()
    if memleak.code != 1 or not any(name in line for line in lines):
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


@each("--output", "--record")
def test_file_size_limit(t, option):
    """A file that reaches ulimit -f is an error with its name, not the end by a signal."""
    program = t.program("leak")
    path = t.tmp / "file"
    memleak = t.memleak("--json", option, path, "-p", str(program.pid), "0.1",
                        wrapper=("sh", "-c", 'ulimit -f 1; exec "$0" "$@"'))
    program.go()
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or f"{path}: File too large" not in memleak.notes or \
            "crashed" in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_stdout_full(t):
    program = t.program("leak")
    with open("/dev/full", "wb") as full:
        memleak = t.memleak("--json", "-p", str(program.pid), "0.1", stdout=full)
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or "memleak: " not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_stdout_closed(t):
    """With stdout closed, no report is written to another file that gets descriptor 1."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.1", "3",
                        wrapper=("sh", "-c", 'exec "$0" "$@" >&-'))
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or "memleak: " not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


@each("json", "text")
def test_reader_leaves(t, name):
    """Acts like `memleak … | head -1`: when the reader ends, memleak ends without an error."""
    program = t.program("leak")
    reader, writer = os.pipe()
    memleak = t.memleak("--format", name, "-p", str(program.pid), "0.1", stdout=writer)
    os.close(writer)
    with os.fdopen(reader, "rb", 0) as file:
        file.read(1)
    memleak.close_stdin()
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 0:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_reader_is_slow(t):
    """A slow reader gets every report completely."""
    program = t.program("sites", "300", "300")
    memleak = t.memleak("--json", "-T", "5000", "-o", "0", "-p", str(program.pid), "0.2")
    memleak.wait_for("tracing", lambda: "memleak: tracing" in memleak.err.text)
    memleak.look()
    truth = program.go()
    os.set_blocking(memleak.out.file.fileno(), True)
    for _ in range(20):
        memleak.out.data += os.read(memleak.out.file.fileno(), 1000)
    os.set_blocking(memleak.out.file.fileno(), False)
    expect(memleak.fresh_report(), truth)
    memleak.stop()


def has_room(fd):
    """True if a write would not block."""
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return bool(poll.poll(0))


@each("pipe", "socket")
def test_nobody_reads(t, kind):
    """A pipe's reader that reads nothing cannot keep memleak from ending."""
    if kind == "pipe":
        theirs, ours = os.pipe()
    else:
        theirs, ours = (end.detach() for end in
                        socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
    program = t.program("sites", "300", "300")
    memleak = t.memleak("--json", "-o", "0", "-T", "1000", "-p", str(program.pid), "0.1",
                        stdout=ours)
    memleak.ready()
    program.go()
    memleak.wait_for("no room for more", lambda: not has_room(ours), every=0.05)
    os.close(ours)
    memleak.signal(signal.SIGTERM)
    memleak.wait()
    os.close(theirs)
    memleak.aftermath()
    if memleak.code != 1 or "stdout: reader stalled" not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_stderr_closed(t):
    """With stderr closed, reports still come."""
    program = t.program("leak")
    memleak = t.memleak("--json", "-p", str(program.pid), "0.1", "3",
                        wrapper=("sh", "-c", 'exec "$0" "$@" 2>&-'))
    memleak.finish()
    if len(memleak.reports) != 3:
        raise Failure(f"{len(memleak.reports)} reports")


def test_shell_pipeline(t):
    """A real shell pipeline with head."""
    program = t.program("leak")
    answer = subprocess.run(
        ["sh", "-c", f"'{t.path}' -p {program.pid} 0.1 | head -1"], capture_output=True,
        timeout=PATIENCE, check=False)
    if not re.match(rb"[\d:]{8} (leak \(\d+\), )?traced for ", answer.stdout):
        raise Failure(f"{answer}")
