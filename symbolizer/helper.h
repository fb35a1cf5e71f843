/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child process at the other end of a socket, for work on input that may be hostile or slow.
 * Knows nothing of what the work is. It ends with its parent, and when the socket is closed.
 */
#ifndef HELPER_H
#define HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Stays where it is while it runs. */
struct helper {
	pid_t pid; /* 0: not running */
	int sock;  /* -1: not running */
	struct helper *next;
};

#define HELPER_INIT                                                                                \
	{                                                                                          \
		.pid = 0, .sock = -1                                                               \
	}

/* Built with AddressSanitizer, which wants some things otherwise. */
#if defined(__SANITIZE_ADDRESS__)
#define HELPER_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HELPER_SANITIZED 1
#endif
#endif
#ifndef HELPER_SANITIZED
#define HELPER_SANITIZED 0
#endif

enum helper_rights {
	HELPER_KEEPS_RIGHTS,
	HELPER_DROPS_RIGHTS, /* root becomes nobody; memory and core dumps are limited */
};

/*
 * Forks; the child is called name (15 bytes of it are shown), closes every file it has but sock,
 * runs work(sock) and ends when that returns. It has the parent's memory, hence the advice to
 * start helpers early.
 */
int helper_start(struct helper *helper, const char *name, enum helper_rights rights,
		 void (*work)(int sock));

/*
 * Closes the socket, gives the child grace_ms to end by itself, then kills it. Nothing happens to
 * one that does not run.
 */
void helper_stop(struct helper *helper, unsigned int grace_ms);

/* The first of those that run, of which each has the next; NULL: none does. */
const struct helper *helper_running(void);

/* CPU time of a process that is there, or was and is not waited for yet; 0: not known. */
uint64_t helper_cpu_ns(pid_t pid);
/* Of all that were stopped. */
uint64_t helper_stopped_cpu_ns(void);

#endif
