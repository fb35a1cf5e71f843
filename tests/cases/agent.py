# SPDX-License-Identifier: GPL-2.0-or-later
"""
Tests --agent, which records allocations within the program. The other cases check the contents of
its reports with `tests/run --agent`; here are the cases that only the agent has.
"""

import math
import os
import pathlib
import re
import shutil
import signal
import subprocess

from lib import Failure, Skip, alone, each, sample, slow, timeout, untraced, wanted
from lib.expect import fail, owner, sum_of
from lib.leak_tools import GO
from lib.memleak import parse
from lib.process import PATIENCE
from lib.program import Truth
from lib.python import interpreter

from . import inherited, prove, target_filter

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all")


def library(t):
    return t.path.parent / "libmemleak.so"


def load(t, name, *args, **kwargs):
    """Starts a program with the agent preloaded by hand."""
    return t.program(name, *args, preload=library(t), **kwargs)


def command(t, *argv, wrapper=NOBODY, options=(), ages=("-o", "0"), given=None):
    """Runs `memleak --agent -- CMD` as nobody, with this input; returns its last report."""
    stdin = {"stdin": subprocess.DEVNULL} if given is None else {"input": given}
    answer = subprocess.run([*wrapper, t.path, "--agent", "--json", "-T", "100000", *ages,
                             *options, "3600", "--", *argv], capture_output=True,
                            timeout=PATIENCE, check=False, **stdin)
    t.notes = answer.stderr.decode("utf-8")
    t.said = answer.stdout.decode("utf-8", "replace")
    lines = [line for line in answer.stdout.splitlines() if line[:1] == b"{"]
    if not lines:
        raise Failure(f"no report: {t.notes!r}")
    return parse(lines[-1]), answer.returncode


def sites_of(report, function):
    return [site for site in report["sites"]
            if any(frame["symbol"] == function for frame in site["stack"])]


def check_leak(report):
    """Checks the report of tests/programs/leak: five blocks of 1 MiB and five of 16 bytes."""
    for function, count, size in (("leak_big", 5, 5 << 20), ("leak_small", 5, 80)):
        sites = sites_of(report, function)
        if sum(site["count"] for site in sites) != count or \
           sum(site["bytes"] for site in sites) != size:
            fail(report, f"{function}: {sites}")
        if any(site["stack_end"] != "complete" for site in sites):
            fail(report, f"a stack of {function} is cut")


@each("exit", "kill", "abort", "quick")
def test_end(t, how):
    """However a program ends, the last report has what it held then; no capabilities are needed."""
    t.tmp.chmod(0o755)
    source = t.tmp / "end.py"
    ends = {"exit": "pass", "kill": "os.kill(os.getpid(), 9)", "abort": "os.abort()",
            "quick": "os._exit(3)"}[how]
    source.write_text("import ctypes, os\nlibc = ctypes.CDLL(None)\n"
                      "libc.malloc.restype = ctypes.c_void_p\n"
                      "for _ in range(7): libc.malloc(123457)\n" + ends + "\n", encoding="ascii")
    report, code = command(t, "/usr/bin/python3", source)
    wanted = {"exit": 0, "kill": 137, "abort": 134, "quick": 3}[how]
    if code != wanted:
        raise Failure(f"exit code {code}, not {wanted}: {t.notes!r}")
    if sum(7 * 123457 == site["bytes"] and site["count"] == 7 for site in report["sites"]) != 1:
        fail(report, "seven blocks of 123457 bytes")


def test_as_nobody(t):
    program = load(t, "leak", wrapper=NOBODY)
    memleak = t.memleak("--agent", "--json", "-T", "1000", "-o", "0", "-p", str(program.pid),
                        "3600", wrapper=NOBODY).ready()
    program.go()
    check_leak(memleak.stop())


# Lines 5 and 7 keep 50 objects each; line 7 runs in a forked child, if there is one. The import in
# line 2 keeps objects, too.
KEEP = """
import os, signal, sys
kept = [None] * 100
def remember(i):
    kept[i] = bytes(1000)
def add(i):
    kept[i] = bytes(1200)
for i in range(50):
    remember(i)
child = os.fork() if "fork" in sys.argv else 0
for i in range(50, 100):
    child or add(i)
child and os.waitpid(child, 0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def lines_of(report, pid):
    """Returns the bytes and the count of blocks by the line of KEEP that is blamed."""
    sums = {}
    for site in report["sites"]:
        frame = site["stack"][site["culprit"] or 0] if site["stack"] else {"file": None}
        if frame["file"] == "<string>" and frame["line"] != 2 and site["pid"] == pid:
            size, count = sums.get((frame["symbol"], frame["line"]), (0, 0))
            sums[frame["symbol"], frame["line"]] = size + site["bytes"], count + site["count"]
    return sums


REMEMBERED = {("py::remember:<string>", 5): (50 * 1033, 50)}
ADDED = {("py::add:<string>", 7): (50 * 1233, 50)}


@untraced
@each("malloc", "pymalloc")
def test_python(t, allocator):
    """Lines of a script are known without root, though the program was killed before the report."""
    report, _ = command(t, "env", f"PYTHONMALLOC={allocator}", "/usr/bin/python3", "-c", KEEP,
                        options=("-z", "1000"))
    pid = report["sites"][0]["pid"]
    wanted("lines", lines_of(report, pid), REMEMBERED | ADDED)


@untraced
def test_python_fork(t):
    """A forked child has lines of its own, and the lines of blocks that it inherits."""
    report, _ = command(t, "env", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-c", KEEP, "fork",
                        options=("-f", "-z", "1000"))
    parent, child = sorted({site["pid"] for site in report["sites"]})
    wanted("lines of the parent", lines_of(report, parent), REMEMBERED)
    wanted("lines of the child", lines_of(report, child), REMEMBERED | ADDED)


@untraced
def test_python_embedded(t):
    """Lines of a script are known in a program that contains CPython under any name."""
    path = t.tmp / "app"
    shutil.copy(interpreter("3.11"), path)
    report, _ = command(t, "env", "PYTHONMALLOC=malloc", "PYTHONHOME=/usr", path, "-c", KEEP,
                        wrapper=(), options=("-z", "1000"))
    for (symbol, line), right in (REMEMBERED | ADDED).items():
        sites = [site for site in report["sites"]
                 if any((frame["symbol"], frame["line"]) == (symbol, line)
                        for frame in site["stack"])]
        wanted(symbol, (sum(site["bytes"] for site in sites),
                        sum(site["count"] for site in sites)), right)


MADE = """
import os
kept = []
for i in range(50):
    names = {}
    exec(compile(f"def made{i:02}(): return bytes(3000 + {i})", f"file{i:02}", "exec"), names)
    kept.append(names[f"made{i:02}"]())
os._exit(0)
"""


@untraced
@each("3.11", "3.12", "3.13")
def test_python_reused(t, version):
    """Code objects that are made one after another at the same address have their own names."""
    report, _ = command(t, interpreter(version), "-c", MADE, wrapper=(), options=("-z", "3000"))
    found = {}
    for site in report["sites"]:
        for frame in site["stack"]:
            if (frame["symbol"] or "").startswith("py::made"):
                found.setdefault(site["bytes"] - 3033, []).append(frame["symbol"])
    wanted("names", found, {i: [f"py::made{i:02}:file{i:02}"] for i in range(50)})


@untraced
def test_joined_again(t):
    """
    Each memleak that joins sees everything, also what was mapped while another one was attached.
    """
    program = load(t, "functions", "all")
    options = ("--agent", "--json", "-T", "1000", "-o", "0", "-p", str(program.pid), "3600")
    first = t.memleak(*options).ready()
    truth = program.go()
    seen = first.stop()
    again = t.memleak(*options).ready().stop()
    got = sum_of(again)
    for key, sums in truth.sites.items():
        if got.get(key) != sums:
            fail(again, f"{key}: {got.get(key)}, not {sums}")
    for key in ("bytes", "count"):
        if seen["outstanding"][key] != again["outstanding"][key]:
            raise Failure(f"{seen['outstanding']}, then {again['outstanding']}")


def test_two_witnesses(t):
    """Probes and the agent report the same for one run of a program."""
    program = load(t, "threads", "20000")
    agent = t.memleak("--agent", "--json", "-T", "1000", "-o", "0", "-p", str(program.pid), "3600",
                      env={"MEMLEAK_AGENT_SINCE": "join"}).ready()
    probes = t.attach(program)
    program.go()
    by_agent, by_probes = agent.stop(), probes.stop()

    def sums(report):
        ret = {}
        for site in report["sites"]:
            key = tuple((frame["module"], frame["module_offset"]) for frame in site["stack"]
                        if not frame["inlined"]), site["kind"]
            count, size = ret.get(key, (0, 0))
            ret[key] = count + site["count"], size + site["bytes"]
        return ret

    mine, theirs = sums(by_agent), sums(by_probes)
    if mine != theirs or not mine:
        only = [(key, mine.get(key), theirs.get(key)) for key in mine.keys() | theirs.keys()
                if mine.get(key) != theirs.get(key)]
        raise Failure(f"{len(only)} of {len(theirs)} sites differ: {only[:3]}")


@untraced
@each("no_agent", "static")
def test_refused(t, what):
    program = t.program("leak" if what == "no_agent" else "leak_static")
    t.refused("--agent", "-p", str(program.pid), code=1,
              says=["has no agent", "LD_PRELOAD=libmemleak.so"])


@untraced
def test_no_account(t):
    """If a command does not load the agent, memleak says so."""
    _, code = command(t, t.file_of("leak_static"), wrapper=())
    if "no agent connected" not in t.notes:
        raise Failure(f"exit code {code}: {t.notes!r}")


def test_forked(t):
    """Without --follow a child's allocations are not reported; with it they are, for the child."""
    source = ("import ctypes, os\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\n"
              "pid = os.fork()\n"
              "if not pid:\n    libc.malloc(234567)\n    os._exit(0)\n"
              "os.waitpid(pid, 0)\n")
    for options, wanted in (((), 0), (("-f",), 1)):
        report, _ = command(t, "/usr/bin/python3", "-c", source, options=options)
        seen = sum(site["count"] for site in report["sites"] if site["bytes"] == 234567)
        if seen != wanted:
            fail(report, f"{seen} blocks of the child with {options}, not {wanted}")


LOSES = """
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) static void lose(int keeps)
{
	void *p = malloc(4000);

	__asm__ volatile("" : : "r"(p));
	if (keeps)
		kept = p;
}
static void *wait(void *arg)
{
	pause();
	return NULL;
}
static void start_thread(size_t guard_bytes)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setguardsize(&attr, guard_bytes);
	if (pthread_create(&thread, &attr, wait, NULL))
		_exit(1);
}
int main(int argc, char **argv)
{
	char *again[] = {argv[0], "definite", NULL};

	switch (argv[1][0]) {
	case 't':
		start_thread(4096);
		break;
	case 'u':
		start_thread(0);
		break;
	case 'e':
		start_thread(0);
		execv(argv[0], again);
		return 1;
	case 'm':
		/* memory that looks like a thread's stack above its guard */
		if (mprotect(mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, PROT_NONE))
			return 1;
	}
	lose(argv[1][0] == 'c');
	return 0;
}
"""


YAMA = pathlib.Path("/proc/sys/kernel/yama/ptrace_scope")


def yama_scope():
    return int(YAMA.read_text(encoding="ascii")) if YAMA.exists() else 0


@each("definite", "clean", "threads", "unguarded", "exec", "mapping")
def test_verdict(t, what):
    """
    A proof at the end of a program with the agent gives LeakSanitizer's result. Without rights it
    does so if the program has had no threads: only a BPF program can read registers of threads that
    end. Threads are noticed even if their stacks have no guards; those before exec do not matter.
    """
    source, program = t.tmp / "loses.c", t.tmp / "loses"
    source.write_text(LOSES, encoding="ascii")
    subprocess.run(["cc", "-O1", "-g", "-pthread", "-o", program, source], check=True)
    t.tmp.chmod(0o755)
    right = (0, 0, 0) if what == "clean" else (9, 1, 4000)
    for wrapper in ((), NOBODY):
        report, code = command(t, program, what, wrapper=wrapper,
                               options=("--prove", "--error-exitcode", "9"))
        if wrapper and yama_scope() > 1:
            raise Skip("Yama allows only root to trace")
        lost = report["proof"]["definite"]
        if wrapper and what in ("threads", "unguarded"):
            right = 1, 0, 0
            if "it has had threads" not in t.notes or report["proof"]["unproved"] != 1:
                fail(report, f"not said to be unproved: {t.notes!r}")
        if (code, lost["count"], lost["bytes"]) != right:
            fail(report, f"exit code {code}, definite {lost}, not {right}: {t.notes!r}")


# Like NOBODY, where setpriv is that of busybox.
DROP = ("/usr/bin/python3", "-c", "import os, sys; os.setgroups([]); os.setgid(65534); "
        "os.setuid(65534); os.execv(sys.argv[1], sys.argv[1:])")


@alone
def test_verdict_with_yama(t):
    """With Yama, a user may trace only own descendants: memleak's tracer needs an exception."""
    before = yama_scope()
    if not YAMA.exists() or before > 1:
        raise Skip("the kernel has no Yama, or it allows only root to trace")
    YAMA.write_text("1", encoding="ascii")
    try:
        report, code = command(t, t.file_of("prove_shapes"), "one_is_held", wrapper=DROP,
                               options=("--prove", "--error-exitcode", "9"), given=GO)
    finally:
        YAMA.write_text(str(before), encoding="ascii")
    wanted("exit code, lost", (code, report["proof"]["definite"]["count"]), (9, 9))


@slow
@sample(12, 5)
@each(*prove.SCENES)
def test_end_without_rights(t, value):
    """Without rights, the proof at the end of a command is right, or said to be impossible."""
    scene, program = value
    if yama_scope() > 1:
        raise Skip("Yama allows only root to trace")
    report, _ = command(t, t.file_of(program), scene, given=GO,
                        options=("--prove", "--no-default-suppressions"))
    if "it has had threads" in t.notes:
        wanted("unproved", report["proof"]["unproved"], 1)
    else:
        prove.check_report(report, prove.truth_of(t.said), "end")


def test_descriptor_is_closed(t):
    """The agent still works after the program has closed all descriptors that it does not know."""
    source = ("import ctypes, os, sys\nlibc = ctypes.CDLL(None)\n"
              "libc.malloc.restype = ctypes.c_void_p\nos.closerange(3, 5000)\n"
              "for _ in range(3): libc.malloc(345678)\n"
              "print('ready', flush=True)\nsys.stdin.read(1)\n")
    process = t.process(["/usr/bin/python3", "-c", source],
                        env={"LD_PRELOAD": os.fspath(library(t))})
    process.wait_for("the line", lambda: "ready" in process.out.text)
    memleak = t.memleak("--agent", "--json", "-T", "100000", "-o", "0", "-p", str(process.pid),
                        "3600").ready()
    report = memleak.stop()
    if sum(site["bytes"] == 3 * 345678 for site in report["sites"]) != 1:
        fail(report, "three blocks after the descriptor was closed")


def account_mappings(program):
    """Returns the entries of the account in smaps."""
    maps = pathlib.Path(f"/proc/{program.pid}/smaps").read_text(encoding="utf-8")
    return [part for part in re.split(r"^(?=[0-9a-f]+-[0-9a-f]+ )", maps, flags=re.M)
            if "memfd:memleak-agent" in part]


def test_not_in_core(t):
    """The agent reserves a large address range, but core files contain only its first page."""
    mapped = account_mappings(load(t, "leak"))
    in_core = [part for part in mapped if " dd" not in part.split("VmFlags:")[1]]
    if len(mapped) < 2 or len(in_core) != 1 or not re.search(r"^Size: +4 kB$", in_core[0], re.M):
        raise Failure(f"in core files: {in_core}")


@untraced
def test_no_huge_pages(t):
    """In huge pages, the sparse account would take a multiple of the memory."""
    if not os.path.exists("/sys/kernel/mm/transparent_hugepage"):
        raise Skip("the kernel has no transparent huge pages")
    mapped = account_mappings(load(t, "leak"))
    huge = [part for part in mapped if " nh" not in part.split("VmFlags:")[1]]
    if not mapped or huge:
        raise Failure(f"may be in huge pages: {huge}")


def gdb(*args):
    if not shutil.which("gdb"):
        raise Skip("gdb is not installed")
    answer = subprocess.run(["gdb", "-nx", "-batch", "-iex", "set auto-load off", *args],
                            capture_output=True, timeout=PATIENCE, check=False,
                            stdin=subprocess.DEVNULL, encoding="utf-8")
    if "not permitted" in answer.stderr:
        raise Skip("gdb may not trace: " + answer.stderr[-100:].strip())
    # gdb then cannot call a function, and leaves wrong registers behind.
    if broken := re.search(r"Couldn't write .*", answer.stderr):
        raise Skip("gdb cannot write registers here: " + broken[0])
    return answer.stdout


def field(text, name):
    found = re.search(rf"\b{name} = (\d+)", text)
    if not found:
        raise Failure(f"gdb says nothing of {name}: {text[-2000:]!r}")
    return int(found[1])


def test_in_gdb(t):
    """
    gdb can print the totals of a process by a function call, and the header of the agent's memory
    from a core file.
    """
    process = python(t, "kept = first()\nstage()\nsecond()\nstage()\nstage()")
    core = t.tmp / "core"
    for _ in range(2):
        text = gdb("-p", str(process.pid), "-ex", "p memleak_totals()",
                   "-ex", f"generate-core-file {core}")
        report = join(t, process).stop()
        blocks = [site for site in report["sites"] if site["kind"] == "heap"]
        for name, key in (("bytes", "bytes"), ("blocks", "count")):
            wanted(name, field(text, name), sum(site[key] for site in blocks))
        next_stage(process)
    text = gdb("-ex", "p *memleak_agent", f"/proc/{process.pid}/exe", core)
    wanted("pid", field(text, "pid"), process.pid)
    answer = subprocess.run([t.path, "core", "--json", core], capture_output=True,
                            timeout=PATIENCE, check=False)
    left_out = parse(answer.stdout.splitlines()[-1])["core"]["absent_bytes"]
    if left_out > 1 << 30:
        raise Failure(f"{left_out} bytes are said to be missing, which the account has room for")


@untraced
def test_memleak_is_killed(t):
    """
    memleak may be killed at any time: the program is not affected, and another memleak can join.
    """
    program = load(t, "leak")
    memleak = t.memleak("--agent", "--json", "-o", "0", "-p", str(program.pid), "0.1").ready()
    memleak.signal(signal.SIGKILL)
    memleak.wait()
    program.go()
    again = t.memleak("--agent", "--json", "-T", "1000", "-o", "0", "-p", str(program.pid),
                      "3600").ready()
    check_leak(again.stop())


LOCKED = """
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static char *pool;
static size_t used;
static int locked;
void *malloc(size_t size)
{
	void *block;

	if (locked)
		_Exit(9);
	locked = 1;
	if (!pool)
		pool = mmap(NULL, 1 << 24, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	block = pool + used;
	used += (size + 31) & ~15UL;
	locked = 0;
	return block;
}
void *calloc(size_t cnt, size_t size) { return malloc(cnt * size); }
void *realloc(void *old, size_t size) { return old ? memmove(malloc(size), old, size) : malloc(size); }
void free(void *block) {}
static void first(int argc, char **argv) { malloc(16); }
__attribute__((section(".preinit_array"), used)) static void (*const begin)(int, char **) = first;
int main(void) { return 0; }
"""


@untraced
def test_allocator_begins(t):
    """A program's own allocator may map memory with a lock held, before anything else has run."""
    source, program = t.tmp / "locked.c", t.tmp / "locked"
    source.write_text(LOCKED, encoding="ascii")
    subprocess.run(["cc", "-O1", "-fno-builtin", "-rdynamic", "-o", program, source], check=True)
    ended = subprocess.run([program], check=False, timeout=PATIENCE,
                           env={**os.environ, "LD_PRELOAD": os.fspath(library(t))})
    wanted("exit code", ended.returncode, 0)


STALE = """
#include <alloca.h>
#include <stdlib.h>
void *volatile kept;
void __libc_free(void *p);
#define APART __attribute__((noinline, noipa, optimize("no-stack-protector")))
APART static void inner(size_t size)
{
	char *p = alloca(size);
	__asm__ volatile("" : : "r"(p) : "memory");
	kept = malloc(4321);
	__asm__ volatile("" : : "r"(p) : "memory");
}
APART static void first(void) { inner(2048 + 64); __asm__ volatile(""); }
APART static void second(void)
{
	char hole[2048];
	__asm__ volatile("" : : "r"(hole));
	inner(64);
	__asm__ volatile("" : : "r"(hole));
}
APART static void unseen(void)
{
	for (int i = 0; i < 9; i++) {
		kept = malloc(5432);
		if (i < 8)
			__libc_free(kept);
	}
}
int main(void)
{
	static void (*const volatile calls[])(void) = {first, second};

	for (volatile int i = 0; i < 4; i++)
		calls[i % 2]();
	unseen();
	return 0;
}
"""


@untraced
def test_stale_words(t):
    """
    Stale words of an earlier call may be on the stack at the same depth, if no function has
    overwritten them: the frame pointer tells both calls apart. A reused address is one block,
    however the previous block was freed.
    """
    source, program = t.tmp / "stale.c", t.tmp / "stale"
    source.write_text(STALE, encoding="ascii")
    subprocess.run(["cc", "-O1", "-g", "-o", program, source], check=True)
    report, _ = command(t, program, wrapper=())
    for function, count, size in (("first", 2, 4321), ("second", 2, 4321), ("unseen", 1, 5432)):
        sites = sites_of(report, function)
        if [(site["count"], site["bytes"]) for site in sites] != [(count, count * size)]:
            fail(report, f"{function}: not {count} blocks of {size} bytes")


MALLOCS = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.calloc.restype = libc.realloc.restype = ctypes.c_void_p
libc.free.argtypes = (ctypes.c_void_p,)
libc.realloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
def first():
    return [libc.malloc(777) for _ in range(1000)]
def second():
    blocks = [libc.malloc(777) for _ in range(30000)]
    for block in blocks[:20000]:
        libc.free(block)
    for block in blocks[20000:]:
        libc.realloc(block, 999)
def stage():
    print("ready", flush=True)
    sys.stdin.read(1)
"""


def python(t, source):
    """Starts python with the agent and no reader, and waits for its first stage."""
    # Uses malloc for all objects; otherwise arenas of 1 MiB would be mapped now and then.
    process = t.process(["/usr/bin/python3", "-c", MALLOCS + source],
                        env={"LD_PRELOAD": os.fspath(library(t)), "PYTHONMALLOC": "malloc"})
    process.wait_for("the line", lambda: "ready" in process.out.text)
    return process


def next_stage(process):
    seen = process.out.text.count("ready")
    process.send(b"x")
    process.wait_for("the next stage", lambda: process.out.text.count("ready") > seen)


def join(t, process, *options):
    return t.memleak("--agent", "--json", "-T", "100000", "-o", "0", *options, "-p",
                     str(process.pid), "3600").ready()


def check_estimate(report, what, size):
    """Checks the estimate for calls by ctypes, within five standard errors."""
    sites = sites_of(report, "ffi_call")
    bytes_ = sum(site["bytes"] for site in sites)
    error = math.hypot(*(site["standard_error"]["bytes"] for site in sites))
    if not 0 < error < size / 5 or abs(bytes_ - size) > 5 * error:
        fail(report, f"{what}: {bytes_} estimated, {size} is right, standard error {error}")


@each(("--sample-bytes", "16k"), ("-s", "20"))
def test_samples_from_the_first(t, options):
    """
    A command with sampling: only samples are kept, and frees and reallocations of them are seen.
    """
    report, _ = command(t, "/usr/bin/python3", "-c", MALLOCS + "second()", options=options)
    check_estimate(report, "kept", 10000 * 999)


def test_samples_from_then_on(t):
    """Blocks from before sampling count exactly; a memleak that joins later reports the rate."""
    process = python(t, "kept = first()\nstage()\nsecond()\nstage()")
    before = join(t, process, "-T", "1000").stop()
    exact = [site for site in before["sites"] if site["bytes"] == 777000]
    if len(exact) != 1 or "standard_error" in before:
        fail(before, "1000 blocks of 777 bytes")
    memleak = join(t, process, "-T", "1000", "--sample-bytes", "16k")
    next_stage(process)
    check_estimate(memleak.stop(), "kept", 777000 + 10000 * 999)
    later = join(t, process, "-T", "1000")
    report = later.stop()
    if report["sampling"] != {"mode": "bytes", "interval": 16384} or \
       "one sample in 16384 bytes" not in later.notes:
        fail(report, f"not said to be samples: {later.notes!r}")
    for options in (("--sample-bytes", "32k"), ("-s", "5"), ("--prove",)):
        t.refused("--agent", *options, "-p", str(process.pid), code=1,
                  says=["earlier memleak run, one sample in 16384 bytes"])


SUMS = """
#include <pthread.h>
#include <stdlib.h>
void *volatile kept;
static void *churn(void *arg)
{
	void *blocks[100];

	for (int round = 0; round < 200; round++) {
		for (int i = 0; i < 100; i++)
			blocks[i] = realloc(malloc(64), 100);
		for (int i = 0; i < 100; i++)
			free(blocks[i]);
	}
	return malloc(10);
}
int main(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, churn, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 10; i++)
		kept = malloc(1000);
	kept = malloc(5000000);
	free(kept);
	kept = malloc((size_t)-1 / 4);
	return 0;
}
"""


def heap_bytes(report):
    return sum(site["bytes"] for site in report["sites"] if site["kind"] == "heap")


def test_sums(t):
    """Sums of eight threads at once, and a peak between reports, are exact."""
    source, program = t.tmp / "sums.c", t.tmp / "sums"
    source.write_text(SUMS, encoding="ascii")
    subprocess.run(["cc", "-O1", "-g", "-pthread", "-o", program, source], check=True)
    t.tmp.chmod(0o755)
    report, _ = command(t, program, options=("--peak", "--summary", "--stats"))
    sums, = report["summary"]
    wanted("outstanding", sums["outstanding"], heap_bytes(report))
    wanted("peak", sums["peak"], sums["outstanding"] + 5000000)
    wanted("at most", report["peak"]["highest_bytes"], sums["peak"])
    wanted("largest", sums["largest"], 5000000)
    wanted("failed", report["stats"]["user"]["failed"], 1)
    rounds = 8 * 200 * 100
    for name, got, own in (("freed", sums["freed"], rounds * 164 + 5000000),
                           ("reallocs", sums["functions"]["realloc"], rounds),
                           ("frees", sums["functions"]["free"], rounds + 1)):
        if not own <= got < own + 10000:
            fail(report, f"{name}: {got}, of which {own} are the program's, the rest the libraries'")


@untraced
def test_sums_from_then_on(t):
    """Blocks from before memleak joined count as well."""
    process = python(t, "first()\nstage()\nsecond()\nlibc.free(libc.malloc(50000000))\nstage()")
    memleak = join(t, process, "-T", "1", "--peak", "--summary")
    next_stage(process)
    memleak.stop()
    report = join(t, process, "--peak", "--summary").stop()
    sums, = report["summary"]
    wanted("outstanding", sums["outstanding"], heap_bytes(report))
    for peak, left in ((sums["peak"], sums["outstanding"]),
                       (report["peak"]["highest_bytes"], report["outstanding"]["bytes"])):
        if not 49900000 < peak - left < 50100000:
            fail(report, f"peak {peak}, {left} are left")


def start_heirs(t, *argv, options=(), interval="3600"):
    """
    Starts memleak with the agent on a program that forks; reports go to a file, stdout has only the
    program's output.
    """
    memleak = t.memleak("--agent", "--json", "-T", "100000", "-o", "0", "-f", *options, "--output",
                        t.tmp / "reports", interval, "--", t.file_of(argv[0]), *argv[1:],
                        output=t.tmp / "reports")
    memleak.wait_for("ready", lambda: "ready" in memleak.out.text)
    return memleak


def truth_of(memleak, stages=2):
    """Reads the truth of the program's next stage."""
    memleak.send()
    memleak.wait_for("its truth", lambda: memleak.out.text.count("ready") == stages)
    return Truth.of(memleak.out.text.replace("ready\n", ""))


def reports_so_far(memleak):
    """Returns the reports for which the output file has complete lines."""
    return [parse(line) for line in memleak.output.read_bytes().split(b"\n")[:-1]]


def run_heirs(t, what, *options, pace=0, interval="3600"):
    memleak = start_heirs(t, "inherited", what, str(pace), options=options, interval=interval)
    truth = truth_of(memleak)
    report = memleak.stop(code=128 + signal.SIGTERM)
    inherited.check(report, truth, first=interval == "3600")
    return report


@untraced
@each(*inherited.ALL)
def test_inherited(t, what):
    """Each process has its blocks and its inherited blocks, as with probes."""
    run_heirs(t, what)


@sample(2, 1)
@untraced
@each("frees", "same_address", "grandchild", "gone_exec")
@timeout(120)
def test_inherited_reports(t, what):
    """After reports, the agent drops data that is not needed any more, and nothing else."""
    run_heirs(t, what, pace=1300, interval="0.3")


@untraced
@each("frees", "realloc", "grandchild")
def test_inherited_sampled(t, what):
    """
    Samples keep their weights, here close to one, and children inherit the samples of their parent.
    """
    report = run_heirs(t, what, "--sample-bytes", "1")
    if not report["sampling"]:
        fail(report, "nothing is sampled")


@untraced
def test_inherited_generations(t):
    """Generations of children, of which all but the last end before they can be examined."""
    memleak = start_heirs(t, "inherited", "generations")
    memleak.signal(signal.SIGSTOP)
    truth = truth_of(memleak)
    memleak.signal(signal.SIGCONT)
    report = memleak.stop(code=128 + signal.SIGTERM)
    inherited.check(report, truth, first=True)


def test_inherited_proved(t):
    """A block is lost in one process and held in the other one."""
    memleak = start_heirs(t, "heirs", options=("--prove", "--no-default-suppressions"),
                          interval="0.3")
    truth = truth_of(memleak)
    told = len(reports_so_far(memleak))
    memleak.wait_for("a proof of both", lambda: any(
        report["proof"] and inherited.proved(report) == truth.holds
        for report in reports_so_far(memleak)[told:]), every=0.1)
    memleak.stop(code=128 + signal.SIGTERM)


@untraced
@each("server", "exec")
def test_family(t, what):
    """Workers of a server, and children that run exec, which starts a new record."""
    memleak = start_heirs(t, "family", what, "5")
    truth = truth_of(memleak)
    parent = next(iter(truth.children))
    # The parent's blocks from before its first stage are seen as well.
    truth.children[parent] = 20, 2000
    truth.inherits = {pid: (20, 2000) for pid in truth.inherits}
    target_filter.check([memleak.stop(code=128 + signal.SIGTERM)],
                        target_filter.with_inherited(truth))


HEIRS = """
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
static void *volatile kept[200];
static volatile int ends;
#define APART __attribute__((noinline, noipa))
APART static void *old_block(void) { return malloc(1000); }
APART static void *new_block(void) { return malloc(2000); }
APART static void *vforked_block(void) { return malloc(3000); }
static void *churn(void *arg)
{
	while (!ends)
		for (int i = 0; i < 100; i++)
			free(realloc(malloc(64), 5000));
	return NULL;
}
static void be_child(int number)
{
	for (int i = 0; i < 50; i++)
		free(kept[i]);
	for (int i = 0; i < 5; i++)
		kept[i] = new_block();
	_exit(0);
}
#ifdef LATE_TICK
/* Replaces clock_gettime() for the agent, which prefers the vDSO's clock_gettime(). */
void *dlopen(const char *file, int mode) { return NULL; }
int clock_gettime(clockid_t clock, struct timespec *now)
{
	long ns;

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, now);
	if (clock != CLOCK_MONOTONIC_COARSE)
		return 0;
	ns = now->tv_sec * 1000000000 + now->tv_nsec - LATE_TICK;
	*now = (struct timespec){ns / 1000000000, ns % 1000000000};
	return 0;
}
#endif
int main(int argc, char **argv)
{
	int children = atoi(argv[1]), threads = atoi(argv[2]), status;
	char *words[] = {"/bin/true", NULL};
	pthread_t busy[4];
	pid_t pid;

	for (int i = 0; i < 100; i++)
		kept[i] = old_block();
	for (int i = 0; i < threads; i++)
		pthread_create(&busy[i], NULL, churn, NULL);
	for (int i = 0; i < children; i++) {
		pid = fork();
		if (!pid)
			be_child(i);
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
		free(kept[99 - i % 40]);
		kept[99 - i % 40] = old_block();
	}
	pid = vfork();
	if (!pid) {
		kept[150] = vforked_block();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (posix_spawn(&pid, words[0], NULL, NULL, words, environ) || waitpid(pid, &status, 0) != pid)
		return 1;
	ends = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(busy[i], NULL);
	return 0;
}
"""


def heirs(t, *flags):
    source, program = t.tmp / "heirs.c", t.tmp / "heirs"
    source.write_text(HEIRS, encoding="ascii")
    subprocess.run(["cc", "-O1", "-g", "-pthread", *flags, "-o", program, source], check=True)
    t.tmp.chmod(0o755)
    return program


@each(("3", "4"), ("1500", "0"), ("20", "0", "-DLATE_TICK=100000000", "-rdynamic"))
def test_inherited_exactly(t, how):
    """
    A few children of a program whose other threads go on, very many short-lived children, and
    children of a program on a machine whose clock tick is 100 ms late.
    """
    report, code = command(t, heirs(t, *how[2:]), *how[:2], options=("-f",))
    wanted("exit code", code, 0)
    if any(report["lost"].values()):
        fail(report, f"lost: {report['lost']}")
    sums = {}
    for function in ("old_block", "new_block", "vforked_block"):
        for site in sites_of(report, function):
            of = site.get("inherited", {"count": 0})["count"]
            key = site["pid"], function
            before = sums.get(key, (0, 0))
            sums[key] = before[0] + site["count"], before[1] + of
    parent, = (pid for pid, function in sums if function == "vforked_block")
    wanted("the parent's", {key[1]: counts for key, counts in sums.items() if key[0] == parent},
           {"old_block": (100, 0), "vforked_block": (1, 0)})
    children = {pid for pid, _ in sums} - {parent}
    wanted("children", len(children), int(how[0]))
    for pid in children:
        wanted("a child's", (sums.get((pid, "old_block")), sums.get((pid, "new_block"))),
               ((50, 50), (5, 0)))


def test_count(t):
    """Counts calls of each process without any capability."""
    report, _ = command(t, heirs(t), "3", "0", options=("-f", "--count=process"), ages=())
    rows = sorted(report["entries"], key=lambda row: row["calls"])
    wanted("each child's", [(row["calls"], row["bytes"]) for row in rows
                            if row["comm"] == "heirs"][:3], [(55, 10000)] * 3)
    parent = rows[-1]
    own = 100 + 3 * 2 + 1, 103 * 1000 + 3000
    for key, least in zip(("calls", "bytes"), own):
        if not least <= parent[key] < least + 100000:
            raise Failure(f"{key}: {parent[key]}, of which {least} are the program's, the rest "
                          "the libraries'")
    wanted("sum", report["calls"], sum(row["calls"] for row in rows))


@untraced
def test_count_joined(t):
    """Counts calls from the time of joining."""
    program = load(t, "leak")
    program.go()
    memleak = t.memleak("--agent", "--json", "--count=function", "-p", str(program.pid),
                        "3600").ready()
    program.go()
    program.go()
    memleak.signal(signal.SIGINT)
    memleak.finish(final=False)
    wanted("calls", {row["function"]: (row["calls"], row["bytes"])
                     for row in memleak.counts[-1]["entries"]},
           {"malloc": (10, 5 * (1048576 + 16)), "free": (20, 0)})


@untraced
def test_trace(t):
    """Prints each allocation and free of each process, in order, with its stack."""
    output = t.tmp / "reports"
    memleak = t.memleak("--agent", "--json", "-tt", "-f", "-o", "0", "--output", output, "3600",
                        "--", heirs(t), "3", "0", output=output)
    report = memleak.finish()
    if any(report["lost"].values()):
        fail(report, f"lost: {report['lost']}")
    living, inherited_frees, last = {}, {}, {}
    for event in memleak.events:
        pid, address, size = event["pid"], event["addr"], event["size"]
        last[pid] = max(event["time"], last.get(pid, ""))
        if event["time"] < last[pid]:
            raise Failure(f"{event} comes after {last[pid]}")
        if event["stack_end"] != "complete":
            raise Failure(f"its stack is cut: {event}")
        if event["event"] == "alloc":
            living[pid, address] = size
        elif (pid, address) in living:
            wanted("size", size, living.pop((pid, address)))
        elif size is not None:
            raise Failure(f"nothing was allocated there: {event}")
        else:
            inherited_frees[pid] = inherited_frees.get(pid, 0) + 1
    children = [pid for pid, count in inherited_frees.items() if count == 50]
    wanted("children", len(children), 3)
    for pid in children:
        own = [event for event in memleak.events if event["pid"] == pid]
        wanted("events of a child", len(own), 55)
        wanted("who allocates", sum(owner(event) == "new_block" for event in own), 5)
        wanted("who frees", sum(owner(event) == "be_child" for event in own), 50)
    heap = sum(size for site in report["sites"] if site["kind"] == "heap"
               for size in [site["bytes"] - site.get("inherited", {"bytes": 0})["bytes"]])
    wanted("what is left", sum(living.values()), heap)


FLOOD = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept[1200000];
int main(void)
{
	for (;;) {
		write(1, "ready\\n", 6);
		if (getchar() == EOF)
			return 0;
		for (int i = 0; i < 1200000; i++)
			kept[i] = malloc(16);
	}
}
"""


@untraced
def test_trace_lost(t):
    """
    Events that memleak does not read in time are counted; after memleak has left, none are sent.
    """
    source, program = t.tmp / "flood.c", t.tmp / "flood"
    source.write_text(FLOOD, encoding="ascii")
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    process = t.process([program], env={"LD_PRELOAD": os.fspath(library(t))})
    process.wait_for("the line", lambda: "ready" in process.out.text)
    next_stage(process)
    memleak = join(t, process, "-t", "-z", "100000")
    memleak.signal(signal.SIGSTOP)
    next_stage(process)
    memleak.signal(signal.SIGCONT)
    lost = memleak.stop()["lost"]["events"]
    wanted("lost", lost, 1200000 - (1 << 20))
    next_stage(process)
    wanted("lost later", join(t, process).stop()["lost"]["events"], lost)
