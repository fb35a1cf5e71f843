from lib.process import PATIENCE
# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbols: lines, inlined frames, debug files, unusual files, hostile bytes."""

import json
import lzma
import os
import pathlib
import random
import re
import select
import shutil
import signal
import struct
import subprocess
import time

from lib import Failure, Skip, each, expect, owner, pitfall, timeout
from lib.expect import culprit
from lib.memleak import helpers_of
from lib.python import interpreter


def helper_of(memleak, name):
    """Returns the pid of a helper process."""
    for pid in helpers_of(memleak.pid):
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            if file.read().strip() == name:
                return pid
    raise Failure(f"no {name} runs")


def run(t, *args, **kwargs):
    program = t.program(*args, **kwargs)
    memleak = t.attach(program)
    truth = program.go()
    return memleak.stop(), truth


def tool(*argv, **kwargs):
    return subprocess.run([os.fspath(arg) for arg in argv], check=True, capture_output=True,
                          **kwargs).stdout


def leak_copy(t, name="leak"):
    """Copies the program into a separate folder, so that it can be changed."""
    folder = t.tmp / "bin"
    folder.mkdir(exist_ok=True)
    return shutil.copy(t.file_of(name), folder / "leak")


def test_moved_text(t):
    """Code that a program moved to anonymous memory has the symbols of its file."""
    report, truth = run(t, "moved_text")
    expect(report, truth)


def test_moved_allocator(t):
    """A moved allocator cannot be probed: memleak says so and does not report "no leak"."""
    program = t.program("moved_text_static")
    path = t.file_of("moved_text_static")
    t.refused("--json", "-p", str(program.pid), "1", code=1, says=[
        f"runs code of {path} in anonymous memory", "its allocator runs in anonymous memory"])


@pitfall(32)
def test_call_at_the_end_of_a_function(t):
    """The return address of a call that never returns is already in the next function."""
    program = t.program("noreturn", "last_call")
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    expect(report, truth)
    names = [frame["symbol"] for frame in report["sites"][0]["stack"]]
    if names[names.index("stay_here") + 1] != "last_call":
        raise Failure(f"the stack is {names}")


@each("link", "file", "copy")
def test_started_by_link(t, what):
    """Text shows the name by which a program was started, if this name still leads to its file."""
    path = pathlib.Path(leak_copy(t))
    tool("strip", "--strip-debug", path)
    link = path.with_name("other")
    links = [link, path.with_name("middle")] if what == "link" else []
    for at in reversed(links):
        at.symlink_to("middle" if at == link else path.name)
    if what == "copy":
        shutil.copy(path, link)
    program = t.program("leak", path=path if what == "file" else link)
    if what == "copy":
        link.rename(path.with_name("moved"))
        link.symlink_to(path.name)
    for at in links:
        # The kernel updates the access time of such an old link whenever it follows the link.
        os.utime(at, ns=(0, 0), follow_symlinks=False)
    shown = "other" if what == "link" else "moved" if what == "copy" else "leak"
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.stop()
    if f"[{shown}]" not in memleak.out.text:
        raise Failure(f"not [{shown}]: {memleak.out.text[:2000]}")


@pitfall(34)
def test_no_symbol(t):
    """Code without a symbol does not get the name of a function 4 KiB before it."""
    if os.uname().machine != "x86_64":
        raise Skip("there is code for x86-64 only")
    report, _ = run(t, "noreturn", "no_symbol")
    if len(report["sites"]) != 1:
        raise Failure(f"{len(report['sites'])} sites, not 1")
    frame = culprit(report["sites"][0])
    if frame["symbol"] or not frame["module_offset"] or not frame["module"].endswith("noreturn"):
        raise Failure(f"the frame is {frame}")


@pitfall(35)
def test_inlined(t):
    """An inlined function is a frame with a mark, before its caller at the same address."""
    report, truth = run(t, "cxx", "inline")
    expect(report, truth)
    site = next(site for site in report["sites"] if owner(site) == "inlined_alloc")
    inner, outer = site["stack"][:2]
    if not inner["inlined"] or outer["inlined"] or inner["addr"] != outer["addr"]:
        raise Failure(f"frames {inner} {outer}")
    if not outer["symbol"].startswith("around_inlined"):
        raise Failure(f"outer frame {outer}")


@pitfall(35)
def test_demangled(t):
    report, _ = run(t, "cxx", "template")
    names = [frame["symbol"] for site in report["sites"] for frame in site["stack"]]
    if not any(name and re.match(r"(void )?leak_template<double *\[5\] *>", name)
               for name in names):
        raise Failure(f"names {names}")


@pitfall(35)
def test_debuglink(t):
    """A stripped program with debug information in a separate file."""
    path = leak_copy(t)
    debug = path.with_name("leak.debug")
    tool("objcopy", "--only-keep-debug", path, debug)
    tool("objcopy", "--strip-all", "--add-gnu-debuglink", "leak.debug", path, cwd=path.parent)
    report, truth = run(t, "leak", path=path)
    expect(report, truth)


def packed_copy(t, *arguments):
    """Returns a copy of the program with compressed debug sections."""
    path = leak_copy(t)
    try:
        tool("objcopy", *arguments, path)
    except subprocess.CalledProcessError as error:
        raise Skip(f"objcopy {' '.join(arguments)}: {error.stderr.decode()}") from error
    return path


@each("zlib", "zlib-gnu", "zstd")
def test_packed(t, kind):
    """Compressed debug information in the program itself."""
    path = packed_copy(t, f"--compress-debug-sections={kind}")
    report, truth = run(t, "leak", path=path)
    expect(report, truth)


def test_packed_debug_file(t):
    """Compressed debug information in a separate file."""
    path = packed_copy(t, "--compress-debug-sections=zstd")
    debug = path.with_name("leak.debug")
    tool("objcopy", "--only-keep-debug", path, debug)
    tool("objcopy", "--strip-all", "--add-gnu-debuglink", "leak.debug", path, cwd=path.parent)
    report, truth = run(t, "leak", path=path)
    expect(report, truth)


@each("damaged", "unknown")
def test_packed_unreadable(t, kind):
    """
    With unreadable debug information functions have names but no lines, and memleak says why once.
    """
    path = packed_copy(t, "--compress-debug-sections=zstd")
    image = bytearray(path.read_bytes())
    # Elf64_Chdr for zstd: type 2, 4 reserved bytes, two words; then zstd's magic number.
    places = [at - 24 for at in range(24, len(image))
              if image[at:at + 4] == b"\x28\xb5\x2f\xfd" and image[at - 24:at - 16] == b"\2" + bytes(7)]
    if not places:
        raise Skip("objcopy compresses nothing")
    for at in places:
        image[at if kind == "unknown" else at + 24] = 99
    path.write_bytes(image)
    program = t.program("leak", path=path)
    memleak = t.attach(program)
    truth = program.go()
    expect(memleak.stop(), truth, lines=False)
    why = {"damaged": "the compressed data is damaged",
           "unknown": "unknown compression"}[kind]
    said = [line for line in memleak.err.text.splitlines() if "debug information" in line]
    if said != [f"memleak: {path}: debug information is not used: {why}"]:
        raise Failure(f"stderr: {memleak.err.text}")


@pitfall(35)
def test_mini_debug_info(t):
    """A stripped program with .gnu_debugdata, as in Fedora: names without lines."""
    path = leak_copy(t, "leak_nodebug")
    mini = path.with_name("mini")
    tool("objcopy", "--only-keep-debug", path, mini)
    tool("objcopy", "-S", "--keep-symbol", "leak_small", "--keep-symbol", "leak_big",
         "--keep-symbol", "main", mini)
    packed = path.with_name("mini.xz")
    packed.write_bytes(lzma.compress(mini.read_bytes()))
    tool("objcopy", "--strip-all", path)
    tool("objcopy", "--add-section", f".gnu_debugdata={packed}", path)
    report, truth = run(t, "leak", path=path)
    expect(report, truth, lines=False)


@pitfall(35)
@each("leak", "leak_nopie")
def test_stripped(t, name):
    """Without symbols, module and module_offset are what addr2line accepts."""
    whole = t.file_of(name)
    path = leak_copy(t, name)
    tool("objcopy", "--strip-all", path)
    report, _ = run(t, "leak", path=path)
    found = {}
    for site in report["sites"]:
        frame = culprit(site)
        if frame["symbol"] or frame["module"] != os.fspath(path) or not frame["build_id"]:
            raise Failure(f"the frame is {frame}")
        answer = tool("addr2line", "-fe", whole, hex(int(frame["module_offset"], 16) - 1))
        found[answer.decode().split()[0]] = (site["count"], site["bytes"])
    if found != {"leak_small": (5, 80), "leak_big": (5, 5 << 20)}:
        raise Failure(f"addr2line finds {found}")


def test_no_debug_info(t):
    """With a symbol table only, file and line are null."""
    report, truth = run(t, "leak_nodebug")
    expect(report, truth, lines=False)
    frame = culprit(report["sites"][0])
    if frame["file"] is not None or frame["line"] is not None:
        raise Failure(f"the frame is {frame}")


def test_build_id(t):
    report, _ = run(t, "leak")
    notes = tool("readelf", "-n", t.file_of("leak")).decode()
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes).group(1)
    if culprit(report["sites"][0])["build_id"] != build_id:
        raise Failure(f"{culprit(report['sites'][0])['build_id']}, readelf says {build_id}")


def test_jit(t):
    """Code from a just-in-time compiler is named by its perf map."""
    program = t.program("jit")
    path = program.truth.facts["map"][0]
    try:
        memleak = t.attach(program)
        truth = program.go()
        report = memleak.stop()
        expect({**report, "sites": [s for s in report["sites"] if owner(s) == "marker"],
                "sites_total": 1}, truth_of(truth, "marker"))
        sums = {owner(s): (s["count"], s["bytes"]) for s in report["sites"]}
        if sums != {"jit_leak": (4, 480), "marker": (1, 24)}:
            raise Failure(f"sites {sums}")
    finally:
        os.unlink(path)


def truth_of(truth, function):
    truth.sites = {key: value for key, value in truth.sites.items() if key[0] == function}
    return truth


@each("nothing", "garbage", "pipe", "endless_line", "huge")
def test_hostile_perf_map(t, name):
    """The target may write anything into its perf map: the report still comes."""
    program = t.program("jit")
    path = program.truth.facts["map"][0]
    os.unlink(path)
    if name == "garbage":
        with open(path, "wb") as file:
            file.write(random.Random(1).randbytes(100000))
    elif name == "pipe":
        os.mkfifo(path)
    elif name == "endless_line":
        with open(path, "wb") as file:
            file.write(b"1000 ffffffffffff " + b"x" * 1000000)
    elif name == "huge":
        with open(path, "wb") as file:
            file.truncate(1 << 40)
    try:
        memleak = t.attach(program)
        truth = program.go()
        report = memleak.stop()
        if report["outstanding"] != {"count": truth.count, "bytes": truth.bytes}:
            raise Failure(f"{report['outstanding']}")
        if name != "garbage" and "code outside files has no names" not in memleak.notes:
            raise Failure(f"not said: {memleak.notes!r}")
    finally:
        if os.path.lexists(path):
            os.unlink(path)


SCRIPTS = {
    "node": ('''
const kept = [];
function remember() { kept.push(Buffer.allocUnsafeSlow(20000)); }
function handle() { for (let i = 0; i < 20; i++) remember(); }
process.stdin.once("data", () => { setInterval(handle, 20); });
console.log("ready");
''', ("node", "--perf-basic-prof", "--no-turbo-inlining"), "leaky.js", 3),
    "python": ('''
import ctypes, sys, time
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
kept = []
def remember():
    kept.append(libc.malloc(20000))
def handle():
    for _ in range(20):
        remember()
print("ready", flush=True)
sys.stdin.read(1)
while True:
    handle()
    time.sleep(0.02)
''', ("python3.12", "-X", "perf"), "leaky.py", 7),
}


def test_node_unnamed(t):
    """If functions of a script have no names, a note says how node names them."""
    if not shutil.which("node"):
        raise Skip("no node")
    path = t.tmp / "leaky.js"
    path.write_text(SCRIPTS["node"][0], encoding="utf-8")
    program = t.process(("node", path), cwd=t.tmp)
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.memleak("-T", "3", "-p", str(program.pid), "1").ready()
    program.send()
    memleak.wait_for("the note", lambda: "code outside files has no names" in memleak.notes)
    memleak.stop()
    if "at run time (node --perf-basic-prof names it)" not in memleak.notes:
        raise Failure(f"{memleak.notes!r}")


JAVA = """
import java.nio.ByteBuffer;
import java.util.ArrayList;

public class Leaky {
    static final ArrayList<ByteBuffer> kept = new ArrayList<>();

    static void remember() { kept.add(ByteBuffer.allocateDirect(20000)); }

    public static void main(String[] args) throws Exception {
        System.out.println("ready");
        while (true) {
            for (int i = 0; i < 20; i++)
                remember();
            Thread.sleep(20);
        }
    }
}
"""


@timeout(240)
def test_java(t):
    """A note says how the JVM names its code. With names, the method of the program is accused."""
    if not shutil.which("jcmd"):
        raise Skip("no jcmd")
    path = t.tmp / "Leaky.java"
    path.write_text(JAVA, encoding="utf-8")
    program = t.process(("java", "-XX:+PreserveFramePointer", "-XX:TieredStopAtLevel=1",
                         "-XX:MaxDirectMemorySize=8g", path), cwd=t.tmp)
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.memleak("-p", str(program.pid), "1").ready()
    memleak.wait_for("the note", lambda: "(jcmd PID Compiler.perfmap names it" in memleak.notes)
    memleak.stop()
    subprocess.run(("jcmd", str(program.pid), "Compiler.perfmap"), check=True,
                   stdout=subprocess.DEVNULL)
    try:
        memleak = t.memleak("-p", str(program.pid), "1").ready()
        memleak.wait_for("an accusation of a method", lambda: re.search(
            r"^▲ a leak is likely: .*Leaky\.remember", memleak.out.text, re.M))
        memleak.stop()
    finally:
        os.unlink(f"/tmp/perf-{program.pid}.map")


@each(*SCRIPTS)
def test_script(t, name):
    """A function of a script is named with file and line."""
    text, argv, file, line = SCRIPTS[name]
    if name == "python":
        argv = (interpreter("3.12"), *argv[1:])
    elif not shutil.which(argv[0]):
        raise Skip(f"no {argv[0]}")
    path = t.tmp / file
    path.write_text(text, encoding="utf-8")
    program = t.process((*argv, path), cwd=t.tmp)
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    try:
        memleak = t.memleak("-T", "3", "-p", str(program.pid), "1").ready()
        program.send()
        wanted = f"{file}:{line}"
        accused = re.compile(rf"^▲ (?:a leak is likely: )?remember .*{re.escape(wanted)}[ ,].*grows "
                             .encode(), re.M)
        memleak.wait_for(f"an accusation of remember {wanted}",
                         lambda: accused.search(memleak.out.data))
        memleak.stop()
    finally:
        os.unlink(f"/tmp/perf-{program.pid}.map")


def read_until(fd, pattern):
    """Reads from a terminal until the pattern appears; returns all that was read."""
    data, end = b"", time.monotonic() + PATIENCE
    while not re.search(pattern, data):
        if not select.select([fd], [], [], max(end - time.monotonic(), 0))[0]:
            raise Failure(f"no {pattern!r} in {data!r}")
        data += os.read(fd, 65536)
    return data


def test_progress(t):
    """On a terminal, memleak shows what a report waits for, and clears the message afterwards."""
    theirs, ours = os.openpty()
    program = t.program("leak")
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "1", stderr=ours)
    os.close(ours)
    read_until(theirs, rb"tracing pid")
    helper = helper_of(memleak, "symbolizer")
    os.kill(helper, signal.SIGSTOP)
    try:
        program.go()
        read_until(theirs, rb"\rmemleak: reading symbols of \S+: \d+ %\x1b\[K")
    finally:
        os.kill(helper, signal.SIGCONT)
    read_until(theirs, rb"\r\x1b\[K$")
    memleak.wait_for("names", lambda: b"leak_big" in memleak.out.data)
    memleak.popen.send_signal(signal.SIGINT)
    memleak.wait()
    os.close(theirs)


NO_SERVER = {"DEBUGINFOD_URLS": ""}


def missing_names(name, packages):
    return (f"memleak: functions of {name} have no names: install debug symbols ({packages}), or "
            "have them downloaded: DEBUGINFOD_URLS=https://debuginfod.elfutils.org memleak ...\n")


@each("stripped", "named", "link")
def test_missing_names(t, kind):
    """If symbols are missing, a line says once how to get them, and names the file as ps does."""
    path = shutil.copy(t.file_of("leak"), t.tmp / "bare")
    if kind != "named":
        tool("strip", path)
    if kind == "link":
        path = path.with_name("linked")
        path.symlink_to("bare")
    program = t.program("leak", path=path)
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "0.2", env=NO_SERVER).ready()
    program.go()
    memleak.wait_for("reports", lambda: memleak.out.data.count(b"outstanding:") > 3, 30)
    memleak.stop()
    advice = "" if kind == "named" else missing_names(path.name, "packages ...-dbgsym or ...-debuginfo")
    if "".join(re.findall(r"^.*have no names.*\n", memleak.notes, re.M)) != advice:
        raise Failure(memleak.notes)


def test_missing_names_of_package(t):
    """If a package has the file, the line names the package of its debug symbols."""
    if not os.path.exists("/var/lib/dpkg/info/dash.list"):
        raise Skip("the package dash is not installed")
    program = t.process(["/bin/dash", "-c", 'echo ready; while read x; do eval "v$x=$x"; done'])
    program.wait_for("ready", lambda: b"ready" in program.out.data)
    memleak = t.memleak("-o", "0", "-p", str(program.pid), "0.2", env=NO_SERVER).ready()
    program.send(b"".join(b"%d\n" % number for number in range(500)))
    memleak.wait_for("advice", lambda: missing_names("dash", "package dash-dbgsym") in memleak.notes)
    memleak.stop()


# Cases about hostile bytes.

ODD_NAME = b"we\x1b[31mird\xff\xfe\n\t\"name\\"


@pitfall(36)
def test_odd_file_name_json(t):
    """JSON with any bytes in a path is valid UTF-8 without control bytes."""
    path = os.path.join(os.fsencode(t.tmp), ODD_NAME)
    shutil.copy(t.file_of("leak"), path)
    report, truth = run(t, "leak", path=os.fsdecode(path))
    expect(report, truth)
    module = culprit(report["sites"][0])["module"]
    if "ird" not in module or "name" not in module:
        raise Failure(f"module {module!r}")
    json.dumps(report).encode("ascii")


@pitfall(36)
def test_odd_file_name_text(t):
    """Neither report nor stderr has bytes that a terminal would interpret."""
    path = os.path.join(os.fsencode(t.tmp), ODD_NAME)
    shutil.copy(t.file_of("leak"), path)
    program = t.program("leak", path=os.fsdecode(path))
    memleak = t.memleak("-v", "-o", "0", "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.stop()
    for stream in (memleak.out.data, memleak.err.data):
        bad = re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", bytes(stream))
        if bad:
            raise Failure(f"control byte {bad.group(0)!r} in {bytes(stream)!r}")
        stream.decode("utf-8")
    if b"leak_small" not in memleak.out.data:
        raise Failure("no report")


ODD_SYMBOL = b"leak_\x1b]0;x\x07\xff\"\\\n"


@pitfall(36)
@each("json", "text")
def test_odd_symbol(t, name):
    """Unusual bytes in function names."""
    path = leak_copy(t, "leak_nodebug")
    replace_symbol(path, b"leak_small", ODD_SYMBOL)
    program = t.program("leak", path=path)
    memleak = t.memleak("--format", name, "-o", "0", "-p", str(program.pid), "3600").ready()
    program.go()
    memleak.stop()
    text = memleak.out.data.decode("utf-8")
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", text) or "]0;x" not in text:
        raise Failure(f"{text!r}")
    if name == "json" and "leak_\x1b]0;x\x07" not in json.dumps(
            memleak.reports, ensure_ascii=False).encode().decode("unicode_escape"):
        raise Failure(f"{text!r}")


def replace_symbol(path, old, new):
    """Renames a symbol by objcopy, which accepts any byte."""
    subprocess.run([b"objcopy", b"--redefine-sym", old + b"=" + new, os.fsencode(path)],
                   check=True, capture_output=True)


@pitfall(34)
def test_long_symbol(t):
    """A name of 5,000 letters is not cut in JSON."""
    path = leak_copy(t, "leak_nodebug")
    name = b"leak_small" + b"x" * 5000
    replace_symbol(path, b"leak_small", name)
    report, _ = run(t, "leak", path=path)
    if sorted(owner(site) for site in report["sites"]) != ["leak_big", name.decode()]:
        raise Failure("the long name is not there as it is")


@pitfall(14)
def test_long_path(t):
    """A path of 3,000 letters."""
    folder = t.tmp
    for _ in range(12):
        folder = folder / ("d" * 240)
    folder.mkdir(parents=True)
    path = shutil.copy(t.file_of("leak"), folder / "leak")
    report, truth = run(t, "leak", path=path)
    expect(report, truth)
    if culprit(report["sites"][0])["module"] != os.fspath(path):
        raise Failure("the path is cut")


# Cases about broken files.

def corrupt(data, how):
    """Breaks parts of a library that the dynamic loader does not read, so that it still loads."""
    data = bytearray(data)
    section_headers = struct.unpack_from("<Q", data, 40)[0]
    if how == "headers_away":
        struct.pack_into("<Q", data, 40, 1 << 62)
    elif how == "headers_count":
        struct.pack_into("<H", data, 60, 0xfff0)
    elif how == "headers_random":
        data[section_headers:] = random.Random(2).randbytes(len(data) - section_headers)
    elif how == "cut":
        del data[section_headers:]
    elif how == "debug_random":
        for name, offset, size in sections_of(data):
            if name.startswith(b".debug") or name in (b".symtab", b".strtab"):
                data[offset:offset + size] = random.Random(3).randbytes(size)
    return data


def sections_of(data):
    at = struct.unpack_from("<Q", data, 40)[0]
    size, count, names = struct.unpack_from("<HHH", data, 58)
    headers = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    for header in headers:
        start = headers[names][4] + header[0]
        yield bytes(data[start:data.index(0, start)]), header[4], header[5]


@pitfall(33)
@each("headers_away", "headers_count", "headers_random", "cut", "debug_random")
def test_broken_library(t, name):
    """A broken library loses only its own symbols."""
    library = t.tmp / "libbroken.so"
    library.write_bytes(corrupt(t.file_of("libplugin.so").read_bytes(), name))
    program = t.program("dlopen", library, "stay")
    memleak = t.attach(program)
    program.go()
    report = memleak.stop()
    own = [site for site in report["sites"]
           if any(frame["module"] == os.fspath(library) for frame in site["stack"])]
    if sum(site["count"] for site in own) != 5 or sum(site["bytes"] for site in own) != 240:
        raise Failure(f"the library's blocks: {own}")
    for site in own:
        names = [frame["symbol"] for frame in site["stack"]]
        if "call_plugin" not in names or "main" not in names:
            raise Failure(f"the stack is {names}")
    if "marker" not in [owner(site) for site in report["sites"]]:
        raise Failure("the program's own names are gone")


def test_killed_while_reports_come(t):
    """If the symbolizer is killed, the next report starts another one and has symbols."""
    program = t.program("leak")
    memleak = t.attach(program, interval="0.2")
    memleak.report_number(0)
    killed = helper_of(memleak, "symbolizer")
    os.kill(killed, signal.SIGKILL)
    truth = program.go()
    memleak.fresh_report()
    expect(memleak.fresh_report(), truth)
    if helper_of(memleak, "symbolizer") == killed:
        raise Failure("it was not killed")
    expect(memleak.stop(), truth)
