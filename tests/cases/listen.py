# SPDX-License-Identifier: GPL-2.0-or-later
"""--listen: the pages served, and access to them."""

import ctypes
import fcntl
import gzip
import http.client
import os
import shutil
import socket
import stat
import struct
import subprocess

from lib import Broken, Failure, ROOT, Skip, each, slow, timeout, wanted
from lib.http import (address_of, after_leak, fetch, fetch_json, listen, request, scrape, stop)
from lib.memleak import parse
from lib.process import until

BIG = 5 * 1048576


def test_metrics(t):
    """Metrics have the truth with symbols, the remainder (0 here), calls, losses and costs."""
    memleak, address, truth = after_leak(t)
    metrics = scrape(address)
    for (function, _), (count, size) in truth.sites.items():
        where = {"function": function, "module": str(t.file_of("leak")), "space": "user",
                 "kind": "heap", "comm": "leak"}
        if not metrics.labels("memleak_site_outstanding_bytes", **where)["callers"].startswith(
                "round_of_leaks < main < "):
            raise Failure(f"callers of {function}")
        wanted("bytes", metrics.value("memleak_site_outstanding_bytes", **where), size)
        wanted("blocks", metrics.value("memleak_site_outstanding_blocks", **where), count)
    for thing, total in (("bytes", truth.bytes), ("blocks", truth.count)):
        wanted(thing, metrics.value("memleak_outstanding_" + thing), total)
        wanted("others", metrics.value(f"memleak_site_outstanding_{thing}", function="other"), 0)
    wanted("sites", metrics.value("memleak_sites"), 2)
    wanted("malloc", metrics.value("memleak_calls_total", function="malloc"), 10)
    wanted("free", metrics.value("memleak_calls_total", function="free"), 1)
    lost = {labels["reason"]: value for labels, value in metrics.samples["memleak_lost_total"]}
    wanted("lost", lost, {key: 0 for key in memleak.reports[0]["lost"]})
    for name in ("process_cpu_seconds_total", "process_resident_memory_bytes",
                 "memleak_walk_seconds", "memleak_reports_total"):
        if metrics.value(name) <= 0:
            raise Failure(f"{name} is {metrics.value(name)}")
    stop(memleak)


def resident(*pids):
    pages = 0
    for pid in pids:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            pages += int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def test_own_cost(t):
    """Helpers and their starter are included in memleak's own cost."""
    memleak, address, _ = after_leak(t)
    memleak.fresh_report()
    helpers = memleak.helpers  # a report may start one
    alone, together = resident(memleak.pid), resident(memleak.pid, *memleak.starters, *helpers)
    told = scrape(address).value("process_resident_memory_bytes")
    if not helpers or not (alone + together) / 2 < told < 1.1 * together:
        raise Failure(f"{told} bytes; alone {alone}, with {len(helpers)} helpers {together}")
    stop(memleak)


def test_top(t):
    """Sites left out by -T are summed up in one row."""
    memleak, address, truth = after_leak(t, "-T", "1")
    metrics = scrape(address)
    wanted("rows", len(metrics.samples["memleak_site_outstanding_bytes"]), 2)
    wanted("big", metrics.value("memleak_site_outstanding_bytes", function="leak_big"), BIG)
    wanted("other", metrics.value("memleak_site_outstanding_bytes", function="other"),
           truth.bytes - BIG)
    stop(memleak)


@slow
def test_growth(t):
    """Growth and score appear once they are known; here growth has stopped."""
    program = t.program("leak")
    memleak, address = listen(t, program, "--by", "process")
    program.go()
    begin = memleak.fresh_report()["elapsed_ns"]
    # Growth is not judged in the first ten seconds.
    memleak.wait_for("reports of eleven seconds",
                     lambda: memleak.take()[-1]["elapsed_ns"] > begin + 11e9)
    memleak.fresh_report()
    metrics = scrape(address)
    wanted("growth", metrics.value("memleak_group_growth_bytes_per_second"), 0)
    wanted("process", metrics.value("memleak_group_outstanding_blocks", pid=str(program.pid)), 10)
    wanted("other", metrics.value("memleak_group_outstanding_blocks", comm="other"), 0)
    for labels, value in metrics.samples["memleak_site_leak_score"]:
        if not 0 <= value <= 1:
            raise Failure(f"score {value} of {labels}")
    stop(memleak)


def test_count(t):
    """--count: calls of each row, and of all."""
    program = t.program("leak")
    memleak = t.memleak("--json", "--listen", "0", "--count=process", "-p", str(program.pid),
                        "0.2").ready()
    address = address_of(memleak)
    program.go()
    memleak.wait_for("calls", lambda: any(report["total"]["calls"] == 11
                                          for report in memleak.take_counts()))
    metrics = scrape(address)
    wanted("calls", metrics.value("memleak_calls_total", pid=str(program.pid), comm="leak"), 11)
    wanted("all", metrics.value("memleak_all_calls_total"), 11)
    wanted("bytes", metrics.value("memleak_requested_bytes_total"), BIG + 80)
    report = parse(fetch(address, "/report").removesuffix("\n").encode())
    wanted("report", report["schema"], "memleak-count/1")
    memleak.signal(2)
    memleak.finish(final=False)


def test_report(t):
    """/report is a printed report, byte for byte; also a profile."""
    memleak, address, _ = after_leak(t)
    profile = gzip.decompress(request(address, "/pprof").body)
    for name in (b"leak_big", b"leak_small", b"inuse_space"):
        if name not in profile:
            raise Failure(f"no {name} in the profile")
    served = fetch(address, "/report")
    memleak.fresh_report()
    if served.encode() not in bytes(memleak.out.data):
        raise Failure(f"was never printed: {served}")
    stop(memleak)


def test_before_the_first_report(t):
    program = t.program("leak")
    memleak, address = listen(t, program, interval="3600")
    for path in ("/report", "/pprof"):
        wanted(path, request(address, path).status, 503)
    index = request(address, "/")
    wanted("index", (index.status, index.headers["Refresh"], b"/metrics" in index.body),
           (200, "2", True))
    metrics = scrape(address)
    wanted("reports", metrics.value("memleak_reports_total"), 0)
    wanted("sites", "memleak_sites" in metrics.samples, False)
    wanted("health", fetch(address, "/healthz"), "ok\n")
    stop(memleak)


def test_http(t):
    """HTTP content types, methods and paths."""
    memleak, address, _ = after_leak(t)
    open_metrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"
    plain = "text/plain; version=0.0.4; charset=utf-8"
    for accept, kind in ((None, open_metrics), ("*/*", open_metrics), ("text/plain", plain),
                         ("application/openmetrics-text,text/plain;q=0.5", open_metrics)):
        answer = request(address, "/metrics", headers={"Accept": accept} if accept else {})
        wanted(f"type for {accept}", answer.getheader("Content-Type"), kind)
        wanted("end", answer.body.endswith(b"# EOF\n"), kind == open_metrics)
    head = request(address, "/report", method="HEAD")
    wanted("HEAD", (head.status, head.body, int(head.getheader("Content-Length")) > 100),
           (200, b"", True))
    for host, status in (("localhost", 200), (socket.gethostname(), 200), ("[::1]:80", 200),
                         ("rebound.example", 421), ("localhost.rebound.example:80", 421)):
        wanted(host, request(address, "/report", headers={"Host": host}).status, status)
    if "/metrics" not in fetch(address, "/nothing", status=404):
        raise Failure("/metrics is not listed")
    fetch(address, "/report?a=b")
    for path in ("/nothing", "/metrics/", "/..", "//metrics", "/%00", "/" + "x" * 5000):
        wanted(path, request(address, path).status, 404)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"):
        answer = request(address, "/metrics", method=method)
        wanted(method, (answer.status, answer.getheader("Allow")), (405, "GET, HEAD"))
    stop(memleak)


LEAK = """
rule_files: [{alerts}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {{series: 'memleak_suspect_growth_bytes_per_second{{{labels}, {one}}}', values: '{first}'}}
      - {{series: 'memleak_suspect_growth_bytes_per_second{{{labels}, {two}}}', values: '{second}'}}
    alert_rule_test:
      - {{eval_time: {at}, alertname: MemoryLeak, exp_alerts: [{alert}]}}
"""
ONE = 'site="1", pid="7", file="a.c:7", callers="a < b", kind="heap"'
TWO = 'site="2", pid="8", file="a.c:9", callers="b < c", kind="mmap"'


@each(("function", 'function="keep"', "2048x60", "_x60", "40m", "leaks 2kiB/s in keep"),
      ("objects", 'objects="python objects"', "2048x60", "_x60", "40m",
       "leaks 2kiB/s in python objects"),
      ("other_stack", 'function="keep"', "2048x30 stale", "_x30 2048x30", "40m",
       "leaks 2kiB/s in keep"),
      ("seen_in_some_reports", 'function="keep"', "2048 _ _ _ 2048 _ _ _ " * 8, "_x60", "40m",
       "leaks 2kiB/s in keep"),
      ("slow", 'function="keep"', "1000x60", "_x60", "40m", None),
      ("short", 'function="keep"', "2048x9 stale", "_x60", "13m", None))
def test_leak_alert(t, what):
    """An alert fires if a function has leaked for a quarter of an hour, from whichever stacks."""
    _, labels, first, second, at, summary = what
    if not shutil.which("promtool"):
        raise Skip("promtool is missing: Debian's package prometheus has it")
    alert = (f'{{exp_labels: {{severity: warning, comm: app, {labels.replace("=", ": ")}}}, '
             f'exp_annotations: {{summary: "app {summary}"}}}}') if summary else ""
    rules = t.tmp / "rules.yml"
    rules.write_text(LEAK.format(alerts=ROOT / "docs/alerts.yml", labels='comm="app", ' + labels,
                                 one=ONE, two=TWO, first=first.strip(), second=second, at=at,
                                 alert=alert),
                     encoding="utf-8")
    answer = subprocess.run(["promtool", "test", "rules", rules], text=True, capture_output=True,
                            check=False)
    if answer.returncode:
        raise Failure(answer.stdout + answer.stderr)


def test_promtool(t):
    if not shutil.which("promtool"):
        raise Skip("promtool is missing: Debian's package prometheus has it")
    memleak, address, _ = after_leak(t)
    text = fetch(address, "/metrics", headers={"Accept": "text/plain"})
    answer = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                            capture_output=True, check=False)
    wanted("promtool", (answer.returncode, answer.stdout, answer.stderr), (0, "", ""))
    stop(memleak)


def test_docs(t):
    """The files in docs/ are accepted by the tools that they are for."""
    if not shutil.which("promtool"):
        raise Skip("promtool is missing: Debian's package prometheus has it")
    answer = subprocess.run(["promtool", "check", "config", ROOT / "docs/prometheus.yml"],
                            text=True, capture_output=True, check=False)
    if answer.returncode or "4 rules found" not in answer.stdout:
        raise Failure(answer.stdout + answer.stderr)
    described = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    memleak, address, _ = after_leak(t)
    for name in scrape(address).samples:
        if f"`{name}`" not in described:
            raise Failure(f"docs/metrics.md says nothing of {name}")
    stop(memleak)


RULES = """
rule_files: [{alerts}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
{series}
    alert_rule_test:
      - {{eval_time: 50m, alertname: MemleakStopped, exp_alerts: [{alerts_then}]}}
"""


@each(("scraped", "1x60", "0+60x60", "1x60", False),
      ("reports_stopped", "1x60", "0+60x20 1200x40", "1x60", True),
      ("died", "1x20 stale", "0+60x20 stale", "1x20 0x40", True),
      ("vanished", "1x20 stale", "0+60x20 stale", "1x20 stale", True),
      ("gone_for_two_days", "_x60", "_x60", "_x60", True))
def test_alert(t, what):
    """An alert fires if memleak stops reporting, also if Prometheus discovered it by itself."""
    _, build, timestamp, up, fires = what
    if not shutil.which("promtool"):
        raise Skip("promtool is missing: Debian's package prometheus has it")
    where = 'job="kubernetes-pods", instance="10.0.0.7:9400"'
    values = {"memleak_build_info{version=\"0.1\", ": build,
              "memleak_report_timestamp_seconds{": timestamp, "up{": up}
    series = "\n".join(f"      - {{series: '{name}{where}}}', values: '{value}'}}"
                       for name, value in values.items())
    labels = "" if up.endswith(("stale", "_x60")) else where.replace("=", ": ") + ", "
    told = "exp_annotations: {summary: no report of memleak for ten minutes}"
    rules = t.tmp / "rules.yml"
    rules.write_text(RULES.format(
        alerts=ROOT / "docs/alerts.yml", series=series,
        alerts_then=f"{{exp_labels: {{{labels}severity: info}}, {told}}}" if fires else ""),
        encoding="utf-8")
    answer = subprocess.run(["promtool", "test", "rules", rules], text=True, capture_output=True,
                            check=False)
    if answer.returncode:
        raise Failure(answer.stdout + answer.stderr)


def unused_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@timeout(180)
def test_prometheus(t):
    """A real Prometheus finds the target, scrapes it, and returns the truth."""
    if not shutil.which("prometheus"):
        raise Skip("prometheus is missing: a package of Debian's")
    memleak, (host, port), _ = after_leak(t)
    config = t.tmp / "prometheus.yml"
    config.write_text(f"""
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: memleak
    static_configs: [{{targets: ['{host}:{port}']}}]
""", encoding="utf-8")
    server = ("127.0.0.1", unused_port())
    prometheus = t.process(["prometheus", f"--config.file={config}",
                            f"--storage.tsdb.path={t.tmp / 'data'}",
                            f"--web.listen-address={server[0]}:{server[1]}"])

    def query(text):
        try:
            answer = fetch_json(server, "/api/v1/query?query=" + text)
        except (OSError, Failure):
            return None  # Prometheus does not listen yet
        return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]

    memleak.wait_for("its answer", lambda: query("memleak_outstanding_bytes"), every=0.1)
    wanted("up", [value for _, value in query("up")], [1])
    (labels, value), = query('memleak_site_outstanding_bytes{function="leak_big"}')
    wanted("bytes", (value, labels["comm"], labels["module"]),
           (BIG, "leak", str(t.file_of("leak"))))
    target, = fetch_json(server, "/api/v1/targets")["data"]["activeTargets"]
    wanted("target", (target["health"], target["lastError"]), ("up", ""))
    meta = fetch_json(server, "/api/v1/metadata?metric=memleak_calls_total")["data"]
    meta = meta or fetch_json(server, "/api/v1/metadata?metric=memleak_calls")["data"]
    wanted("type", [entry["type"] for entries in meta.values() for entry in entries], ["counter"])
    stop(memleak)


def test_port_in_use(t):
    program = t.program("leak")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        memleak = t.refused("--listen", str(port), "-p", str(program.pid), "1", "1", code=1,
                            says=f"cannot listen on 127.0.0.1:{port}: Address already in use")
    wanted("lines", len(memleak.notes.splitlines()), 1)


def test_addresses(t):
    """Listens on the loopback address only, unless another one is given; then memleak says so."""
    program = t.program("leak")
    for text, host, is_open in (("0", "127.0.0.1", False), ("127.0.0.2:0", "127.0.0.2", False),
                                ("0.0.0.0:0", "0.0.0.0", True)):
        memleak, address = listen(t, program, address=text, interval="3600")
        wanted("host", address[0], host)
        wanted("said", "without a password" in memleak.notes, is_open)
        fetch(address, "/healthz")
        stop(memleak)


def test_ipv6(t):
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(("::1", 0))
    except OSError as error:
        raise Skip(f"no IPv6: {error}") from error
    memleak, address = listen(t, t.program("leak"), address="[::1]:0", interval="3600")
    wanted("host", address[0], "::1")
    fetch(address, "/healthz")
    stop(memleak)


def holds(process, path):
    """True if the process has the file open."""
    for file in os.scandir(f"/proc/{process.pid}/fd"):
        try:
            if os.readlink(file.path) == str(path):
                return True
        except OSError:
            pass
    return False


class LocalConnection(http.client.HTTPConnection):
    """An HTTP connection over a Unix socket."""

    def __init__(self, path):
        super().__init__("any.example")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(str(self.path))


def listen_locally(t, path, options=""):
    memleak = t.attach(t.program("leak"), "--listen", f"unix:{path}{options}", interval="0.2")
    memleak.wait_for("its address", lambda: f"listening on unix:{path}" in memleak.notes)
    memleak.fresh_report()
    connection = LocalConnection(path)
    connection.request("GET", "/metrics")
    if not connection.getresponse().read().endswith(b"\n# EOF\n"):
        raise Failure("no metrics")
    connection.close()
    return memleak


def mode_of(path):
    return stat.S_IMODE(path.lstat().st_mode)


def test_local(t):
    """A Unix socket, for its owner only or for a group or all; removed when memleak ends."""
    path = t.tmp / "socket"
    for options, mode in (("", 0o600), (",mode=0666", 0o666)):
        memleak = listen_locally(t, path, options)
        wanted("mode", mode_of(path), mode)
        stop(memleak)
        wanted("socket at the end", path.exists(), False)


def test_local_stale(t):
    """A stale socket of a killed run is replaced."""
    path = t.tmp / "socket"
    old = socket.socket(socket.AF_UNIX)
    old.bind(str(path))
    old.close()
    stop(listen_locally(t, path))


def test_local_replaced(t):
    """If the socket was replaced by another file, this file is not removed at the end."""
    path = t.tmp / "socket"
    memleak = listen_locally(t, path)
    path.unlink()
    other = socket.socket(socket.AF_UNIX)
    other.bind(str(path))
    stop(memleak)
    wanted("the other one at the end", path.exists(), True)
    other.close()


def test_local_race(t):
    """If two runs replace a stale socket at once, the second finds the socket of the first."""
    path = t.tmp / "socket"
    old = socket.socket(socket.AF_UNIX)
    old.bind(str(path))
    old.close()
    folder = os.open(t.tmp, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    memleak = t.memleak("--listen", f"unix:{path}", "-p", str(os.getpid()), "1", "1")
    if not until(lambda: holds(memleak, t.tmp)):
        raise Broken("memleak does not open the folder")
    path.unlink()
    first = socket.socket(socket.AF_UNIX)
    first.bind(str(path))
    first.listen()
    os.close(folder)
    memleak.finish(1, final=False)
    if "Address already in use" not in memleak.notes:
        raise Failure(f"the first one is removed: {memleak.notes!r}")
    first.close()


def test_local_locked(t):
    """A lock on the folder, which any user could hold, does not block memleak."""
    folder = os.open(t.tmp, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    stop(listen_locally(t, t.tmp / "socket"))
    os.close(folder)


IN_ATTRIB, IN_CREATE = 4, 0x100


def test_local_mode_at_first(t):
    """The socket has its mode from the beginning: clients cannot connect before a chmod."""
    libc = ctypes.CDLL(None)
    events = libc.inotify_init1(os.O_NONBLOCK)
    if libc.inotify_add_watch(events, os.fsencode(t.tmp), IN_ATTRIB | IN_CREATE) < 0:
        raise Broken("no inotify")
    memleak = t.attach(t.program("leak"), "--listen", f"unix:{t.tmp}/socket",
                       wrapper=("sh", "-c", 'umask 0; exec "$0" "$@"'))
    data, masks = os.read(events, 65536), []
    os.close(events)
    while data:
        _, mask, _, length = struct.unpack_from("iIII", data)
        masks.append(mask)
        data = data[struct.calcsize("iIII") + length:]
    wanted("what was done to it", masks, [IN_CREATE])
    wanted("mode", mode_of(t.tmp / "socket"), 0o600)
    stop(memleak)


USER_OBJ, USER, GROUP_OBJ, MASK, OTHER = 1, 2, 4, 16, 32
NO_ID = 0xffffffff


def test_local_in_open_folder(t):
    """A default ACL of the folder that allows everybody does not apply to the socket."""
    entries = [(USER_OBJ, 7, NO_ID), (USER, 7, 65534), (GROUP_OBJ, 7, NO_ID), (MASK, 7, NO_ID),
               (OTHER, 7, NO_ID)]
    try:
        os.setxattr(t.tmp, "system.posix_acl_default", struct.pack("<I", 2) + b"".join(
            struct.pack("<HHI", *entry) for entry in entries))
    except OSError as error:
        raise Skip(f"no access lists here: {error}") from error
    memleak = listen_locally(t, t.tmp / "socket")
    wanted("mode", mode_of(t.tmp / "socket"), 0o600)
    stop(memleak)


@each("live", "file", "long")
def test_local_taken(t, sort):
    """Any other file at the socket's path is left alone."""
    path = t.tmp / ("x" * 110 if sort == "long" else "place")
    live = socket.socket(socket.AF_UNIX)
    if sort == "live":
        live.bind(str(path))
        live.listen()
    elif sort == "file":
        path.write_text("mine")
    t.refused("--listen", f"unix:{path}", "-p", str(os.getpid()), "1", "1",
              code=2 if sort == "long" else 1,
              says={"live": "Address already in use", "file": "File exists",
                    "long": "at most 107 bytes"}[sort])
    if sort == "file":
        wanted("file", path.read_text(), "mine")
    live.close()
