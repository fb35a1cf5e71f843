# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the leaking test module for a kernel whose headers have been unpacked."""

import pathlib
import re
import shutil
import subprocess

SOURCE = pathlib.Path(__file__).resolve().parent / "module"


class NotBuilt(Exception):
    """The module cannot be built here; the text says why."""


def build(root, release, folder):
    """Returns the path of leaky.ko, built below folder with the headers below root."""
    headers = root / "usr/src" / f"linux-headers-{release}"
    if not headers.is_dir():
        raise NotBuilt("no headers for " + release)
    # The makefile refers to the common headers by their installed path.
    makefile = headers / "Makefile"
    text = re.sub(r"^include /usr/src/", f"include {root}/usr/src/", makefile.read_text(), flags=re.M)
    makefile.write_text(text)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(SOURCE, folder)
    answer = subprocess.run(["make", "-C", headers, f"M={folder}", "modules"], text=True,
                            capture_output=True, check=False, stdin=subprocess.DEVNULL)
    if answer.returncode:
        lines = (answer.stderr or answer.stdout).strip().splitlines()
        raise NotBuilt("the module leaky: " + "; ".join(lines[-3:]))
    return folder / "leaky.ko"
