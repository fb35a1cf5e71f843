# SPDX-License-Identifier: GPL-2.0-or-later
"""
Tests that the agent does not break unusual programs, and that memleak reports what the agent cannot
see.
"""

import os
import platform
import re
import signal
import socket
import subprocess

from lib import Broken, Failure, Skip, each, slow, untraced, wanted
from lib.apart import NEW_PIDS, only_child
from lib.context import LAST_PID
from lib.expect import fail
from lib.process import PATIENCE

from .agent import command, join, library, next_stage, reports_so_far, sites_of


def build(t, name, source, *options, compiler="cc", suffix=".c"):
    path, program = t.tmp / (name + suffix), t.tmp / name
    path.write_text(source, encoding="ascii")
    subprocess.run([compiler, "-O1", "-g", "-pthread", "-o", program, path, *options], check=True)
    t.tmp.chmod(0o755)
    return program


def loaded(t, *argv):
    """Runs a program with the agent; returns its output if it succeeds."""
    answer = subprocess.run(argv, check=False, timeout=PATIENCE, capture_output=True, encoding="utf-8",
                            stdin=subprocess.DEVNULL, cwd=t.tmp,
                            env={**os.environ, "LD_PRELOAD": os.fspath(library(t))})
    if answer.returncode:
        raise Failure(f"exit code {answer.returncode}: {answer.stderr!r}")
    return answer.stdout


def watched(t, interval, *argv, options=(), **kwargs):
    """Runs memleak on a command; reports go to a file, stdout has only the command's output."""
    output = t.tmp / "reports"
    return t.memleak("--agent", "--json", "-T", "100000", "-o", "0", *options, "--output", output,
                     interval, "--", *argv, output=output, **kwargs)


def field(text, name):
    """Returns all values of a field of /proc/PID/status in the text, in kB."""
    return [int(number) for number in re.findall(rf"^{name}:\s+(\d+) kB", text, re.M)]


SAY = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void say(void)
{
	char line[200];
	FILE *file = fopen("/proc/self/status", "r");

	while (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	fclose(file);
}
"""

THREADS = SAY + """
static pthread_barrier_t all;
static int waits;
static void *run(void *arg)
{
	void *volatile block = malloc(100);

	free(block);
	if (waits) {
		pthread_barrier_wait(&all);
		pthread_barrier_wait(&all);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[500];

	waits = !strcmp(argv[1], "at_once");
	pthread_barrier_init(&all, NULL, 501);
	say();
	for (int i = 0; i < 500; i++) {
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
		if (!waits)
			pthread_join(threads[i], NULL);
	}
	if (waits)
		pthread_barrier_wait(&all);
	say();
	if (waits)
		pthread_barrier_wait(&all);
	for (int i = 0; waits && i < 500; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
"""


@untraced
@each("one_by_one", "at_once")
def test_threads(t, how):
    """The agent's memory for a thread is small and is freed when the thread ends."""
    said = loaded(t, build(t, "threads", THREADS), how)
    before, after = field(said, "RssAnon")
    if after - before > (4000 if how == "one_by_one" else 40000):
        raise Failure(f"{before} kB before 500 threads, {after} kB then")


LATE = """
#include <pthread.h>
#include <stdlib.h>
static pthread_key_t first, last;
static void *volatile kept;
__attribute__((noinline, noipa)) static void late(void *arg) { kept = malloc(3000); }
static void nothing(void *arg) {}
static void *run(void *arg)
{
	kept = malloc(100);
	pthread_setspecific(first, arg);
	pthread_setspecific(last, arg);
	return NULL;
}
int main(void)
{
	pthread_t thread;

	pthread_key_create(&first, nothing);
	pthread_key_create(&last, late);
	for (int i = 0; i < 20; i++)
		if (pthread_create(&thread, NULL, run, &first) || pthread_join(thread, NULL))
			return 1;
	return 0;
}
"""


KEYS = """
#include <pthread.h>
__attribute__((constructor)) static void make(void)
{
	pthread_key_t key;

	for (int i = 0; i < 40; i++)
		pthread_key_create(&key, NULL);
}
"""


@each("few", "many")
def test_late_destructors(t, keys):
    """
    Allocations in thread destructors, which run after the agent has forgotten the thread, have a
    stack; also if libraries have taken all keys for which the C library need not allocate memory.
    """
    libraries = []
    if keys == "many":
        libraries = ["-Wl,--no-as-needed", build(t, "keys.so", KEYS, "-shared", "-fPIC")]
    report, _ = command(t, build(t, "late", LATE, *libraries))
    sites = sites_of(report, "late")
    wanted("blocks", sum(site["count"] for site in sites), 20)
    if any(site["stack_end"] != "complete" for site in sites) or any(report["lost"].values()):
        fail(report, f"a stack is cut, or something lost: {report['lost']}")


@untraced
@each("--fsize=1000000", f"--as={6 << 30}")
def test_limits(t, limit):
    """
    If a limit on file size or address space does not allow an account, the agent does nothing, and
    memleak names these limits. Growing the shared memory would raise SIGXFSZ.
    """
    if t.sanitized and "--as" in limit:
        raise Skip("sanitizers need more address space")
    loaded(t, "prlimit", limit, "/bin/true")
    _, code = command(t, "/bin/true", wrapper=("prlimit", limit))
    wanted("exit code", code, 0)
    if not re.search(r"no agent connected: .*\(ulimit -f\).*\(ulimit -v\)", t.notes):
        raise Failure(f"not said: {t.notes!r}")


LOCKS = SAY + """
#include <sys/mman.h>
int main(void)
{
	void *volatile block;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return 2;
	block = malloc(100000);
	say();
	return !block;
}
"""


def test_memory_is_locked(t):
    """
    With mlockall(), the agent's reserved memory is not populated. The limit makes the case fail if
    it is.
    """
    program = build(t, "locks", LOCKS)
    if subprocess.run([program], check=False, stdout=subprocess.DEVNULL).returncode:
        raise Skip("no memory can be locked here")
    said = loaded(t, "prlimit", f"--as={12 << 30}", program)
    shared, = field(said, "RssShmem")
    if shared > 10000:
        raise Failure(f"{shared} kB of shared memory")
    if not field(said, "VmLck")[0]:
        raise Failure("nothing is locked")


PLUGIN = """
#include <string>
#include <vector>
extern "C" int run(int cnt)
{
	std::vector<std::string> all;

	for (int i = 0; i < cnt; i++)
		all.push_back(std::string(100, 'x'));
	return all.size();
}
"""

LOADS = """
#include <dlfcn.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	int (*run)(int) = library ? (int (*)(int))dlsym(library, "run") : 0;

	return !run || run(10) != 10;
}
"""


@untraced
def test_operators_of_a_plugin(t):
    """A C program loads a library that contains the C++ library: its operators are traced."""
    plugin = build(t, "plugin.so", PLUGIN, "-shared", "-fPIC", "-static-libstdc++",
                   "-static-libgcc", compiler="c++", suffix=".cpp")
    loaded(t, build(t, "loads", LOADS), plugin)


STRAY = SAY + """
#include <stdint.h>
#include <time.h>
void *astray(size_t size, uint64_t *fp);
__asm__(".text\\n.globl astray\\n.type astray, @function\\nastray:\\n\\tpush %rbp\\n"
	"\\tmov %rsi, %rbp\\n\\tcall malloc@plt\\n\\tpop %rbp\\n\\tret\\n"
	".size astray, . - astray\\n");
int main(void)
{
	uint64_t words[4], number = 0;
	time_t end = time(NULL) + 3;

	say();
	while (time(NULL) < end) {
		words[0] = (uint64_t)&words[2];
		words[1] = 0x10000000 + number++ * 4096;
		free(astray(100, words));
	}
	say();
	return 0;
}
"""


@untraced
def test_frame_pointer_leads_astray(t):
    """For unknown code the agent reads /proc/self/maps, and does not leak the copy each time."""
    if platform.machine() != "x86_64":
        raise Skip("its code is x86-64")
    said = loaded(t, build(t, "stray", STRAY))
    before, after = field(said, "VmSize")
    if after - before > 400:
        raise Failure(f"{before} kB before, {after} kB after three seconds")


FORKS = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept[20];
__attribute__((noinline, noipa)) static void *of_parent(void) { return malloc(1000); }
__attribute__((noinline, noipa)) static void *of_child(void) { return malloc(2000); }
int main(int argc, char **argv)
{
	int cnt = atoi(argv[1]), status;

	for (int i = 0; i < 10; i++)
		kept[i] = of_parent();
	write(1, "ready\\n", 6);
	getchar();
	for (int i = 0; i < cnt; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (int j = 0; j < 7; j++)
				kept[j] = of_child();
			if (cnt == 1) {
				printf("child %d\\nready\\n", (int)getpid());
				fflush(stdout);
				getchar();
			}
			_exit(0);
		}
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
	}
	write(1, "ended\\n", 6);
	getchar();
	return 0;
}
"""


@untraced
def test_child_has_its_own(t):
    """
    A forked child inherits its parent's descriptor, but has its own record, which memleak reads.
    """
    process = t.process([build(t, "forks", FORKS), "1"],
                        env={"LD_PRELOAD": os.fspath(library(t))})
    process.wait_for("the line", lambda: "ready" in process.out.text)
    next_stage(process)
    process.wait_for("the child", lambda: process.out.text.count("ready\n") == 2)
    child, = re.findall(r"^child (\d+)$", process.out.text, re.M)
    report = t.memleak("--agent", "--json", "-T", "1000", "-o", "0", "-p", child,
                       "3600").ready().stop()
    wanted("blocks", [[site["count"] for site in sites_of(report, function)]
                      for function in ("of_parent", "of_child")], [[], [7]])


@untraced
@slow
def test_memleak_is_stopped(t):
    """A stopped memleak does not block a forking program; children without a record are counted."""
    children, somaxconn = 200, 50
    command = f"echo {somaxconn} > /proc/sys/net/core/somaxconn && exec \"$@\""
    memleak = watched(t, "3600", build(t, "forks", FORKS), str(children), options=("-f",),
                      wrapper=("/usr/bin/unshare", "-n", "sh", "-c", command, "sh"))
    memleak.wait_for("ready", lambda: "ready" in memleak.out.text)
    memleak.signal(signal.SIGSTOP)
    memleak.send()
    memleak.wait_for("the end", lambda: "ended" in memleak.out.text)
    memleak.signal(signal.SIGCONT)
    memleak.send()
    report = memleak.finish()
    seen = sum(site["count"] for site in sites_of(report, "of_child")) // 7
    if not 0 < seen < children:
        raise Failure(f"{seen} of {children} children are seen")
    wanted("processes lost", report["lost"]["processes"], children - seen)


REUSE = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void *volatile kept[10];
__attribute__((noinline, noipa)) static void *of_child(void) { return malloc(2000); }
static pid_t fork_leaking(void)
{
	pid_t pid = fork();

	for (int i = 0; !pid && i < 7; i++)
		kept[i] = of_child();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}
static pid_t run_other(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execle("/bin/sleep", "sleep", "3600", (char *)NULL, (char *[]){NULL});
		_exit(1);
	}
	return pid;
}
int main(int argc, char **argv)
{
	pid_t first, again;
	FILE *last;

	write(1, "ready\\n", 6);
	getchar();
	first = fork_leaking();
	last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	if (!last || fprintf(last, "%d", first - 1) < 0 || fclose(last))
		return 1;
	again = strcmp(argv[1], "other") ? fork_leaking() : run_other();
	printf("%s\\n", again == first ? "reused" : "another pid");
	fflush(stdout);
	getchar();
	return 0;
}
"""


SO_PEERPIDFD = 77


def identifies_peers():
    """True if the kernel identifies the process at the other end of a socket by more than its pid."""
    first, second = socket.socketpair()
    with first, second:
        try:
            os.close(first.getsockopt(socket.SOL_SOCKET, SO_PEERPIDFD))
        except OSError:
            return False
    return True


@untraced
@each("child", "other")
def test_pid_is_reused(t, by):
    """
    The pid of an ended child is reused by another child, or by a program without an agent: the
    blocks of the ended child are reported.
    """
    if not LAST_PID.exists() or \
            subprocess.run([*NEW_PIDS, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip("no pid can be chosen here")
    if by == "other" and not identifies_peers():
        raise Skip("the kernel has no SO_PEERPIDFD")
    output = t.tmp / "reports"
    # No other process of the namespace takes the pid, as memleak is stopped meanwhile.
    memleak = t.memleak("--agent", "--json", "-T", "1000", "-o", "0", "-f", "--output", output, "3600",
                        "--", build(t, "reuse", REUSE), by, output=output, wrapper=NEW_PIDS)
    memleak.wait_for("ready", lambda: "ready" in memleak.out.text)
    inner = only_child(memleak.pid)
    os.kill(inner, signal.SIGSTOP)
    memleak.send()
    memleak.wait_for("the pid", lambda: memleak.out.text.count("\n") == 2)
    os.kill(inner, signal.SIGCONT)
    if "reused" not in memleak.out.text:
        raise Broken(f"the pid is not reused: {memleak.out.text!r}")
    os.kill(inner, signal.SIGINT)
    report = memleak.finish(code=128 + signal.SIGTERM)  # memleak ends the command
    wanted("blocks of the children", sum(site["count"] for site in sites_of(report, "of_child")),
           14 if by == "child" else 7)
    if any(report["lost"].values()) or "executed a program" in memleak.notes:
        raise Failure(f"{report['lost']}, {memleak.notes!r}")


AGAIN = """
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static void send_account(const char *name, int fd)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec data = {"", 1};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	int sock = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	memcpy(addr.sun_path + 1, name, strlen(name));
	if (connect(sock, (struct sockaddr *)&addr,
		    offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)) ||
	    sendmsg(sock, &message, 0) != 1)
		_exit(1);
	close(sock);
}
static int open_account(void)
{
	char line[4096], path[4096] = "";
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps))
		if (strstr(line, "/memfd:memleak"))
			sprintf(path, "/proc/self/map_files/%.*s", (int)strcspn(line, " "), line);
	fclose(maps);
	return open(path, O_RDWR | O_CLOEXEC);
}
int main(int argc, char **argv)
{
	int fd = open_account();

	if (fd < 0)
		return 1;
	for (int i = 1; i < atoi(argv[1]); i++)
		send_account(strrchr(getenv("MEMLEAK_AGENT"), ':') + 1, fd);
	return 0;
}
"""


@untraced
def test_account_arrives_twice(t):
    """memleak may receive an account that it has found in /proc: it is read once."""
    if os.geteuid():
        raise Skip("only root can open files by their mappings")
    program = build(t, "again", AGAIN)
    calls = []
    for times in ("1", "2"):
        report, code = command(t, program, times, wrapper=())
        wanted("exit code", code, 0)
        calls.append(report["calls"])
    wanted("calls", calls[1], calls[0])


@untraced
@each("static", "no_agent")
def test_executes_another(t, what):
    """Blocks of a shell are not attributed to the program that it executes."""
    argv = ["sh", "-c", 'exec "$@"', "sh", t.file_of("leak_static")] if what == "static" else \
           ["env", "-u", "LD_PRELOAD", t.file_of("leak")]
    memleak = watched(t, "0.3", *argv)
    memleak.wait_for("ready", lambda: "ready" in memleak.out.text)
    memleak.wait_for("the note", lambda: "executed a program without a working agent"
                     in memleak.notes)
    memleak.send(b"xxxxxx")
    report = memleak.finish(code=7)
    if report["sites"]:
        fail(report, "sites of a program that is no more")


@untraced
def test_another_network(t):
    """
    A program that the command executes in another network namespace cannot connect to memleak:
    memleak finds its account.
    """
    isolated = ("unshare", "-n") if os.geteuid() == 0 else ("unshare", "-rn")
    if subprocess.run([*isolated, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        raise Skip("no network namespaces here")
    memleak = watched(t, "0.3", *isolated, t.file_of("leak"))
    memleak.wait_for("ready", lambda: "ready" in memleak.out.text)
    memleak.send()
    memleak.wait_for("its blocks", lambda: any(sites_of(report, "leak_big")
                                               for report in reports_so_far(memleak)),
                     every=0.1)
    memleak.send(b"xxxxxx")
    wanted("blocks at the end", [site["count"] for site in
                                 sites_of(memleak.finish(code=7), "leak_small")], [1])
    if "executed a program" in memleak.notes:
        raise Failure(f"said to be untraced: {memleak.notes!r}")


@untraced
def test_allocator_of_its_own(t):
    """
    If an allocator earlier in the lookup order hides the agent, memleak says that nothing is seen.
    """
    memleak = watched(t, "3600", t.file_of("own_malloc"))
    memleak.send(b"xxxx")
    report = memleak.finish()
    wanted("processes lost", report["lost"]["processes"], 1)
    if "uses its own allocator" not in memleak.notes:
        raise Failure(f"not said: {memleak.notes!r}")


TAKES = """
#include <stdlib.h>
void *(*volatile allocate)(size_t);
void *volatile kept;
int main(void)
{
	allocate = malloc;
	kept = allocate(4321);
	return 0;
}
"""


def test_address_of_malloc(t):
    """A non-PIE executable may contain a PLT address of malloc, which is not an allocator."""
    report, _ = command(t, build(t, "takes", TAKES, "-no-pie", "-fno-pie"))
    wanted("blocks", [site["bytes"] for site in sites_of(report, "main")], [4321])
    wanted("processes lost", report["lost"]["processes"], 0)


def test_another_user(t):
    """A program that changes its user and runs exec is refused, and memleak says so."""
    report, _ = command(t, "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                        "/bin/true", wrapper=())
    wanted("processes lost", report["lost"]["processes"], 1)
    if "runs as another user" not in t.notes:
        raise Failure(f"not said: {t.notes!r}")


MANY = SAY + """
static void *run(void *arg)
{
	void *volatile block = malloc(100);

	free(block);
	return NULL;
}
static int start(int cnt)
{
	pthread_t thread;

	for (int i = 0; i < cnt; i++)
		if (pthread_create(&thread, NULL, run, NULL) || pthread_join(thread, NULL))
			return 1;
	return 0;
}
int main(void)
{
	if (start(34000))
		return 1;
	say();
	if (start(34000))
		return 1;
	say();
	return 0;
}
"""


@untraced
@slow
def test_threads_for_ever(t):
    """A program may start any number of threads: the numbers of ended threads are used again."""
    said = loaded(t, build(t, "many", MANY))
    before, after = field(said, "RssShmem")
    if after - before > 2000:
        raise Failure(f"{before} kB after 34000 threads, {after} kB after twice as many")


JUMPS = """
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
static void *volatile kept;
static sigjmp_buf back;
static volatile sig_atomic_t may_jump, jump_cnt;
static unsigned long start, end;
#define APART __attribute__((noinline, noipa))
static void find_agent(void)
{
	char line[500], access[5];
	FILE *file = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), file))
		if (strstr(line, "libmemleak.so") && strstr(line, " r-xp "))
			sscanf(line, "%lx-%lx", &start, &end);
	fclose(file);
}
static void on_timer(int number, siginfo_t *info, void *context)
{
	const mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;
#ifdef __x86_64__
	unsigned long pc = (unsigned long)at->gregs[REG_RIP];
#else
	unsigned long pc = at->pc;
#endif

	if (may_jump && pc >= start && pc < end) {
		jump_cnt++;
		siglongjmp(back, 1);
	}
}
APART static void deeper(int depth)
{
	if (depth) {
		deeper(depth - 1);
	} else {
		kept = malloc(100);
		free(kept);
	}
	__asm__ volatile("");
}
APART static void after(void)
{
	for (int i = 0; i < 10; i++)
		kept = malloc(4321);
}
int main(void)
{
	struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
	struct itimerval often = {{0, 100}, {0, 100}}, never = {{0}};

	find_agent();
	if (!end)
		return 2;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	while (jump_cnt < 100) {
		if (!sigsetjmp(back, 1)) {
			may_jump = 1;
			for (int i = 0; i < 1000; i++)
				deeper(rand() % 40);
		}
		may_jump = 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	after();
	return 0;
}
"""


def test_jumps_out(t):
    """After signal handlers have jumped out of the agent, stacks are complete."""
    report, _ = command(t, build(t, "jumps", JUMPS, "-D_GNU_SOURCE"))
    sites = sites_of(report, "after")
    wanted("blocks", sum(site["count"] for site in sites), 10)
    if any(site["stack_end"] != "complete" for site in sites):
        fail(report, "a stack is cut")


FILLS = """
#include <stdlib.h>
static void *volatile kept;
__attribute__((noinline, noipa)) static void fill(void) { kept = malloc(1 << 20); }
int main(void)
{
	for (int i = 0; i < 3000; i++)
		fill();
	return !kept;
}
"""


def test_account_is_full(t):
    """
    With little address space, the account has room for blocks of some gigabytes only; blocks that it
    lacks are counted.
    """
    report, code = command(t, "prlimit", f"--as={8 << 30}", build(t, "fills", FILLS))
    wanted("exit code", code, 0)
    count = sum(site["count"] for site in sites_of(report, "fill"))
    wanted("blocks", count + report["lost"]["allocs_full"], 3000)
    if not 0 < count < 3000:
        fail(report, "the account is not full")


SIZES = SAY + """
int main(int argc, char **argv)
{
	size_t least = strtoul(argv[1], NULL, 10), most = strtoul(argv[2], NULL, 10);
	void *volatile kept;

	say();
	for (size_t bytes = 0; bytes < 100 << 20; bytes += (size_t)(least + most) / 2 + 16)
		kept = malloc(least + (size_t)rand() % (most - least + 1));
	say();
	return !kept;
}
"""


@untraced
@each(("16", "16", 1.2), ("20", "180", 0.3))
def test_memory(t, value):
    """The account's memory, relative to the heap: at worst with the smallest blocks."""
    least, most, ratio = value
    said = loaded(t, build(t, "sizes", SIZES), least, most)
    (before, heap), (_, account) = field(said, "RssAnon"), field(said, "RssShmem")
    if heap - before < 90000 or account > ratio * (heap - before):
        raise Failure(f"{heap - before} kB of heap, {account} kB of the account")
