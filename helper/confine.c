// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Confines a process by several layers: no capabilities (capabilities(7)), its own user and
 * namespaces, a Landlock domain that allows nothing (landlock(7)), and a system call filter
 * (seccomp(2)). Only two layers are required: the loss of all capabilities, and the system call
 * filter. The other layers are skipped if the kernel or a container does not permit them.
 */
#include "helper/confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "helper/call_filter.h"
#include "helper/landlock.h"

/*
 * Limit, in bytes, on private memory and on the size of files: hostile input may request any
 * amount, for example by the stated size of a compressed section. Private memory counts only while
 * it is writable, so the system call filter allows neither shared memory nor making memory
 * read-only.
 */
#define MEMORY_BYTES (1UL << 30)
#define STACK_BYTES (8UL << 20)
/* Limit, in bytes, on the address space: the page tables of unwritten memory take memory, too. */
#define SPACE_BYTES (256UL << 30)
/*
 * First of 2^22 user ids for helpers. Each helper uses its own (this id plus its pid), so that
 * helpers cannot signal each other.
 */
#define FIRST_USER 0x6d000000U

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

static void limit_resources(void)
{
	set_limit(RLIMIT_CORE, 0);
	/* The user's limit (ulimit -f) may be too low for the memory files that memleak sends. */
	if (setrlimit(RLIMIT_FSIZE, &(struct rlimit){MEMORY_BYTES, MEMORY_BYTES}))
		set_limit(RLIMIT_FSIZE, MEMORY_BYTES);
	if (HELPER_SANITIZED)
		return;
	set_limit(RLIMIT_NPROC, 0);
	set_limit(RLIMIT_DATA, MEMORY_BYTES);
	set_limit(RLIMIT_STACK, STACK_BYTES);
	set_limit(RLIMIT_AS, SPACE_BYTES);
}

#define OTHER_NAMESPACES (CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS)

/*
 * Enters empty namespaces (network, mounts etc.), and changes the root to a folder in /proc that
 * only lists open files and cannot be written to. If the process lacks the capabilities for this,
 * tries to do it in a new user namespace.
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
 * Changes to the helper's own user. In a user namespace that lacks this user id, the process stays
 * root, but without capabilities. Keeps the capabilities that the next steps need. The change of
 * the user clears the parent-death signal and the dumpable flag; this function sets both again.
 * With the dumpable flag, the new user owns /proc/self.
 */
static void change_user(void)
{
	uid_t user = FIRST_USER + (uid_t)getpid();
	int death_signal = 0, err;

	prctl(PR_GET_PDEATHSIG, &death_signal, 0, 0, 0);
	prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
	err = setgroups(0, NULL) || setresgid(user, user, user) || setresuid(user, user, user);
	err |= keep_effective();
	(void)err;
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0);
}

/* Prevents executed programs from regaining capabilities. This step itself needs CAP_SETPCAP. */
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
	/*
	 * The sanitizer's leak check reads and traces this process, which Landlock and the system
	 * call filter would prevent.
	 */
	if (HELPER_SANITIZED)
		return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) ? -errno : 0;
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	landlock_deny_all();
	return call_filter_enter(serves ? CALLS_TO_SERVE : CALLS_OF_OPEN_FILES);
}

int confine_download(int folder_fd)
{
	int err = capabilities_set(0, 0);

	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	if (err || HELPER_SANITIZED)
		return err;
	landlock_allow_download(folder_fd);
	return call_filter_enter(CALLS_TO_DOWNLOAD);
}
