/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes a kind of helper. */
#ifndef HELPER_KIND_H
#define HELPER_KIND_H

enum helper_rights {
	HELPER_KEEPS_RIGHTS,
	HELPER_DROPS_RIGHTS, /* confined as in confine.h */
	HELPER_SERVES,       /* confined, but may accept connections on a socket that it is sent */
};

/* A constant, shared by all helpers of this kind. */
struct helper_kind {
	const char *name; /* process name; at most 15 bytes are shown */
	enum helper_rights rights;
	void (*prepare)(void); /* called before rights are dropped; NULL if not needed */
	void (*work)(int sock);
	int niceness; /* negative for higher priority, where permitted */
};

/*
 * Adds a kind to the list of kinds, which the linker collects from all files. A request to the
 * starter identifies a kind by its index in this list.
 */
#define HELPER_KIND(kind)                                                                          \
	static const struct helper_kind *const kind##_entry                                        \
		__attribute__((section("helper_kinds"), used)) = &(kind)

#endif
