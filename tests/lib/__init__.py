# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that cases use: `from lib import *` imports the names below."""

from .case import (BROKEN, Broken, Failure, Skip, alone, each, lane, nightly, once,
                   pitfall, sample, slow, timeout, untraced)
from .expect import (AFTER_EXEC, culprit, expect, expect_between, frames_of, owner, sum_of,
                     wanted)
from .memleak import Memleak
from .process import ROOT, Process
from .program import Program, Truth

__all__ = [
    "BROKEN", "Broken", "Failure", "Skip", "alone", "each", "lane", "nightly", "once",
    "pitfall", "sample", "slow", "timeout", "untraced",
    "AFTER_EXEC", "culprit", "expect", "expect_between", "frames_of", "owner", "sum_of",
    "wanted",
    "Memleak", "ROOT", "Process", "Program", "Truth",
]
