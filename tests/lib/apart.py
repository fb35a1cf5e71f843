# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs test programs apart from the rest of the machine, for cases that trace all processes."""

import contextlib
import ctypes
import os
import shutil

from .case import Broken, Skip
from .libraries import mapped

NEW_PIDS = ("unshare", "-p", "-f", "--mount-proc", "--kill-child")
# Mounts a copy over each file. The process that stays runs exec last, so it maps only copies.
COVER = ('while [ $# -gt 0 ]; do mount --bind "$1" "$2" || exit 1; shift 2; done; '
         'echo ready; exec cat')
C_LIBRARY = ("libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")
CLONE_NEWPID = 0x20000000

_libc = ctypes.CDLL(None, use_errno=True)


def only_child(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        children = file.read().split()
    if len(children) != 1:
        raise Skip("no pid namespaces here")
    return int(children[0])


def numbers_of(pid):
    """Returns the pids of a process in each pid namespace, from ours inwards."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        fields = dict(line.split(":", 1) for line in file)
    return [int(number) for number in fields["NSpid"].split()]


def join_pids(pid):
    """Makes processes started from now on members of another process's pid namespace."""
    with open(f"/proc/{pid}/ns/pid", "rb") as file:
        if _libc.setns(file.fileno(), CLONE_NEWPID):
            raise Broken(f"setns: {os.strerror(ctypes.get_errno())}")


class Apart:
    """
    A pid namespace, and a mount namespace with copies of the C library and its loader: probes
    belong to files, so processes outside never run into probes of the copies.
    """

    def __init__(self, t):
        copies = t.tmp / "libraries"
        copies.mkdir()
        pairs = []
        for path in filter(None, (mapped("self", name) for name in C_LIBRARY)):
            pairs += (shutil.copy(path, copies), path)
        keeper = t.process((*NEW_PIDS, "sh", "-c", COVER, "sh", *pairs))
        keeper.wait_for("ready", lambda: b"ready" in keeper.out.data)
        self.first = only_child(keeper.pid)
        self.wrapper = ("nsenter", f"--mount=/proc/{self.first}/ns/mnt")

    @contextlib.contextmanager
    def _joined(self):
        join_pids(self.first)
        try:
            yield
        finally:
            join_pids("self")

    def start(self, start, *args, wrapper=(), **kwargs):
        """Calls start(*args, wrapper=…) so that its process runs in these namespaces."""
        with self._joined():
            return start(*args, wrapper=(*self.wrapper, *wrapper), **kwargs)

    def later(self, t, *args):
        """Returns a shell in these namespaces that runs the program once a line is sent to it."""
        return self.start(t.program, *args, ready=False,
                          wrapper=("sh", "-c", 'read -r _; "$@"; exit', "sh"))
