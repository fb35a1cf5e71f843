# SPDX-License-Identifier: GPL-2.0-or-later
"""A static memleak (make static), in a root that has nothing but this file."""

import os
import shutil
import subprocess

from lib import Broken, Failure, Skip, each, expect, wanted
from lib.http import after_leak, fetch, scrape, stop
from lib.kernel import expect_things, share_kernel
from lib.leak_tools import GO
from lib.process import PATIENCE
from lib.screen import Screen

from .agent import check_leak, command
from .confinement import KEPT, demand_few_rights
from .prove import next_proof
from .record import last_report

# Arguments: the root, then those of memleak.
ALONE = """#!/bin/sh
exec unshare -m --propagation private sh -c '
for name in proc sys dev; do mount --rbind "/$name" "$0/$name" || exit 99; done
exec chroot "$0" /memleak "$@"' {root} "$@"
"""


def copy_of(t):
    """Lets the case run a copy of the static memleak in a folder of its own; returns the folder."""
    built = t.path.parent / "static/memleak"
    if t.sanitized:
        raise Skip("sanitizers need shared libraries")
    if not built.exists():
        raise Broken("there is no static memleak: make static")
    root = t.tmp / "root"
    root.mkdir()
    for folder in (t.tmp, root):
        folder.chmod(0o755)
    shutil.copy(built, root / "memleak")
    t.path = root / "memleak"
    return root


def alone(t):
    """Lets the case run a static memleak in an empty root."""
    root = copy_of(t)
    for name in ("proc", "sys", "dev", "tmp"):
        (root / name).mkdir()
    t.path = t.tmp / "memleak"
    t.path.write_text(ALONE.format(root=root), encoding="ascii")
    t.path.chmod(0o755)


@each("leak", "leak_static")
def test_traces(t, name):
    """Totals, names, lines and the proof are right, and so is the report of a recording."""
    alone(t)
    program = t.program(name)
    memleak = t.attach(program, "--prove", "--record", "/tmp/recording", interval="0.2")
    truth = program.go()
    report = next_proof(memleak)
    expect(report, truth)
    wanted("reachable bytes", report["proof"]["reachable"]["bytes"], truth.bytes)
    memleak.stop()
    expect(last_report(t, "/tmp/recording"), truth)


def test_features(t):
    """The trial of probes in memleak's own file works, also for shared probes."""
    copy_of(t)
    program = t.program("leak")
    memleak = t.attach(program, "-f")
    demand_few_rights(memleak, KEPT)
    truth = program.go()
    expect(memleak.stop(), truth)


def test_kernel(t):
    alone(t)
    share_kernel(t)
    program = t.program("kernel", "messages")
    memleak = t.attach(program, "-K", interval="0.3")
    for _ in range(2):
        truth = program.go()
        expect_things(memleak.fresh_report(), truth)
    memleak.stop()


def test_listen(t):
    """The HTTP server is in the file."""
    alone(t)
    memleak, address, truth = after_leak(t)
    wanted("bytes", scrape(address).value("memleak_outstanding_bytes"), truth.bytes)
    if "leak_big" not in fetch(address, "/"):
        raise Failure("the page has no leak_big")
    stop(memleak)


@each("tmux-256color", "dumb")
def test_live(t, terminal):
    """Terminals are described in the file. Without a locale, the chart is drawn in ASCII."""
    alone(t)
    program = t.program("leak")
    screen = Screen(t, "--live", "-o", "0", "-p", str(program.pid), "0.3", env={"TERM": terminal})
    if terminal == "dumb":
        screen.wait_for("memleak: --live does not know this type of terminal")
        screen.left(1)
        return
    screen.wait_for("nothing is outstanding")
    program.go()
    screen.wait_for("leak_big", "#####")
    screen.keys("q").left(0)


def test_agent(t):
    """The agent is in the file, but other users cannot read it there."""
    copy_of(t)
    report, code = command(t, t.file_of("leak"), given=GO[:1])
    wanted("exit code", code, 0)
    check_leak(report)
    t.refused("--agent", "--user", "nobody", "--", "true", code=1, says="other users")
    shutil.copy(t.file_of("leak").parents[2] / "libmemleak.so", t.path.parent)
    memleak = t.memleak("--agent", "--user", "nobody", "--", "true")
    memleak.wait()
    wanted("exit code", memleak.code, 0)


def test_user(t):
    """Users and their groups are read from files of the machine."""
    root = copy_of(t)
    (root / "passwd").write_text("root:x:0:0::/:/bin/sh\nodd:x:12345:23456::/:/bin/sh\n",
                                 encoding="ascii")
    (root / "group").write_text("first:x:34567:other,odd\nown:x:23456:odd\nno:x:45678:odds\n",
                                encoding="ascii")
    script = ('mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/group" /etc/group && '
              'exec "$0/memleak" --user odd --output /dev/null -- id -G')
    answer = subprocess.run(["unshare", "-m", "--propagation", "private", "sh", "-c", script,
                             os.fspath(root)], capture_output=True, timeout=PATIENCE, check=False)
    wanted("groups", answer.stdout, b"23456 34567\n")


def test_downloads_nothing(t):
    copy_of(t)
    program = t.program("leak")
    memleak = t.memleak("-p", str(program.pid), "3600",
                        env={"DEBUGINFOD_URLS": "http://127.0.0.1:1/"}).ready()
    memleak.stop()
    if "a static memleak ignores DEBUGINFOD_URLS" not in memleak.notes:
        raise Failure(memleak.notes)
