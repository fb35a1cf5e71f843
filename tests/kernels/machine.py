# SPDX-License-Identifier: GPL-2.0-or-later
"""One virtual machine: boots a kernel, runs the cases, and hands back what was said."""

import re
import subprocess
import time

# Without KVM. One processor: with more, QEMU may run an instruction after the kernel has patched it
# on another one, and attaching to tracepoints patches many.
QEMU = ["qemu-system-x86_64", "-accel", "tcg", "-cpu", "max,la57=off",
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
COMMAND_LINE = "console=ttyS0 panic=-1 oops=panic random.trust_cpu=on mitigations=off quiet"
END = re.compile(r"^ended with code (\d+)$", re.M)


class Result:
    """cases: the runner's output. trouble: why the machine itself failed, or None."""

    def __init__(self, cases, console, trouble, seconds):
        self.cases = cases
        self.console = console
        self.trouble = trouble
        self.seconds = seconds


def boot(kernel, initrd, folder, memory, seconds):
    """Runs a machine to its end, for so many seconds at most."""
    console, cases = folder / "console.log", folder / "cases.log"
    argv = [*QEMU, "-m", memory, "-kernel", kernel, "-initrd", initrd,
            "-append", COMMAND_LINE, "-serial", f"file:{console}", "-serial", f"file:{cases}"]
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
