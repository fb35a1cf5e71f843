# SPDX-License-Identifier: GPL-2.0-or-later
"""Which libraries a program needs, where those of a process lie, and other allocators."""

import glob
import os
import pathlib
import re
import subprocess

from .case import Skip

LIBRARIES = {"jemalloc": "libjemalloc.so.2", "tcmalloc": "libtcmalloc_minimal.so.4",
             "tcmalloc_full": "libtcmalloc.so.4", "mimalloc": "libmimalloc.so.2"}


def libraries_of(program):
    """The paths of a program's libraries and of its dynamic loader, as ldd finds them."""
    answer = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return [word for word in answer.stdout.split() if word.startswith("/") and os.path.exists(word)]


def mapped(pid, name):
    """The path of a library in a process, or None."""
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace")
    found = re.search(rf"/\S*/{re.escape(name)}", maps)
    return found and found[0]


def library(name):
    """The path of an allocator's library, for LD_PRELOAD; skips the case where there is none."""
    found = glob.glob("/usr/lib/*/" + LIBRARIES[name]) + glob.glob("/usr/lib/" + LIBRARIES[name])
    if not found:
        raise Skip(f"{LIBRARIES[name]} is not installed")
    return found[0]
