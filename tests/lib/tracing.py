# SPDX-License-Identifier: GPL-2.0-or-later
"""
Finds what this machine lacks to trace processes, as app/preflight.c does, and all of it at once.

    /usr/bin/python3 tests/lib/tracing.py      exit code 1, and a line, if memleak cannot trace
"""

import ctypes
import errno
import os
import pathlib
import struct
import sys

# Bits of capabilities (linux/capability.h).
CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE = 19, 21, 38, 39, 40

# CAP_SYS_ADMIN implies all but the first.
NEEDED = {"CAP_SYS_PTRACE": CAP_SYS_PTRACE, "CAP_BPF": CAP_BPF, "CAP_PERFMON": CAP_PERFMON,
          "CAP_CHECKPOINT_RESTORE": CAP_CHECKPOINT_RESTORE}
ADMIN_BEFORE = (6, 6)  # older kernels let only CAP_SYS_ADMIN place probes
UNLIMITED_SINCE = (5, 11)  # older kernels count BPF programs as locked memory

# Numbers of system calls by processor; memleak supports no other processor.
SYS_BPF = {"x86_64": 321, "aarch64": 280}
SYS_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
PROG_LOAD, KPROBE = 5, 2  # linux/bpf.h
SOFTWARE_EVENT, DUMMY_EVENT, EXCLUDE_KERNEL = 1, 9, 1 << 5  # linux/perf_event.h
WATCHPOINT_EVENT, WHEN_WRITTEN, WORD_BYTES = 5, 2, 8  # linux/hw_breakpoint.h
ATTR_BYTES = 112  # size of the attributes of either call, in bytes
ALL_USERS = ["0", "0", "4294967295"]  # the map of users in the initial user namespace

# Where libbpf looks for the kernel's types; %s is the kernel's release.
TYPES = ("/sys/kernel/btf/vmlinux", "/boot/vmlinux-%s", "/lib/modules/%s/vmlinux-%s",
         "/lib/modules/%s/build/vmlinux", "/usr/lib/modules/%s/kernel/vmlinux",
         "/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/boot/vmlinux-%s.debug",
         "/usr/lib/debug/lib/modules/%s/vmlinux")

# An eBPF program is a list of (code, registers, offset, constant).
RETURN_0 = [(0xb7, 0, 0, 0), (0x95, 0, 0, 0)]
READ_KERNEL = [(0xbf, 0xa1, 0, 0), (0x07, 1, 0, -8),  # r1 = r10 - 8: destination
               (0xb7, 2, 0, 8), (0xbf, 0xa3, 0, 0),   # r2 = 8, r3 = r10: source
               (0x85, 0, 0, 113), *RETURN_0]          # bpf_probe_read_kernel()

SUDO = "run it as root (sudo)"
CONTAINER = ("start the container as root with `docker run --privileged` or "
             "`podman run --privileged`, or with --cap-add=BPF --cap-add=PERFMON "
             "--cap-add=SYS_PTRACE --cap-add=CHECKPOINT_RESTORE --cap-add=DAC_READ_SEARCH "
             "--cap-add=SYS_ADMIN --security-opt seccomp=unconfined "
             "--security-opt apparmor=unconfined")
KERNEL = "use a kernel with CONFIG_BPF_SYSCALL and without lockdown=confidentiality"
SYSFS = ("mount /sys (mount -t sysfs sysfs /sys; docker, podman: -v /sys:/sys:ro) and use a kernel "
         "with CONFIG_DEBUG_INFO_BTF")
MACHINE = "use a machine of that kind"


def status():
    """Reads the fields of /proc/self/status; none if /proc is not mounted."""
    try:
        lines = pathlib.Path("/proc/self/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in
            (line.partition(":") for line in lines.splitlines())}


def capabilities():
    """Returns the capabilities as bits; for other users than root, those that sudo would give."""
    field = "CapBnd" if os.geteuid() else "CapEff"
    return int(status().get(field, "ffffffffffffffff"), 16)


def release():
    """Returns the version of the kernel as two numbers."""
    first = os.uname().release.replace("-", ".").split(".")[:2]
    return tuple(int(part) if part.isdigit() else 0 for part in first)


def open_by(numbers, *args):
    """Makes a system call that opens a file; returns the descriptor, or -1."""
    libc = ctypes.CDLL(None, use_errno=True)
    args = [ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args]
    return libc.syscall(ctypes.c_long(numbers[os.uname().machine]), *args)


def call(numbers, *args):
    """Makes a system call that opens a file; returns the error's number, or 0."""
    fd = open_by(numbers, *args)
    if fd < 0:
        return ctypes.get_errno()
    os.close(fd)
    return 0


def may_open_events():
    """True unless the kernel gives performance events to CAP_SYS_ADMIN only, as Debian's may."""
    attributes = struct.pack("<IIQQQQQ", SOFTWARE_EVENT, ATTR_BYTES, DUMMY_EVENT, 0, 0, 0,
                             EXCLUDE_KERNEL)
    buffer = ctypes.create_string_buffer(attributes, ATTR_BYTES)
    return call(SYS_PERF_EVENT_OPEN, buffer, 0, -1, -1, 0) not in (errno.EACCES, errno.EPERM)


def has_watchpoints():
    """True if writes to a watched address are noticed, which some virtual machines do not do."""
    word = ctypes.c_uint64()
    attributes = struct.pack("<IIQQQQQIIQQ", WATCHPOINT_EVENT, ATTR_BYTES, 0, 0, 0, 0,
                             EXCLUDE_KERNEL, 0, WHEN_WRITTEN, ctypes.addressof(word), WORD_BYTES)
    fd = open_by(SYS_PERF_EVENT_OPEN, ctypes.create_string_buffer(attributes, ATTR_BYTES), 0, -1,
                 -1, 0)
    if fd < 0:
        return False
    word.value = 1
    writes = os.read(fd, 8)
    os.close(fd)
    return writes != bytes(8)


def missing_capabilities(for_cases):
    """
    Returns the names of missing capabilities. Cases need CAP_SYS_ADMIN to mount and to make
    namespaces.
    """
    own = capabilities()
    admin = own >> CAP_SYS_ADMIN & 1
    names = [name for name, bit in NEEDED.items()
             if not own >> bit & 1 and not (admin and bit != CAP_SYS_PTRACE)]
    if not admin and (for_cases or release() < ADMIN_BEFORE or
                      not names and not may_open_events()):
        names.append("CAP_SYS_ADMIN")
    return names


def bpf(command, attributes):
    """Calls bpf(2); returns the error's number, or 0."""
    return call(SYS_BPF, command, ctypes.create_string_buffer(attributes, ATTR_BYTES), ATTR_BYTES)


def load(program):
    """Loads a program of type kprobe; returns the error's number, or 0."""
    code = b"".join(struct.pack("<BBhi", *instruction) for instruction in program)
    instructions = ctypes.create_string_buffer(code, len(code))
    license_name = ctypes.create_string_buffer(b"GPL")
    return bpf(PROG_LOAD, struct.pack("<IIQQ", KPROBE, len(program),
                                      ctypes.addressof(instructions),
                                      ctypes.addressof(license_name)))


def why_no_bpf(may_load):
    """Returns what keeps BPF programs from loading, or None. may_load: the capabilities suffice."""
    error = bpf(-1, b"")  # an unknown command: EINVAL if the system call can be used
    if error == errno.ENOSYS:
        return "bpf(2) (denied by a seccomp filter, or no CONFIG_BPF_SYSCALL)"
    if error == errno.EPERM and status().get("Seccomp") == "2":
        return "bpf(2) (denied by a seccomp filter)"
    if not may_load:
        return None  # cannot tell whether loading would be permitted
    error = load(RETURN_0)
    if error == errno.EPERM and release() < UNLIMITED_SINCE:
        return None  # RLIMIT_MEMLOCK, which memleak raises, may be the reason
    if error:
        return f"the right to load BPF programs (denied: {os.strerror(error)})"
    if load(READ_KERNEL):
        return "BPF programs that read the kernel's memory (kernel lockdown)"
    return None


def lockdown():
    """True if the kernel says that lockdown keeps its memory confidential."""
    try:
        text = pathlib.Path("/sys/kernel/security/lockdown").read_text("ascii")
    except OSError:
        return False
    return "[confidentiality]" in text


def in_user_namespace():
    """True if root is root of a user namespace only, where capabilities are no use for BPF."""
    try:
        lines = pathlib.Path("/proc/self/uid_map").read_text("ascii").splitlines()
    except OSError:
        return False
    return [line.split() for line in lines] != [ALL_USERS]


def lacks(for_cases):
    """Finds all that is missing; returns pairs: a phrase, and what to do about it."""
    found = []
    if os.geteuid():
        found.append(("root", SUDO))
    if os.uname().machine not in SYS_BPF:
        found.append((f"an {' or '.join(SYS_BPF)} processor", MACHINE))
        return found
    found += ((name, CONTAINER) for name in missing_capabilities(for_cases))
    if in_user_namespace():
        found.append(("root outside of user namespaces (this container is rootless)", CONTAINER))
    if lockdown():
        found.append(("a kernel without lockdown (/sys/kernel/security/lockdown)", KERNEL))
    elif reason := why_no_bpf(may_load=not found):
        found.append((reason, CONTAINER if "denied" in reason else KERNEL))
    if not any(os.access(path.replace("%s", os.uname().release), os.R_OK) for path in TYPES):
        found.append(("/sys/kernel/btf/vmlinux", SYSFS))
    return found


def missing():
    """Returns phrases for all that is missing to run the cases."""
    return [phrase for phrase, _ in lacks(for_cases=True)]


def runnable(judge, name, cases):
    """Returns the cases that can run here; one line says how many are skipped, and why."""
    reasons = missing()
    if not reasons:
        return cases
    untraced = [case for case in cases if case.untraced]
    if len(untraced) < len(cases):
        judge.skip(name, len(cases) - len(untraced), "tracing needs " + ", ".join(reasons))
    return untraced


def main():
    found = lacks(for_cases=False)
    if found:
        remedies = dict.fromkeys(remedy for _, remedy in found)
        print(f"memleak cannot trace here: it lacks {', '.join(phrase for phrase, _ in found)}. "
              f"To get that: {'; '.join(remedies)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
