# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the agent: malloc/free pairs, threads, many blocks, real programs."""

import contextlib
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time

import peers
from measure import BUILD, Calls, difference, ratio
from pair import SAMPLED, measure, wrappers
from programs import OBJECTS, REQUESTS, compiler

DEPTHS = (4, 15, 40)
ROUNDS = 20000
THREADS = (1, 2, 8, 64)
BLOCKS = (200000, 2000000)
LONGEST = 60  # maximum run time of a program, in seconds
UNTRACED, FORWARDS, AGENT = "untraced", "forwards", "agent"
SAMPLING = f"agent {' '.join(SAMPLED)}"
SCRIPT = """
let kept = [];
for (let i = 0; i < 3000000; i++)
	kept[i % 100000] = Buffer.allocUnsafeSlow(i % 300 + 64);
"""
RUST = "pub fn f%d(v: Vec<u64>) -> Vec<String> { v.iter().map(|x| format!(\"{:?}\", x + %d)).collect() }\n"


def preloaded(library, orders=""):
    return ("env", f"LD_PRELOAD={library}", f"MEMLEAK_AGENT={orders}")


def ways(small=True):
    """Returns {name: command prefix}."""
    library = BUILD / "libmemleak.so"
    found = {UNTRACED: ()}
    if small:
        found[FORWARDS] = preloaded(BUILD / "bench/libforwards.so")
    found[AGENT] = preloaded(library, "0:f:")
    found[SAMPLING] = preloaded(library, f"0:fb{SAMPLED[1]}:")
    found |= wrappers()
    if not small:
        found.pop("valgrind", None)  # would take minutes
    return found


def start_all(threads, orders):
    programs = {name: Calls("pairs", threads, wrapper=wrapper) for name, wrapper in ways().items()}
    for program in programs.values():
        program.measure(orders)
    return programs


def show(title, columns):
    """Prints medians, and differences and ratios to untraced. columns: {head: {name: times}}."""
    print(f"{title:28}" + "".join(f"{head:>12}{'more':>8}{'ratio':>7}" for head in columns))
    for name in next(iter(columns.values())):
        print(f"{name:28}" + "".join(
            f"{statistics.median(times[name]):12.1f}{difference(times[name], times[UNTRACED]):8.1f}"
            f"{ratio(times[name], times[UNTRACED]):7.2f}" for times in columns.values()))
    print(flush=True)


def pairs(turns):
    programs = start_all(1, "pairs 4 1 100")
    orders = {f"{depth} deep": f"pairs {depth} 1 {ROUNDS}" for depth in DEPTHS}
    orders["20, 1000 paths"] = f"pairs 20 1000 {ROUNDS}"
    times = measure(programs, orders.values(), turns)
    for program in programs.values():
        program.end()
    show("a pair, ns", {head: times[order] for head, order in orders.items()})


def threads(turns):
    columns = {}
    for cnt in THREADS:
        programs = start_all(cnt, "pairs 4 1 100")
        order = f"pairs 15 1 {ROUNDS // min(cnt, 8)}"
        columns[f"{cnt} threads"] = measure(programs, (order,), turns)[order]
        for program in programs.values():
            program.end()
    show("a pair 15 deep, ns of CPU", columns)


def replaced(turns):
    columns = {}
    for cnt in BLOCKS:
        programs = start_all(1, f"replace 15 {cnt} {cnt}")
        order = f"replace 15 {cnt} 100000"
        columns[f"{cnt}"] = measure(programs, (order,), turns)[order]
        for program in programs.values():
            program.end()
    show("one of N blocks replaced, ns", columns)


class Unfinished(SystemExit):
    """A command did not succeed; the bench ends with this message unless the command is skipped."""


def run_once(argv, text, folder):
    """
    Runs a command. Returns its wall time and its CPU time (including its children), in seconds, and
    its peak memory in MB.
    """
    before = time.monotonic()
    with subprocess.Popen([os.fspath(arg) for arg in argv], stdin=subprocess.PIPE, cwd=folder,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as popen:
        with contextlib.suppress(BrokenPipeError):
            popen.stdin.write(text.encode())
            popen.stdin.close()
        late = threading.Timer(LONGEST, os.killpg, (popen.pid, signal.SIGKILL))
        late.start()
        _, status, usage = os.wait4(popen.pid, 0)
        late.cancel()
        popen.returncode = os.waitstatus_to_exitcode(status)
    if popen.returncode == -signal.SIGKILL:
        raise Unfinished(f"it did not end within {LONGEST} s")
    if popen.returncode:
        raise Unfinished(f"it failed: {popen.returncode}")
    return time.monotonic() - before, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def show_program(title, times):
    """Prints medians and ratios to untraced. times: {name: [(wall, CPU, MB)]}."""
    print(f"{title:28}" + "".join(f"{head:>12}{'ratio':>7}" for head in ("wall, s", "CPU, s", "MB")))
    for name, rows in times.items():
        print(f"{name:28}" + "".join(
            f"{statistics.median(own):12.2f}{ratio(own, of):7.2f}"
            for own, of in zip(zip(*rows), zip(*times[UNTRACED]))))
    print(flush=True)


def rust():
    """Returns the command of the real compiler, not of rustup's wrapper, and its input."""
    path = shutil.which("rustc")
    if not path:
        peers.skip("rustc", "it is not installed")
        return None
    root = subprocess.run([path, "--print", "sysroot"], capture_output=True, text=True, check=True)
    return ((pathlib.Path(root.stdout.strip()) / "bin/rustc", "--crate-type", "lib", "-o", "out", "-"),
            "".join(RUST % (i, i) for i in range(30)))


def batches():
    found = {"cc1plus": compiler(), "python3": (("/usr/bin/python3", "-c", OBJECTS), "")}
    if shutil.which("node"):
        found["node"] = (("node", "-e", SCRIPT), "")
    if rust():
        found["rustc"] = rust()
    return found


def programs(turns):
    for title, (argv, text) in batches().items():
        times = {name: [] for name in ways(False)}
        with tempfile.TemporaryDirectory(prefix="memleak-bench-") as folder:
            for _ in range(turns):
                for name in list(times):
                    try:
                        times[name].append(run_once((*ways(False)[name], *argv), text, folder))
                    except Unfinished as why:
                        peers.skip(f"{name} {title}", str(why))
                        del times[name]
        show_program(title, times)


def most_mb(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    """A server started by a wrapper. pid is the server's own process."""

    def __init__(self, argv, ready):
        self.folder = tempfile.TemporaryDirectory(prefix="memleak-bench-")
        self.popen = subprocess.Popen(  # pylint: disable=consider-using-with
            [os.fspath(arg) for arg in argv], cwd=self.folder.name, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = f"{self.folder.name}/{ready}"
        while not os.path.exists(self.socket):
            if self.popen.poll() is not None:
                raise SystemExit(f"{argv} ended")
            time.sleep(0.01)
        self.pid = int(pathlib.Path(f"{self.folder.name}/pid").read_text(encoding="ascii").split()[0])

    def turn(self, argv):
        """Runs a client. Returns wall time, and the server's CPU time in seconds and peak MB."""
        wall, cpu = time.monotonic(), cpu_seconds(self.pid)
        subprocess.run([arg.replace("SOCKET", self.socket) for arg in argv], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return time.monotonic() - wall, cpu_seconds(self.pid) - cpu, most_mb(self.pid)

    def end(self):
        os.kill(self.pid, 15)
        self.popen.wait()
        self.folder.cleanup()


def redis(turns):
    if not peers.installed("redis-check-rdb", "redis-tools"):
        return
    servers = {name: Server((*wrapper, "redis-server", "--port", "0", "--unixsocket", "socket",
                             "--save", "", "--pidfile", "pid", "--daemonize", "no"), "socket")
               for name, wrapper in ways(False).items()}
    load = ("redis-benchmark", "-s", "SOCKET", "-t", "set,lpush", "-n", str(REQUESTS * 5), "-r",
            "100000", "-d", "600", "-P", "16", "-q")
    times = {name: [] for name in servers}
    for _ in range(turns):
        for name, each in servers.items():
            times[name].append(each.turn(load))
    for each in servers.values():
        each.end()
    show_program("redis-server", times)


def postgres(turns):
    """Measures a single-user backend that plans and runs queries in a new database."""
    initdb, program = shutil.which("initdb"), shutil.which("postgres")
    if not initdb or not program:
        peers.skip("postgres", "it is not installed")
        return
    nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    queries = ("select count(distinct md5(i::text)) from generate_series(1, 20000) i; "
               "select relname, (select count(*) from pg_attribute where attrelid = c.oid) "
               "from pg_class c order by 2;\n") * 20
    times = {name: [] for name in ways(False)}
    with tempfile.TemporaryDirectory(prefix="memleak-bench-") as folder:
        os.chown(folder, 65534, 65534)
        subprocess.run([*nobody, initdb, "-D", f"{folder}/data", "-N"], check=True, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(turns):
            for name, wrapper in ways(False).items():
                times[name].append(run_once((*nobody, *wrapper, program, "--single", "-D",
                                             f"{folder}/data", "postgres"), queries, folder))
    show_program("postgres backend", times)


def agents(turns):
    print("Programs that keep their account themselves. forwards: a library that only calls the next "
          "malloc\nand free. more: than untraced. MB: the most that were resident, the account "
          "included, from 20 on.\n")
    pairs(turns)
    threads(max(turns // 2, 1))
    replaced(max(turns // 4, 1))
    few = max(turns // 12, 1)
    programs(few)
    redis(max(turns // 4, 1))
    postgres(few)
