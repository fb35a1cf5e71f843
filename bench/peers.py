# SPDX-License-Identifier: GPL-2.0-or-later
"""Other tracers in Debian: installed by apt, or unpacked from a package of another suite."""

import functools
import os
import shutil
import subprocess
import sys

from lib.debian import Suite, Unavailable
from measure import BUILD

SUITE = "trixie"
PACKAGES = ("libbpf-tools", "libc6", "libelf1t64", "zlib1g", "libzstd1")


@functools.lru_cache(maxsize=None)
def skip(name, why):
    print(f"skipped: {name}: {why}", file=sys.stderr)


@functools.lru_cache(maxsize=None)
def libbpf_memleak():
    """Returns the command prefix of libbpf-tools' memleak, or None if it is not available."""
    folder = BUILD / "bench/peers"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        note = Suite(SUITE, folder, PACKAGES).fetch()
    except (Unavailable, FileNotFoundError, subprocess.CalledProcessError) as reason:
        skip("libbpf-tools", reason)
        return None
    if note:
        print(note, file=sys.stderr)
    libraries = folder / "root/usr/lib/x86_64-linux-gnu"
    return (str(libraries / "ld-linux-x86-64.so.2"), "--library-path", str(libraries),
            str(folder / "root/usr/sbin/memleak-libbpf"))


@functools.lru_cache(maxsize=None)
def installed(program, package=None):
    """Returns the path of a program, installing its package if needed, or None."""
    package = package or program
    if shutil.which(program) is None and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing: {package}", file=sys.stderr)
        command = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", package]
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        subprocess.run(["apt-get", "-qq", "update"], stdout=subprocess.DEVNULL, check=False)
        subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=False)
    path = shutil.which(program)
    if path is None:
        skip(program, "not installed")
    return path
