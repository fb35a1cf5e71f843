# SPDX-License-Identifier: GPL-2.0-or-later
"""
Checks the lists in tests/: each fault and each option has a case, each named case exists, and no
case is hidden by another one with the same name.
"""

import importlib
import importlib.util
import re

from lib import Broken, Failure, ROOT, once, untraced
from lib.case import cases_of


def every_case():
    for path in sorted((ROOT / "tests/cases").glob("*.py")):
        yield from cases_of(path.stem, importlib.import_module("cases." + path.stem))


def rows_of(name, first):
    """Returns {first cell: cases named in the row}; first: pattern of the first cell."""
    text = (ROOT / "tests" / name).read_text(encoding="utf-8")
    rows = {}
    for line in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if re.fullmatch(first, cells[0]):
            if cells[0] in rows:
                raise Failure(f"{name} has two rows for {cells[0]}")
            rows[cells[0]] = re.findall(r"`(\w+\.\w+)`", line)
    return rows


def check_named(name, rows):
    """Requires that the cases named in all rows exist."""
    known = {".".join(case.name.split(".")[:2]) for case in every_case()}
    for row, cases in rows.items():
        if not cases:
            raise Failure(f"{name}: {row} has no case")
        for case in cases:
            if case not in known:
                raise Failure(f"{name}: {row} names {case}, which does not exist")


@untraced
@once
def test_pitfalls(_t):
    """Each row of PITFALLS.md has a case with its mark, and each mark has a row."""
    rows = rows_of("PITFALLS.md", r"\d+")
    check_named("PITFALLS.md", rows)
    marked = {str(row) for case in every_case() for row in getattr(case.function, "pitfalls", ())}
    if marked != set(rows):
        raise Failure(f"rows without a mark, or marks without a row: {sorted(marked ^ set(rows))}")
    for row, cases in rows.items():
        for case in cases:
            if f"pitfall_{int(row):02d}_" not in case:
                raise Failure(f"{case} is not marked as a case of row {row}")


@untraced
@once
def test_options(_t):
    """Each option of the table has a row in OPTIONS.md, and each row is an option."""
    rows = rows_of("OPTIONS.md", r"`--[a-z-]+`")
    check_named("OPTIONS.md", rows)
    table = (ROOT / "options/table.c").read_text(encoding="utf-8")
    table = table.split("option_table[] = {", 1)[1].split("\n};", 1)[0]
    options = {f"`--{name}`" for name in re.findall(r'^\t\{"([a-z-]+)"', table, re.MULTILINE)}
    if not options or options != set(rows):
        raise Failure("options without a row, or rows without an option: "
                      f"{sorted(options ^ set(rows))}")


@untraced
@once
def test_hidden(t):
    """Two cases with one name in a file are an error, as only the second would run."""
    path = t.tmp / "twice.py"
    source = "def test_once(_t):\n    pass\n\n\ndef test_{}(_t):\n    pass\n"
    spec = importlib.util.spec_from_file_location("twice", path)
    module = importlib.util.module_from_spec(spec)
    for name, wanted in ("again", None), ("once", f"{path}:5: test_once hides that of line 1"):
        path.write_text(source.format(name), encoding="utf-8")
        spec.loader.exec_module(module)
        try:
            said, count = None, len(list(cases_of("twice", module)))
        except Broken as broken:
            said = str(broken)
        if said != wanted or count != 2:
            raise Failure(f"of test_once and test_{name}: {said}, {count} cases")
