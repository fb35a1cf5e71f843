# SPDX-License-Identifier: GPL-2.0-or-later
"""
A FUSE file system that mirrors one folder without caching: while its process is stopped, all
accesses hang. Run as a program, this module is that process.
"""

import ctypes
import errno
import os
import pathlib
import signal
import stat
import struct
import subprocess
import sys

from lib.case import Skip

LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FLUSH, INIT = 1, 2, 3, 14, 15, 17, 18, 25, 26
INTERRUPT, BATCH_FORGET = 36, 42
ROOT = 1
REQUEST, ANSWER = struct.Struct("IIQQIIII"), struct.Struct("IiQ")
REQUEST_MAX = 1 << 20
MNT_DETACH = 2
LIBC = ctypes.CDLL(None, use_errno=True)


class Server:
    def __init__(self, device, folder):
        self.device = device
        self.paths = sorted(pathlib.Path(folder).iterdir())

    def attributes(self, node):
        status = os.stat(self.paths[node - ROOT - 1]) if node > ROOT else None
        mode = status.st_mode if status else stat.S_IFDIR | 0o755
        size = status.st_size if status else 0
        return struct.pack("6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0,
                           4096, 0)

    def lookup(self, name):
        for number, path in enumerate(self.paths):
            if os.fsencode(path.name) == name:
                node = ROOT + 1 + number
                return struct.pack("4QII", node, 0, 0, 0, 0, 0) + self.attributes(node)
        return None

    def read(self, node, data):
        offset, size = struct.unpack_from("QI", data, 8)
        with open(self.paths[node - ROOT - 1], "rb") as file:
            file.seek(offset)
            return file.read(size)

    def answer(self, what, node, data):
        """Returns the reply; None if the file does not exist."""
        if what == INIT:
            major, minor, ahead = struct.unpack_from("III", data)
            return struct.pack("4IHHIIHHI7I", major, min(minor, 31), ahead, 0, 8, 8, 4096, 1, 0, 0,
                               0, *[0] * 7)
        if what == LOOKUP:
            return self.lookup(data.rstrip(b"\0"))
        if what == GETATTR:
            return struct.pack("QII", 0, 0, 0) + self.attributes(node)
        if what == OPEN:
            return struct.pack("QII", 0, 0, 0)
        if what == READ:
            return self.read(node, data)
        if what == STATFS:
            return struct.pack("5Q10I", *[0] * 5, 4096, 255, 4096, *[0] * 7)
        return b"" if what in (RELEASE, FLUSH) else None

    def serve(self):
        while True:
            try:
                request = os.read(self.device, REQUEST_MAX)
            except OSError as error:
                if error.errno == errno.ENOENT:  # the request was interrupted
                    continue
                return
            _, what, unique, node, *_ = REQUEST.unpack_from(request)
            if what in (FORGET, BATCH_FORGET, INTERRUPT):
                continue
            answer = self.answer(what, node, request[REQUEST.size:])
            missing = errno.ENOENT if what == LOOKUP else errno.ENOSYS
            data = answer or b""
            os.write(self.device, ANSWER.pack(ANSWER.size + len(data),
                                              -missing if answer is None else 0, unique) + data)


class Fuse:
    """A FUSE mount that lasts until close()."""

    def __init__(self, folder, mount):
        self.mount, self.covered = mount, False
        mount.mkdir()
        self.process = subprocess.Popen([sys.executable, "-m", "lib.fuse", folder, mount],
                                        cwd=pathlib.Path(__file__).parent.parent,
                                        stdout=subprocess.PIPE)
        if self.process.stdout.readline() != b"mounted\n":
            self.process.wait()
            raise Skip("no file system in user space can be mounted here")

    def cover(self):
        """Mounts an overlay on top of the file system."""
        empty = self.mount.parent / "empty"
        empty.mkdir()
        if LIBC.mount(b"overlay", os.fsencode(self.mount), b"overlay", 0,
                      f"lowerdir={self.mount}:{empty}".encode()):
            raise Skip("no overlay can be mounted here")
        self.covered = True

    def hang(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def close(self):
        """Unmounts the file system; pending accesses fail."""
        self.process.kill()
        self.process.wait()
        for _ in range(1 + self.covered):
            LIBC.umount2(os.fsencode(self.mount), MNT_DETACH)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main(folder, mount):
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
    if LIBC.mount(b"memleak-test", os.fsencode(mount), b"fuse", 0, options.encode()):
        sys.exit(os.strerror(ctypes.get_errno()))
    print("mounted", flush=True)
    Server(device, folder).serve()


if __name__ == "__main__":
    main(*sys.argv[1:])
