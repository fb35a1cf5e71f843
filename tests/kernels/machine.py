# SPDX-License-Identifier: GPL-2.0-or-later
"""A virtual machine: boots a kernel, runs the cases, and returns their output."""

import re
import subprocess
import time

COMMAND_LINE = "panic=-1 oops=panic random.trust_cpu=on quiet"
END = re.compile(r"^ended with code (\d+)$", re.M)


class Result:
    """cases: output of the runner. trouble: why the machine itself failed, or None."""

    def __init__(self, cases, console, trouble, seconds):
        self.cases = cases
        self.console = console
        self.trouble = trouble
        self.seconds = seconds


def boot(processor, kernel, initrd, folder, memory, seconds):
    """Runs a machine without KVM until it powers off, or at most for this time."""
    console, cases = folder / "console.log", folder / "cases.log"
    argv = [*processor.emulator, "-m", memory, "-kernel", kernel, "-initrd", initrd,
            "-append", f"{processor.command_line} {COMMAND_LINE}",
            *processor.serial(console, cases)]
    for log in (console, cases):
        log.write_bytes(b"")
    start = time.monotonic()
    trouble = None
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as process:
        try:
            _, errors = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            _, errors = process.communicate()
            trouble = f"the machine did not end within {seconds} s"
    text = cases.read_text(encoding="utf-8", errors="replace")
    said = console.read_text(encoding="utf-8", errors="replace").replace("\r", "")
    if not trouble and not END.search(text):
        trouble = "the machine ended before the cases: " + (errors.strip() or "see the console")
    return Result(text, said, trouble, time.monotonic() - start)
