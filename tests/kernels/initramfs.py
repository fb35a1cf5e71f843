# SPDX-License-Identifier: GPL-2.0-or-later
"""What a machine's memory holds at boot: busybox, python3, memleak, the programs and the cases."""

import glob
import lzma
import os
import pathlib
import re
import shutil
import subprocess

from archive import Archive
from lib.process import ROOT

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"
HOME = pathlib.Path("/memleak")  # where the tree stands inside
TOOLS = ("bpftool", "setpriv", "unshare", "nsenter", "prlimit", "setarch",
         "nm", "readelf")
ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2*")
# Parts of python's library that no case needs.
NOT_NEEDED = ("test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip",
              "distutils", "pydoc_data", "dist-packages", "xml", "sqlite3", "config-3.11-x86_64-linux-gnu")
MODULES = ("veth", "overlay")
SEARCH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def write_base(path, build):
    """The part that is the same for every kernel."""
    archive = Archive(path)
    archive.top_links()
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/run", "/root", "/etc", "/usr/sbin"):
        archive.folder(folder)
    archive.copy(shutil.which("busybox", path=SEARCH), "/usr/bin/busybox")
    archive.copy(HERE / "init", "/init")
    archive.data("/etc/passwd", b"root:x:0:0::/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    archive.data("/etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    archive.program(os.path.realpath("/bin/sh"), "/usr/bin/sh")  # busybox has no allocator
    add_python(archive)
    for name in TOOLS:
        where = shutil.which(name, path=SEARCH)
        if where:
            archive.program(where)
    for pattern in ALLOCATORS:
        for library in glob.glob(f"/usr/lib/*-linux-gnu/{pattern}"):
            archive.program(library)
    add_tree(archive, build)
    archive.close()


def add_python(archive):
    archive.program(os.path.realpath(PYTHON), PYTHON)
    library = subprocess.run(
        [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"],
        capture_output=True, text=True, check=True).stdout.strip()
    archive.copy_tree(library, leave_out=NOT_NEEDED)
    for extension in glob.glob(library + "/lib-dynload/_ctypes*.so"):
        archive.program(extension)


def add_tree(archive, build):
    archive.program(build / "memleak", HOME / "build/memleak")
    for folder in ("lib", "cases", "programs"):
        archive.copy_tree(ROOT / "tests" / folder, HOME / "tests" / folder, ("__pycache__",))
    archive.copy_tree(HERE / "module", HOME / "tests/kernels/module")
    archive.copy(ROOT / "tests/run", HOME / "tests/run")
    for program in sorted((build / "tests/programs").iterdir()):
        if program.is_file():
            archive.program(program, HOME / "build/tests/programs" / program.name)


def read_module(path):
    """A module as the kernel takes it, and the names of those that it needs."""
    data = path.read_bytes()
    if path.suffix == ".xz":
        data = lzma.decompress(data)
    found = re.search(rb"\0depends=([^\0]*)\0", data)
    needs = found.group(1).decode().split(",") if found and found.group(1) else []
    return data, needs


def write_own(path, suite_root, command, extra):
    """The part of one kernel: its modules in the order of their loading, and what is to run."""
    archive = Archive(path)
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
