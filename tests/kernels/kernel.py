# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the kernel in the packages of a Debian suite."""

import re

from lib.debian import Unavailable

# Package names; newer kernels are split into several packages.
PARTS = re.compile(r"linux-(?:image|binary|modules|headers|kbuild)-[0-9][^ ,|]*")


def kernel_of(suite):
    """Returns (image, release) of the kernel in a suite's packages."""
    for image in suite.root.glob("boot/vmlinuz-*"):
        return image, image.name.removeprefix("vmlinuz-")
    for image in suite.root.glob("usr/lib/modules/*/vmlinuz"):
        return image, image.parent.name
    raise Unavailable("its packages hold no kernel")
