// SPDX-License-Identifier: GPL-2.0-or-later
/* Identifies the pid namespace of memleak. */
#include "loader/target/pid_namespace.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Inode of the initial pid namespace: the kernel's PROC_PID_INIT_INO, a stable number that no user
 * header defines.
 */
#define INITIAL_NAMESPACE 0xeffffffcU

uint32_t pid_namespace_own(void)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) || st.st_ino == INITIAL_NAMESPACE)
		return 0;
	return (uint32_t)st.st_ino;
}

bool pid_namespace_has_proc(void)
{
	char own[32] = "";

	if (readlink("/proc/self", own, sizeof(own) - 1) < 0)
		return false;
	return atol(own) == getpid();
}
