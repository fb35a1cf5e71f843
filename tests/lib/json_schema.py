# SPDX-License-Identifier: GPL-2.0-or-later
"""
Checks memleak's output against docs/report.schema.json. Checks nothing if the Python module
jsonschema is missing, as on the machines of tests/kernels.
"""

import json

from .case import Failure
from .process import ROOT

try:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
except ImportError:
    Draft202012Validator = None

PATH = ROOT / "docs/report.schema.json"


def load():
    """Returns the schema, or None without jsonschema."""
    if not Draft202012Validator:
        return None
    schema = json.loads(PATH.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


VALIDATOR = load()
known_events = set()  # shapes and words of events that were checked


def shape(value):
    """Returns the keys and the types of their values."""
    if isinstance(value, dict):
        # No call for a value without parts: reports have hundreds of thousands.
        return tuple([(key, shape(item) if isinstance(item, (dict, list)) else type(item))
                      for key, item in value.items()])
    if isinstance(value, list):
        return frozenset(map(shape, value))
    return type(value)


def sample(value):
    """
    Reduces lists to one item of each shape, as most of thousands of items have the same shape.
    """
    if isinstance(value, dict):
        return {key: sample(item) for key, item in value.items()}
    if isinstance(value, list):
        return [sample(item) for item in {shape(item): item for item in value}.values()]
    return value


def is_known_event(record):
    """True if an event of this shape, with these words of fixed lists, was checked before."""
    if record.get("schema") != "memleak-event/1":
        return False
    event = (shape(record), record.get("event"), record.get("stack_end"))
    known = event in known_events
    known_events.add(event)
    return known


def check_schema(record, whole=False):
    if not VALIDATOR or is_known_event(record):
        return
    error = best_match(VALIDATOR.iter_errors(record if whole else sample(record)))
    if error:
        raise Failure(f"{PATH.name}: {error.json_path}: {error.message[:400]}")
