# SPDX-License-Identifier: GPL-2.0-or-later
"""However memleak is run, what reads files of targets has no rights."""

import re

from lib import Failure, Skip, each, expect, once

CAPS = "+bpf,+perfmon,+sys_ptrace,+dac_read_search,+checkpoint_restore"
NOBODY = ("--reuid", "65534", "--regid", "65534", "--clear-groups")
# The service has ambient capabilities, the container is root with few.
DEPLOYMENTS = {
    "root": (),
    "service": ("setpriv", *NOBODY, "--inh-caps", CAPS, "--ambient-caps", CAPS,
                "--bounding-set", "-all," + CAPS, "--no-new-privs"),
    "container": ("setpriv", "--inh-caps", "-all", "--bounding-set", "-all," + CAPS,
                  "--no-new-privs"),
}


def facts_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        return dict(re.findall(r"^(\w+):\t(.*)$", file.read(), re.M))


def check(pid, deployment):
    facts = facts_of(pid)
    sets = ["CapInh", "CapPrm", "CapEff", "CapAmb"]
    if deployment == "root":  # the others may not change these
        sets.append("CapBnd")
        users = set(facts["Uid"].split() + facts["Gid"].split())
        if facts["Groups"].strip() or len(users) > 1 or int(users.pop()) <= 65535:
            raise Failure(f"not a user of its own: {facts}")
    left = [name for name in sets if int(facts[name], 16)]
    if left or facts["NoNewPrivs"] != "1" or facts["Seccomp"] != "2":
        raise Failure(f"{facts['Name']} has rights: {left} {facts}")


@once
@each(*DEPLOYMENTS)
def test_helpers_have_no_rights(t, deployment):
    wrapper = DEPLOYMENTS[deployment]
    if wrapper and t.process([*wrapper, "true"], stderr=None).wait() != 0:
        raise Skip("setpriv does not know these capabilities")
    program = t.program("leak", wrapper=("setpriv", *NOBODY) if deployment == "service" else ())
    memleak = t.memleak("--json", "-o", "0", "-p", str(program.pid), "3600", wrapper=wrapper)
    memleak.ready()
    helpers = memleak.helpers
    if len(helpers) < 2:
        raise Failure(f"helpers: {helpers}")
    for pid in helpers:
        check(pid, deployment)
    truth = program.go()
    expect(memleak.stop(), truth)
