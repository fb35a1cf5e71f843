# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings: equal reports later, and diffs between two moments."""

import os
import signal
import subprocess
import time

from lib import Failure, each, expect, owner, sample, slow, timeout, untraced, wanted
from lib.context import SANITIZER_ENV
from lib.memleak import parse
from lib.process import PATIENCE

from .formats import Profile, demand


def offline(t, *args, code=0, user=None):
    """Runs `memleak report` or `memleak diff`; returns its stdout."""
    wrapper = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"] if user else []
    answer = subprocess.run([*wrapper, t.path, *args], capture_output=True, timeout=PATIENCE,
                            check=False, env={**os.environ, **SANITIZER_ENV})
    if answer.returncode != code:
        raise Failure(f"exit code {answer.returncode}, not {code}: {answer.stderr!r}")
    t.notes = answer.stderr.decode("utf-8")
    return answer.stdout


def last_report(t, *args):
    return parse(offline(t, "report", "--json", "-T", "100000", *args).splitlines()[-1])


VIEWS = {
    "plain": (), "blocks": ("-a",), "combined": ("-C",), "sampled": ("-s", "2"),
    "sampled_bytes": ("--sample-bytes", "64"), "by_module": ("--by", "module"),
    "by_process": ("--by", "process"), "by_cgroup": ("--by", "cgroup"),
    "views": ("--peak", "--summary", "--stats", "--largest"), "kernel": ("-K",),
    "prove": ("--prove",), "prove_every": ("--prove-every", "2"),
    "census": ("--census",),
}


def next_report(memleak, is_asked):
    if is_asked:
        memleak.ask()
    else:
        memleak.fresh_report()


@sample(2)
@each(*VIEWS)
def test_same_reports(t, name):
    """
    Reports of a recording are identical to the live ones. With short intervals, symbols may be too
    late for a report, but are in the recording. Reports on request have proofs, so runs with proofs
    in only some reports use intervals.
    """
    path = t.tmp / "recording"
    is_asked = name != "prove_every"
    program = t.program("leak")
    memleak = t.attach(program, "--record", path, *VIEWS[name],
                       interval="3600" if is_asked else "1")
    for _ in range(3):
        program.go()
        next_report(memleak, is_asked)
    program.go()
    memleak.stop()
    traced = ("-C", "-s", "2", "-K", "64", "--sample-bytes", "--prove", "--prove-every",
              "--census")
    views = [word for word in VIEWS[name] if word not in traced]
    live = memleak.out.data
    again = offline(t, "report", "--json", "-T", "100000", "--all", *views, path)
    if again != live or again.count(b"\n") < 4:
        raise Failure(f"live: {live[-3000:]!r}\nrecorded: {again[-3000:]!r}")
    last = offline(t, "report", "--json", "-T", "100000", *views, path)
    wanted("the last one", last, live.splitlines(keepends=True)[-1])


RUNS = {
    "filters": (("untraced", "anonymous"), "--min-size", "100"),
    "pending": (("untraced", "unmapped"),),
    "young": (("untraced", "copied"),),
}


@slow
@timeout(120)
@each(*RUNS)
def test_same_verdicts(t, name):
    """Verdicts that depend on the options of the run are the same in a recording."""
    path = t.tmp / "recording"
    command, *options = RUNS[name]
    program = t.program(*command)
    memleak = t.attach(program, "--record", path, *options, interval="1")
    program.send()
    memleak.report_number(14)
    memleak.stop()
    again = offline(t, "report", "--json", "-T", "100000", "--all", path)
    if again != memleak.out.data:
        raise Failure(f"live: {memleak.out.data[-3000:]!r}\nrecorded: {again[-3000:]!r}")


def test_all_stacks(t):
    """Stacks that no live report showed have symbols all the same."""
    path = t.tmp / "recording"
    program = t.program("sites", "300", "300")
    memleak = t.memleak("-T", "1", "-o", "0", "--record", path, "-p", str(program.pid),
                        "3600").ready()
    truth = program.go()
    memleak.stop()
    expect(last_report(t, path), truth)


def test_pprof(t):
    """Recordings have no mappings: addresses are those in the file, and all symbols are there."""
    path, truth = record(t, "recording", 1)
    profile = Profile(offline(t, "report", "--format", "pprof", path))
    demand(profile.sums("inuse_space"), truth, "bytes")
    stacks = [site["stack"] for site in last_report(t, path)["sites"]]
    wanted("places", {place[3] for place in profile.places.values()},
           {int(frame["module_offset"], 16) - 1 for stack in stacks for frame in stack})
    for mapping in profile.mappings.values():
        wanted("mapping", [mapping.get(number, 0) for number in (2, 3, 4)], [0, 0, 0])


def test_other_views(t):
    """Options not given live can be given later."""
    path = t.tmp / "recording"
    program = t.program("threads", "50")
    memleak = t.memleak("-a", "-o", "0", "--record", path, "-p", str(program.pid),
                        "3600").ready()
    truth = program.go()
    memleak.stop()
    expect(last_report(t, path), truth)
    report = last_report(t, "--by", "thread", path)
    wanted("blocks of threads", sum(group["count"] for group in report["groups"]), truth.count)
    if len(report["groups"]) < 4:
        raise Failure(f"{len(report['groups'])} threads")
    report = last_report(t, "--by", "cgroup", path)
    with open(f"/proc/{program.pid}/cgroup", encoding="ascii") as file:
        paths = [line.rstrip("\n").split(":", 2)[2] for line in file]
    if report["groups"][0]["cgroup"] not in paths:
        raise Failure(f"{report['groups'][0]['cgroup']} is none of {paths}")
    text = offline(t, "report", "--format", "bcc", "-T", "1", "--sort", "count", path)
    if text.count(b"allocations from stack") != 1:
        raise Failure(f"{text!r}")


def record(t, name, rounds):
    """Records a run of the leaking program; returns its truth."""
    path = t.tmp / name
    program = t.program("leak")
    memleak = t.attach(program, "--record", path)
    for _ in range(rounds):
        truth = program.go()
    memleak.stop()
    program.end()
    return path, truth


def changes(diff):
    return sorted((owner(site), site["change"], site["bytes"], site["count"])
                  for site in diff["sites"])


def test_diff_of_runs(t):
    """A diff of two runs at different addresses matches their sites."""
    first, _ = record(t, "first", 1)
    second, _ = record(t, "second", 2)
    diff = parse(offline(t, "diff", "--json", first, second)[:-1])
    wanted("schema", diff["schema"], "memleak-diff/1")
    wanted("changes", changes(diff), [("leak_big", "grown", 5 << 20, 5),
                                      ("leak_small", "grown", 80, 5)])
    back = parse(offline(t, "diff", "--json", second, first)[:-1])
    wanted("changes back", changes(back), [("leak_big", "shrunk", -5 << 20, -5),
                                           ("leak_small", "shrunk", -80, -5)])
    addresses = [last_report(t, path)["sites"][0]["stack"][0]["addr"]
                 for path in (first, second)]
    if addresses[0] == addresses[1]:
        raise Failure("both runs had the same addresses: the case tests nothing")
    text = offline(t, "diff", first, second).decode()
    if "grown: +80 bytes in +5 blocks (80 bytes in 5 to 160 bytes in 10), of leak\n" not in text:
        raise Failure(text)


def test_diff_of_moments(t):
    """A diff within one recording: what was added, grew and was freed between two snapshots."""
    path = t.tmp / "recording"
    program = t.program("leak")
    memleak = t.attach(program, "--record", path, interval="0.2")
    reports = []
    for _ in range(4):
        program.go()
        reports.append(memleak.fresh_report())
    memleak.stop()
    moments = [f"{path}@{report['elapsed_ns'] / 1e9:.9f}" for report in reports]

    def between(before, after):
        return changes(parse(offline(t, "diff", "--json", before, after)[:-1]))

    wanted("growth", between(moments[0], moments[1]), [("leak_big", "grown", 5 << 20, 5),
                                                       ("leak_small", "grown", 80, 5)])
    wanted("the end of all", between(moments[1], moments[2]),
           [("leak_big", "gone", -10 << 20, -10), ("leak_small", "gone", -160, -10)])
    wanted("one more", between(moments[2], path), [("leak_small", "new", 16, 1)])
    wanted("no change", between(moments[0], moments[0]), [])
    wanted("the report of a moment",
           parse(offline(t, "report", "--json", moments[1])[:-1])["time"], reports[1]["time"])
    wanted("behind the end", parse(offline(t, "report", "--json", f"{path}@99")[:-1])["final"],
           True)
    if "before the requested time: its last snapshot is shown" not in t.notes:
        raise Failure(t.notes)
    clock = time.strftime("%H:%M:%S", time.localtime(time.time() + 3600))
    wanted("the last before a later time",
           parse(offline(t, "report", "--json", f"{path}@{clock}")[:-1])["final"], True)


def test_what_was_lost(t):
    """Number-only formats print losses to stderr once, for the last report."""
    path = t.tmp / "recording"
    program = t.program("leak")
    memleak = t.attach(program, "-s", "2", "--record", path, interval="0.2")
    program.go()
    report = memleak.fresh_report()
    memleak.fresh_report()  # each snapshot is recorded between its report and the next one
    memleak.signal(signal.SIGKILL)
    memleak.wait()
    memleak.aftermath()
    for name in (path, f"{path}@{report['elapsed_ns'] / 1e9:.9f}"):
        for words in (("csv",), ("csv", "--all"), ("folded",), ("pprof",)):
            offline(t, "report", name, "--format", *words)
            wanted("notes", t.notes, "memleak: bytes and counts are estimates, scaled up from "
                                     "samples\n")
    offline(t, "report", path)
    wanted("notes of a text", t.notes, "")


def test_killed(t):
    """After kill -9, the recording has all snapshots up to then."""
    path = t.tmp / "recording"
    program = t.program("leak")
    memleak = t.attach(program, "--record", path, interval="0.2")
    truth = program.go()
    memleak.fresh_report()
    memleak.fresh_report()  # each snapshot is recorded between its report and the next one
    memleak.signal(signal.SIGKILL)
    memleak.wait()
    memleak.aftermath()
    expect(last_report(t, path), truth)


def test_cut(t):
    """A truncated recording shows what is complete, and memleak says that it is cut."""
    path = t.tmp / "recording"
    program = t.program("leak")
    memleak = t.attach(program, "--record", path, interval="0.2")
    truth = program.go()
    first = memleak.fresh_report()
    program.go()
    memleak.fresh_report()
    memleak.stop()
    data = path.read_bytes()
    path.write_bytes(data[:-1])
    lines = offline(t, "report", "--json", "--all", path).splitlines()
    wanted("reports", lines, memleak.out.data.splitlines()[:-1])
    end = f"is truncated or damaged at snapshot {len(lines) + 1}: only earlier snapshots are used"
    if end not in t.notes:
        raise Failure(t.notes)
    offline(t, "report", f"{path}@999")
    if end not in t.notes:
        raise Failure(t.notes)
    offline(t, "report", f"{path}@{first['elapsed_ns'] / 1e9:.9f}")
    wanted("notes of a moment before others", t.notes, "")
    # After a flipped bit in the middle, chunks before it are readable.
    path.write_bytes(data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])
    offline(t, "report", path)
    if "is truncated or damaged at snapshot" not in t.notes:
        raise Failure(t.notes)
    expect(parse(offline(t, "report", "--json", "-T", "100",
                         f"{path}@{first['elapsed_ns'] / 1e9:.9f}")[:-1]), truth)


def test_without_root(t):
    """A user who may read the file can make reports; others cannot."""
    path, truth = record(t, "recording", 1)
    wanted("mode", path.stat().st_mode & 0o777, 0o600)
    t.tmp.chmod(0o755)
    offline(t, "report", path, code=1, user="65534")
    path.chmod(0o644)
    report = parse(offline(t, "report", "--json", path, user="65534")[:-1])
    expect(report, truth)


def test_error_exitcode(t):
    path, _ = record(t, "recording", 1)
    offline(t, "report", "--error-exitcode", "9", path, code=9)
    path, _ = record(t, "recording", 3)
    offline(t, "report", "--error-exitcode", "9", path, code=0)


def test_not_recorded(t):
    """If an option needs data that was not recorded, one line names the missing option."""
    path, _ = record(t, "recording", 1)
    for option, words in (("-a", "without --show-allocs"), ("--peak", "without --peak"),
                          ("--summary", "without --summary"),
                          ("--by=thread", "no threads")):
        t.refused("report", option, path, code=1, says=[str(path), words])


def test_stats_not_recorded(t):
    """
    Without --stats, calls and stack counts are recorded; memleak says that table sizes are not.
    """
    path, _ = record(t, "recording", 1)
    text = offline(t, "report", "--stats", path).decode()
    lines = [line for line in text.splitlines() if line.startswith("\tuser: ")]
    if len(lines) != 3 or " malloc" not in lines[0] or lines[2] != (
            "\tuser: tables: unknown (recorded without --stats)"):
        raise Failure(text)


def test_pipe(t):
    """A recording in a pipe cannot be read twice: memleak says so, and does not call it invalid."""
    path, _ = record(t, "recording", 1)
    t.refused(path, code=1, says="/dev/stdin: must be a file, not a pipe",
              wrapper=("sh", "-c", 'cat "$1" | "$0" report /dev/stdin'))
    os.mkfifo(t.tmp / "named")
    t.refused("report", t.tmp / "named", code=1, says="named: must be a file, not a pipe")
    if not subprocess.run([t.path, "report", "/dev/stdin"], stdin=path.open("rb"), timeout=PATIENCE,
                          capture_output=True, check=True).stdout:
        raise Failure("no report of a file as stdin")


@untraced
@each("text", "newer", "short", "empty", "folder", "missing")
def test_not_a_recording(t, name):
    """For a file that is no recording, one line says so."""
    path = t.tmp / "file"
    if name != "missing":
        path.write_bytes({"text": b"what is this?\n" * 100, "short": b"memleak\x1a\1\0",
                          "newer": b"memleak\x1a\xff\0\0\0" + bytes(100)}.get(name, b""))
    if name == "folder":
        path = t.tmp
    words = {"newer": "written by a newer memleak", "folder": "Is a directory",
             "missing": "No such file"}.get(name, "not a memleak recording")
    t.refused("report", path, code=1, says=words)
    t.refused("diff", path, path, code=1, says=words)


def test_output_is_spared(t):
    """
    --output truncates no recording that is being read, and no file if there is nothing to read.
    """
    path, _ = record(t, "recording", 1)
    data = path.read_bytes()
    link = t.tmp / "link"
    os.link(path, link)
    for output in (path, link):
        for words in (("report", path), ("diff", f"{path}@99", path)):
            t.refused(words[0], "--output", output, *words[1:], code=1,
                      says=[str(output), "would overwrite the recording"])
    wanted("recording", path.read_bytes(), data)
    other = t.tmp / "other"
    other.write_bytes(b"kept\n")
    t.refused("report", "--output", other, t.tmp / "none", code=1, says="No such file")
    t.refused("report", "--output", other, "--peak", path, code=1, says="no peak")
    t.refused("diff", "--output", other, path, t.tmp / "none", code=1, says="No such file")
    wanted("other file", other.read_bytes(), b"kept\n")
    offline(t, "report", "--json", "--output", other, path)
    wanted("reports", other.read_bytes(), offline(t, "report", "--json", path))


@sample(3)
@each("0.0001", "5s", "25:00:00", "-1", "1:2", "", "99999999999999999999")
def test_no_such_time(t, name):
    """Invalid times, and times before all snapshots."""
    path, _ = record(t, "recording", 1)
    says = "begins later" if name == "0.0001" else f"'{name}' is not a time"
    t.refused("report", f"{path}@{name}", code=1, says=says)


@each("/dev/full", "/nonexistent/folder/file", "/tmp")
def test_cannot_record(t, name):
    """An unwritable recording is reported at once, not at the end of the run."""
    program = t.program("leak")
    t.refused("--record", name, "-p", str(program.pid), code=1, says=["cannot write to", name])


def test_disk_fills_up(t):
    """A full disk ends the run, as for reports; the recording is complete up to then."""
    path = t.tmp / "recording"
    program = t.program("sites", "2000", "2000")
    memleak = t.memleak("--json", "-o", "0", "--record", path, "-p", str(program.pid), "0.2",
                        wrapper=("sh", "-c",
                                 'trap "" XFSZ; ulimit -f 16; exec "$0" "$@"'))
    memleak.ready()
    program.go()
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or f"cannot write to {path}" not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")
    # The file has nothing or complete snapshots, never a partial one.
    if path.stat().st_size > 40:
        offline(t, "report", path)
        wanted("notes", t.notes, "")
