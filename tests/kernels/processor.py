# SPDX-License-Identifier: GPL-2.0-or-later
"""What differs between processors: the emulator, the kernel's packages, where programs come from."""

import os
import pathlib
import shutil
import subprocess

from lib.libraries import libraries_of

SEARCH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
QEMU = ("-accel", "tcg", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot")


class Native:
    """x86-64, whose programs are this machine's own."""

    arch = "amd64"
    suites = ("sid", "bookworm", "bullseye", "trixie")  # those that take longest come first
    module = True  # one is built, and loaded
    word = None  # in the list of cases: their suites', on this machine all else is tested
    root = pathlib.Path("/")
    # One processor: with more, QEMU may run an instruction after the kernel has patched it on
    # another one, and attaching to tracepoints patches many.
    emulator = ("qemu-system-x86_64", "-cpu", "max,la57=off", *QEMU)
    command_line = "console=ttyS0 mitigations=off said=/dev/ttyS1"

    @staticmethod
    def serial(console, said):
        return ("-serial", f"file:{console}", "-serial", f"file:{said}")

    def find(self, name):
        """The path of a program, or None. python3 is Debian's own: another one may come first."""
        found = "/usr/bin/python3" if name == "python3" else shutil.which(name, path=SEARCH)
        return found and os.path.realpath(found)

    @staticmethod
    def libraries(program):
        """[(where a library lies, where programs look for it)]"""
        return [(path, path) for path in libraries_of(program)]


class Arm64:
    """What tests/kernels/arm64 has built, and the Debian that it has unpacked."""

    arch = "arm64"
    suites = ("sid", "bookworm")
    module = False
    word = "arm64"  # in the list of cases; what else there is of tests runs there as well
    emulator = ("qemu-system-aarch64", "-M", "virt", "-cpu", "max", *QEMU)
    command_line = "console=ttyAMA0 said=/dev/ttyS0"

    def __init__(self, root):
        self.root = root

    @staticmethod
    def serial(console, said):
        return ("-serial", f"file:{console}", "-chardev", f"file,id=said,path={said}",
                "-device", "pci-serial,chardev=said")

    def find(self, name):
        found = [self.root / folder / name for folder in ("usr/bin", "usr/sbin", "bin", "sbin")
                 if (self.root / folder / name).exists()]
        return found[0].resolve() if found else None

    def libraries(self, program):
        loader = self.root / "lib/ld-linux-aarch64.so.1"
        answer = subprocess.run(["qemu-aarch64", "-L", self.root, loader, "--list", program],
                                capture_output=True, text=True, check=False)
        paths = [word for word in answer.stdout.split() if word.startswith("/")]
        if paths:
            paths.append("/lib/ld-linux-aarch64.so.1")
        return [(self.root / path[1:] if (self.root / path[1:]).exists() else path, path)
                for path in paths]
