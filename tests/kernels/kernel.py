# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel of one of Debian's suites, in its packages."""

import re

from lib.debian import Unavailable

# What this depends on: newer kernels come in several parts.
PARTS = re.compile(r"linux-(?:image|binary|modules|headers|kbuild)-[0-9][^ ,|]*")


def kernel_of(suite):
    """(image, release) of what a suite's packages hold."""
    for image in suite.root.glob("boot/vmlinuz-*"):
        return image, image.name.removeprefix("vmlinuz-")
    for image in suite.root.glob("usr/lib/modules/*/vmlinuz"):
        return image, image.parent.name
    raise Unavailable("its packages hold no kernel")
