# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in Rust: leaked Box, Vec and String are attributed to the function that uses them."""

import re

from lib import Failure, each, expect, sample

OF_CRATE = re.compile(r"<?rusty::")


def plain(symbol):
    """
    Returns a Rust function's name without generic parameters; for a trait's function, its type.
    """
    return re.sub(r"::<.*>$", "", re.sub(r"^<(.*) as .*>", r"\1", symbol))


def callers(site):
    """Returns the stack from the program's first function on, without Rust's library."""
    for i, frame in enumerate(site["stack"]):
        symbol = frame["symbol"]
        if not symbol or symbol.startswith("_"):
            raise Failure(f"{symbol} is no name of Rust's: {site}")
        if OF_CRATE.match(symbol):
            own = {**frame, "symbol": plain(symbol)}
            return {**site, "stack": [own, *site["stack"][i + 1:]]}
    raise Failure(f"no function of the program: {site}")


@sample(2, 1)
@each("rusty", "rusty_v0", "rusty_debug", "rusty_release")
def test_rust(t, name):
    """Optimised or not, with both mangling schemes, and without lines; without frame pointers."""
    program = t.program(name)
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    report["sites"] = [callers(site) for site in report["sites"]]
    expect(report, truth, lines=name != "rusty_release")
