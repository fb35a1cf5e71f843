# SPDX-License-Identifier: GPL-2.0-or-later
"""--listen: hostile clients delay neither reports nor other clients for long."""

import os
import signal
import socket
import threading
import time

from lib import Failure, each, sample, slow, timeout, wanted
from lib.http import after_leak, fetch, listen, request, scrape, stop
from lib.memleak import helpers_of
from lib.process import PATIENCE, state_of

USERS_DEADLINES = True  # use the real deadline for symbols, not a longer one for tests


def say(address, data):
    """Sends data as far as the server accepts it; returns the response."""
    with socket.create_connection(address) as client:
        client.settimeout(2)
        answer = b""
        try:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while part := client.recv(65536):
                answer += part
        except OSError:
            pass  # the server closed the connection
        return answer


GARBAGE = {
    "zeros": b"\0" * 10000,
    "no_line": b"x" * 100000,
    "header": b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * (1 << 20) + b"\r\n\r\n",
    "headers": b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 100000 + b"\r\n",
    "path": b"GET /" + b"%2e" * 300000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "body": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" + b"z" * 1000000,
    "post": b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999999\r\n\r\n"
            + b"z" * 1000000,
    "chunks": b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
              + b"ffffffffffffffff\r\n" + b"z" * 100000,
    "length": b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "two_hosts": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "version": b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "pipeline": b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100,
    "tls": bytes.fromhex("16030100c8010000c40303") + b"\xff" * 200,
}


def meanwhile(memleak, function, *args):
    """Returns what function returns; reads reports meanwhile, as memleak blocks on a full pipe."""
    answers = []
    thread = threading.Thread(target=lambda: answers.append(function(*args)))
    thread.start()
    memleak.wait_for("the end of the client", lambda: not thread.is_alive(), every=0.05)
    return answers[0]


def gaps(reports):
    return [after["elapsed_ns"] - before["elapsed_ns"]
            for before, after in zip(reports, reports[1:])]


def still_serves(t, memleak, address, first):
    """Requires that reports came meanwhile and still do, and that requests are answered."""
    memleak.fresh_report()
    if len(memleak.reports) - first < 3:
        raise Failure("no reports meanwhile")
    t.figure("longest time between two reports", max(gaps(memleak.reports)) / 1e9, "s", 2)
    if meanwhile(memleak, fetch, address, "/healthz") != "ok\n":
        raise Failure("does not answer any more")
    stop(memleak)


@sample(3)
@each(*GARBAGE)
def test_garbage(t, name):
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    for _ in range(3):
        answer = meanwhile(memleak, say, address, GARBAGE[name])
        memleak.fresh_report()
    if name != "pipeline" and b"outstanding" in answer:
        raise Failure(f"was answered: {answer[:300]!r}")
    still_serves(t, memleak, address, first)


@slow
@timeout(120)
def test_idle_clients(t):
    """
    600 clients that send nothing, or half a line, are cut off; reports come in time. Later clients
    are served, although all places were taken for a while.
    """
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    clients = [start_to_connect(address) for _ in range(600)]
    for client in clients[:30]:
        client.sendall(b"GET /metr")
    for _ in range(5):
        memleak.fresh_report()
    begin = time.monotonic()
    memleak.wait_for("the end of the first", lambda: is_cut_off(clients[0]), every=0.1)
    t.figure("until a silent client is cut off", time.monotonic() - begin, "s", 30)
    wanted("health", meanwhile(memleak, fetch, address, "/healthz"), "ok\n")
    for client in clients:
        client.close()
    still_serves(t, memleak, address, first)


@each("its_own", "another", "several")
def test_slow_clients(t, sources):
    """
    64 slow clients from the same address, from another or from several: a request is answered while
    all of them are still connected.
    """
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    wait = {"its_own": ["127.0.0.1"], "another": ["127.0.0.2"],
            "several": [f"127.0.0.{number}" for number in range(1, 5)]}[sources]
    clients = [start_to_connect(address, wait[number % len(wait)]) for number in range(64)]
    for client in clients:
        client.sendall(b"GET /metr")
    for _ in range(3):
        memleak.fresh_report()
    for client in clients:
        client.sendall(b"i")  # keeps the connection from being idle
    begin = time.monotonic()
    meanwhile(memleak, fetch, address, "/metrics")
    t.figure("until the answer", time.monotonic() - begin, "s", 2)
    wanted("clients that were cut off before the answer", sum(map(is_cut_off, clients)), 0)
    for client in clients:
        client.close()
    still_serves(t, memleak, address, first)


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def is_answered(client):
    try:
        return client.recv(1000).startswith(b"HTTP/1.1 200")
    except OSError:
        return False


def test_limit_of_address(t):
    """One address may have 128 connections; other addresses are still served."""
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    clients = []
    for _ in range(160):
        client = start_to_connect(address, "127.0.0.2")
        client.setblocking(True)
        client.settimeout(PATIENCE)
        clients.append(client)

    def ask_all():
        for client in clients:
            try:
                client.sendall(HEALTH)
            except OSError:
                pass  # the connection was refused
        return sum(is_answered(client) for client in clients)

    wanted("answers", meanwhile(memleak, ask_all), 128)
    wanted("health", meanwhile(memleak, fetch, address, "/healthz"), "ok\n")
    for _ in range(2):
        memleak.fresh_report()
    for client in clients:
        client.close()
    still_serves(t, memleak, address, first)


def server_of(memleak):
    """Returns the pid of the HTTP server."""
    memleak.look()
    for pid in helpers_of(memleak.pid):
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
            if file.read() == "HTTP server\n":
                return pid
    raise Failure(f"no HTTP server among {memleak.helpers}")


def test_server_killed(t):
    """A killed server is restarted at the same address and serves later reports."""
    memleak, address, _ = after_leak(t)
    first = len(memleak.reports)
    os.kill(server_of(memleak), signal.SIGKILL)
    # Until then the killed server may accept a connection, which is reset.
    memleak.wait_for("a line", lambda: "the HTTP server exited" in memleak.notes)
    before = meanwhile(memleak, scrape, address).value("memleak_reports_total")
    memleak.fresh_report()
    memleak.fresh_report()
    if meanwhile(memleak, scrape, address).value("memleak_reports_total") <= before:
        raise Failure("pages are old")
    wanted("lines", memleak.notes.count("the HTTP server exited"), 1)
    still_serves(t, memleak, address, first)


def is_served(address):
    return b"leak_big" in request(address, "/report").body


def test_no_starter(t):
    """Without the starter, a killed server is not restarted, and a line says so."""
    memleak = t.attach(t.program("leak"), "--listen", "0")
    memleak.look()
    starter, = memleak.starters
    os.kill(starter, signal.SIGKILL)
    memleak.wait_for("a line", lambda: "the HTTP server exited" in memleak.notes)
    if "reports are no longer served" not in memleak.notes:
        raise Failure(memleak.notes)
    memleak.stop()


def test_server_killed_between(t):
    """A restarted server serves the last report until the next one is made."""
    program = t.program("leak")
    memleak, address = listen(t, program, interval="3600")
    program.go()
    memleak.signal(signal.SIGUSR1)
    memleak.report_number(0)
    memleak.wait_for("the report's page", lambda: is_served(address), every=0.05)
    told = fetch(address, "/report")
    for _ in range(2):
        time.sleep(1)  # a server that ends within a second is restarted with the next report
        os.kill(server_of(memleak), signal.SIGKILL)
        begin = time.monotonic()
        wanted("report", fetch(address, "/report"), told)
        t.figure("until the answer of the next server", time.monotonic() - begin, "s", 1)
    wanted("reports meanwhile", len(memleak.take()), 1)
    stop(memleak)


def test_server_hangs(t):
    """
    While the server is stopped, reports come and memleak can end; when it goes on, it serves the
    latest report.
    """
    memleak, address, _ = after_leak(t)
    pid = server_of(memleak)
    os.kill(pid, signal.SIGSTOP)
    first = len(memleak.reports)
    for _ in range(10):
        memleak.fresh_report()
    wanted("state of the server", state_of(pid), "T")
    t.figure("longest time between two reports", max(gaps(memleak.reports[first:])) / 1e9, "s", 1.4)
    os.kill(pid, signal.SIGCONT)
    memleak.fresh_report()
    memleak.fresh_report()
    told = meanwhile(memleak, scrape, address).value("memleak_reports_total")
    if told < first + 10:
        raise Failure(f"page of report {told}")
    os.kill(pid, signal.SIGSTOP)
    begin = time.monotonic()
    stop(memleak)
    # A sanitizer's leak check takes up to five more seconds.
    t.figure("end", time.monotonic() - begin, "s", 7 if t.sanitized else 2)


def start_to_connect(address, source=""):
    """Opens a connection without waiting: the kernel queues it if the server is full."""
    client = socket.socket()
    client.bind((source, 0))
    client.setblocking(False)
    client.connect_ex(address)
    return client


def is_cut_off(client):
    """True if the server closes the connection, whatever it sends first."""
    try:
        return client.recv(1000) == b"" or is_cut_off(client)
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_slow_readers(t):
    """Clients request all pages and read nothing, while new reports replace the pages."""
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
        client.sendall(b"GET /report HTTP/1.1\r\nHost: localhost\r\n\r\n")
        clients.append(client)
    for _ in range(4):
        memleak.fresh_report()
    for client in clients:
        client.close()
    still_serves(t, memleak, address, first)


def test_busy_clients(t):
    """Eight clients that send requests without pause."""
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
    still_serves(t, memleak, address, first)
