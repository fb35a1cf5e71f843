# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the manual's tables with the JSON schema."""

import json
import re

from lib import Failure, ROOT, untraced, wanted


def rows(manual, title):
    """Returns the keys of the table below a title."""
    table = manual.split(f"\n.SS {title}\n", 1)[1].split("\n.TE", 1)[0]
    return {key for row in re.findall(r"^([a-z_]+(?:, [a-z_]+)*)\t", table, re.MULTILINE)
            for key in row.split(", ")}


@untraced
def test_json_tables(_t):
    """Each table has the keys of the schema, which the cases of schema.py compare with reports."""
    manual = (ROOT / "man/memleak.8.in").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "docs/report.schema.json").read_text(encoding="utf-8"))["$defs"]
    report = schema["report"]["properties"]
    for title, described in (("Report", schema["report"]), ("Site", schema["site"]),
                             ("Group", schema["group"]), ("Frame", schema["frame"]),
                             ("Block (allocs)", schema["block"]),
                             ("Stats", schema["stats"]["properties"]["user"])):
        wanted(title, sorted(rows(manual, title)), sorted(described["properties"]))
    by, = re.findall(r"^by\t\tT\{\n(.*)$", manual, re.MULTILINE)
    if any(f'"{word}"' not in by for word in report["by"]["enum"]):
        raise Failure(f"{report['by']['enum']}, but the manual: {by}")
