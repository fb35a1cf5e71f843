# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures tracing of a build: time, and losses with many short-lived programs."""

import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from measure import BUILD, show_ratio

FILES = 12
SOURCE = """
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int function_%d(const char *s) { return (int)strlen(s) + %d; }
"""
RULES = "all: $(patsubst %.c,%.o,$(wildcard *.c))\n%.o: %.c\n\t@cc -O1 -g -c -o $@ $<\n"


def make_folder(folder):
    for i in range(FILES):
        (folder / f"{i}.c").write_text(SOURCE % (i, i), encoding="ascii")
    (folder / "Makefile").write_text(RULES, encoding="ascii")


def seconds(argv):
    start = time.monotonic()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def lost_in(output):
    """Returns counts: stacks, truncated stacks, programs traced late, and programs not traced."""
    report = json.loads(output.read_text(encoding="utf-8").splitlines()[-1])
    stacks, lost = report["stats"]["user"]["stacks"], report["lost"]
    return stacks["walked"] + stacks["recognised"], lost["unwind"], lost["exec"], lost["processes"]


def builds(turns):
    print(f"make -j2 of {FILES} small files with gcc: seconds; and with memleak -f, how many stacks "
          "were cut\nand programs were not, or not from the beginning, traced.\n")
    plain, traced, lost = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_folder(folder)
        build = ("make", "-B", "-j2", "-s", "-C", folder)
        for _ in range(max(turns // 8, 1)):
            plain.append(seconds(build))
            traced.append(seconds((BUILD / "memleak", "-f", "--stats", "--json", "--output", folder / "report",
                                   "--", *build)))
            lost.append(lost_in(folder / "report"))
    stacks, cut, late, missed = (statistics.median(column) for column in zip(*lost))
    print(f"{'untraced':12}{statistics.median(plain):8.1f}")
    print(f"{'memleak -f':12}{statistics.median(traced):8.1f}  {show_ratio(traced, plain)}"
          f"  of {stacks:.0f} stacks {cut:.0f} cut; {late:.0f} programs late, {missed:.0f} missed\n")
