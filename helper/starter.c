// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Both sides of the starter: memleak sends requests; the starter process forks, kills and reaps
 * helpers.
 */
#include "helper/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/log.h"
#include "helper/confine.h"
#include "helper/message.h"
#include "helper/own_process.h"

#if HELPER_SANITIZED
/* Runs the sanitizer's leak check in the helper, since _exit() skips it. */
void __lsan_do_leak_check(void);
static bool forked_by_main;
#endif

/*
 * Capabilities that the starter keeps. Confining a helper needs capabilities to change its user,
 * its namespaces and its root directory, to give folders to another user, and to drop all
 * capabilities. Ending a helper needs CAP_KILL, since it runs as another user.
 */
#define CONFINING                                                                                  \
	(CAPABILITY(CAP_SETUID) | CAPABILITY(CAP_SETGID) | CAPABILITY(CAP_SETPCAP) |               \
	 CAPABILITY(CAP_SYS_CHROOT) | CAPABILITY(CAP_SYS_ADMIN) | CAPABILITY(CAP_KILL) |           \
	 CAPABILITY(CAP_SYS_NICE) | CAPABILITY(CAP_CHOWN))

/*
 * Maximum times, in nanoseconds, that the starter waits for the end of a helper that it has killed
 * (KILLED_NS) or that has closed its socket (ENDING_NS). The helper may take longer if a file
 * system does not respond.
 */
#define KILLED_NS 200000000ULL
#define ENDING_NS 2000000000ULL
#define STUCK_MAX 64
/* Maximum time, in nanoseconds, to wait for the starter's answer. */
#define WAIT_NS 5000000000ULL

enum request { REQUEST_FORK, REQUEST_WAIT };

/* Defined by the linker: start and end of the list of HELPER_KIND() entries. */
extern const struct helper_kind *const __start_helper_kinds[];
extern const struct helper_kind *const __stop_helper_kinds[];

static pid_t stuck[STUCK_MAX]; /* pids of children that did not end in time; unused entries are 0 */

static struct {
	pid_t pid;  /* pid of the starter; 0 if no starter was started */
	pid_t user; /* pid of the process that started the starter */
	int sock;   /* socket to the starter; -1 if the starter is gone */
} starter;

/* Closes all inherited files except the socket. Returns the socket's new descriptor. */
static int keep_only(int sock)
{
	own_process_keep_files(&sock, 1);
	return 3;
}

/* Raises the limit on open files, since a helper may need a few for each of hundreds of modules. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Makes the OOM killer choose this process before others. */
static void offer_to_oom_killer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t ignored = write(fd, "1000", 4);

		(void)ignored;
		close(fd);
	}
}

static void __attribute__((noreturn))
run_helper(const struct helper_kind *kind, pid_t parent, int sock)
{
	prctl(PR_SET_NAME, kind->name, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	sock = keep_only(sock);
	raise_file_limit();
	offer_to_oom_killer();
	if (kind->niceness)
		setpriority(PRIO_PROCESS, 0, kind->niceness);
	if (kind->prepare)
		kind->prepare();
	if (kind->rights != HELPER_KEEPS_RIGHTS && confine(kind->rights == HELPER_SERVES))
		_exit(STARTER_NOT_CONFINED);
	if (getppid() == parent)
		kind->work(sock);
#if HELPER_SANITIZED
	/*
	 * Check only helpers with HELPER_DROPS_RIGHTS for leaks: other helpers load network
	 * libraries, which do leak. The main thread must also have forked the starter: in a child
	 * of another thread, memory to which only the main thread's stack refers would appear
	 * leaked.
	 */
	if (kind->rights == HELPER_DROPS_RIGHTS && forked_by_main)
		__lsan_do_leak_check();
#endif
	_exit(0);
}

static size_t count_kinds(void)
{
	return (size_t)(__stop_helper_kinds - __start_helper_kinds);
}

/* Returns the index of a kind, or the number of kinds if this kind is not registered. */
static size_t kind_index(const struct helper_kind *kind)
{
	size_t index = 0;

	while (index < count_kinds() && __start_helper_kinds[index] != kind)
		index++;
	return index;
}

static int fork_helper(uint64_t index, int sock)
{
	pid_t own = getpid(), pid;

	if (index >= count_kinds())
		return -EINVAL;
	pid = fork();
	if (!pid)
		run_helper(__start_helper_kinds[index], own, sock);
	return pid < 0 ? -errno : pid;
}

/* Reaps children that had not ended in time but have ended by now. */
static void reap_stuck(void)
{
	for (size_t i = 0; i < STUCK_MAX; i++)
		if (stuck[i] && waitpid(stuck[i], NULL, WNOHANG))
			stuck[i] = 0;
}

/*
 * Records a child that did not end in time. If the list is full, the child stays a zombie until the
 * starter ends.
 */
static void leave_stuck(pid_t pid)
{
	for (size_t i = 0; i < STUCK_MAX; i++) {
		if (stuck[i])
			continue;
		stuck[i] = pid;
		return;
	}
}

/*
 * True if pid is a child that was not reaped yet. Until it is reaped, no other process can have
 * this pid.
 */
static bool is_child(pid_t pid)
{
	siginfo_t info;

	return pid > 0 && !waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
}

/*
 * Waits for a child to end, and reaps it. If to_kill, kills it first. Returns the status as in
 * wait(2); -1 if pid is not a child or did not end in time.
 */
static int wait_for(pid_t pid, bool to_kill)
{
	uint64_t deadline_ns = clock_deadline_ns(to_kill ? KILLED_NS : ENDING_NS);
	const struct timespec pause = {.tv_nsec = 500000};
	int status = -1;
	pid_t got;

	if (!is_child(pid))
		return -1;
	if (to_kill)
		kill(pid, SIGKILL);
	while (!(got = waitpid(pid, &status, WNOHANG)) && clock_left_ms(deadline_ns))
		nanosleep(&pause, NULL);
	if (!got)
		leave_stuck(pid);
	return got == pid ? status : -1;
}

/* Handles one request. Returns -EPROTO if the request is invalid. */
static int answer(struct message *request, struct message *reply)
{
	struct message_cursor cursor = message_read(request);
	enum request wanted = message_get_u32(&cursor);
	uint64_t what = message_get_u64(&cursor);
	bool to_kill = message_get_u32(&cursor);
	int result;

	if (cursor.bad || (wanted == REQUEST_FORK) != (request->fd >= 0))
		return -EPROTO;
	reap_stuck();
	if (wanted == REQUEST_FORK)
		result = fork_helper(what, request->fd);
	else
		result = wait_for((pid_t)what, to_kill);
	message_put_u32(reply, (uint32_t)result);
	return 0;
}

static void serve(int sock)
{
	struct message request = {.fd = -1}, reply = {.fd = -1};
	int err;

	do {
		message_reset(&request);
		message_reset(&reply);
		err = message_receive(sock, &request, MESSAGE_FOREVER);
		if (!err)
			err = answer(&request, &reply);
		if (!err)
			err = message_send(sock, &reply, MESSAGE_FOREVER);
	} while (!err);
}

static void __attribute__((noreturn)) run_starter(pid_t parent, int sock)
{
	struct capability_sets sets;

	fair_lock_end_sharing();
	prctl(PR_SET_NAME, "helper starter", 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/*
	 * Give up the terminal: if a helper read it while memleak is in the background, the kernel
	 * would stop all processes of its process group.
	 */
	setsid();
	own_process_reset_signals();
	sock = keep_only(sock);
	if (!capabilities_read(&sets)) {
		capabilities_bound(sets.permitted & CONFINING);
		capabilities_set(sets.permitted & CONFINING, sets.permitted & CONFINING);
	}
	if (getppid() == parent)
		serve(sock);
	_exit(0);
}

/* Ends the starter. Running helpers end with it. */
static void end(void)
{
	if (starter.user != getpid() || starter.sock < 0)
		return;
	close(starter.sock);
	starter.sock = -1;
	kill(starter.pid, SIGKILL);
	while (waitpid(starter.pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void starter_end(void)
{
	end();
	starter.user = 0;
}

static int start(void)
{
	pid_t parent = getpid();
	int socks[2];

	if (starter.user == parent)
		return starter.sock < 0 ? -EPIPE : 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks))
		return -errno;
#if HELPER_SANITIZED
	forked_by_main = syscall(SYS_gettid) == parent;
#endif
	starter.pid = fork();
	if (starter.pid < 0) {
		int err = -errno;

		close(socks[0]);
		close(socks[1]);
		return err;
	}
	if (!starter.pid)
		run_starter(parent, socks[1]);
	close(socks[1]);
	starter.user = parent;
	starter.sock = socks[0];
	atexit(end);
	return 0;
}

/* Ends the starter after it failed. From then on no helper can be started. */
static void lose(int err)
{
	log_error("the process that starts helpers %s: new code is no longer named or probed; "
		  "restart memleak",
		  err == -ETIMEDOUT ? "stopped responding" : "exited");
	end();
}

/*
 * Waits for an answer. Does not release the lock (base/fair_lock.h), so that no other thread can
 * send a request meanwhile.
 */
static int wait_for_answer(uint64_t deadline_ns)
{
	struct pollfd pfd = {.fd = starter.sock, .events = POLLIN};
	int got;

	do {
		got = poll(&pfd, 1, (int)clock_left_ms(deadline_ns));
	} while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : got ? 0 : -ETIMEDOUT;
}

/*
 * Sends a request and receives the answer in *ret. The caller keeps fd. Returns 0 or a negative
 * errno.
 */
static int ask(enum request wanted, uint64_t what, bool to_kill, int fd, int *ret)
{
	uint64_t deadline_ns = clock_deadline_ns(WAIT_NS);
	struct message msg = {.fd = fd};
	struct message_cursor cursor;
	int err;

	message_put_u32(&msg, wanted);
	message_put_u64(&msg, what);
	message_put_u32(&msg, to_kill);
	err = message_send(starter.sock, &msg, deadline_ns);
	msg.fd = -1;
	message_reset(&msg);
	if (!err)
		err = wait_for_answer(deadline_ns);
	if (!err)
		err = message_receive(starter.sock, &msg, deadline_ns);
	cursor = message_read(&msg);
	*ret = (int)message_get_u32(&cursor);
	message_deinit(&msg);
	if (err == -EPIPE || err == -ETIMEDOUT)
		lose(err);
	return err;
}

pid_t starter_pid(void)
{
	int err = start();

	return err ? err : starter.pid;
}

bool starter_is_gone(void)
{
	struct pollfd pfd = {.fd = starter.sock};

	if (starter.user != getpid())
		return false;
	return starter.sock < 0 || (poll(&pfd, 1, 0) == 1 && pfd.revents & (POLLHUP | POLLERR));
}

pid_t starter_fork(const struct helper_kind *kind, int sock)
{
	int err = start(), pid = 0;

	if (!err)
		err = ask(REQUEST_FORK, kind_index(kind), false, sock, &pid);
	close(sock);
	return err ? err : pid;
}

int starter_wait(pid_t pid, bool to_kill)
{
	int status = -1;

	if (starter.user != getpid() || starter.sock < 0)
		return -1;
	return ask(REQUEST_WAIT, (uint64_t)pid, to_kill, -1, &status) ? -1 : status;
}
