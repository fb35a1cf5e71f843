# SPDX-License-Identifier: GPL-2.0-or-later
"""--listen: what is served, to whom, and that nobody can hold up reports with it."""

import gzip
import shutil
import socket
import subprocess
import threading

from lib import Failure, ROOT, Skip, each, timeout, wanted
from lib.http import address_of, fetch, fetch_json, request, scrape

BIG = 5 * 1048576
SILENCE = 10  # seconds after which a silent client is cut off


def listen(t, program, *options, interval="0.2", address="0"):
    memleak = t.attach(program, "--listen", address, *options, interval=interval)
    return memleak, address_of(memleak)


def after_leak(t, *options, **kwargs):
    """A program that has leaked, memleak, its address, the truth; a report has shown it."""
    program = t.program("leak")
    memleak, address = listen(t, program, *options, **kwargs)
    truth = program.go()
    memleak.fresh_report()
    return memleak, address, truth


def stop(memleak):
    memleak.stop()
    wanted("lines on stderr", [line for line in memleak.notes.splitlines()
                               if not line.startswith("memleak: ")], [])


def test_metrics(t):
    """The truth, with its names; the rest, of which there is none; calls; losses; costs."""
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


def test_top(t):
    """What -T leaves out is in one row."""
    memleak, address, truth = after_leak(t, "-T", "1")
    metrics = scrape(address)
    wanted("rows", len(metrics.samples["memleak_site_outstanding_bytes"]), 2)
    wanted("big", metrics.value("memleak_site_outstanding_bytes", function="leak_big"), BIG)
    wanted("other", metrics.value("memleak_site_outstanding_bytes", function="other"),
           truth.bytes - BIG)
    stop(memleak)


def test_growth(t):
    """Growth and score appear as soon as they are known: it does not grow any more."""
    program = t.program("leak")
    memleak, address = listen(t, program, "--by", "process")
    program.go()
    for _ in range(5):
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
    """With --count: calls of each, and of all."""
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
    wanted("report", fetch_json(address, "/report")["schema"], "memleak-count/1")
    memleak.signal(2)
    memleak.finish(final=False)


def test_report(t):
    """One of those that are printed, byte by byte; and a profile."""
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
    metrics = scrape(address)
    wanted("reports", metrics.value("memleak_reports_total"), 0)
    wanted("sites", "memleak_sites" in metrics.samples, False)
    wanted("health", fetch(address, "/healthz"), "ok\n")
    stop(memleak)


def test_http(t):
    """Types, methods, paths."""
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
    if "/metrics" not in fetch(address, "/"):
        raise Failure("/ does not list /metrics")
    fetch(address, "/report?a=b")
    for path in ("/nothing", "/metrics/", "/..", "//metrics", "/%00", "/" + "x" * 5000):
        wanted(path, request(address, path).status, 404)
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE", "X"):
        answer = request(address, "/metrics", method=method)
        wanted(method, (answer.status, answer.getheader("Allow")), (405, "GET, HEAD"))
    stop(memleak)


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
    """The files that docs/ gives away are read by those that they are for."""
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


def unused_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@timeout(180)
def test_prometheus(t):
    """A real one finds the target, scrapes it, and answers with the truth."""
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
            return None  # it has not begun to listen
        return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]

    memleak.wait_for("its answer", lambda: query("memleak_outstanding_bytes"), every=0.1, seconds=60)
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
    """This machine alone, unless asked for; then it is said."""
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


def say(address, data):
    """Sends that, as far as it is taken, and returns what came back."""
    with socket.create_connection(address) as client:
        client.settimeout(2)
        answer = b""
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(65536):
                answer += part
        except OSError:
            pass  # it hung up
        return answer


GARBAGE = {
    "zeros": b"\0" * 10000,
    "no_line": b"x" * 100000,
    "header": b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"y" * (1 << 20) + b"\r\n\r\n",
    "headers": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100000 + b"\r\n",
    "path": b"GET /" + b"%2e" * 300000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
    "body": b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + b"z" * 1000000,
    "post": b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n"
            + b"z" * 1000000,
    "chunks": b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
              + b"ffffffffffffffff\r\n" + b"z" * 100000,
    "length": b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "version": b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "pipeline": b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 100,
    "tls": bytes.fromhex("16030100c8010000c40303") + b"\xff" * 200,
}


def meanwhile(memleak, function, *args):
    """What function returns; reports are read beside it, as memleak waits for who reads them."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function(*args)))
    thread.start()
    memleak.wait_for("the end of the client", lambda: not thread.is_alive(), every=0.05)
    return answers[0]


def gaps(reports):
    return [after["elapsed_ns"] - before["elapsed_ns"]
            for before, after in zip(reports, reports[1:])]


def still_serves(memleak, address, first):
    """Reports came meanwhile and still do, in time; whoever asks is answered."""
    memleak.fresh_report()
    if len(memleak.reports) - first < 3:
        raise Failure("no reports meanwhile")
    if max(gaps(memleak.reports)) > 2_000_000_000:
        raise Failure(f"reports were held up: {gaps(memleak.reports)}")
    if meanwhile(memleak, fetch, address, "/healthz") != "ok\n":
        raise Failure("does not answer any more")
    stop(memleak)


@each(*GARBAGE)
def test_garbage(t, name):
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    for _ in range(3):
        answer = meanwhile(memleak, say, address, GARBAGE[name])
        memleak.fresh_report()
    if name != "pipeline" and b"outstanding" in answer:
        raise Failure(f"was answered: {answer[:300]!r}")
    still_serves(memleak, address, first)


@timeout(120)
def test_idle_clients(t):
    """
    Two hundred that say nothing, or half a line: they are cut off, reports come in time. Who
    comes then is served, though there was no room for a while.
    """
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    clients = [start_to_connect(address) for _ in range(200)]
    for client in clients[:30]:
        client.sendall(b"GET /metr")
    for _ in range(5):
        memleak.fresh_report()
    memleak.wait_for("the end of the first", lambda: is_cut_off(clients[0]), every=0.1,
                     seconds=3 * SILENCE)
    wanted("health", meanwhile(memleak, fetch, address, "/healthz"), "ok\n")
    for client in clients:
        client.close()
    still_serves(memleak, address, first)


def start_to_connect(address):
    """Those for whom there is no room wait in the kernel."""
    client = socket.socket()
    client.setblocking(False)
    client.connect_ex(address)
    return client


def is_cut_off(client):
    """What it is told before, a status, does not matter."""
    try:
        return client.recv(1000) == b"" or is_cut_off(client)
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_slow_readers(t):
    """They ask for all there is and read nothing, while new reports replace what they hold."""
    program = t.program("many", "3000", "100")
    memleak, address = listen(t, program, "-a")
    program.go()
    memleak.fresh_report()
    first = len(memleak.reports)
    clients = []
    for _ in range(30):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(address)
        client.sendall(b"GET /report HTTP/1.1\r\nHost: x\r\n\r\n")
        clients.append(client)
    for _ in range(4):
        memleak.fresh_report()
    for client in clients:
        client.close()
    still_serves(memleak, address, first)


def test_busy_clients(t):
    """Eight that ask without a pause."""
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    over = threading.Event()
    answers = []

    def ask():
        while not over.is_set():
            answers.append(request(address, "/metrics").status)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        memleak.fresh_report()
    over.set()
    for thread in threads:
        thread.join()
    wanted("answers", set(answers), {200})
    still_serves(memleak, address, first)
