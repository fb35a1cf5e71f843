# SPDX-License-Identifier: GPL-2.0-or-later
"""
Runs a scene of tests/programs/prove.h under valgrind and LeakSanitizer and parses their verdicts.
"""

import os
import re
import shutil
import subprocess

from .apart import C_LIBRARY
from .case import BROKEN, Broken, Skip
from .libraries import mapped
from .process import PATIENCE
from .program import Truth

VALGRIND = ("valgrind", "-q", "--leak-check=no", "--show-leak-kinds=all", "--num-callers=40",
            "--leak-resolution=high", "--child-silent-after-fork=yes", "--xml=yes")
# valgrind crashes on probes, which are placed in library files, so it gets copies of these files.
COVER = ("unshare", "-m", "sh", "-c", 'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 99; '
         'shift 2; done; shift; exec "$@"', "sh")
KINDS = {"Leak_DefinitelyLost": "definite", "Leak_IndirectlyLost": "indirect",
         "Leak_PossiblyLost": "possible", "Leak_StillReachable": "reachable",
         "Direct": "definite", "Indirect": "indirect"}
# For a lost block that points to others, valgrind reports both sizes.
DIRECT_BYTES = re.compile(r"\(([\d,]+) direct, [\d,]+ indirect\)")
LSAN_RECORD = re.compile(r"^(Direct|Indirect) leak of (\d+) byte\(s\) in (\d+) object\(s\)")
LSAN_FRAME = re.compile(r"^ +#\d+ 0x[0-9a-f]+ in (\S+)")
LSAN_OPTIONS = "exitcode=0:fast_unwind_on_malloc=0:allocator_may_return_null=1"
GO = b"xxxxxxxx"  # one byte for each phase of a scene


def add(sums, functions, names, kind, count, size):
    """Adds to the sum of the innermost frame that is one of the scene's functions, if any is."""
    for name in names:
        if name.partition("(")[0] in functions:
            key = name.partition("(")[0], kind
            before = sums.get(key, (0, 0))
            sums[key] = (before[0] + count, before[1] + size)
            return


def truth_of(lines):
    """Parses the truth after the last `stage` line; earlier lines are outdated."""
    return Truth.of(lines.rpartition("stage\n")[2])


def run(argv, env=None):
    """Runs the command; returns the scene's truth and stderr."""
    ended = subprocess.run([os.fspath(arg) for arg in argv], input=GO, capture_output=True,
                           timeout=2 * PATIENCE, check=False, env={**os.environ, **(env or {})})
    lines = ended.stdout.decode("utf-8", "replace")
    notes = ended.stderr.decode("utf-8", "replace")
    if ended.returncode == BROKEN:
        raise Broken(f"{argv[-2:]}: {lines[-500:]}{notes[-500:]}")
    # LeakSanitizer may end the process early with exit code 0.
    if ended.returncode or not lines.endswith("ready\n") or lines.count("ready\n") < 2:
        raise Broken(f"{argv[-2:]} ended with {ended.returncode}: {notes[-2000:]}")
    return truth_of(lines), notes


def direct_bytes(what):
    found = DIRECT_BYTES.search(what.findtext("text"))
    return int(found[1].replace(",", "")) if found else int(what.findtext("leakedbytes"))


def covered(folder):
    """Returns a command prefix that gives the command copies of the C and C++ libraries."""
    paths = [mapped("self", name) for name in C_LIBRARY]
    paths += [os.path.join(os.path.dirname(path), "libstdc++.so.6") for path in paths if path]
    pairs = []
    for path in {os.path.realpath(path) for path in paths if path and os.path.exists(path)}:
        pairs += (shutil.copy(path, folder), path)
    return (*COVER, *pairs, "--")


def run_valgrind(program, scene, folder):
    """Returns (truth, {(function, kind): (count, bytes)})."""
    if not shutil.which("valgrind"):
        raise Skip("valgrind is not installed")
    # The module is missing on the machines that run cases on other kernels.
    import xml.etree.ElementTree as tree  # pylint: disable=import-outside-toplevel

    output = folder / "valgrind.xml"
    truth, _ = run([*covered(folder), *VALGRIND, f"--xml-file={output}", program, scene])
    sums = {}
    for element in tree.parse(output).getroot():
        # With XML output valgrind always checks once more at the end.
        if element.findtext("state") == "FINISHED":
            break
        kind = KINDS.get(element.findtext("kind"))
        what = element.find("xwhat")
        if kind:
            names = [frame.findtext("fn") or "" for frame in element.find("stack")]
            add(sums, truth.makers, names, kind, int(what.findtext("leakedblocks")),
                direct_bytes(what))
    return truth, sums


def lsan_library():
    answer = subprocess.run([os.environ.get("CC", "gcc"), "-print-file-name=liblsan.so"],
                            capture_output=True, check=False)
    path = answer.stdout.decode().strip()
    if not os.path.isabs(path):
        raise Skip("the compiler has no LeakSanitizer")
    return path


def run_lsan(program, scene, *options):
    """Like run_valgrind(); LeakSanitizer does not report blocks that are still pointed to."""
    truth, notes = run([program, scene], {"LD_PRELOAD": lsan_library(),
                                          "LSAN_OPTIONS": ":".join((LSAN_OPTIONS, *options))})
    sums, record, names = {}, None, []
    for line in [*notes.splitlines(), ""]:
        frame = LSAN_FRAME.match(line)
        if frame:
            names.append(frame[1])
            continue
        if record:
            add(sums, truth.makers, names, *record)
        found = LSAN_RECORD.match(line)
        record = (KINDS[found[1]], int(found[3]), int(found[2])) if found else None
        names = []
    return truth, sums
