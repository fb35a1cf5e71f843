# SPDX-License-Identifier: GPL-2.0-or-later
"""Who is named for memory: the program's own function, and the library call that it made."""

from lib import wanted


def symbol_of(site, key):
    """The function of a site's "culprit" or "through"."""
    return None if site[key] is None else site["stack"][site[key]]["symbol"]


def names_of(report):
    return {(symbol_of(site, "culprit"), symbol_of(site, "through")) for site in report["sites"]}


def test_library_call(t):
    """What a library allocates deep inside is the program's function's that called it."""
    program = t.program("named", "library")
    memleak = t.attach(program)
    program.go()
    wanted("names", names_of(memleak.stop()), {("match_user", "regcomp")})


def test_wrapper(t):
    """Who is called from many places for many sizes gets it for others; a constructor does not."""
    program = t.program("named", "own")
    memleak = t.attach(program, "-T", "50")
    program.go()
    wanted("names", names_of(memleak.stop()),
           {(f"taker_{i}", "take") for i in range(8)} | {("make", None)})


def test_own(t):
    """A library beside the program is its own, unless --own says what is."""
    for own, name, through in ((), "plugin_leak", None), \
            (("--own", t.file_of("dlopen")), "call_plugin", "plugin_work"), \
            (("--own", t.file_of("dlopen"), "--own", "libplugin.so"), "plugin_leak", None):
        program = t.program("dlopen", t.file_of("libplugin.so"), "stay")
        memleak = t.attach(program, *own)
        program.go()
        report = memleak.stop()
        wanted("plugin", (name, through) in names_of(report), True)
