# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs some servers of tests/diagnosis and checks which functions memleak accuses."""

from lib import Failure, ROOT, once
from lib.process import PATIENCE

LEAKING = ("strdup_table", "error_path", "zlib_deflate", "cxx_cycle", "many_handlers")
HEALTHY = ("two_tables", "session_timeout", "earlier_cache")


@once
def test_sample(t):
    """Reports come each second, the first verdict after ten; all servers run at once."""
    for name in (*LEAKING, *HEALTHY):
        t.file_of(f"../diagnosis/{name}")
    judge = t.process((ROOT / "tests/diagnosis/run", "--memleak", t.path, "--programs",
                       t.programs.parent / "diagnosis", "--seconds", "14", "--interval", "1",
                       *LEAKING, *HEALTHY))
    if judge.wait(2 * PATIENCE):
        raise Failure(judge.out.text + judge.err.text)
