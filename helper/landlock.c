// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes Landlock rulesets, and enters them. */
#include "helper/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

/*
 * The ruleset attributes of Landlock version 6. Headers of older distributions lack the last two
 * members.
 */
struct landlock_attributes {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

#define NET_BIND_AND_CONNECT 3ULL
#define SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS 3ULL

#define READ (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)

/* Libraries, and files that configure the network, names of hosts, and certificates. */
static const char *const readable[] = {
	"/usr",
	"/lib",
	"/lib64",
	"/nix/store",
	"/gnu/store",
	"/dev/null",
	"/dev/random",
	"/dev/urandom",
	"/etc/ca-certificates",
	"/etc/crypto-policies",
	"/etc/gai.conf",
	"/etc/gnutls",
	"/etc/host.conf",
	"/etc/hosts",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/etc/nsswitch.conf",
	"/etc/passwd",
	"/etc/pki",
	"/etc/protocols",
	"/etc/resolv.conf",
	"/etc/services",
	"/etc/ssl",
	"/run/nscd",
	"/run/systemd/resolve",
};

/* Returns the kernel's version of Landlock; 0 or less if it has none. */
static long version(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Returns the access rights to files that the kernel's version of Landlock knows. */
static uint64_t all_rights(void)
{
	/* Number of file access rights of each Landlock version, indexed by version. */
	static const int rights[] = {0, 13, 14, 15, 15, 16};
	const long last = sizeof(rights) / sizeof(*rights) - 1, known = version();

	return known <= 0 ? 0 : (1ULL << rights[known < last ? known : last]) - 1;
}

/* Returns the descriptor of a ruleset without exceptions; -1 on failure. */
static int create(bool denies_files, bool denies_ports)
{
	struct landlock_attributes attr = {0};

	if (version() <= 0)
		return -1;
	attr.handled_access_fs = denies_files ? all_rights() : 0;
	attr.handled_access_net = denies_ports && version() >= 4 ? NET_BIND_AND_CONNECT : 0;
	attr.scoped = version() >= 6 ? SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS : 0;
	return (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
}

static void allow(int ruleset_fd, int path_fd, uint64_t rights)
{
	const struct landlock_path_beneath_attr attr = {rights, path_fd};

	syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
}

static void allow_reading(int ruleset_fd, const char *path)
{
	cleanup_close int fd = open(path, O_PATH | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		allow(ruleset_fd, fd,
		      READ | (S_ISDIR(st.st_mode) ? LANDLOCK_ACCESS_FS_READ_DIR : 0));
}

static void enter(int ruleset_fd)
{
	if (ruleset_fd < 0)
		return;
	syscall(SYS_landlock_restrict_self, ruleset_fd, 0);
	close(ruleset_fd);
}

void landlock_deny_all(void)
{
	enter(create(true, true));
}

void landlock_allow_download(int folder_fd)
{
	int fd = create(folder_fd >= 0, false);

	if (fd >= 0 && folder_fd >= 0) {
		if (geteuid())
			allow_reading(fd, "/");
		for (size_t i = 0; i < sizeof(readable) / sizeof(*readable); i++)
			allow_reading(fd, readable[i]);
		allow(fd, folder_fd, all_rights());
	}
	enter(fd);
}
