# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of links that hold probes."""

from .case import Skip

KINDS = ("session", "multi", "perf", "shape")
WORDS = {"session": "links of sessions", "multi": "uprobe_multi links\n", "perf": "perf events\n",
         "shape": "without cookies"}


def attach(t, program, kind, *options, **kwargs):
    """
    Starts memleak with this kind of links; skips the case if the kernel does not support them.
    """
    memleak = t.attach(program, "-v", *options, env={"MEMLEAK_LINKS": kind}, **kwargs)
    if WORDS[kind] not in memleak.notes:
        memleak.stop()
        raise Skip(f"the kernel has no {WORDS[kind].strip()}")
    return memleak
