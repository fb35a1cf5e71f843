# SPDX-License-Identifier: GPL-2.0-or-later
"""memleak -- CMD and -c CMD: traced from the first allocation on; exit codes are passed on."""

import glob
import os
import pwd
import signal
import subprocess

from lib import AFTER_EXEC, Failure, Skip, each, expect, owner, pitfall, wanted
from lib.process import alive
from lib.program import Truth


def truth_in(memleak):
    """Returns the truth that the command printed to the stdout it shares with memleak."""
    return Truth.of(memleak.out.text.replace("ready\n", ""))


def test_from_the_first_allocation(t):
    """Constructors of libraries and of the program, which allocate before main, are traced."""
    memleak = t.command(t.file_of("command"))
    report = memleak.finish()
    truth = truth_in(memleak)
    if truth.sites["early_alloc", "heap"] != (3, 216):
        raise Failure("the command did not run")
    expect(report, truth)


def test_lost_breakpoint(t):
    """
    Another memleak that removes its probe of the dynamic loader's hook removes the breakpoint there,
    too. The command is held a moment later: its library is mapped, and nothing has been allocated.
    """
    memleak = t.command(t.file_of("command"), env={"MEMLEAK_HOOK": "lost"})
    report = memleak.finish()
    expect(report, truth_in(memleak))
    if "allocations of constructors may be missed" not in memleak.notes:
        raise Failure(f"it does not say what may be missed: {memleak.notes}")


# The dynamic loader calls resolve() before all libraries are known to debuggers. No function of the C
# library may be called there.
EARLY = """
#include <fcntl.h>
#include <sys/syscall.h>
static long call(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return ret;
}
static void nothing(void) {}
static void (*resolve(void))(void)
{
	static char words[4096];
	char *path = words;

	call(SYS_read, call(SYS_open, (long)"/proc/self/cmdline", O_RDONLY, 0), (long)words,
	     sizeof(words) - 1);
	while (*path++)
		continue;
	call(SYS_execve, (long)path, (long)(char *[]){path, 0}, (long)(char *[]){0});
	return nothing;
}
void start(void) __attribute__((ifunc("resolve")));
int main(void)
{
	start();
	return 1;
}
"""


def test_early_exec(t):
    """A command that executes another program before its libraries are known is held there again."""
    if os.uname().machine != "x86_64":
        raise Skip("the program is for x86-64 only")
    source, program = t.tmp / "early.c", t.tmp / "early"
    source.write_text(EARLY, encoding="ascii")
    subprocess.run(["cc", "-O1", "-fno-stack-protector", "-o", program, source], check=True)
    memleak = t.command(program, t.file_of("command"))
    report = memleak.finish()
    truth = truth_in(memleak)
    if truth.sites["early_alloc", "heap"] != (3, 216):
        raise Failure("the command did not run")
    expect(report, truth)


def test_short_option(t):
    """-c splits its argument into words like a shell."""
    output = t.tmp / "reports"
    memleak = t.memleak("--json", "-o", "0", "--output", output, "-c",
                        f"'{t.file_of('command')}' args \"two words\" it\\'s ''", "3600",
                        output=output)
    report = memleak.finish()
    text = memleak.out.text
    for line in ("arg two words\n", "arg it's\n", "arg \n"):
        if line not in text:
            raise Failure(f"no {line!r} in {text!r}")
    lines = [line for line in text.splitlines() if not line.startswith("arg")]
    expect(report, Truth.of("\n".join(lines)))


def test_exact_words(t):
    """Words after -- are not options of memleak, and are not split."""
    memleak = t.command(t.file_of("command"), "args", "-p", "1", "--json", "a  b", "")
    memleak.finish()
    lines = [line for line in memleak.out.text.splitlines() if line.startswith("arg")]
    if lines != ["arg -p", "arg 1", "arg --json", "arg a  b", "arg "]:
        raise Failure(f"arguments {lines}")


def test_path_is_searched(t):
    memleak = t.command("true", env={"PATH": "/usr/bin:/bin"})
    memleak.finish()


def test_reports_on_stdout(t):
    """Without --output, reports follow the command's output on stdout."""
    memleak = t.memleak("--json", "-o", "0", "3600", "--", t.file_of("command"))
    memleak.json = False
    memleak.finish()
    lines = memleak.out.data.splitlines()
    reports = [line for line in lines if line.startswith(b"{")]
    if len(reports) != 1 or b'"final":true' not in reports[0].replace(b" ", b""):
        raise Failure(f"reports: {reports}")


@each("0", "1", "42", "255")
def test_exit_code(t, name):
    memleak = t.command(t.file_of("command"), "code", name)
    memleak.finish(code=int(name))


@each("SIGTERM", "SIGKILL", "SIGSEGV")
def test_death_by_signal(t, name):
    number = getattr(signal, name)
    memleak = t.command(t.file_of("command"), "signal", str(int(number)))
    report = memleak.finish(code=128 + number)
    expect(report, truth_in(memleak))


@each("outstanding", "nothing", "own_exit_code")
def test_error_exitcode(t, name):
    """--error-exitcode is used if anything is outstanding; otherwise the command's exit code."""
    if name == "outstanding":
        t.command(t.file_of("command"), "code", "3",
                  options=("--error-exitcode", "99")).finish(code=99)
        return
    # -z: none of the command's blocks is that large
    t.command(t.file_of("command"), "code", "3" if name == "own_exit_code" else "0",
              options=("--error-exitcode", "99", "-z", "1M")).finish(
                  code=3 if name == "own_exit_code" else 0)


@pitfall(38)
@each("missing", "missing_in_path", "directory", "not_executable", "no_interpreter")
def test_cannot_run(t, name):
    """If the command cannot be run, one line names it, and nothing is left behind."""
    file = t.tmp / "thing"
    if name == "not_executable":
        file.write_bytes(b"#!/bin/sh\n")
    elif name == "no_interpreter":
        file.write_bytes(b"#!/nonexistent/shell\n")
        file.chmod(0o755)
    command = {"missing": "/nonexistent/program", "missing_in_path": "no-such-program-anywhere",
               "directory": "/tmp"}.get(name, os.fspath(file))
    memleak = t.refused("--json", "1", "--", command, code=1, says=command)
    if len(memleak.notes.splitlines()) != 1:
        raise Failure(f"more than one line: {memleak.notes!r}")


def command_pid(memleak):
    """Waits until the command is ready; returns its pid, that of memleak's child."""
    memleak.wait_for("the command's ready", lambda: "ready\n" in memleak.out.text)
    children = set()
    for tid in os.listdir(f"/proc/{memleak.pid}/task"):
        with open(f"/proc/{memleak.pid}/task/{tid}/children", encoding="ascii") as file:
            children.update(int(child) for child in file.read().split())
    for pid in children:
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
            if file.read() == "command\n":
                return pid
    raise Failure("the command is no child of memleak")


def test_interrupted(t):
    """Ctrl-C: final report, SIGTERM for the command, and memleak exits with the command's code."""
    memleak = t.command(t.file_of("command"), "wait")
    pid = command_pid(memleak)
    report = memleak.stop(code=128 + signal.SIGTERM)
    expect(report, truth_in(memleak))
    if alive(pid):
        raise Failure("the command still runs")


def test_count_reached(t):
    """When COUNT is reached, memleak ends as after Ctrl-C."""
    memleak = t.memleak("--json", "-o", "0", "--output", t.tmp / "r", "0.2", "2", "--",
                        t.file_of("command"), "wait", output=t.tmp / "r")
    pid = command_pid(memleak)
    memleak.finish(code=128 + signal.SIGTERM)
    if len(memleak.reports) != 2:
        raise Failure(f"{len(memleak.reports)} reports, not 2")
    if alive(pid):
        raise Failure("the command still runs")


@each("signal", "count", "duration")
def test_deaf_command(t, name):
    """memleak waits for a command that ignores SIGTERM; a second signal ends memleak anyway."""
    end = {"signal": ["3600"], "count": ["0.2", "1"], "duration": ["-d", "0.2"]}[name]
    memleak = t.memleak("--json", "--output", t.tmp / "r", *end, "--", t.file_of("command"),
                        "ignore", output=t.tmp / "r")
    pid = command_pid(memleak)
    memleak.look()
    if name == "signal":
        memleak.signal(signal.SIGINT)
    memleak.wait_for("the note", lambda: f"waiting for process {pid} to end" in memleak.notes)
    memleak.signal(signal.SIGTERM)
    memleak.wait()
    if memleak.code != -signal.SIGTERM:
        raise Failure(f"exit code {memleak.code}")
    if not alive(pid):
        raise Failure("the command does not ignore SIGTERM")
    memleak.close_stdin()  # the command ends at the end of its input
    memleak.finish(code=None)
    if len(memleak.reports) != 1 or not memleak.reports[0]["final"]:
        raise Failure(f"{len(memleak.reports)} reports")


def test_command_runs_free(t):
    """memleak uses ptrace only to start the command, not while it runs."""
    memleak = t.command(t.file_of("command"), "wait")
    pid = command_pid(memleak)
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    if fields["TracerPid"].strip() != "0":
        raise Failure("the command is still under ptrace")
    memleak.send()
    memleak.finish(code=0)


@pitfall(38)
def test_command_dies_with_memleak_killed(t):
    """After kill -9 of memleak, the command neither hangs nor stays stopped."""
    memleak = t.command(t.file_of("command"), "wait")
    pid = command_pid(memleak)
    memleak.look()
    memleak.signal(signal.SIGKILL)
    memleak.wait()
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        state = dict(line.split(":", 1) for line in file)["State"].split()[0]
    if state in "tT":
        raise Failure(f"the command is in state {state}")
    memleak.close_stdin()  # the command ends at the end of its input
    memleak.aftermath()


@pitfall(15)
def test_shell_that_execs(t):
    """A shell runs exec: only the last program's blocks count."""
    memleak = t.command("/bin/sh", "-c", f"exec {t.file_of('command')} wait", interval="0.2")
    memleak.wait_for("the command's ready", lambda: "ready\n" in memleak.out.text)
    number = memleak.output.read_bytes().count(b"\n")
    memleak.wait_for("two more reports", lambda: memleak.output.read_bytes().count(b"\n")
                     > number + 1, every=0.02)
    memleak.send()
    report = memleak.finish()
    expect(report, truth_in(memleak), may_lose=AFTER_EXEC)


@pitfall(15)
def test_short_life_after_exec(t):
    """The report is exact however short the last program runs."""
    memleak = t.command("/bin/sh", "-c", f"exec {t.file_of('command')}")
    report = memleak.finish()
    truth = truth_in(memleak)
    if report["outstanding"] != {"bytes": truth.bytes, "count": truth.count}:
        raise Failure(f"{report['outstanding']}, the truth is {truth.sites}")


@pitfall(15)
@each("alone", "followed")
def test_many_execs(t, how):
    """Blocks of earlier programs make room for later ones, also without a report in between."""
    options = ("--max-allocs", "1000", *(["-f"] if how == "followed" else []))
    memleak = t.command(t.file_of("process"), "again", "30", options=options)
    for image in range(31):
        memleak.wait_for(f"image {image}", lambda so_far=image: so_far ==
                         memleak.err.text.count("executed another program"))
        memleak.send(b"x")
    report = memleak.finish()
    expect(report, truth_in(memleak), may_lose=AFTER_EXEC)


def test_static_command(t):
    memleak = t.command(t.file_of("leak_static"))
    memleak.wait_for("ready", lambda: "ready\n" in memleak.out.text)
    memleak.send(b"xx")
    memleak.wait_for("third ready", lambda: memleak.out.text.count("ready\n") == 3)
    memleak.close_stdin()
    report = memleak.finish()
    truth = Truth.of("leak leak_small 10 160\nleak leak_big 10 10485760\nleak main 2 200\n")
    # Blocks from before the first phase are seen as well; one of the three is freed.
    expect(report, truth, lines=False,
           ignore=lambda site: owner(site).startswith("_dl_"))


def test_dynamic_loader_as_command(t):
    """
    The dynamic loader run as a command loads the program: constructors are traced, allocators
    found.
    """
    loaders = [*glob.glob("/lib64/ld-linux-x86-64.so.2"), *glob.glob("/lib/ld-linux-aarch64.so.1")]
    if not loaders:
        raise Skip("the C library is not that of GNU")
    memleak = t.command(loaders[0], t.file_of("command"))
    expect(memleak.finish(), truth_in(memleak))


def test_dynamic_loader_of_musl(t):
    loaders = glob.glob("/lib/ld-musl-*.so.1")
    if not loaders:
        raise Skip("no musl")
    memleak = t.command(loaders[0], t.file_of("leak_musl"))
    memleak.wait_for("ready", lambda: "ready\n" in memleak.out.text)
    memleak.send(b"x")
    memleak.wait_for("second ready", lambda: memleak.out.text.count("ready\n") == 2)
    memleak.close_stdin()
    if not any(owner(site) == "leak_small" for site in memleak.finish(code=None)["sites"]):
        raise Failure("leak_small is not seen")


FACTS = "grep -E '^(Uid|Gid|Groups|Cap...|NoNewPrivs):' /proc/self/status"


def facts_under(t, *options, env=None):
    """Returns the status that a shell started by memleak prints."""
    memleak = t.command("/bin/sh", "-c", FACTS, options=options, env=env)
    memleak.finish()
    return memleak, memleak.out.text


def test_rights_are_passed_on(t):
    """memleak drops capabilities; the command gets those that memleak was started with."""
    alone = t.process(["/bin/sh", "-c", FACTS])
    alone.wait()
    wanted("rights", facts_under(t)[1], alone.out.text)


def test_user(t):
    """--user runs the command as this user, with its groups and without capabilities."""
    memleak, text = facts_under(t, "--user", "nobody", env={"SUDO_UID": "1", "SUDO_USER": "daemon"})
    nobody = pwd.getpwnam("nobody")
    facts = dict(line.split(":", 1) for line in text.splitlines())
    wanted("Uid", set(facts["Uid"].split()), {str(nobody.pw_uid)})
    wanted("Gid", set(facts["Gid"].split()), {str(nobody.pw_gid)})
    wanted("Groups", set(map(int, facts["Groups"].split())),
           set(os.getgrouplist("nobody", nobody.pw_gid)))
    wanted("capabilities", (int(facts["CapPrm"], 16), int(facts["CapEff"], 16)), (0, 0))
    if "/bin/sh runs as nobody" not in memleak.notes:
        raise Failure(memleak.notes)


def test_user_is_said(t):
    """Under sudo the command runs as root, and memleak hints at --user."""
    memleak, _ = facts_under(t, env={"SUDO_UID": "1", "SUDO_USER": "daemon"})
    if "/bin/sh runs as root: --user daemon" not in memleak.notes:
        raise Failure(memleak.notes)


def test_no_such_user(t):
    t.refused("--user", "nobody-of-that-name", "1", "--", "true", code=1,
              says="there is no user nobody-of-that-name")


def test_user_is_ended(t):
    """memleak can signal a command of another user."""
    memleak = t.command("/bin/cat", options=("--user", "nobody"))
    memleak.wait_for("tracing", lambda: "memleak: tracing" in memleak.notes)
    memleak.stop(code=128 + signal.SIGTERM)


def test_environment_is_untouched(t):
    """The command gets the environment, files and signals that memleak was started with."""
    script = "env | sort | grep -v ^_=; ls /proc/self/fd | wc -l; grep ^Sig[BI] /proc/self/status"
    plain = t.process(["/bin/sh", "-c", script])
    plain.wait()
    output = t.tmp / "reports"
    memleak = t.memleak("--json", "--output", output, "3600", "--", "/bin/sh", "-c", script,
                        output=output)
    memleak.finish()

    def without_ours(text):
        """Removes the lines that lib/context.py adds to memleak's environment."""
        return [line for line in text.splitlines()
                if "SAN_OPTIONS" not in line and "MEMLEAK_PATIENCE" not in line]

    if without_ours(memleak.out.text) != without_ours(plain.out.text):
        raise Failure(f"alone:\n{plain.out.text}\nunder memleak:\n{memleak.out.text}")


def test_ended_processes(t):
    """The final report names processes that ended before it, and gives no all-clear about them."""
    program = t.file_of("pairs")
    output = t.tmp / "reports"
    memleak = t.memleak("-f", "-o", "0", "--output", output, "0.3", "--", "sh", "-c",
                        f"yes | {program} 10000 >/dev/null; sleep 1; true")
    memleak.wait()
    last = output.read_text().split(" traced for ")[-1]
    if "pairs (" not in last or " outstanding\n" not in last or "nothing seems to leak" in last:
        raise Failure(f"final report: {last}")
