# SPDX-License-Identifier: GPL-2.0-or-later
"""
Differences between processors: the emulator, the kernel packages, and where programs are found.
"""

import os
import pathlib
import shutil
import subprocess

from lib.libraries import libraries_of

SEARCH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
QEMU = ("-accel", "tcg", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot")


class Native:
    """x86-64, with programs from this machine."""

    arch = "amd64"
    suites = ("sid", "bookworm", "bullseye", "trixie")  # slowest first
    module = True  # the test module is built and loaded
    word = None  # key in the list of cases; None: the name of the suite
    root = pathlib.Path("/")
    # One processor only: with more, QEMU may run an instruction after the kernel has patched it on
    # another processor, and attaching to tracepoints patches many instructions.
    emulator = ("qemu-system-x86_64", "-cpu", "max,la57=off", *QEMU)
    command_line = "console=ttyS0 mitigations=off said=/dev/ttyS1"

    @staticmethod
    def serial(console, said):
        return ("-serial", f"file:{console}", "-serial", f"file:{said}")

    def find(self, name):
        """
        Returns the path of a program, or None. Uses Debian's python3, even if PATH has another one
        first.
        """
        found = "/usr/bin/python3" if name == "python3" else shutil.which(name, path=SEARCH)
        return found and os.path.realpath(found)

    @staticmethod
    def libraries(program):
        """Returns [(path of a library, path where programs look for it)]."""
        return [(path, path) for path in libraries_of(program)]


class Arm64:
    """64-bit ARM, with what tests/kernels/arm64 has built and unpacked."""

    arch = "arm64"
    suites = ("sid", "bookworm")
    module = False
    word = "arm64"  # key in the list of cases; unit tests and cases with an agent also run
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
