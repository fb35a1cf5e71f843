/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells whether the same users can change two files. Hostile contents of a file may take over the
 * process that parses it. If that process then gets only files that the same users can change, it
 * harms nobody else. Knows no helpers.
 */
#ifndef PROBER_TRUST_DOMAIN_H
#define PROBER_TRUST_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* Determines which users can change a file. */
struct trust_domain {
	dev_t dev;
	ino_t ino; /* matters only if others than the owner can write to the file */
	/*
	 * The mount through which the file was opened: root in a container can change files of
	 * mounts of the container only. 0 if unknown (before Linux 5.8).
	 */
	uint64_t mount;
	uid_t uid;
	gid_t gid;
	mode_t writers; /* permission to write, for the group and for others */
};

/* Returns the trust domain of an open file. st: data of the file from file_stat(). */
struct trust_domain trust_domain_of(int fd, const struct stat *st);

/*
 * False for two files that others than the owner can write to: each may be another user's. An
 * access control list also shows as permission of the group.
 */
bool trust_domain_equal(const struct trust_domain *a, const struct trust_domain *b);

#endif
