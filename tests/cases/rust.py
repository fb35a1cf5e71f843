# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in Rust: what Box, Vec and String leave is the function's that uses them."""

import re

from lib import Failure, each, expect

OF_CRATE = re.compile(r"<?rusty::")


def plain(symbol):
    """Without the type that a generic is made for; of a trait's function, whose it is."""
    return re.sub(r"::<.*>$", "", re.sub(r"^<(.*) as .*>", r"\1", symbol))


def callers(site):
    """The site from the program's own function on; before it come those of Rust's library."""
    for i, frame in enumerate(site["stack"]):
        symbol = frame["symbol"]
        if not symbol or symbol.startswith("_"):
            raise Failure(f"{symbol} is no name of Rust's: {site}")
        if OF_CRATE.match(symbol):
            own = {**frame, "symbol": plain(symbol)}
            return {**site, "stack": [own, *site["stack"][i + 1:]]}
    raise Failure(f"no function of the program: {site}")


@each("rusty", "rusty_v0", "rusty_debug", "rusty_release")
def test_rust(t, name):
    """Optimised or not, by both manglings, without lines as well; none has frame pointers."""
    program = t.program(name)
    memleak = t.attach(program)
    truth = program.go()
    report = memleak.stop()
    report["sites"] = [callers(site) for site in report["sites"]]
    expect(report, truth, lines=name != "rusty_release")
