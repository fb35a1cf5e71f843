/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where programs that begin hand their accounts over: a socket without a place in any file system.
 */
#ifndef LOADER_AGENT_LISTENER_H
#define LOADER_AGENT_LISTENER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LISTENER_NAME_BYTES 64
/* Of whoever has come and not said anything, so many are waited for. */
#define LISTENER_GUESTS_MAX 64

struct listener {
	int poll_fd; /* readable when somebody has come; -1: there is none */
	int fd;
	uid_t uid; /* whose programs are let in; root's always are */
	int guests[LISTENER_GUESTS_MAX];
	size_t guest_cnt;
	uint64_t refused; /* so many have no account here */
	char name[LISTENER_NAME_BYTES];
};

/* 0 or a negative errno; to be deinited either way. */
int listener_init(struct listener *ret, uid_t uid);
void listener_deinit(struct listener *listener);

/* The next account that was handed over, and by whom; -EAGAIN: none was. */
int listener_take(struct listener *listener, int *ret_fd, pid_t *ret_pid);

#endif
