# SPDX-License-Identifier: GPL-2.0-or-later
"""Core files: proofs of the scenes of tests/programs/prove_*, run as an ordinary user."""

import os
import shutil
import signal
import subprocess

from lib import Failure, Skip, each, sample
from lib.context import SANITIZER_ENV
from lib.expect import fail
from lib.memleak import parse
from lib.process import PATIENCE

from .prove import KINDS, LOST, SCENES

USER = "nobody"
# Error in the number of lost blocks that a core gives, because it lacks information.
NOT_TOLD = {
    "ends_of_blocks": -1,      # requested sizes: cores have only the usable ones
    "data_of_epoll": 1,        # pointers that the kernel keeps
    "data_of_a_timer": 1,
    "rings_of_io_uring": 2,
    "thread_that_holds_nothing": -1,  # ends of stacks, if gdb leaves out the pages below them
    "below_the_stack_pointer_of_a_thread": -1,
}


def run_core(t, *args, code=0):
    """Runs `memleak core` as an ordinary user; returns its stdout."""
    answer = subprocess.run(["setpriv", "--reuid", USER, "--regid", "nogroup", "--clear-groups",
                             t.path, "core", *args], capture_output=True, timeout=PATIENCE,
                            check=False, env={**os.environ, **SANITIZER_ENV})
    if answer.returncode != code:
        raise Failure(f"exit code {answer.returncode}, not {code}: {answer.stderr!r}")
    t.notes = answer.stderr.decode("utf-8")
    return answer.stdout


def core_by_gdb(t, running):
    if not shutil.which("gdb"):
        raise Skip("gdb is not installed")
    path = t.tmp / "core"
    gdb = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set auto-load off",
                          "-p", str(running.pid), "-ex", f"generate-core-file {path}",
                          "-ex", "detach"], check=False, capture_output=True, timeout=PATIENCE,
                         stdin=subprocess.DEVNULL)
    if gdb.returncode or not path.exists():
        raise Skip("gdb makes no core of it: " + gdb.stderr.decode("utf-8")[-100:].strip())
    readable(t, path)
    return path


def readable(t, path):
    os.chmod(path, 0o644)
    os.chmod(t.tmp, 0o755)


def totals(report):
    return {kind: report["proof"][kind]["count"] for kind in KINDS}


def check_sums(report):
    """Checks that the sums of all sites add up to the proof, and the proof to the blocks in use."""
    for kind in KINDS:
        of_sites = sum(site["reach"][kind]["count"] for site in report["sites"])
        if of_sites != report["proof"][kind]["count"]:
            fail(report, f"sorts have {of_sites} {kind} blocks, the proof {totals(report)}")
    if sum(totals(report).values()) != report["core"]["used"]["count"]:
        fail(report, f"{report['core']['used']} are in use, of which {totals(report)} are known")


def planted(truth, kind, tool):
    return sum(count for (_, of), (count, _) in truth.kinds_by(tool).items() if of == kind)


def check_core(t, truth, path, not_told=0):
    report = parse(run_core(t, "--json", "-T", "100000", path).splitlines()[-1])
    check_sums(report)
    for kind in LOST:
        # Stale words in freed blocks sometimes mislead live proofs, but not those of cores.
        right = {planted(truth, kind, tool) for tool in ("memleak", "nobody")}
        right = {count + (not_told if kind == "definite" else 0) for count in right}
        if report["proof"][kind]["count"] not in right:
            fail(report, f"{totals(report)} are {kind}, and {right} were planted")
    lost = report["proof"]["definite"]["count"]
    run_core(t, "--error-exitcode", "7", path, code=7 if lost else 0)
    return report


@sample(12, 5)
@each(*SCENES)
def test_kinds(t, value):
    """A core written by gdb while the program waits."""
    scene, program = value
    running = t.program(program, scene)
    truth = running.go()
    check_core(t, truth, core_by_gdb(t, running), NOT_TOLD.get(scene, 0))
    running.end()


def test_crash(t):
    """A core written by the kernel, from which memleak also reads how the program ended."""
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        if file.read().strip() != "core":
            raise Skip("cores do not become files here")
    scene, program = SCENES[0]
    wrapper = ("sh", "-c", f'ulimit -c unlimited; cd {t.tmp}; exec "$@"', "sh")
    running = t.program(program, scene, wrapper=wrapper)
    truth = running.go()
    os.kill(running.pid, signal.SIGSEGV)
    running.wait()
    path = next(t.tmp.glob("core*"))
    readable(t, path)
    report = check_core(t, truth, path)
    if report["core"]["signal"] != signal.SIGSEGV or report["core"]["pid"] != running.pid:
        fail(report, f"the core is of {report['core']}")
    if not report["core"]["threads"][0]["symbol"]:
        fail(report, "the first thread has no name")


def test_cut_off(t):
    """A truncated core is reported as such, and nothing is proved."""
    running = t.program(SCENES[0][1], SCENES[0][0])
    running.go()
    path = core_by_gdb(t, running)
    running.end()
    os.truncate(path, os.path.getsize(path) - 100_000)
    run_core(t, path)
    if "is truncated: no proof is made" not in t.notes:
        raise Failure(f"the cut is not told: {t.notes!r}")


def test_no_core(t):
    """One line is printed for a file that is not a core."""
    os.chmod(t.tmp, 0o755)
    for content, words in ((b"", "not a core file"),
                           (b"\x7fELF" + b"\0" * 60, "unsupported machine"),
                           (b"\x28\xb5\x2f\xfd" + b"\0" * 60, "is compressed")):
        path = t.tmp / "file"
        path.write_bytes(content)
        readable(t, path)
        run_core(t, path, code=1)
        if words not in t.notes or t.notes.count("\n") != 1:
            raise Failure(f"{content!r}: {t.notes!r}")
