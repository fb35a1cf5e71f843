# SPDX-License-Identifier: GPL-2.0-or-later
"""memleak --rss: what resident memory is used for."""

import json
import re

from lib import Failure, each, untraced, wanted

SCENES = ("fragmented", "trimmable", "full", "top", "large", "arenas", "busy")
SLACK = 256 << 10  # bytes: what the C library keeps for itself


def run(t, *options):
    memleak = t.process([t.path, "--rss", *options])
    wanted("code", memleak.wait(), 0)
    return memleak.out.text


def is_near(found, right):
    return abs(found - right) <= 0.02 * right + SLACK


def resident(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return int(re.search(r"^Rss: +(\d+) kB", file.read(), re.M)[1]) << 10


@untraced
@each(*SCENES)
def test_parts(t, scene):
    """The parts agree with what the program knows of its heap, and their sum with the kernel."""
    program = t.program("resident", scene)
    facts = {name: int(words[0]) for name, words in program.truth.facts.items()}
    memory = json.loads(run(t, "--json", "-p", str(program.pid)))["memory"]
    returned = memory["trimmable"] + memory["top"]
    if not is_near(memory["live"], facts["live"]) or not is_near(returned, facts["trimmed"]):
        raise Failure(f"{facts}: {memory}")
    wanted("arenas", (memory["arenas"], memory["skipped_arenas"]), (facts["arenas"], 0))
    wanted("torn arenas", memory["torn_arenas"], int(scene == "busy"))
    wanted("kept", memory["kept"], returned + memory["pinned"])
    parts = ("live", "kept", "mapped", "stacks", "files", "shared", "other")
    wanted("sum", sum(memory[part] for part in parts), memory["rss"])
    if abs(memory["rss"] - resident(program.pid)) > 0.01 * memory["rss"]:
        raise Failure(f"the kernel says {resident(program.pid)}: {memory}")


@untraced
@each(("fragmented", "that the program has freed, which is not a leak; another allocator"),
      ("top", "that the program has freed, which is not a leak; malloc_trim"),
      ("full", None))
def test_words(t, what):
    """A sentence says that the allocator keeps the memory, and only then."""
    scene, sentence = what
    program = t.program("resident", scene)
    text = run(t, "-p", str(program.pid))
    if not re.match(rf"resident \({program.pid}\): RSS \d[^=]* = \d\S* MiB live in glibc's heap", text):
        raise Failure(text)
    if ((sentence or "not a leak") in text) != bool(sentence):
        raise Failure(text)


def test_said_once(t):
    """Reports of a program with an allocator of its own do not repeat what is not known."""
    program = t.program("own_malloc")
    memleak = t.memleak("-p", str(program.pid), "0.1").ready()
    program.go()
    memleak.wait_for("three lines", lambda: memleak.out.text.count("RSS ") > 2)
    memleak.stop()
    wanted("lines", memleak.out.text.count("no glibc heap found"), 1)
