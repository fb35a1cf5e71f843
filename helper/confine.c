// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walls, one behind the other: no capabilities (capabilities(7)), a user of its own, namespaces of
 * its own, a Landlock domain that allows nothing (landlock(7)), and a filter of system calls
 * (seccomp(2)). What a kernel or a container does not let us have is left out, but for the first
 * and the last.
 */
#include "helper/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/securebits.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/capabilities.h"

/*
 * Private memory, and a file in memory. What is read can ask for any amount: a compressed section
 * says how large it gets.
 */
#define MEMORY_BYTES (1UL << 30)
/* Users that nobody else is: with one each, a helper cannot send another one signals. */
#define FIRST_USER 0x6d6c0000U
#define USERS 0x10000U

static void set_limit(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit))
		return;
	if (limit.rlim_max > value)
		limit.rlim_max = value;
	if (limit.rlim_cur > limit.rlim_max)
		limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

/* When memory is short all the same, the kernel takes us first. */
static void limit_resources(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		ssize_t ignored = write(fd, "1000", 4);

		(void)ignored;
		close(fd);
	}
	set_limit(RLIMIT_CORE, 0);
	set_limit(RLIMIT_FSIZE, MEMORY_BYTES);
	if (HELPER_SANITIZED)
		return;
	set_limit(RLIMIT_NPROC, 0);
	set_limit(RLIMIT_DATA, MEMORY_BYTES);
}

#define OTHER_NAMESPACES (CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS)

/*
 * A network, mounts and the like of its own, where nothing is: the folder names the process's open
 * files and cannot be written to. Who lacks the capabilities has them in a user namespace of its
 * own, if the kernel lets everybody have one.
 */
static void leave_namespaces(void)
{
	int err = unshare(OTHER_NAMESPACES);

	if (err && !HELPER_SANITIZED)
		err = unshare(CLONE_NEWUSER | OTHER_NAMESPACES);
	if (!HELPER_SANITIZED && !chroot("/proc/self/fdinfo"))
		err |= chdir("/");
	(void)err;
}

static int keep_effective(void)
{
	struct capability_sets sets;
	int err = capabilities_read(&sets);

	return err ? err : capabilities_set(sets.permitted, sets.permitted);
}

/*
 * A user namespace may not have that user: there, without capabilities, root is one like others.
 * Capabilities are left for what follows. What says that files of /proc/self are the user's, and
 * the signal at the parent's end, is lost by the change.
 */
static void change_user(void)
{
	uid_t user = FIRST_USER + (uid_t)getpid() % USERS;
	int death_signal = 0, err;

	prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	err = setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user);
	err |= keep_effective();
	(void)err;
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
}

/* Neither of them can be had back by a program that is run. Both need CAP_SETPCAP. */
static void lock_capabilities(void)
{
	capabilities_bound(0);
	prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECURE_ALL_LOCKS, 0, 0, 0);
}

static bool has_capabilities(void)
{
	struct capability_sets sets;

	if (capabilities_read(&sets) || sets.effective | sets.permitted | sets.inheritable)
		return true;
	for (int cap = 0, set; (set = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0)) >= 0;
	     cap++)
		if (set)
			return true;
	return false;
}

static int drop_capabilities(void)
{
	int err;

	lock_capabilities();
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	err = capabilities_set(0, 0);
	if (err)
		return err;
	return has_capabilities() ? -EPERM : 0;
}

/* All that the kernel's Landlock knows of is handled, and nothing of it is allowed. */
static void close_file_system(void)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	/* Of the first versions, the access rights that each added. */
	static const int rights[] = {0, 13, 14, 15};
	struct landlock_ruleset_attr attr = {0};
	int fd;

	if (version <= 0)
		return;
	if (version >= (long)(sizeof(rights) / sizeof(*rights)))
		version = sizeof(rights) / sizeof(*rights) - 1;
	attr.handled_access_fs = (1ULL << rights[version]) - 1;
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd < 0)
		return;
	syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
}

/*
 * Memory, time, and what is open. What else is tried fails: some libraries try to open files, and
 * go on without.
 */
static const int allowed[] = {
	SCMP_SYS(read),         SCMP_SYS(pread64),       SCMP_SYS(readv),
	SCMP_SYS(write),        SCMP_SYS(writev),        SCMP_SYS(sendmsg),
	SCMP_SYS(recvmsg),      SCMP_SYS(poll),          SCMP_SYS(ppoll),
	SCMP_SYS(lseek),        SCMP_SYS(_llseek),       SCMP_SYS(fstat),
	SCMP_SYS(fstat64),      SCMP_SYS(fcntl),         SCMP_SYS(fcntl64),
	SCMP_SYS(close),        SCMP_SYS(dup),           SCMP_SYS(munmap),
	SCMP_SYS(mremap),       SCMP_SYS(madvise),       SCMP_SYS(brk),
	SCMP_SYS(futex),        SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep),
	SCMP_SYS(nanosleep),    SCMP_SYS(gettimeofday),  SCMP_SYS(getrandom),
	SCMP_SYS(getpid),       SCMP_SYS(gettid),        SCMP_SYS(getppid),
	SCMP_SYS(sched_yield),  SCMP_SYS(rt_sigaction),  SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),   SCMP_SYS(restart_syscall),
	SCMP_SYS(getrlimit),    SCMP_SYS(ugetrlimit),    SCMP_SYS(sysinfo),
	SCMP_SYS(exit),         SCMP_SYS(exit_group),    SCMP_SYS(membarrier),
	SCMP_SYS(memfd_create),
};

/* What takes connections to a socket, and answers: no other socket is made or connected. */
static const int serving[] = {
	SCMP_SYS(accept),     SCMP_SYS(accept4),     SCMP_SYS(epoll_create1),
	SCMP_SYS(epoll_ctl),  SCMP_SYS(epoll_wait),  SCMP_SYS(epoll_pwait),
	SCMP_SYS(eventfd2),   SCMP_SYS(getpeername), SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),  SCMP_SYS(recv),
	SCMP_SYS(recvfrom),   SCMP_SYS(send),        SCMP_SYS(sendto),
	SCMP_SYS(shutdown),   SCMP_SYS(uname),
};

/* But no code. */
static const int maps[] = {SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)};

static int allow(scmp_filter_ctx filter, const int *calls, size_t cnt)
{
	int err = 0;

	for (size_t i = 0; !err && i < cnt; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return err;
}

static int filter_calls(bool serves)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? 0 : -ENOMEM;

	if (!err)
		err = allow(filter, allowed, sizeof(allowed) / sizeof(*allowed));
	if (!err && serves)
		err = allow(filter, serving, sizeof(serving) / sizeof(*serving));
	for (size_t i = 0; !err && i < sizeof(maps) / sizeof(*maps); i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, maps[i], 1,
				       SCMP_CMP(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	/* fstat() of the C library; given a name, it would tell only whether that exists. */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(newfstatat), 1,
				       SCMP_CMP(3, SCMP_CMP_EQ, AT_EMPTY_PATH, 0));
	/* abort(): a signal to itself. */
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				       SCMP_CMP(0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err;
}

int confine(bool serves)
{
	int err;

	clearenv();
	limit_resources();
	change_user();
	leave_namespaces();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	err = drop_capabilities();
	if (err)
		return err;
	/* The leak check of a sanitizer reads and traces the process itself. */
	if (HELPER_SANITIZED)
		return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ? -errno : 0;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	close_file_system();
	return filter_calls(serves);
}
