# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the initramfs of a machine: busybox, python3, memleak, the programs and the cases."""

import lzma
import pathlib
import re

from archive import Archive
from lib.process import ROOT

HERE = pathlib.Path(__file__).resolve().parent
HOME = pathlib.Path("/memleak")  # path of the tree in the machine
TOOLS = ("bpftool", "setpriv", "unshare", "nsenter", "prlimit", "setarch",
         "nm", "readelf")
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2*")
# Parts of python's library that no case needs.
NOT_NEEDED = ("test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip",
              "distutils", "pydoc_data", "dist-packages", "xml", "sqlite3", "config-3.11-*")
MODULES = ("veth", "overlay")
# The same files for all processors.
TERMINAL = pathlib.Path("/usr/lib/terminfo/x/xterm")
LOCALE = pathlib.Path("/usr/lib/locale/C.utf8")


def write_base(path, build, processor):
    """Writes the archive that all kernels of a processor share."""
    archive = Archive(path, processor)
    archive.top_links()
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/run", "/root", "/etc", "/usr/sbin"):
        archive.folder(folder)
    archive.copy(processor.find("busybox"), "/usr/bin/busybox")
    archive.copy(HERE / "init", "/init")
    archive.data("/etc/passwd", b"root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    archive.data("/etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    archive.program(processor.find("sh"), "/usr/bin/sh")  # busybox's sh has no allocator to probe
    archive.program(processor.find("true"), "/usr/bin/true")  # busybox's true loads no library
    add_python(archive, processor)
    for name in TOOLS:
        if processor.find(name):
            archive.program(processor.find(name), f"/usr/bin/{name}")
    for pattern in ALLOCATORS:
        for library in processor.root.glob(f"usr/lib/*-linux-gnu/{pattern}"):
            archive.program(library, "/" / library.relative_to(processor.root))
    archive.copy(TERMINAL, TERMINAL)
    archive.copy_tree(LOCALE, LOCALE)
    add_tree(archive, build)
    archive.close()


def add_python(archive, processor):
    archive.program(processor.find("python3"), "/usr/bin/python3")
    for library in processor.root.glob("usr/lib/python3.*"):
        archive.copy_tree(library, "/" / library.relative_to(processor.root), NOT_NEEDED)
        for extension in library.glob("lib-dynload/_ctypes*.so"):
            archive.program(extension, "/" / extension.relative_to(processor.root))


def add_tree(archive, build):
    for name in ("memleak", "libmemleak.so"):
        if (build / name).exists():
            archive.program(build / name, HOME / "build" / name)
    for folder in ("lib", "cases", "programs", "golden"):
        archive.copy_tree(ROOT / "tests" / folder, HOME / "tests" / folder, ("__pycache__",))
    archive.copy_tree(HERE / "module", HOME / "tests/kernels/module")
    archive.copy(ROOT / "tests/run", HOME / "tests/run")
    archive.copy(HERE / "units", HOME / "tests/kernels/units")
    archive.copy(ROOT / "tests/unit/options/suppressions",
                 HOME / "tests/unit/options/suppressions")
    for folder in ("programs", "unit"):
        for program in sorted((build / "tests" / folder).rglob("*")):
            if program.is_file() and program.stat().st_mode & 0o111:
                archive.program(program, HOME / "build/tests" / program.relative_to(build / "tests"))


def read_module(path):
    """Returns a module, decompressed, and the names of the modules that it needs."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        data = lzma.decompress(data)
    found = re.search(rb"\0depends=([^\0]*)\0", data)
    needs = found.group(1).decode().split(",") if found and found.group(1) else []
    return data, needs


def write_own(path, suite_root, command, extra, processor):
    """Writes the archive of one kernel: its modules in load order, and the command to run."""
    archive = Archive(path, processor)
    known = {file.name.split(".ko")[0].replace("-", "_"): file
             for file in suite_root.glob("**/lib/modules/**/*.ko*")}
    order = []

    def load(name):
        if name not in known or name in (done for done, _ in order):
            return
        data, needs = read_module(known[name])
        for need in needs:
            load(need.replace("-", "_"))
        order.append((name, data))

    for name in MODULES:
        load(name)
    for name, data in order:
        archive.data(f"/modules/{name}.ko", data)
    archive.data("/modules/order", "".join(f"{name}\n" for name, _ in order).encode())
    for place, source in extra.items():
        archive.copy(source, place)
    archive.data("/command", command.encode() + b"\n")
    archive.close()
