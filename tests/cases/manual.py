# SPDX-License-Identifier: GPL-2.0-or-later
"""The manual: what JSON has is in its tables."""

import json
import re

from lib import Failure, ROOT


def rows(manual, title):
    """The keys of the table below a title."""
    table = manual.split(f"\n.SS {title}\n", 1)[1].split("\n.TE", 1)[0]
    return {key for row in re.findall(r"^([a-z_]+(?:, [a-z_]+)*)\t", table, re.MULTILINE)
            for key in row.split(", ")}


def reports():
    """Those that the tests of the formats expect."""
    for path in (ROOT / "tests/golden").glob("*/report.json"):
        for line in path.read_text(encoding="utf-8").splitlines():
            report = json.loads(line)
            if report["schema"] == "memleak/1":
                yield report


def test_json_tables(t):
    """No key of a report, site, group, frame or block is missing."""
    manual = (ROOT / "man/memleak.8.in").read_text(encoding="utf-8")
    has = {"Report": set(), "Site": set(), "Group": set(), "Frame": set(), "Block (allocs)": set()}
    words = set()
    for report in reports():
        has["Report"] |= set(report)
        words.add(report.get("by"))
        groups = report.get("groups", [])
        has["Group"] |= {key for group in groups for key in group}
        sites = [site for group in groups for site in group["sites"]]
        for site in report["sites"] + report["suspects"] + sites:
            has["Site"] |= set(site)
            has["Frame"] |= {key for frame in site["stack"] for key in frame}
            has["Block (allocs)"] |= {key for block in site.get("allocs", []) for key in block}
    for title, keys in has.items():
        if not keys or keys - rows(manual, title):
            raise Failure(f"{title}: {sorted(keys - rows(manual, title))} of {sorted(keys)}")
    by, = re.findall(r"^by\t\tT\{\n(.*)$", manual, re.MULTILINE)
    if len(words) < 3 or any(word and f'"{word}"' not in by for word in words):
        raise Failure(f"{words}, but the manual: {by}")
