# SPDX-License-Identifier: GPL-2.0-or-later
"""Interpreters of Python that are installed."""

import pathlib

from .case import Skip


def interpreter(version):
    """Returns the path of this version of Python."""
    for path in (pathlib.Path(f"/usr/bin/python{version}"),
                 *sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}.*/bin/python3"))):
        if path.exists():
            return path
    raise Skip(f"Python {version} is not installed")
