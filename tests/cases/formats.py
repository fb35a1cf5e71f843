# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats for other tools: output files are complete, and have the right numbers."""

import csv
import gzip
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess

from lib import Failure, Skip, each, wanted
from lib.json_schema import check_schema


def attach(t, program, *options, interval="3600", **kwargs):
    return t.memleak("-o", "0", *options, "-p", str(program.pid), interval, **kwargs).ready()


def end(memleak):
    memleak.signal(signal.SIGINT)
    memleak.wait()
    memleak.aftermath()
    if memleak.code:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")
    return memleak.out.data


def demand(found, truth, what):
    """Compares with the truth; found: function → number."""
    place = ("count", "bytes").index(what)
    expected = {name: numbers[place] for (name, _), numbers in truth.sites.items()}
    if found != expected:
        raise Failure(f"{what}: {found}, not {expected}")


def folded(data):
    """Returns innermost function of each line → bytes; requires that no stack has two lines."""
    sums = {}
    for line in data.decode().splitlines():
        stack, size = line.rsplit(" ", 1)
        frames = stack.split(";")
        if frames[0] != "leak" or "main" not in frames:
            raise Failure(f"a line that is not root first: {line}")
        sums[frames[-1]] = sums.get(frames[-1], 0) + int(size)
    return sums


def fields(data):
    """Parses a protobuf message: yields (number, value) of each field."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        else:
            raise Failure(f"wire type {key & 7} is not in the format")


def packed(data):
    """Returns the numbers of a packed repeated field."""
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers


class Profile:
    """A profile, parsed like pprof does."""

    def __init__(self, data):
        tables = {}
        for number, value in fields(gzip.decompress(data)):
            tables.setdefault(number, []).append(value)
        self.strings = [text.decode() for text in tables[6]]
        self.functions = {f[1]: f for f in map(dict, map(fields, tables[5]))}
        self.mappings = {m[1]: m for m in map(dict, map(fields, tables[3]))}
        self.places = {}
        for data in tables[4]:
            place = {4: []}
            for number, value in fields(data):
                place[number] = place[4] + [dict(fields(value))] if number == 4 else value
            self.places[place[1]] = place
        self.types = [self.strings[dict(fields(data))[1]] for data in tables[1]]
        self.samples = [dict(fields(data)) for data in tables[2]]

    def sums(self, kind):
        """Returns innermost function → sum of its values."""
        ret = {}
        for sample in self.samples:
            place = self.places[packed(sample[1])[0]]
            name = self.strings[self.functions[place[4][0][1]][2]]
            value = packed(sample[2])[self.types.index(kind)]
            ret[name] = ret.get(name, 0) + value
        return ret

    def check_places(self, path, pid):
        """
        Requires that addresses lie in mappings of the file, and that these match the process's.
        """
        with open(f"/proc/{pid}/maps", encoding="ascii") as file:
            mapped = {tuple(int(n, 16) for n in (*w[0].split("-"), w[2]))
                      for w in map(str.split, file)}
        files = {}
        for number, mapping in self.mappings.items():
            where = mapping[2], mapping[3], mapping.get(4, 0)
            if where not in mapped:
                raise Failure(f"{[hex(n) for n in where]} is no mapping of the process")
            files[self.strings[mapping[5]]] = number
        if str(path) not in files:
            raise Failure(f"{path} is not among {list(files)}")
        for place in self.places.values():
            mapping = self.mappings[place[2]]
            if not mapping[2] <= place[3] < mapping[3]:
                raise Failure(f"{place[3]:x} is not in its mapping")


def test_document_is_replaced(t):
    """The file always has one complete report, the newest, and no temporary files remain."""
    folder = t.tmp / "documents"
    folder.mkdir()
    path = folder / "stacks"
    path.write_bytes(b"leak;main;what_was_there_before 1\n")
    path.chmod(0o640)
    program = t.program("leak")
    memleak = attach(t, program, "--format", "folded", "--output", path, interval="0.05")
    first = program.go()
    memleak.wait_for("the first leaks", lambda: sum(folded(path.read_bytes()).values()) ==
                     first.bytes, every=0.001)
    second = program.go()
    memleak.wait_for("all of them", lambda: sum(folded(path.read_bytes()).values()) !=
                     first.bytes, every=0.001)
    if end(memleak):
        raise Failure(f"stdout: {memleak.out.text!r}")
    demand(folded(path.read_bytes()), second, "bytes")
    if os.listdir(folder) != ["stacks"] or path.stat().st_mode & 0o777 != 0o640:
        raise Failure(f"{os.listdir(folder)}, mode {path.stat().st_mode:o}")


def test_folder_is_removed(t):
    """If the folder was removed, a report does not count as written."""
    folder = t.tmp / "removed"
    folder.mkdir()
    path = folder / "stacks"
    program = t.program("leak")
    memleak = t.memleak("--format", "folded", "--output", path, "-p", str(program.pid), "0.1")
    memleak.wait_for("a report", lambda: path.exists() and "memleak: tracing" in memleak.notes)
    shutil.rmtree(folder)
    memleak.wait()
    memleak.aftermath()
    if memleak.code != 1 or f"cannot write to {path}" not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_link_stays(t):
    """If the output path is a link, the file that it points to is replaced."""
    path, link = t.tmp / "file", t.tmp / "link"
    path.write_bytes(b"before\n")
    link.symlink_to(path)
    program = t.program("leak")
    memleak = attach(t, program, "--format", "folded", "--output", link, interval="0.1")
    truth = program.go()
    end(memleak)
    if not link.is_symlink():
        raise Failure("the link was replaced")
    demand(folded(path.read_bytes()), truth, "bytes")


@each("pipe", "file", "name")
def test_stdout_has_the_last(t, name):
    """One document on stdout at the end, whatever stdout is, and also if --output names it."""
    program = t.program("leak")
    path = t.tmp / "out"
    options = ["-o", "0", "--format", "folded", "-p", str(program.pid), "0.1", "8"]
    if name == "name":
        options += ["--output", "/dev/stdout"]
    if name == "pipe":
        memleak = t.memleak(*options).ready()
    else:
        with open(path, "wb") as file:
            memleak = t.memleak(*options, stdout=file).ready()
    truth = program.go()
    memleak.wait()
    memleak.aftermath()
    data = memleak.out.data if name == "pipe" else path.read_bytes()
    lines = data.splitlines()
    if memleak.code or len(lines) != len(truth.sites):
        raise Failure(f"exit code {memleak.code}, {lines}")
    demand(folded(data), truth, "bytes")


def test_csv(t):
    """CSV: one header, then a row for each site and report."""
    program = t.program("leak")
    path = t.tmp / "table"
    memleak = attach(t, program, "--format", "csv", "--output", path, interval="0.1")
    truth = program.go()
    memleak.wait_for("rows", lambda: path.read_bytes().count(b"leak_small") > 4, every=0.02)
    end(memleak)
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))
    last = [row for row in rows if row["final"] == "1"]
    demand({row["function"]: int(row["bytes"]) for row in last}, truth, "bytes")
    demand({row["function"]: int(row["count"]) for row in last}, truth, "count")
    if len({row["time"] for row in rows}) < 3 or any(row["time"] == "time" for row in rows):
        raise Failure(f"{rows}")
    for row in last:
        if not row["file"].endswith("leak.c") or row["pid"] != str(program.pid):
            raise Failure(f"{row}")
        if not row["stack"].startswith("leak;") or not row["stack"].endswith(row["function"]):
            raise Failure(f"{row}")


def test_pprof(t):
    program = t.program("leak")
    path = t.tmp / "profile"
    memleak = attach(t, program, "--format", "pprof", "--output", path)
    program.go()
    truth = program.go()
    end(memleak)
    profile = Profile(path.read_bytes())
    demand(profile.sums("inuse_space"), truth, "bytes")
    demand(profile.sums("inuse_objects"), truth, "count")
    demand(profile.sums("alloc_objects"), truth, "count")
    profile.check_places(t.file_of("leak"), program.pid)


def run(*argv):
    answer = subprocess.run(argv, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise Failure(f"{argv[0]}: {answer.stderr}")
    return answer.stdout


FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"  # from libdevel-nytprof-perl


def add_reach(sums, function, pairs):
    """Adds the proof of a site to the sums of its function."""
    reach = sums.setdefault(function, {})
    for key, value in pairs:
        if re.fullmatch("(definite|indirect|possible|reachable|lost)_(with_them_)?(bytes|count)", key):
            reach[key] = reach.get(key, 0) + int(value or 0)
        elif key == "held_by":
            reach[key] = value


def reach_of_rows(data):
    """Returns function → {column of the proof: number} of the last report in a CSV table."""
    rows, sums = list(csv.DictReader(io.StringIO(data.decode()))), {}
    for row in rows:
        if row["time"] == rows[-1]["time"]:
            add_reach(sums, row["function"], row.items())
    return sums


def reach_of_samples(data):
    """Like reach_of_rows(), from labels of a profile: these have only bytes, and leave out 0."""
    profile, sums = Profile(data), {}
    for number, message in fields(gzip.decompress(data)):
        if number != 2:
            continue
        sample = list(fields(message))
        place = profile.places[packed(next(value for key, value in sample if key == 1))[0]]
        labels = [dict(fields(value)) for key, value in sample if key == 3]
        add_reach(sums, profile.strings[profile.functions[place[4][0][1]][2]],
                  [(profile.strings[label[1]], label.get(3, profile.strings[label.get(2, 0)]))
                   for label in labels])
    return sums


@each("csv", "pprof")
def test_proof(t, name):
    """Each format has the proof: blocks lost in two proofs, and the holders of the others."""
    path = t.tmp / "proved"
    path.touch()
    program = t.program("prove_shapes", "tree_that_was_cut")
    memleak = attach(t, program, "--prove", "--format", name, "--output", path, interval="0.2")
    program.go()
    read = reach_of_rows if name == "csv" else reach_of_samples

    def found():
        data = path.read_bytes()
        return read(data).get("cut_node", {}).get("lost_bytes", 0) if data else 0

    memleak.wait_for("a loss", found, every=0.05)
    end(memleak)
    program.finish()
    sites = read(path.read_bytes())
    node = sites["cut_node"]["lost_bytes"]
    expected = {"cut_node": {"definite_bytes": node, "lost_bytes": node},
                "cut_leaf": {"indirect_bytes": 96}, "tree_kept": {"reachable_bytes": 2 * node}}
    if name == "csv":
        expected["cut_node"] |= {"definite_count": 1, "lost_count": 1,
                                 "lost_with_them_bytes": 96, "lost_with_them_count": 2}
        expected["cut_leaf"]["indirect_count"] = expected["tree_kept"]["reachable_count"] = 2
    for function, numbers in expected.items():
        held_by = sites[function].get("held_by", "")
        if held_by.startswith("held ") != (function == "tree_kept"):
            raise Failure(f"{function} is held by {held_by!r}")
        for key, value in sites[function].items():
            if key.endswith(("_bytes", "_count")) and value != numbers.get(key, 0):
                raise Failure(f"{function}: {key} {value}, not {numbers}")
        if not numbers.keys() <= sites[function].keys():
            raise Failure(f"{function}: {sites[function]}, not {numbers}")


@each("pprof", "flamegraph")
def test_read_by(t, name):
    """Runs the tools that read a format, where they are installed."""
    if name == "pprof" and not shutil.which("go"):
        raise Skip("no Go, which has pprof")
    if name == "flamegraph" and not os.path.exists(FLAMEGRAPH):
        raise Skip("no flamegraph.pl")
    program = t.program("leak")
    path = t.tmp / "out"
    memleak = attach(t, program, "--format", "folded" if name == "flamegraph" else name,
                     "--output", path)
    truth = program.go()
    end(memleak)
    if name == "pprof":
        text = run("go", "tool", "pprof", "-top", "-unit=B", "-nodefraction=0", path)
    else:
        text = run("perl", FLAMEGRAPH, "--countname=bytes", "--minwidth=0", path)
    for (function, _), (_, size) in truth.sites.items():
        pattern = rf"{size}B .* {function}$" if name == "pprof" else \
            rf"{function} \({size:,} bytes"
        if not re.search(pattern, text, re.M):
            raise Failure(f"no {function} of {size} bytes: {text}")


def test_not_for_terminals(t):
    program = t.program("leak")
    ours, theirs = pty.openpty()
    memleak = t.memleak("--format", "pprof", "-p", str(program.pid), "0.1", stdout=theirs)
    os.close(theirs)
    memleak.wait()
    memleak.aftermath()
    os.close(ours)
    if memleak.code != 1 or "terminal" not in memleak.notes:
        raise Failure(f"exit code {memleak.code}: {memleak.notes!r}")


def test_verdict(t):
    """A verdict is one short line of JSON, and says what was lost and what to run next."""
    program = t.program("leak")
    memleak = attach(t, program, "--format", "verdict", "--max-allocs", "1")
    program.go()
    line = json.loads(end(memleak))
    check_schema(line, whole=True)
    wanted("the verdict", [line["verdict"], line["target"], line["final"], line["lost_events"]],
           ["early", f"leak ({program.pid})", True, {"allocs_full": 9}])
    wanted("the level and the next command", [line["level"], line["next"]],
           ["low", f"memleak --format verdict -o 0 -p {program.pid} 5 12"])
    if not line["notes"][0].startswith("incomplete: "):
        raise Failure(f"the notes are {line['notes']}")


@each("csv", "folded", "pprof", "speedscope")
def test_losses_are_said(t, name):
    """Formats without a place for losses print them to stderr."""
    program = t.program("leak")
    path = t.tmp / "out"
    memleak = attach(t, program, "--format", name, "--output", path, "--max-allocs", "1")
    program.go()
    end(memleak)
    if "lost: 9 allocations not tracked" not in memleak.notes:
        raise Failure(f"{memleak.notes!r}")
