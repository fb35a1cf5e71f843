/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * [ADDR:]PORT or unix:PATH[,mode=MODE], the argument of --listen: numbers alone, no name is looked
 * up.
 */
#ifndef OPTIONS_LISTEN_ADDRESS_H
#define OPTIONS_LISTEN_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
		struct sockaddr_un local;
	};
	socklen_t len; /* 0: there is none */
	mode_t mode;   /* of a local one */
};

/*
 * "9400" is 127.0.0.1; an IPv6 address stands in brackets. Port 0: any. The mode is octal, and 0600
 * if it is not given. 0 or -EINVAL; -ENAMETOOLONG: such a path is no address.
 */
int listen_address_parse(const char *text, struct listen_address *ret);

/* Whether no other machine can reach it. */
bool listen_address_is_loopback(const struct listen_address *address);

/* As it stands in a URL, or "unix:PATH". */
#define LISTEN_ADDRESS_SIZE (sizeof("unix:") + sizeof(((struct sockaddr_un *)0)->sun_path))
void listen_address_print(const struct listen_address *address, char ret[LISTEN_ADDRESS_SIZE]);

#endif
