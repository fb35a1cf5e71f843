# SPDX-License-Identifier: GPL-2.0-or-later
"""Lines of Python that hold memory, read from outside while the interpreter runs."""

import ast
import contextlib
import itertools
import os
import pathlib
import re
import shutil
import threading
import urllib.request

from lib import Failure, Skip, alone, each, nightly, sample, slow, timeout, wanted
from lib.debian import Unavailable, unpacked
from lib.python import interpreter
from lib.tracing import has_watchpoints

# Each leak keeps COUNT objects of one size from the line that has its name in a comment. Objects
# above 512 bytes take a block of their own with both allocators of Python.
COUNT = 50
SCRIPT = """
import ctypes, functools, gc, os, sys, threading
kept = [None] * 1000
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
gc.disable()

def module_list(i):
    kept[i] = bytes(1000)  # list

def closure():
    data = bytes(1100)  # closure
    return lambda: data

@functools.lru_cache(maxsize=None)
def cached(i):
    return bytes(1200)  # cache

class Node:
    def __init__(self):
        self.me = self
        data = bytes(1300)  # cycle
        self.data = data

def foreign():
    libc.malloc(1400)  # ctypes

def work():
    for i in range(COUNT):
        kept[100 + i] = bytes(1500)  # thread

def produce():
    while True:
        data = bytes(1600)  # generator
        yield data

def compare(i):
    kept[200 + i] = \\
        bytes(
            1700)  # callback
    return i

def main():
    values = produce()
    for i in range(COUNT):
        module_list(i)
        kept[300 + i] = closure()
        cached(i)
        Node()
        foreign()
        kept[400 + i] = next(values)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    sorted(range(COUNT), key=compare)

print("ready", flush=True)
sys.stdin.read(1)
main()
print("done", flush=True)
sys.stdin.read(1)
os._exit(0)
""".replace("COUNT", str(COUNT))

LOOP = "_PyEval_EvalFrameDefault"

# Bytes of each object, by the name of its leak. A bytes object has 33 bytes besides its data.
SIZES = {"list": 1033, "closure": 1133, "cache": 1233, "cycle": 1333, "ctypes": 1400,
         "thread": 1533, "generator": 1633, "callback": 1733}


def lines_of(script):
    """Returns the line of each leak. The callback's call begins one line above its argument."""
    lines = {found[1]: number for number, line in enumerate(script.splitlines(), 1)
             if (found := re.search(r"# (\w+)$", line))}
    if "callback" in lines:
        lines["callback"] -= 1
    return lines


NEWEST = "3.14"
# Packages of Debian with the newest version, and all that the scripts here import.
PACKAGES = ("libc6", f"python{NEWEST}-minimal", f"libpython{NEWEST}-minimal",
            f"libpython{NEWEST}-stdlib", "zlib1g", "libexpat1", "libffi8", "libgcc-s1")


def newest(t, path):
    """Returns the command that runs a script by the newest version, in a folder of Debian's sid."""
    try:
        root = unpacked("sid", t.tmp / "sid", PACKAGES)
    except Unavailable as reason:
        raise Skip(str(reason)) from reason
    shutil.copy(path, root / path.name)
    command = ["chroot", root, f"/usr/bin/python{NEWEST}", f"/{path.name}"]
    if not t.agent:
        return command
    inside = root / t.agent.relative_to("/")
    inside.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(t.agent, inside)
    (root / "proc").mkdir(exist_ok=True)
    return ["unshare", "--mount", "sh", "-c", 'mount --bind /proc "$0" && exec "$@"',
            root / "proc", *command]


def launch(t, argv, allocator="malloc"):
    program = t.process(argv, env={"PYTHONMALLOC": allocator, **t.environment()})
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    return program


def start(t, script, version="3.11", allocator="malloc"):
    path = t.tmp / "script.py"
    path.write_text(script, encoding="ascii")
    return launch(t, newest(t, path) if version == NEWEST else [interpreter(version), path],
                  allocator)


def trace(t, program, *options, **kwargs):
    """Traces only blocks that are large enough for the kept objects."""
    return t.attach(program, "-z", "1000", *options, **kwargs)


def run(program, memleak):
    program.send()
    program.wait_for("done", lambda: b"done" in program.out.data)
    return memleak.stop()


def place(frame, file="/script.py"):
    """Returns the line of a frame of the script; None for other frames."""
    return frame["line"] if (frame["file"] or "").endswith(file) else None


def sums_of(report, file="/script.py"):
    """Returns the bytes and the count of blocks by the line to which they are attributed."""
    sums = {}
    for site in report["sites"]:
        line = None if site["culprit"] is None else place(site["stack"][site["culprit"]], file)
        size, count = sums.get(line, (0, 0))
        sums[line] = size + site["bytes"], count + site["count"]
    return sums


def check_lines(report):
    sums = sums_of(report)
    for name, line in lines_of(SCRIPT).items():
        wanted(f"bytes and count of {name} in line {line}", sums.get(line),
               (COUNT * SIZES[name], COUNT))


@sample(2)
@each(*[f"{version}-{allocator}" for version in ("3.11", "3.12", "3.13")
        for allocator in ("malloc", "pymalloc")])
def test_lines(t, way):
    """Each line has exactly the bytes that it keeps, even if native stacks are alike."""
    program = start(t, SCRIPT, *way.split("-"))
    check_lines(run(program, trace(t, program)))


@nightly
@timeout(300)
@each("malloc", "pymalloc")
def test_newest_lines(t, allocator):
    """Lines of the newest version, which Debian's sid has."""
    test_lines(t, f"{NEWEST}-{allocator}")


def test_order(t):
    """In a stack, calls of the script come right before the evaluation loop that ran them."""
    program = start(t, SCRIPT)
    report = run(program, trace(t, program))
    line = lines_of(SCRIPT)["callback"]
    stacks = [site["stack"] for site in report["sites"]
              if site["culprit"] is not None and place(site["stack"][site["culprit"]]) == line]
    if not stacks:
        raise Failure("no stack of the callback")
    # The interpreter specialises its instructions, so the native frames differ.
    for stack in stacks:
        found = [re.sub(r"^py::(.*):.*", r"\1", frame["symbol"]) for frame in stack
                 if frame["symbol"] == LOOP or frame["module"] == "[script]"]
        wanted("calls", found, ["compare", LOOP, "main", "<module>", LOOP])


DEEP = """
import sys
kept = [None] * COUNT
def mixed(i, depth):
    if depth:
        return sorted([1], key=lambda one: mixed(i, depth - 1))
    kept[i] = bytes(3000)  # deep
    return 1
print("ready", flush=True)
sys.stdin.read(1)
for i in range(COUNT):
    mixed(i, 60)
print("done", flush=True)
sys.stdin.read(1)
""".replace("COUNT", str(COUNT))


def test_deep(t):
    """Native frames beyond the limit do not displace the innermost lines of the script."""
    program = start(t, DEEP)
    report = run(program, trace(t, program))
    wanted("bytes and count", sums_of(report).get(lines_of(DEEP)["deep"]), (COUNT * 3033, COUNT))
    ends = {site["stack_end"] for site in report["sites"]
            if place(site["stack"][site["culprit"]]) == lines_of(DEEP)["deep"]}
    wanted("ends of the stacks", ends, {"truncated"})


RECURSIVE = """
import sys
kept = [None] * COUNT
def recurse(i, depth):
    if depth:
        return recurse(i, depth - 1)
    kept[i] = bytes(3000)  # recursive
print("ready", flush=True)
sys.stdin.read(1)
for i in range(COUNT):
    recurse(i, 10)
    recurse(i, 100)
print("done", flush=True)
sys.stdin.read(1)
""".replace("COUNT", str(COUNT))


def test_recursive(t):
    """A stack with more calls of the script than are stored is marked as cut."""
    program = start(t, RECURSIVE)
    report = run(program, trace(t, program, "-z", "3000"))
    line = lines_of(RECURSIVE)["recursive"]
    wanted("bytes and count", sums_of(report).get(line), (COUNT * 3033, COUNT))
    wanted("ends of the stacks", {site["stack_end"] for site in report["sites"]
                                  if place(site["stack"][site["culprit"]]) == line}, {"truncated"})


def test_names(t):
    """Debug symbols of the interpreter are not asked for if a line of the script is blamed."""
    program = start(t, DEEP)
    memleak = t.memleak("-T", "1", "-z", "3000", "-o", "0", "-p", str(program.pid), "3600").ready()
    program.send()
    program.wait_for("done", lambda: b"done" in program.out.data)
    memleak.stop()
    named = re.search(r"→ mixed \S*script\.py:\d+$", memleak.out.text, re.M)
    if not named or "have no names" in memleak.notes:
        raise Failure(f"{memleak.notes}{memleak.out.text}")


def test_ended(t):
    """Lines are known after the process has ended, and in a recording."""
    program = start(t, SCRIPT)
    recording = t.tmp / "run.mlk"
    memleak = trace(t, program, "--record", recording, interval="1")
    program.send()
    program.wait_for("done", lambda: b"done" in program.out.data)
    memleak.fresh_report()
    program.send()
    program.wait()
    check_lines(memleak.finish())
    replay = t.memleak("report", "--json", "-T", "100000", recording)
    check_lines(replay.finish(final=False))


FEW = """
import os, sys
kept = [None] * COUNT
def größe(i):
    'This string and the assertion are what -OO removes.'
    assert i >= 0
    kept[i] = bytes(1000)  # größe
def wait(word):
    print(word, flush=True)
    sys.stdin.read(1)
wait("ready")
if sys.argv[1:] == ["fork"]:
    if os.fork():
        os.wait()
    wait("forked")
for i in range(COUNT):
    größe(i)
wait("done")
""".replace("COUNT", str(COUNT))


def write_few(t, python):
    path = t.tmp / "naïve.py"
    path.write_text(f"#!{python}{FEW}", encoding="utf-8")
    path.chmod(0o755)
    return path


def check_few(report, file):
    line = lines_of(FEW)["größe"]
    wanted(f"bytes and count of line {line}", sums_of(report, file).get(line),
           (COUNT * 1033, COUNT))
    wanted("names", {frame["symbol"] for site in report["sites"] for frame in site["stack"]
                     if place(frame, file) == line}, {f"py::größe:{file}"})


def in_venv(t, python, install):
    """Returns the interpreter of a new virtual environment, which install() links or copies."""
    path = t.tmp / "venv/bin/python"
    path.parent.mkdir(parents=True)
    install(python, path)
    (t.tmp / "venv/pyvenv.cfg").write_text(f"home = {python.parent}\n", encoding="ascii")
    return path


VENVS = {"venv": os.symlink, "copied": shutil.copy}


SECOND = """
import sys
script = FEW
if sys.version_info < (3, 13):
    from _xxsubinterpreters import create, run_string as run
else:
    from _interpreters import create, exec as run
run(create(), f"import sys; sys.argv = ['']; exec(compile({script!r}, 'second.py', 'exec'))")
""".replace("FEW", ascii(FEW))


@each("3.11", "3.13")
def test_second_interpreter(t, version):
    """A thread that changes to a second interpreter has the frames of the second one."""
    program = start(t, SECOND, version)
    check_few(run(program, trace(t, program)), "second.py")


# The gate runs each way with one of the versions.
@sample(4)
@each(*[f"{versions[index % 2 ^ other]}-{way}" for versions in [("3.11", "3.13")]
        for index, way in enumerate(("deleted", "optimized", "executable", "compiled", *VENVS,
                                     "renamed"))
        for other in (0, 1)])
def test_started(t, way):
    """The line does not depend on how the script was started, or on its file and its names."""
    version, way = way.split("-")
    python = interpreter(version)
    path = write_few(t, python)
    if way in VENVS:
        python = in_venv(t, python, VENVS[way])
    if way == "renamed":  # Debian's executable contains all of CPython
        python = shutil.copy(python, t.tmp / "shop")
    argv = {
        "optimized": [python, "-OO", path],
        "executable": [path],
        "compiled": [python, "-c",
                     f"exec(compile(open({str(path)!r}, 'rb').read(), '<made>', 'exec'))"],
    }.get(way, [python, path])
    program = launch(t, argv)
    if way == "deleted":
        path.unlink()
    report = run(program, trace(t, program))
    check_few(report, "<made>" if way == "compiled" else str(path))


def test_perf_map(t):
    """Functions that a perf map names are shown, too, and the lines are the same as without it."""
    path = t.tmp / "script.py"
    path.write_text(SCRIPT, encoding="ascii")
    program = launch(t, [interpreter("3.12"), "-X", "perf", path])
    try:
        report = run(program, trace(t, program))
    finally:
        pathlib.Path(f"/tmp/perf-{program.pid}.map").unlink()
    check_lines(report)
    wanted("names of the map", f"py::module_list:{path}" in
           {frame["symbol"] for site in report["sites"] for frame in site["stack"]
            if frame["module"] == "[jit]"}, True)


@alone
def test_worker(t):
    """Lines of a forked worker are read, too."""
    python = interpreter("3.11")
    path = write_few(t, python)
    program = launch(t, [python, path, "fork"])
    memleak = trace(t, program, "-f", interval="0.3")
    program.send()
    program.wait_for("forked", lambda: b"forked" in program.out.data)
    for _ in range(2):  # by then, memleak has found the worker's interpreter
        memleak.fresh_report()
    check_few(run(program, memleak), str(path))


REUSED = """
import marshal, os, sys, types
kept = []
def compiled(number):
    # No other object has the size of this function, so its address is used for the next one.
    source = f"def made{number}(): {'a = 1;' * 130} return bytes({number}000)"
    return marshal.dumps(compile(source, "made.py", "exec").co_consts[0])
def make(number):
    return types.FunctionType(marshal.loads(codes[number]), {})
def wait(word):
    print(word, flush=True)
    sys.stdin.read(1)
codes = [compiled(number) for number in range(5)]
wait("ready")
address = id(make(0).__code__)
for number in range(1, 5):
    one = make(number)
    while id(one.__code__) != address:
        one = None
        one = make(number)
    for _ in range(8):
        kept.append(one())
    wait(f"kept {number}")
    del one
wait("done")
os._exit(0)
"""


@sample(2)
@each("3.11", "3.12", "3.13")
def test_reused(t, version):
    """Functions that are made one after another at the same address have their own names."""
    program = start(t, REUSED, version)
    memleak = trace(t, program, interval="0.3")
    for number in range(1, 5):
        program.send()
        program.wait_for("block", lambda: f"kept {number}".encode() in program.out.data)
        for _ in range(2):  # by then, names are read
            memleak.fresh_report()
    report = run(program, memleak)
    sums = {}
    for site in report["sites"]:
        for frame in site["stack"]:
            if frame["file"] == "made.py":
                size, count = sums.get(frame["symbol"], (0, 0))
                sums[frame["symbol"]] = size + site["bytes"], count + site["count"]
    wanted("bytes and counts", sums, {f"py::made{number}:made.py": (8 * (number * 1000 + 33), 8)
                                      for number in range(1, 5)})


# Changes a code object in place, as if it had been freed and another had its address.
CHANGED = """
import ctypes, os, sys
kept = []
def keep(make):
    kept.append(make(1000))
print("ready", flush=True)
sys.stdin.read(1)
line = ctypes.c_int.from_address(id(keep.__code__) + 72)  # co_firstlineno
for make in (bytes, bytearray):
    keep(make)
    line.value += 1
print("done", flush=True)
sys.stdin.read(1)
os._exit(0)
"""


def test_changed(t):
    """A code object that was freed unseen ends the use of the cache only for its own process."""
    programs = [start(t, CHANGED) for _ in range(2)]
    pids = ",".join(str(program.pid) for program in programs)
    memleak = t.memleak("--json", "-v", "--stats", "-z", "1000", "-o", "0", "-p", pids,
                        "3600").ready()
    for program in programs:
        program.send()
        program.wait_for("done", lambda program=program: b"done" in program.out.data)
    report = memleak.stop()
    if "the function that frees code objects" not in memleak.notes:
        raise Skip("no probe can be bound to one process here")
    wanted("wrong stacks", report["stats"]["user"]["stacks"]["wrong"], 2)


@nightly
@timeout(300)
def test_newest_reused(t):
    """Functions of the newest version at the same address have their own names."""
    test_reused(t, NEWEST)


def test_old(t):
    """An older Python is traced as before, with one line about it."""
    program = start(t, SCRIPT, "3.10")
    memleak = trace(t, program)
    report = run(program, memleak)
    wanted("notes", len(re.findall(r"lines of scripts are read only for Python 3\.11 to 3\.14",
                                   memleak.notes)), 1)
    if any(frame["module"] == "[script]" for site in report["sites"] for frame in site["stack"]):
        raise Failure("frames of Python 3.10 were read")


# LEAST is above the size of each table that tracemalloc itself takes from malloc.
LEAST = 20000
COMPARED = """
import sys, tracemalloc
kept = [None] * 200
class Cache:
    def add(self, i):
        kept[i] = bytes(20000 + i)  # method
def closure(i):
    data = bytes(40000 + i)  # closure
    return lambda: data
def nested(i):
    return max([i], key=lambda one: hold(one))
def hold(i):
    kept[100 + i] = bytes(30000 + i)  # nested
    return i
tracemalloc.start()
print("ready", flush=True)
sys.stdin.read(1)
for i in range(COUNT):
    Cache().add(i)
    kept[150 + i] = closure(i)
    nested(i)
sums = {}
for one in tracemalloc.take_snapshot().traces:
    if one.size >= LEAST and one.traceback[0].filename == __file__:
        size, count = sums.get(one.traceback[0].lineno, (0, 0))
        sums[one.traceback[0].lineno] = size + one.size, count + 1
print("sums", sums)
print("done", flush=True)
sys.stdin.read(1)
""".replace("COUNT", str(COUNT)).replace("LEAST", str(LEAST))


@sample(2)
@each("3.11", "3.12", "3.13")
def test_tracemalloc(t, version):
    """The same lines have the same bytes as in tracemalloc, in one run."""
    program = start(t, COMPARED, version)
    ours = sums_of(run(program, t.attach(program, "-z", str(LEAST))))
    theirs = ast.literal_eval(re.search(r"^sums (.*)$", program.out.text, re.M)[1])
    wanted("lines", set(theirs), set(lines_of(COMPARED).values()))
    wanted("top line", max(ours.keys() - {None}, key=ours.get), max(theirs, key=theirs.get))
    for line in theirs:
        wanted(f"bytes and count of line {line}", ours.get(line), theirs[line])


HEALTHY = """
import sys, collections
recent = collections.deque(maxlen=100)
cache = {}
def serve(i):
    recent.append(bytes(1000 + i % 7))
    cache[i % 50] = [bytes(2000), str(i)]
    return sum(len(one) for one in recent)
print("ready", flush=True)
sys.stdin.read(1)
import time
for i in range(100000):
    serve(i)
    time.sleep(0.001)
"""


@slow
@timeout(120)
@each("malloc", "pymalloc")
def test_healthy(t, allocator):
    """A bounded queue and a bounded cache are not accused."""
    program = start(t, HEALTHY, allocator=allocator)
    memleak = t.attach(program, interval="1")
    program.send()
    for number in range(16):
        memleak.report_number(number)
    report = memleak.stop()
    if report["suspects"]:
        raise Failure(f"accused: {report['suspects']}")


# Each byte of input adds ADDED entries to one container of small objects, which come from pools.
ADDED = 1000
GROWS = """
import functools, os, sys
class Entry:
    __slots__ = ("number", "name")
    def __init__(self, number):
        self.number, self.name = number, str(number)
class Store:
    def __init__(self):
        self.items = {}
audit, store = [], Store()
@functools.lru_cache(maxsize=None)
def cached(number):
    return Entry(number)
def variable(number):
    audit.append(Entry(number))  # variable
def attribute(number):
    store.items[number] = Entry(number)  # attribute
print("ready", flush=True)
number = 0
while sys.stdin.read(1):
    for _ in range(ADDED):
        number += 1
        WHAT(number)  # cached
    [Entry(i) for i in range(20000)]
    print("added", flush=True)
os._exit(0)
""".replace("ADDED", str(ADDED))
HOLDERS = {
    "variable": ("variable", "__main__.audit", "list"),
    "attribute": ("variable", "Store.items", "dict"),
    "cached": ("holder", "__main__.cached", "dict"),
}


@sample(4)
@each(*[f"{version}-{what}" for version in ("3.11", "3.12", "3.13") for what in HOLDERS],
      *[f"{version}-{what}-malloc" for version in ("3.11", "3.13")
        for what in ("variable", "attribute")])
def test_containers(t, way):
    """The container that grows is named with the line that adds to it, and counted exactly."""
    version, what, allocator = (way + "-pymalloc").split("-")[:3]
    program = start(t, GROWS.replace("WHAT", what), version, allocator)
    right = HOLDERS[what]
    if version in ("3.13", NEWEST) and what == "attribute":
        right = ("holder", "__main__.store", "dict")  # no names since 3.13
    check_growth(t, program, (*right, lines_of(GROWS)[what]), allocator)


def check_growth(t, program, right, allocator):
    memleak = t.attach(program, interval="1")
    found, rounds = [], 0
    for _ in range(120):
        if not found:  # a container that has stopped growing is not shown
            rounds += 1
            program.send()
            program.wait_for("added", lambda: program.out.data.count(b"added") == rounds)
        python = memleak.fresh_report().get("python", {"containers": [], "classes": []})
        found = [(one["named_by"], one["name"], one["class"], one.get("line"), one["items"])
                 for one in python["containers"]]
        more = {one["name"]: one["more"] for one in python["classes"]}
        # The latest count may be from before the program waited, when there was a temporary list.
        if (found == [(*right, rounds * ADDED)]
                and ADDED <= more.get("Entry", 0) <= rounds * ADDED):
            break
    else:
        raise Failure(f"not {right} of {rounds * ADDED} items, but {found}; classes: {more}")
    wanted("allocator", python["allocator"], allocator)
    memleak.stop()


# Containers with room for all items that are added while they are traced.
ROOMY = """
import collections, os, sys, threading
table, known, queue = {}, set(), collections.deque()
class Store:
    cache = {}
    def keep(self, number):
        self.cache.setdefault(number, number)  # class
def module(number):
    table[number] = number  # module
def member(number):
    known.add(number)  # member
def last(number):
    queue.append(number)  # last
def most(number):
    queue.append(number)
    for _ in range(3):
        queue.append(queue.pop())
    queue.extend((number, number))  # most
def stored(number):
    Store().keep(number)
def threads(number):
    if number < 11000:
        module(number)
        return
    thread = threading.Thread(target=module, args=(number,))
    thread.start()
    thread.join()
for number in range(11000):
    WHAT(number)
print("ready", flush=True)
while sys.stdin.read(1):
    for _ in range(40):
        number += 1
        WHAT(number)
    print("added", flush=True)
os._exit(0)
"""
ADDERS = {"module": "module", "member": "member", "last": "last", "most": "most",
          "stored": "class", "threads": "module"}
UNWATCHED = ("last", "most")  # found without watching the container


def growing_reports(program, memleak):
    """Has the program add objects before each report; yields what reports say of Python."""
    for rounds in range(1, 121):
        program.send()
        program.wait_for("added", lambda: program.out.data.count(b"added") == rounds)
        yield memleak.fresh_report().get("python", {"containers": [], "classes": []})


@sample(4, 1)
@each(*[f"{version}-{what}" for what in ADDERS for version in ("3.11", "3.12", "3.13")])
def test_adders(t, way):
    """The line that adds to a container is found although the container takes no more memory."""
    version, what = way.split("-")
    if what not in UNWATCHED and not has_watchpoints():
        raise Skip("this machine does not notice writes to watched addresses")
    program = start(t, ROOMY.replace("WHAT", what), version, "pymalloc")
    right = lines_of(ROOMY)[ADDERS[what]]
    memleak = t.attach(program, interval="1")
    for python in growing_reports(program, memleak):
        if [one.get("line") for one in python["containers"]] == [right]:
            break
    else:
        raise Failure(f"not line {right}, but {python['containers']}")
    memleak.stop()


TASKS = """
import asyncio, os, sys
pending = set()
loop = asyncio.new_event_loop()
async def wait(event):
    await event.wait()
async def turn():
    await asyncio.sleep(0)
def begin():
    task = loop.create_task(wait(asyncio.Event()))
    task.add_done_callback(pending.discard)
    pending.add(task)  # here
print("ready", flush=True)
while sys.stdin.read(1):
    for _ in range(ADDED):
        begin()
    loop.run_until_complete(turn())
    print("added", flush=True)
os._exit(0)
""".replace("ADDED", str(ADDED))


@sample(2)
@each("3.11", "3.12", "3.13")
def test_tasks(t, version):
    """
    A container is named although thousands of bound methods point to it. It is more important than
    the WeakSet of asyncio with the same tasks.
    """
    program = start(t, TASKS, version, "pymalloc")
    right = ("variable", "__main__.pending", lines_of(TASKS)["here"])
    memleak = t.attach(program, interval="1")
    for python in growing_reports(program, memleak):
        found = [(one["named_by"], one["name"], one.get("line")) for one in python["containers"]]
        if found[:1] == [right] and len(found) == 2:
            break
    else:
        raise Failure(f"not {right}, but {found}")
    memleak.stop()


PLACES = """
import asyncio, gc, os, sys
gc.disable()
loop = asyncio.new_event_loop()
class Node:
    def __init__(self):  # cycle
        self.me = self
    def __del__(self):
        pass
def closure():
    def again():  # closure
        return again
def cycle():
    Node()
async def wait(event):
    await event.wait()  # task
def task():
    loop.create_task(wait(asyncio.Event()))
async def turn():
    await asyncio.sleep(0)
print("ready", flush=True)
while sys.stdin.read(1):
    for _ in range(ADDED):
        WHAT()
    loop.run_until_complete(turn())
    print("added", flush=True)
os._exit(0)
""".replace("ADDED", str(ADDED))
PLACED = {"cycle": ("Node", "Node.__init__"), "closure": ("function", "closure.<locals>.again"),
          "task": ("coroutine", "wait")}


@sample(4, 1)
@each(*[f"{version}-{what}" for what in PLACED for version in ("3.11", "3.12", "3.13")])
def test_places(t, way):
    """Objects that no container holds are named with their line, and so are waiting tasks."""
    version, what = way.split("-")
    program = start(t, PLACES.replace("WHAT", what), version, "pymalloc")
    check_place(t, program, (*PLACED[what], lines_of(PLACES)[what]))


def check_place(t, program, right, *options):
    memleak = t.attach(program, *options, interval="1")
    for python in growing_reports(program, memleak):
        found = [(one["name"], one["function"], one["line"])
                 for one in python["classes"] if "function" in one]
        if found == [right]:
            break
    else:
        raise Failure(f"not {right}, but {found}; classes: {python['classes']}")
    memleak.stop()


def test_own_places(t):
    """With --own, objects of code in a folder of packages are named with their line."""
    path = t.tmp / "site-packages/script.py"
    path.parent.mkdir()
    path.write_text(PLACES.replace("WHAT", "task"), encoding="ascii")
    program = launch(t, [interpreter("3.11"), path], "pymalloc")
    check_place(t, program, (*PLACED["task"], lines_of(PLACES)["task"]), "--own", path.parent)


CYCLES = """
import gc, os, sys
gc.disable()
class Node:
    def __init__(self):  # cycle
        self.me = self
print("ready", flush=True)
while sys.stdin.read(1):
    for _ in range(ADDED):
        Node()
    print("added", flush=True)
os._exit(0)
""".replace("ADDED", str(ADDED))


def test_copied(t):
    """The interpreter's version is known even if it is in no path that the process has mapped."""
    path = t.tmp / "script.py"
    path.write_text(CYCLES, encoding="ascii")
    program = launch(t, [in_venv(t, interpreter("3.11"), shutil.copy), path], "pymalloc")
    check_place(t, program, (*PLACED["cycle"], lines_of(CYCLES)["cycle"]))


@contextlib.contextmanager
def repeating(function):
    """Calls the function again and again meanwhile."""
    ends = threading.Event()

    def repeat():
        while not ends.wait(0.05):
            function()

    caller = threading.Thread(target=repeat)
    caller.start()
    try:
        yield
    finally:
        ends.set()
        caller.join()


VIEW = """
import flask, logging, werkzeug.serving
logging.getLogger("werkzeug").disabled = True
app = flask.Flask(__name__)
history = []
class Visit:
    def __init__(self, name, number):
        self.name, self.number = name, number
        self.tags = {"name": name, "number": number}
@app.route("/visit/<int:number>")
def visit(number):
    name = flask.request.args["name"]
    lines = [f"{name}-{i}" for i in range(50)]
    history.append((Visit(name, number), ",".join(lines) * 4))  # view
    return flask.jsonify(count=len(history), text=lines[0])
server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
print("ready", server.server_port, flush=True)
server.serve_forever()
"""


@slow
@timeout(300)
@each("malloc", "pymalloc")
def test_flask(t, allocator):
    """In Flask's development server, which has a thread for each request, the view is blamed."""
    if not pathlib.Path("/usr/lib/python3/dist-packages/flask").exists():
        raise Skip("no python3-flask")
    program = start(t, VIEW, allocator=allocator)
    ready = re.compile(rb"ready (\d+)\n")
    program.wait_for("port", lambda: ready.search(program.out.data))
    port = int(ready.search(program.out.data)[1])
    memleak = t.memleak("-p", str(program.pid), "1").ready()
    accused = re.compile("^▲ (?!a leak is likely: (?:at least )?[0-9.]+ ).*$".encode(), re.M)
    urls = (f"http://127.0.0.1:{port}/visit/{number}?name=guest{number % 9}"
            for number in itertools.count(1))
    with repeating(lambda: urllib.request.urlopen(next(urls)).close()):
        memleak.wait_for("an accusation", lambda: accused.search(memleak.out.data))
    memleak.stop()
    found = accused.search(memleak.out.data)[0].decode()
    if f"visit {t.tmp.name}/script.py:{lines_of(VIEW)['view']}" not in found:
        raise Failure(f"not the view's line, but {found}")


# The list has room for all dictionaries, so no block shows the line that adds to it.
FREE_LIST = """
import json, os, sys
audit = [None] * 100000
audit.append(None)
def record(number):
    audit.append({"id": number, "who": "somebody"})
def answer(number):
    items = [{"number": number, "name": "name"} for _ in range(20)]
    return json.loads(json.dumps(items))
print("ready", flush=True)
while sys.stdin.read(1):
    for number in range(10):
        answer(number)
        record(number)
os._exit(0)
"""


@slow
@timeout(300)
def test_free_list(t):
    """
    Python reuses freed dictionaries, so those that are kept have the stack of a line that frees
    its own. The verdict names the list that keeps them.
    """
    program = start(t, FREE_LIST)
    memleak = t.memleak("-p", str(program.pid), "1").ready()
    accused = re.compile(r"^▲ .*; meanwhile .*__main__\.audit \(list\)".encode(), re.M)
    with repeating(program.send):
        memleak.wait_for("an accusation", lambda: accused.search(memleak.out.data))
    memleak.stop()


@nightly
@timeout(300)
@each(*HOLDERS, "variable-malloc")
def test_newest_containers(t, what):
    """Containers of the newest version."""
    test_containers(t, f"{NEWEST}-{what}")


AGAIN = """
import os, sys
if len(sys.argv) == 1:
    print("ready", flush=True)
    sys.stdin.read(1)
    os.execv(sys.executable, [sys.executable, __file__, "again"])
print("again", flush=True)
sys.stdin.read(1)
os._exit(0)
"""


def test_exec(t):
    """After exec, objects are counted from the start: no growth is older than the new program."""
    program = start(t, AGAIN, allocator="pymalloc")
    memleak = t.attach(program, interval="1")
    for _ in range(5):
        before = memleak.fresh_report()
    program.send()
    program.wait_for("again", lambda: b"again" in program.out.data)
    for _ in range(4):
        report = memleak.fresh_report()
    most = report["elapsed_ns"] - before["elapsed_ns"]
    for one in report.get("python", {"classes": []})["classes"]:
        if one["for_ns"] > most + 2e9:  # objects are counted a little after the blocks
            raise Failure(f"older than {most} ns: {one}")
    memleak.stop()
