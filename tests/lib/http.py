# SPDX-License-Identifier: GPL-2.0-or-later
"""A client for the HTTP server of --listen."""

import http.client
import json
import re

from .case import Failure
from .expect import wanted
from .process import PATIENCE

SAMPLE = re.compile(r'([a-z_]+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def address_of(memleak):
    """Returns (host, port); for port 0 memleak prints the port that it got."""
    memleak.wait_for("its address", lambda: "listening on" in memleak.notes)
    host, port = re.search(r"listening on http://(\S+):(\d+)/", memleak.notes).groups()
    return host.strip("[]"), int(port)


def request(address, path, method="GET", headers=None):
    """Returns the response, with the body as bytes in .body."""
    connection = http.client.HTTPConnection(*address, timeout=PATIENCE)
    try:
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        answer.body = answer.read()
        return answer
    finally:
        connection.close()


def fetch(address, path, status=200, **kwargs):
    answer = request(address, path, **kwargs)
    if answer.status != status:
        raise Failure(f"{path}: status {answer.status}, not {status}: {answer.body[:200]!r}")
    return answer.body.decode("utf-8")


def fetch_json(address, path):
    return json.loads(fetch(address, path))


class Metrics:
    """One scrape, parsed: name → [(labels, value)]."""

    def __init__(self, text):
        self.samples = {}
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            match = SAMPLE.fullmatch(line)
            if not match:
                raise Failure(f"no sample: {line!r}")
            name, labels, value = match.groups()
            self.samples.setdefault(name, []).append((dict(LABEL.findall(labels or "")),
                                                      float(value)))

    def _one(self, name, wanted):
        found = [sample for sample in self.samples.get(name, [])
                 if wanted.items() <= sample[0].items()]
        if len(found) != 1:
            raise Failure(f"{len(found)} samples of {name} {wanted}: {self.samples.get(name)}")
        return found[0]

    def value(self, name, **labels):
        """Returns the value of the only sample with these labels."""
        return self._one(name, labels)[1]

    def labels(self, name, **labels):
        """Returns all labels of the only sample with these labels."""
        return self._one(name, labels)[0]


def scrape(address):
    text = fetch(address, "/metrics")
    if not text.endswith("\n# EOF\n"):
        raise Failure(f"no end: {text[-200:]!r}")
    return Metrics(text)


def listen(t, program, *options, interval="0.2", address="0"):
    memleak = t.attach(program, "--listen", address, *options, interval=interval)
    return memleak, address_of(memleak)


def after_leak(t, *options, **kwargs):
    """
    Starts a program and memleak, lets the program leak, and waits for a report that shows the leak.
    Returns program, memleak, address and truth.
    """
    program = t.program("leak")
    memleak, address = listen(t, program, *options, **kwargs)
    truth = program.go()
    memleak.fresh_report()
    return memleak, address, truth


def stop(memleak):
    memleak.stop()
    wanted("lines on stderr", [line for line in memleak.notes.splitlines()
                               if not line.startswith("memleak: ")], [])
