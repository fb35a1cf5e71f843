# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the prose in C: comments, and the texts of messages."""

import re

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
MESSAGE = re.compile(r'\blog_(?:error|warning|note|verbose)\(((?:\s*"(?:\\.|[^"\\\n])*"|\s*PRI\w+)+)')
STRING = re.compile(r'"((?:\\.|[^"\\\n])*)"')


def plain(comment):
    """The text of a comment, on one line."""
    if comment.startswith("//"):
        return comment[2:].strip()
    return " ".join(re.sub(r"^\s*\* ?", "", line).strip()
                    for line in comment[2:-2].splitlines()).strip()


def comments_of(source):
    """Yields (line, text) of each comment."""
    for match in TOKEN.finditer(source):
        if match[0].startswith("/"):
            yield source.count("\n", 0, match.start()) + 1, plain(match[0])


def messages_of(source):
    """Yields (line, text) of each message that is logged."""
    for match in MESSAGE.finditer(source):
        yield source.count("\n", 0, match.start()) + 1, "".join(STRING.findall(match[1]))
