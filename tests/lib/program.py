# SPDX-License-Identifier: GPL-2.0-or-later
"""A program from tests/programs: it says its truth, then ready, then waits for a byte."""

from .case import BROKEN, Broken, Skip
from .process import PATIENCE, Process


class Truth:
    """What one phase of a program leaves outstanding."""

    def __init__(self):
        self.sites = {}   # (function, kind) → (count, bytes)
        self.kernel = {}  # thing → (kind, count, bytes or None)
        self.blocks = {}  # address → size
        self.children = {}  # pid → (count, bytes)
        self.inherits = {}  # pid → (count, bytes) besides, if children have what parents had
        self.holds = {}  # (pid, function, kind) → (count, bytes, inherited count)
        self.held = {}    # the same, of processes that have ended
        self.kinds = {}   # (function, definite|indirect|possible|reachable) → (count, bytes)
        self.differs = {}  # (tool, function, kind) → the kind that the tool says, or unseen
        self.differing_sizes = {}  # (tool, function, kind) → the bytes that the tool says
        self.facts = {}   # first word → other words

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
        """The functions of which it is known whether anything points to their blocks."""
        return {function for function, _ in self.kinds}

    def kinds_by(self, *tools):
        """
        The kinds that a tool must say; the last one that differs is right. None: it says whatever
        it likes of the function.
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
    """Its source is where a LEAK comment is looked for."""

    def __init__(self, argv, *, source=None, **kwargs):
        super().__init__(argv, **kwargs)
        self.source = source
        self.truth = Truth()

    def ready(self, seconds=PATIENCE):
        """Reads the truth of the phase that ends with the next ready."""
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
        """Lets it into its next phase and reads that one's truth."""
        self.send()
        return self.ready(seconds)

    def finish(self, seconds=PATIENCE):
        """Lets it end; its exit code."""
        self.send()
        return self.wait(seconds)
