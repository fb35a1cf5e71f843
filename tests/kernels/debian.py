# SPDX-License-Identifier: GPL-2.0-or-later
"""
Kernels of Debian's suites, fetched by an apt with folders of its own: signatures and checksums
are apt's work, and nothing is installed.
"""

import functools
import os
import re
import shutil
import subprocess
import time

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
ARCHIVE = "http://archive.debian.org/debian/"  # where suites go in the end
FRESH_SECONDS = 24 * 3600
IMAGE = "linux-image-cloud-amd64"
HEADERS = "linux-headers-cloud-amd64"
# What these depend on: newer kernels come in several parts.
PARTS = re.compile(r"linux-(?:image|binary|modules|headers|kbuild)-[0-9][^ ,|]*")


class Unavailable(Exception):
    """The kernel cannot be had; the text says why."""


@functools.lru_cache(maxsize=None)
def mirror(path):
    """The site that this machine's own apt uses, which may be a local one."""
    answer = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages",
         "Origin: Debian"], capture_output=True, text=True, check=False)
    for uri in answer.stdout.split():
        if uri.rstrip("/").endswith("/" + path):
            return uri
    return f"http://deb.debian.org/{path}/"


class Suite:
    """One suite's packages, below a folder of their own."""

    def __init__(self, name, folder, with_headers=False):
        self.name = name
        self.folder = folder
        self.root = folder / "root"
        self.stamp = folder / "unpacked"  # what lies in root: name and version a line
        self.metas = (IMAGE, HEADERS) if with_headers else (IMAGE,)

    def fetch(self):
        """Unpacks the newest kernel into root unless it is there; what happened, or None."""
        if self._is_fresh():
            return None
        try:
            self._update()
            packages = self._closure()
            text = "".join(f"{name} {version}\n" for name, version in sorted(packages.items()))
            if not self.stamp.exists() or self.stamp.read_text() != text:
                self.stamp.unlink(missing_ok=True)
                self._unpack(packages)
            self.stamp.write_text(text)
        except Unavailable as reason:
            if not self.stamp.exists():
                raise
            return f"{reason}; the kernel fetched before is used"
        return None

    def _is_fresh(self):
        try:
            return (time.time() - self.stamp.stat().st_mtime < FRESH_SECONDS and
                    all(("headers" not in meta) or "linux-headers" in self.stamp.read_text()
                        for meta in self.metas))
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
            "APT::Architecture": "amd64", "APT::Architectures": "amd64",
            "APT::Sandbox::User": "root", "Acquire::Languages": "none",
            "Acquire::Check-Valid-Until": "false",  # the archive's lists are final
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
        """Its version and the parts of a kernel that it depends on."""
        text = self._apt("apt-cache", "show", "--no-all-versions", package)
        fields = dict(line.split(": ", 1) for line in text.splitlines()
                      if re.match(r"(Version|Depends): ", line))
        return fields["Version"], PARTS.findall(fields.get("Depends", ""))

    def _closure(self):
        found = {}
        todo = [part for meta in self.metas for part in self._show(meta)[1]]
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
