# SPDX-License-Identifier: GPL-2.0-or-later
"""A program of tests/programs: it prints its truth, then `ready`, then waits for a byte."""

from .case import BROKEN, Broken, Skip
from .process import PATIENCE, Process


class Truth:
    """Allocations that a program prints as outstanding after one phase."""

    def __init__(self):
        self.sites = {}   # (function, kind) → (count, bytes)
        self.kernel = {}  # thing → (kind, count, bytes or None)
        self.blocks = {}  # address → size
        self.children = {}  # pid → (count, bytes)
        self.inherits = {}  # pid → (count, bytes) of inherited blocks, if they count
        self.holds = {}  # (pid, function, kind) → (count, bytes, inherited count)
        self.held = {}    # like holds, for processes that have ended
        self.kinds = {}   # (function, definite|indirect|possible|reachable) → (count, bytes)
        self.differs = {}  # (tool, function, kind) → the kind that this tool reports, or unseen
        self.differing_sizes = {}  # (tool, function, kind) → the bytes that this tool reports
        self.facts = {}   # first word → the other words

    def add(self, line):
        words = line.split()
        if words[0] == "leak":
            self._site(words[1], "heap", words[2], words[3])
        elif words[0] == "mapping":
            self._site(words[1], words[4], words[2], words[3])
        elif words[0] == "kernel":
            size = None if words[3] == "-" else int(words[3])
            self.kernel[words[1]] = (words[4], int(words[2]), size)
        elif words[0] == "child":
            self.children[int(words[1])] = (int(words[2]), int(words[3]))
        elif words[0] == "inherits":
            self.inherits[int(words[1])] = (int(words[2]), int(words[3]))
        elif words[0] in ("holds", "held"):
            pid, function, count, size, kind, inherited = words[1:]
            sums = self.holds if words[0] == "holds" else self.held
            sums[int(pid), function, kind] = (int(count), int(size), int(inherited))
        elif words[0] == "kind":
            self.kinds[words[1], words[2]] = (int(words[3]), int(words[4]))
        elif words[0] == "differs":
            self.differs[tuple(words[1:4])] = words[4]
        elif words[0] == "sizes":
            self.differing_sizes[tuple(words[1:4])] = int(words[4])
        elif words[0] == "missing":
            raise Skip("this machine has no " + " ".join(words[1:]))
        elif words[0] == "block":
            self.blocks[int(words[1], 16)] = int(words[2])
        elif words[0] == "broken":
            raise Broken("the program cannot do its part: " + line)
        else:
            self.facts[words[0]] = words[1:]

    def _site(self, function, kind, count, size):
        self.sites[function, kind] = (int(count), int(size))

    @property
    def makers(self):
        """The functions for whose blocks it is known whether anything points to them."""
        return {function for function, _ in self.kinds}

    def kinds_by(self, *tools):
        """
        Returns the kinds that a tool must report. If several tools differ, the last one wins. None
        means that any kind is accepted for the function.
        """
        sums = {}
        for (function, kind), (count, size) in self.kinds.items():
            key = function, kind
            for tool in tools:
                key = function, self.differs.get((tool, function, kind), key[1])
                size = self.differing_sizes.get((tool, function, kind), size)
            if key[1] == "unseen":
                continue
            if key[1] == "unknown":
                key = function, None
            before = sums.get(key, (0, 0))
            sums[key] = (before[0] + count, before[1] + size)
        return sums

    @property
    def count(self):
        return sum(count for count, _ in self.sites.values())

    @property
    def bytes(self):
        return sum(size for _, size in self.sites.values())

    @classmethod
    def of(cls, lines):
        truth = cls()
        for line in lines.splitlines():
            if line.strip():
                truth.add(line.strip())
        return truth


class Program(Process):
    """A running test program. LEAK comments are searched for in its source."""

    def __init__(self, argv, *, source=None, **kwargs):
        super().__init__(argv, **kwargs)
        self.source = source
        self.truth = Truth()

    def ready(self, seconds=PATIENCE):
        """Reads the truth up to the next `ready`."""
        self.truth = Truth()

        def found():
            while (line := self.out.take_line()) is not None:
                text = line.decode("utf-8", "replace")
                if text == "ready":
                    return True
                if text:
                    self.truth.add(text)
            if self.code == BROKEN:
                raise Broken(f"{self.name} gave up")
            return False

        self.wait_for("ready", found, seconds)
        return self.truth

    def go(self, seconds=PATIENCE):
        """Starts the next phase and reads its truth."""
        self.send()
        return self.ready(seconds)

    def finish(self, seconds=PATIENCE):
        """Lets the program end; returns its exit code."""
        self.send()
        return self.wait(seconds)
