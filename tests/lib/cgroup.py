# SPDX-License-Identifier: GPL-2.0-or-later
"""Creates cgroups for a case in the cgroup hierarchy that it needs."""

import contextlib
import os
import pathlib
import subprocess

from .case import Broken, Skip
from .process import until


class Cgroup:
    """A cgroup that is removed when the case ends."""

    def __init__(self, root):
        self.path = pathlib.Path(root) / f"memleak-test-{os.getpid()}"

    def __enter__(self):
        try:
            self.path.mkdir()
            (self.path / "below").mkdir()
        except OSError as error:
            raise Skip(f"no cgroup can be made in {self.path.parent}: {error}") from error
        return self

    def __exit__(self, *_):
        for path in (self.path / "below", self.path):
            for pid in (path / "cgroup.procs").read_text(encoding="ascii").split():
                with contextlib.suppress(ProcessLookupError):
                    (self.path.parent / "cgroup.procs").write_text(pid, encoding="ascii")
            if not until(lambda path=path: removed(path)):
                raise Broken(f"{path} cannot be removed")

    def take(self, pid, name="cgroup.procs"):
        (self.path / name).write_text(str(pid), encoding="ascii")

    @contextlib.contextmanager
    def more(self, *names):
        """Creates more cgroups below this one, without processes."""
        paths = [self.path / name for name in names]
        for path in paths:
            path.mkdir()
        try:
            yield paths
        finally:
            for path in paths:
                path.rmdir()

    def remake(self):
        """Removes the cgroup and creates it again, as a service manager does on restart."""
        self.__exit__()
        self.__enter__()

    def entry(self, name="cgroup.procs"):
        """Returns a command prefix that starts a program in the cgroup."""
        return "sh", "-c", f'echo $$ > {self.path / name}; exec "$@"', "sh"


def removed(path):
    """Removes a cgroup; returns False while its processes are still ending."""
    try:
        path.rmdir()
    except OSError:
        return False
    return True


@contextlib.contextmanager
def hierarchy(t, version):
    """Yields where a hierarchy of this version is mounted; mounts it for the case if it is not."""
    for line in pathlib.Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        _, path, kind, options, *_ = line.split()
        if (kind == "cgroup2" and version == "v2") or (
                kind == "cgroup" and version == "v1" and "memory" in options.split(",")):
            yield path
            return
    path = t.tmp / "cgroup"
    path.mkdir()
    kind = ["-t", "cgroup2"] if version == "v2" else ["-t", "cgroup", "-o", "memory"]
    if subprocess.run(["mount", *kind, "cgroup", path], check=False, capture_output=True).returncode:
        raise Skip(f"no cgroup hierarchy of {version} can be mounted")
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=False)


def accounting():
    """Returns the version of the cgroup hierarchy that accounts for memory."""
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = [line.split() for line in file]
    return "v1" if any(kind == "cgroup" and "memory" in options.split(",")
                       for _, _, kind, options, *_ in mounts) else "v2"
