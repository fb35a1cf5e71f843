# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes an initramfs, a cpio archive in `newc` format. Several archives may be concatenated."""

import fnmatch
import os
import pathlib
import stat

TOP_LINKS = ("bin", "sbin", "lib", "lib64")  # symbolic links into /usr, as in Debian


class Archive:
    def __init__(self, path, processor):
        self.processor = processor
        self.file = open(path, "wb")  # pylint: disable=consider-using-with
        self.names = set()
        self.inode = 0

    def _entry(self, name, mode, mtime, data):
        self.inode += 1
        encoded = os.fsencode(name) + b"\0"
        fields = (self.inode, mode, 0, 0, 1, int(mtime), len(data), 0, 0, 0, 0, len(encoded), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + encoded
        self.file.write(head + bytes(-len(head) % 4))
        self.file.write(data)
        self.file.write(bytes(-len(data) % 4))

    def _place(self, path):
        """
        Returns the name in the archive for an absolute path and creates its folders; None if it
        exists already.
        """
        name = str(path).lstrip("/")
        if name.split("/")[0] in TOP_LINKS:
            name = "usr/" + name
        if name in self.names:
            return None
        parent = os.path.dirname(name)
        if parent:
            self.folder("/" + parent)
        self.names.add(name)
        return name

    def folder(self, path):
        name = self._place(path)
        if name:
            self._entry(name, stat.S_IFDIR | 0o755, 0, b"")

    def link(self, path, target):
        name = self._place(path)
        if name:
            self._entry(name, stat.S_IFLNK | 0o777, 0, os.fsencode(target))

    def data(self, path, data, mode=0o644, mtime=0):
        name = self._place(path)
        if name:
            self._entry(name, stat.S_IFREG | mode, mtime, data)

    def copy(self, source, path=None):
        """
        Adds a file, under its own path or another one; keeps the mtime, which python compares.
        """
        source = pathlib.Path(source)
        info = source.stat()
        self.data(path or source, source.read_bytes(), info.st_mode & 0o777, info.st_mtime)

    def copy_tree(self, source, path=None, leave_out=()):
        """Adds a folder. leave_out: patterns for names of folders to skip."""
        for folder, folders, files in os.walk(source):
            folders[:] = sorted(name for name in folders
                                if not any(fnmatch.fnmatch(name, out) for out in leave_out))
            inside = pathlib.Path(path or source, os.path.relpath(folder, source))
            for name in sorted(files):
                full = pathlib.Path(folder, name)
                if full.is_file():
                    self.copy(full, inside / name)

    def program(self, source, path=None):
        """Adds a program or library and the libraries that it needs."""
        self.copy(source, path)
        for library, place in self.processor.libraries(source):
            self.copy(library, place)

    def top_links(self):
        for name in TOP_LINKS:
            self.names.add(name)
            self._entry(name, stat.S_IFLNK | 0o777, 0, b"usr/" + name.encode())

    def close(self):
        self._entry("TRAILER!!!", 0, 0, b"")
        self.file.close()
