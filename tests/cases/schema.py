# SPDX-License-Identifier: GPL-2.0-or-later
"""
docs/report.schema.json accepts memleak's output and rejects anything else. Output of all other
cases is checked as well, by parse() of lib/memleak.py.
"""

import copy
import json

from lib import Failure, ROOT, Skip, once, untraced, wanted
from lib import schema
from lib.json_schema import VALIDATOR, check_schema


def expected():
    """Yields (folder, line) of the expected files of format tests."""
    golden = ROOT / "tests/golden"
    for path in sorted([*golden.glob("*/report.json"), *golden.glob("*/report.verdict")]):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.parent.name, json.loads(line)


def demand_jsonschema():
    if not VALIDATOR:
        raise Skip("the package python3-jsonschema is not there")


def refuse(what, record):
    if VALIDATOR.is_valid(record):
        raise Failure(f"{what}: the schema takes it")


def objects(value, place=""):
    """Yields each object in a value with its path: "report.sites[].growth"."""
    if isinstance(value, dict):
        yield place, value
        for key, item in value.items():
            yield from objects(item, f"{place}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from objects(item, place + "[]")


@untraced
@once
def test_golden(_t):
    """The schema accepts each report expected by format tests."""
    demand_jsonschema()
    seen = set()
    for folder, record in expected():
        try:
            check_schema(record, whole=True)
        except Failure as failure:
            raise Failure(f"{folder}: {failure}") from failure
        seen.add(record["schema"])
    wanted("schemas", seen, {"memleak/1", "memleak-event/1", "memleak-count/1", "memleak-diff/1",
                             "memleak-verdict/1"})


@untraced
@once
def test_other_keys(_t):
    """Renamed and unknown keys are refused, in any object."""
    demand_jsonschema()
    done = set()
    for folder, record in expected():
        for place, item in objects(record, record["schema"]):
            for key in [key for key in item if (place, key) not in done]:
                done.add((place, key))
                before = dict(item)
                item[key + "x"] = item.pop(key)
                refuse(f"{folder}: {place}.{key} renamed", record)
                item.clear()
                item.update(before)
            if place not in done:
                done.add(place)
                item["x"] = None
                refuse(f"{folder}: {place}.x", record)
                del item["x"]
    if len(done) < 400:
        raise Failure(f"{len(done)} changes were tried")


@untraced
@once
def test_missing_keys(_t):
    """The keys that lib/schema.py requires of reports, sites and frames are required."""
    demand_jsonschema()
    record = next(record for folder, record in expected() if folder == "prove")
    for where, keys in (((), schema.REPORT), (("sites", 0), schema.SITE),
                        (("proof",), schema.PROOF), (("lost",), schema.LOST),
                        (("sites", 0, "stack", 0), schema.FRAME),
                        (("sites", 0, "trend"), schema.TREND), (("losses", 0), schema.SITE)):
        for key in keys:
            changed = copy.deepcopy(record)
            item = changed
            for step in where:
                item = item[step]
            del item[key]
            refuse(f"{where} without {key}", changed)
