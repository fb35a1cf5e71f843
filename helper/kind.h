/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes a kind of helper. */
#ifndef HELPER_KIND_H
#define HELPER_KIND_H

enum helper_rights {
	HELPER_KEEPS_RIGHTS,
	HELPER_DROPS_RIGHTS, /* confined: see confine.h */
	/* confined, but may accept connections on a listening socket that it receives */
	HELPER_SERVES,
};

/* A kind of helper: a constant that all helpers of the kind share. */
struct helper_kind {
	const char *name; /* process name, of which the kernel shows at most 15 bytes */
	enum helper_rights rights;
	/* called in the helper before it drops its rights; NULL if not needed */
	void (*prepare)(void);
	void (*work)(int sock);
	int niceness; /* niceness of the process; a negative one is used only where permitted */
};

/*
 * Adds a kind to the list of kinds, which the linker collects from all object files. Requests to
 * the starter identify a kind by its index in this list.
 */
#define HELPER_KIND(kind)                                                                          \
	static const struct helper_kind *const kind##_entry                                        \
		__attribute__((section("helper_kinds"), used)) = &(kind)

#endif
