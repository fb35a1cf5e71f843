# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the libraries of programs and processes, and the libraries of other allocators."""

import glob
import os
import pathlib
import re
import subprocess

from .case import Skip

LIBRARIES = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
             "tcmalloc_full": "libtcmalloc.so.4", "mimalloc": "libmimalloc.so.2"}


def libraries_of(program):
    """Returns the paths of a program's libraries and of its dynamic loader, from ldd."""
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [word for word in answer.stdout.split() if word.startswith("/") and os.path.exists(word)]


def mapped(pid, name):
    """Returns the path of a library in a process, or None."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    found = re.search(rf"/\S*/{re.escape(name)}", maps)
    return found and found[0]


def library(name):
    """
    Returns the path of an allocator's library, for LD_PRELOAD; skips the case if it is not
    installed.
    """
    found = glob.glob("/usr/lib/*/" + LIBRARIES[name]) + glob.glob("/usr/lib/" + LIBRARIES[name])
    if not found:
        raise Skip(f"{LIBRARIES[name]} is not installed")
    return found[0]
