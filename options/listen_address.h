/* SPDX-License-Identifier: GPL-2.0-or-later */
/* [ADDR:]PORT, the argument of --listen: numbers alone, no name is looked up. */
#ifndef OPTIONS_LISTEN_ADDRESS_H
#define OPTIONS_LISTEN_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>

struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len; /* 0: there is none */
};

/* "9400" is 127.0.0.1; an IPv6 address stands in brackets. Port 0: any. 0 or -EINVAL. */
int listen_address_parse(const char *text, struct listen_address *ret);

bool listen_address_is_loopback(const struct listen_address *address);

/* As it stands in a URL. */
#define LISTEN_ADDRESS_SIZE (INET6_ADDRSTRLEN + sizeof("[]:65535"))
void listen_address_print(const struct listen_address *address, char ret[LISTEN_ADDRESS_SIZE]);

#endif
