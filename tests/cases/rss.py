# SPDX-License-Identifier: GPL-2.0-or-later
"""memleak --rss: what resident memory is used for."""

import json
import os
import re
import subprocess

from lib import ROOT, Failure, Skip, each, nightly, owner, sample, slow, timeout, untraced, wanted
from lib.debian import Unavailable, unpacked
from lib.libraries import library
from lib.process import PATIENCE
from lib.python import interpreter
from lib.schema import RSS_PARTS

from .record import last_report, offline

SCENES = ("fragmented", "trimmable", "full", "top", "large", "arenas", "busy")
SLACK = 256 << 10  # bytes: what the C library keeps for itself
ARENA_SLACK = 8 << 10  # bytes for each arena, and the end of its heap


def run(t, *options):
    memleak = t.process([t.path, "--rss", *options])
    wanted("code", memleak.wait(), 0)
    return memleak.out.text


def is_near(found, right, arenas=1):
    return abs(found - right) <= 0.02 * right + SLACK + arenas * ARENA_SLACK


def kernel_says(pid, name):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(rf"^{name}: +(\d+) kB", file.read(), re.M)[1]) << 10


@untraced
@each(*SCENES)
def test_parts(t, scene):
    """The parts agree with what the program knows of its heap, and their sum with the kernel."""
    check_parts(t, t.program("resident", scene), scene)


@untraced
def test_static(t):
    """The heap of a static program is found without symbols."""
    check_parts(t, t.program("resident_static", "fragmented"), "fragmented")


@nightly
@untraced
@each(*(f"{suite}.{scene}" for suite in ("bullseye", "trixie") for scene in ("fragmented", "arenas")))
@timeout(300)
def test_other_glibc(t, what):
    """The heaps of other versions of glibc, 2.31 and 2.41, are found as well."""
    suite, scene = what.split(".")
    try:
        root = unpacked(suite, t.tmp / suite,
                        ("libc6", "libc6-dev", "linux-libc-dev", "libcrypt-dev"))
    except Unavailable as reason:
        raise Skip(str(reason)) from reason
    for link in root.rglob("*.so*"):
        if link.is_symlink() and os.readlink(link).startswith("/"):
            target = os.readlink(link)
            link.unlink()
            link.symlink_to(f"{root}{target}")
    library, = root.glob("lib/*/libc.so.6")
    loader = next(path for path in root.rglob("ld-*.so*") if not path.is_symlink())
    path = t.tmp / "resident"
    objects = root / "usr/lib" / library.parent.name
    subprocess.run(["cc", f"--sysroot={root}", f"-B{objects}", f"-L{objects}", "-O2", "-g",
                    "-pthread", "-I", ROOT,
                    f"-Wl,--dynamic-linker={loader.resolve()},-rpath,{library.parent.resolve()}",
                    "-o", path, ROOT / "tests/programs/resident.c"], check=True)
    check_parts(t, t.program("resident", scene, path=path), scene)


def check_parts(t, program, scene):
    is_torn = scene == "busy"
    facts = {name: int(words[0]) for name, words in program.truth.facts.items()}
    memory = json.loads(run(t, "--json", "-p", str(program.pid)))["memory"]
    while is_torn and not memory["torn_arenas"]:  # until a block changes during the reading
        memory = json.loads(run(t, "--json", "-p", str(program.pid)))["memory"]
    returned = memory["trimmable"] + memory["top"]
    if (not is_near(memory["live"], facts["live"], facts["arenas"]) or
            not is_near(returned, facts["trimmed"], facts["arenas"])):
        raise Failure(f"{facts}: {memory}")
    pinned = facts["free"] - facts["trimmed"]
    if scene == "fragmented" and not is_near(memory["pinned"], pinned):
        raise Failure(f"{pinned} bytes are pinned: {facts}: {memory}")
    wanted("arenas", (memory["arenas"], memory["skipped_arenas"]), (facts["arenas"], 0))
    wanted("torn arenas", memory["torn_arenas"], int(is_torn))
    wanted("exactness", (memory["allocator"], memory["exact"]), ("glibc", not is_torn))
    wanted("kept", memory["kept"], returned + memory["pinned"])
    wanted("sum", sum(memory[part] for part in RSS_PARTS), memory["rss"])
    rss = kernel_says(program.pid, "Rss")
    if abs(memory["rss"] - rss) > 0.01 * memory["rss"]:
        raise Failure(f"the kernel says {rss}: {memory}")


@untraced
@each(("rising", 1), ("rising_thread", 2))
def test_rising(t, what):
    """A heap that grows while it is read is found. All of it counts, except the newest part."""
    scene, arenas = what
    program = t.program("resident", scene)
    for _ in range(3):
        memory = json.loads(run(t, "--json", "-p", str(program.pid)))["memory"]
        wanted("arenas", (memory["arenas"], memory["skipped_arenas"]), (arenas, 0))
        if memory["live"] < 0.9 * memory["rss"]:
            raise Failure(f"{memory}")


@untraced
@each(("no_cache", {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}, "fragmented"),
      ("one_arena", {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1"}, "fragmented"),
      ("huge_pages", {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}, "trimmable"))
def test_settings(t, what):
    """Settings of glibc change the heap, but not the agreement with the program."""
    name, settings, scene = what
    program = t.program("resident", scene, env=settings)
    check_parts(t, program, scene)
    if name == "huge_pages" and not kernel_says(program.pid, "AnonHugePages"):
        raise Skip("the kernel gave the program no huge pages")


@untraced
def test_huge_pages(t):
    """Huge pages are named, and are as many as the kernel says."""
    program = t.program("resident", "huge")
    huge = kernel_says(program.pid, "AnonHugePages")
    if not huge:
        raise Skip("the kernel gave the program no huge pages")
    memory = json.loads(run(t, "--json", "-p", str(program.pid)))["memory"]
    wanted("huge pages", memory["huge"], huge)
    text = run(t, "-p", str(program.pid))
    if not re.search(r", of it \d+\.\d MiB in huge pages$", text, re.M):
        raise Failure(text)


# Frees most objects of a peak. The objects that remain keep all of Python's arenas.
AFTER_PEAK = """
import sys
print("ready", flush=True)
sys.stdin.read(1)
objects = [float(i) for i in range(3000000)]
objects = objects[::1000]
sys._debugmallocstats()
print("done", flush=True)
sys.stdin.read(1)
"""


def start_python(t, version):
    path = t.tmp / "script.py"
    path.write_text(AFTER_PEAK, encoding="ascii")
    program = t.process([interpreter(version), path], env={"PYTHONMALLOC": "pymalloc"})
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    return program


@sample(2)
@untraced
@each("3.11", "3.12", "3.13")
def test_python(t, version):
    """Free memory in Python's pools is as much as Python says. It is the cause of a large RSS."""
    program = start_python(t, version)
    program.send()
    program.wait_for("done", lambda: b"done" in program.out.data)
    stats = program.err.text
    right = sum(int(re.search(rf"^{what} += +([0-9,]+)$", stats, re.M)[1].replace(",", ""))
                for what in ("# bytes in available blocks", r"\d+ unused pools \* 16384 bytes"))
    memory = json.loads(run(t, "--json", "-p", str(program.pid)))["memory"]
    if not is_near(memory["python_free"], right) or right < 50 << 20:
        raise Failure(f"{right}: {memory}")
    wanted("sum", sum(memory[part] for part in RSS_PARTS), memory["rss"])
    text = run(t, "-p", str(program.pid))
    if not re.search(r" [=+] \d+\.\d MiB kept by python .*\npython keeps .* not a leak", text):
        raise Failure(text)


@slow
@timeout(180)
def test_python_peak(t):
    """After a peak, the verdict says that Python keeps the memory, although its arenas have grown."""
    program = start_python(t, "3.11")
    path = t.tmp / "recording"
    memleak = t.memleak("--record", path, "-p", str(program.pid), "1").ready()
    memleak.wait_for("the first line", lambda: "RSS " in memleak.out.text)
    program.send()
    verdict = r"^= nothing seems to leak: python keeps \d\S* MiB that the program has freed; "
    memleak.wait_for(verdict, lambda: re.search(verdict, memleak.out.text, re.M), 2 * PATIENCE)
    memleak.stop()
    # The last report does not wait long for resident memory.
    reports = offline(t, "report", "--all", "--json", path).splitlines()
    wanted("verdict", json.loads(reports[-2])["verdict"], "keeps")


@untraced
def test_unread(t):
    """An arena that cannot be parsed is a part of its own; the other arena is counted."""
    program = t.program("resident", "damaged")
    facts = {name: int(words[0]) for name, words in program.truth.facts.items()}
    memory = json.loads(run(t, "--json", "-p", str(program.pid)))["memory"]
    wanted("arenas", (memory["arenas"], memory["skipped_arenas"]), (1, 1))
    if not is_near(memory["unread"], facts["unread"]) or not is_near(memory["live"], facts["live"]):
        raise Failure(f"{facts}: {memory}")
    wanted("sum", sum(memory[part] for part in RSS_PARTS), memory["rss"])
    text = run(t, "-p", str(program.pid))
    if not re.search(r" \+ \d+\.\d MiB not read.*\n1 of glibc's arenas cannot be parsed", text):
        raise Failure(text)


@untraced
@each(("fragmented", "that the program has freed, which is not a leak; another allocator"),
      ("top", "that the program has freed, which is not a leak; malloc_trim"),
      ("top_of_two", "that the program has freed, which is not a leak; malloc_trim"),
      ("full", None))
def test_words(t, what):
    """A sentence says that the allocator keeps memory; if it does not, how to see what grows."""
    scene, sentence = what
    program = t.program("resident", scene)
    text = run(t, "-p", str(program.pid))
    if not re.match(rf"resident \({program.pid}\): RSS \d[^=]* = \d\S* MiB live in glibc's heap", text):
        raise Failure(text)
    if ((sentence or "not a leak") in text) != bool(sentence):
        raise Failure(text)
    hint = f"\nto see whether memory in use grows, and where: memleak -p {program.pid}\n"
    if (hint in text) == bool(sentence):
        raise Failure(text)


@untraced
def test_hostile_name(t):
    """Control characters in the name of a process are escaped."""
    program = t.tmp / "\x1b[31mred"
    program.symlink_to("/bin/sleep")
    sleep = t.process([program, str(PATIENCE)])
    wanted("name", run(t, "-p", str(sleep.pid)).split(" ")[0], "\\x1b[31mred")


def test_said_once(t):
    """If a program has its own allocator, only one report says that no heap of glibc was found."""
    program = t.program("own_malloc")
    memleak = t.memleak("-s", "2", "-p", str(program.pid), "0.1").ready()
    program.go()
    memleak.wait_for("three lines", lambda: memleak.out.text.count("RSS ") > 2)
    memleak.stop()
    wanted("lines", memleak.out.text.count("no glibc heap found"), 1)


@each("jemalloc", "tcmalloc", "mimalloc")
def test_other_allocators(t, name):
    """Another allocator keeps at most the mapped memory less the traced blocks."""
    program = t.program("keeps", "spike", preload=library(name))
    memleak = t.attach(program, "-o", "0", interval="0.2")
    program.send()
    program.go()
    memory = memleak.stop()["memory"]
    wanted("allocator", memory["allocator"], name)
    wanted("traced", memory["others_tracked"], 1000)
    wanted("kept", memory["others_keep_at_most"], memory["mapped"] - 1000)
    if memory["mapped"] < 1 << 20 or memory["arenas"]:
        raise Failure(memory)


@each(("leak_musl", "musl"), ("leak_musl_static", None))
def test_musl(t, what):
    """The bound for musl; the allocator of a static program has no file, and thus no name."""
    name, allocator = what
    program = t.program(name)
    memleak = t.attach(program)
    program.go()
    memory = memleak.stop()["memory"]
    wanted("allocator", (memory["allocator"], memory["arenas"]), (allocator, 0))
    wanted("kept", memory["others_keep_at_most"], memory["mapped"] - memory["others_tracked"])
    if not 0 < memory["others_tracked"] < memory["mapped"]:
        raise Failure(memory)


@timeout(180)
def test_exact(t):
    """With a proof, the numbers of a heap that changes all the time are exact."""
    program = t.program("resident", "busy")
    facts = {name: int(words[0]) for name, words in program.truth.facts.items()}
    memleak = t.attach(program, "--prove", interval="0.2")
    memories = []
    while len(memories) < 3:
        report = memleak.fresh_report()
        if "memory" in report:
            memories.append(report["memory"])
            wanted("method", report["proof"]["method"], "clone")
    memleak.stop()
    for memory in memories:
        wanted("exactness", (memory["exact"], memory["torn_arenas"]), (True, 0))
        if not is_near(memory["live"], facts["live"]):
            raise Failure(f"{facts}: {memory}")
        wanted("sum", sum(memory[part] for part in RSS_PARTS), memory["rss"])
    rss = kernel_says(program.pid, "Rss")
    if abs(memories[-1]["rss"] - rss) > 0.01 * rss:
        raise Failure(f"the kernel says {rss}: {memories[-1]}")


@each(*(str(number) for number in (2, 4, 9)))
def test_several_processes(t, number):
    """
    Two processes have a line each, four have a line for their sum, and more than eight have none.
    """
    programs = [t.program("resident", "top" if i else "full") for i in range(int(number))]
    path = t.tmp / "recording"
    pids = [option for program in programs for option in ("-p", str(program.pid))]
    memleak = t.memleak("--record", path, *pids, "1", "1")
    memleak.finish()  # unlike after SIGINT, the last report waits until all processes are read
    report = last_report(t, path)
    if "memory" in report:
        raise Failure(report["memory"])
    memories = {item["pid"]: item["memory"] for item in report.get("memory_by_process", [])}
    if int(number) > 8:
        wanted("processes", memories, {})
    else:
        wanted("processes", sorted(memories), sorted(program.pid for program in programs))
    for program in programs:
        live = int(program.truth.facts["live"][0])
        if program.pid in memories and not is_near(memories[program.pid]["live"], live):
            raise Failure(f"{live} are live: {memories[program.pid]}")
    line = {"2": rf"^resident \({programs[1].pid}\): RSS .* kept by glibc .*\nglibc keeps .*\n"
                 rf"resident \({programs[0].pid}\): RSS .* live in glibc's heap",
            "4": r"^4 processes \(the largest: resident \(\d+\), \S+ MiB\): RSS .* kept by glibc",
            "9": r"^RSS is not broken down for 9 processes"}[number]
    if not re.search(line, memleak.out.text, re.M):
        raise Failure(memleak.out.text)


def test_pinned(t):
    """Says whose blocks pin free memory, and how much each function's blocks pin."""
    program = t.program("pins")
    path = t.tmp / "recording"
    memleak = t.memleak("--by", "pin", "--record", path, "-o", "0", "-p", str(program.pid),
                        "3600").ready()
    pinned = int(program.go().facts["pinned"][0])
    memleak.stop()
    report = last_report(t, path)
    pins = [site.get("pinned_bytes", 0) for site in report["sites"]]
    sites = dict.fromkeys(map(owner, report["sites"]), 0)
    for site, bytes_pinned in zip(report["sites"], pins):
        sites[owner(site)] += bytes_pinned
    memory = report["memory"]
    shares = {"pin_most": 0.6 * pinned, "pin_some": 0.2 * pinned}
    for name, share in shares.items():
        if not is_near(sites[name], share):
            raise Failure(f"{name} pins {share} of {pinned}: {memory}, {sites}")
    if not is_near(memory["pinned_by_older"], 0.2 * pinned):
        raise Failure(f"older blocks pin a fifth of {pinned}: {memory}")
    wanted("order", pins, sorted(pins, reverse=True))
    if not re.search(r"^pinned: 17\.\d MiB by pin_most \S*pins.c:\d+, 5\.\d MiB by pin_some "
                     r"\S*pins.c:\d+, 5\.\d MiB by blocks older than this trace$",
                     memleak.out.text, re.M):
        raise Failure(memleak.out.text)


def watch(t, scene, verdict):
    """Starts the program's change after the first report; returns the report with this verdict."""
    program = t.program("keeps", scene)
    path = t.tmp / "recording"
    memleak = t.memleak("--record", path, "-o", "0", "-p", str(program.pid), "1").ready()
    memleak.wait_for("the first line", lambda: "RSS " in memleak.out.text)
    program.send()
    memleak.wait_for(verdict, lambda: re.search(verdict, memleak.out.text, re.M), 2 * PATIENCE)
    facts = program.go().facts
    memleak.stop()
    return memleak.out.text, last_report(t, path), facts


@slow
@timeout(180)
def test_leak_and_fragments(t):
    """A leak beside memory that glibc keeps: the verdict names both, each with its size."""
    text, report, facts = watch(t, "leak", r"^▲ a leak is likely: leak_some .* grows [\d.]+ KiB/s")
    wanted("suspects", [owner(site) for site in report["suspects"]], ["leak_some"])
    wanted("leaked", report["outstanding"]["bytes"], int(facts["leaked"][0]))
    if not is_near(report["memory"]["kept"], int(facts["kept"][0])):
        raise Failure(f"{facts}: {report['memory']}")
    # The start of the C library adds one more block, of another size class.
    older = {row["upto_bytes"]: row for row in report["memory"]["older"]["classes"]}[512]
    wanted("older", [older["count"], older["bytes"]], [int(word) for word in facts["older"]])
    if not re.search(r"^(?:at most )?12\.\d MiB in 2500\d blocks are older than this trace, -\S+ MiB "
                     r"since the start; by size: 12\.\d MiB up to 512 bytes each", text, re.M):
        raise Failure(text)
    if not re.search(r"^glibc keeps [\d.]+ MiB that the program has freed, which is not a leak", text,
                     re.M):
        raise Failure(text)


@slow
@timeout(180)
def test_spike(t):
    """Memory that was freed after a spike: an all-clear that says why RSS has grown."""
    text, report, facts = watch(t, "spike", r"^= nothing seems to leak: glibc keeps [\d.]+ MiB that "
                                            r"the program has freed; .*; RSS has grown: free "
                                            r"memory that glibc keeps \+[\d.]+ MiB$")
    if not is_near(report["memory"]["kept"], int(facts["kept"][0])):
        raise Failure(f"{facts}: {report['memory']}")
    wanted("verdict", (report["verdict"], report["suspects"]), ("keeps", []))
