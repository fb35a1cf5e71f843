# SPDX-License-Identifier: GPL-2.0-or-later
"""
Fetches packages of Debian's suites with an apt that has separate folders: apt verifies signatures
and checksums, and nothing is installed.
"""

import functools
import os
import re
import shutil
import subprocess
import time

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
ARCHIVE = "http://archive.debian.org/debian/"  # where old suites are moved to
FRESH_SECONDS = 24 * 3600


class Unavailable(Exception):
    """The packages are not available; the text says why."""


@functools.lru_cache(maxsize=None)
def mirror(path):
    """Returns the mirror that this machine's apt uses, which may be a local one."""
    answer = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
         "Origin: Debian"], capture_output=True, text=True, check=False)
    for uri in answer.stdout.split():
        if uri.rstrip("/").endswith("/" + path):
            return uri
    return f"http://deb.debian.org/{path}/"


class Suite:
    """
    Packages of one suite, unpacked into a folder: those in `names`, or, with the pattern `parts`,
    the dependencies of `names` that match it, recursively. arch is Debian's name for the
    architecture.
    """

    def __init__(self, name, folder, names, parts=None, arch="amd64"):
        self.name = name
        self.arch = arch
        self.folder = folder
        self.root = folder / "root"
        self.stamp = folder / "unpacked"  # lists names, and the packages in root with versions
        self.names = names
        self.parts = parts

    def fetch(self):
        """Unpacks the newest packages into root if needed; returns what was done, or None."""
        if self._is_fresh():
            return None
        try:
            self._update()
            packages = self._closure()
            text = self._heading() + "".join(
                f"{name} {version}\n" for name, version in sorted(packages.items()))
            if not self.stamp.exists() or self.stamp.read_text() != text:
                self.stamp.unlink(missing_ok=True)
                self._unpack(packages)
            self.stamp.write_text(text)
        except Unavailable as reason:
            if not self.stamp.exists():
                raise
            return f"{reason}; what was fetched before is used"
        return None

    def _heading(self):
        return "for " + " ".join(self.names) + "\n"

    def _is_fresh(self):
        try:
            return (time.time() - self.stamp.stat().st_mtime < FRESH_SECONDS and
                    self.stamp.read_text().startswith(self._heading()))
        except FileNotFoundError:
            return False

    def _sources(self, site):
        lines = [f"{site} {self.name} main"]
        if self.name != "sid" and site != ARCHIVE:
            lines.append(f"{mirror('debian-security')} {self.name}-security main")
        return "".join(f"deb [signed-by={KEYRING}] {line}\n" for line in lines)

    def _apt(self, *words, cwd=None):
        etc = self.folder / "etc"
        options = {
            "Dir": self.folder, "Dir::Etc": etc, "Dir::Etc::sourcelist": etc / "sources.list",
            "Dir::Etc::sourceparts": "-", "Dir::State": self.folder / "state",
            "Dir::State::status": etc / "status", "Dir::Cache": self.folder / "cache",
            "APT::Architecture": self.arch, "APT::Architectures": self.arch,
            "APT::Sandbox::User": "root", "Acquire::Languages": "none",
            "Acquire::Check-Valid-Until": "false",  # archived suites do not change
            "Acquire::Retries": "2", "Acquire::http::Timeout": "30",
        }
        argv = [words[0], *(f"-o{key}={value}" for key, value in options.items()), *words[1:]]
        answer = subprocess.run(argv, cwd=cwd or self.folder, capture_output=True, text=True,
                                check=False, env={**os.environ, "LC_ALL": "C"})
        if answer.returncode:
            errors = [line for line in answer.stderr.splitlines() if line.startswith("E:")]
            raise Unavailable(f"{words[0]} {words[1]}: {(errors or ['it failed'])[0]}")
        return answer.stdout

    def _update(self):
        for name in ("etc", "state/lists/partial", "cache/archives/partial"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "etc/status").touch()
        first = None
        for site in (mirror("debian"), ARCHIVE):
            (self.folder / "etc/sources.list").write_text(self._sources(site))
            try:
                self._apt("apt-get", "update", "--error-on=any")
                return
            except Unavailable as reason:
                first = first or reason
        raise first

    def _show(self, package):
        """Returns a package's version and its dependencies that match `parts`."""
        text = self._apt("apt-cache", "show", "--no-all-versions", package)
        fields = dict(line.split(": ", 1) for line in text.splitlines()
                      if re.match(r"(Version|Depends): ", line))
        parts = self.parts.findall(fields.get("Depends", "")) if self.parts else []
        return fields["Version"], parts

    def _closure(self):
        if not self.parts:
            return {name: self._show(name)[0] for name in self.names}
        found = {}
        todo = [part for name in self.names for part in self._show(name)[1]]
        while todo:
            name = todo.pop()
            if name not in found:
                found[name], parts = self._show(name)
                todo += parts
        return found

    def _unpack(self, packages):
        debs = self.folder / "debs"
        for folder in (debs, self.root):
            shutil.rmtree(folder, ignore_errors=True)
        debs.mkdir()
        self._apt("apt-get", "download", *packages, cwd=debs)
        for deb in sorted(debs.glob("*.deb")):
            subprocess.run(["dpkg-deb", "-x", deb, self.root], check=True)
        shutil.rmtree(debs)


def unpacked(suite, folder, packages):
    """
    Unpacks packages of a suite for this machine into a new folder, and makes the links that another
    package would make. Returns the root.
    """
    debian = Suite(suite, folder, packages,
                   arch={"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine])
    folder.mkdir()
    debian.fetch()
    for name in ("lib", "lib64"):
        if not (debian.root / name).exists():
            (debian.root / name).symlink_to(f"usr/{name}")
    return debian.root
