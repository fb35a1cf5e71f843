/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An abstract socket on which starting programs send their accounts. */
#ifndef LOADER_AGENT_LISTENER_H
#define LOADER_AGENT_LISTENER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LISTENER_NAME_BYTES 64
/* Maximum number of guests: accepted connections on which no account has arrived yet. */
#define LISTENER_GUESTS_MAX 64

struct listener {
	int poll_fd; /* readable if a connection or message is pending; -1 if closed */
	int fd;
	uid_t uid; /* only programs of this user and of root may connect */
	int guests[LISTENER_GUESTS_MAX];
	size_t guest_cnt;
	uint64_t refused; /* number of connections without a usable account */
	char name[LISTENER_NAME_BYTES];
};

/* Opens the socket. Returns 0 or a negative errno. Call listener_deinit() in any case. */
int listener_init(struct listener *ret, uid_t uid);
void listener_deinit(struct listener *listener);

/* An account that has arrived. Descriptors belong to the caller. */
struct arrival {
	int fd; /* the account */
	pid_t pid;
	int pidfd; /* pidfd of the sender; -1 if the sender has ended */
};

/* Receives the next account. Returns 0, or -EAGAIN if there is none. */
int listener_take(struct listener *listener, struct arrival *ret);

#endif
