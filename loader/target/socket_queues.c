// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the lengths of TCP and UDP queues in /proc/PID/net, asks for those of UNIX sockets, and
 * finds the sockets of a process in /proc/PID/fd.
 */
#include "loader/target/socket_queues.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"
#include "loader/target/open_fds.h"
#include "loader/target/unix_queues.h"

/* Maximum lines that are read of a file in /proc/PID/net */
#define SOCKETS_MAX 1000000
/* State of a TCP socket that accepts connections: its queue is a number of connections. */
#define LISTENS 10

void socket_queues_deinit(struct socket_queues *queues)
{
	hash_map_deinit(&queues->bytes);
	hash_map_deinit(&queues->namespaces);
}

/*
 * Each line has: number: address:port address:port state sent:received timer:when retransmits user
 * timeout inode, and more.
 */
static void add_line(struct socket_queues *queues, const char *line)
{
	uint64_t sent, received, inode;
	unsigned int state;

	if (sscanf(line,
		   " %*u: %*[0-9A-F]:%*x %*[0-9A-F]:%*x %x %" SCNx64 ":%" SCNx64
		   " %*x:%*x %*x %*u %*u %" SCNu64,
		   &state, &sent, &received, &inode) == 4 &&
	    state != LISTENS && inode && sent + received)
		hash_map_set(&queues->bytes, inode, (void *)(uintptr_t)(sent + received));
}

static void read_file(struct socket_queues *queues, pid_t pid, const char *name)
{
	char path[32], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, name);
	file = fopen(path, "re");
	for (int i = 0; file && i < SOCKETS_MAX && fgets(line, sizeof(line), file); i++)
		add_line(queues, line);
	if (file)
		fclose(file);
}

static void add_unix(void *arg, uint64_t inode, uint64_t bytes)
{
	struct socket_queues *queues = arg;

	hash_map_set(&queues->bytes, inode, (void *)(uintptr_t)bytes);
}

/* Reads the queues of a process's namespace, unless they were read before. */
static void read_namespace(struct socket_queues *queues, pid_t pid, uint64_t namespace)
{
	static const char *const files[] = {"tcp", "tcp6", "udp", "udp6"};

	if (!namespace || hash_map_get(&queues->namespaces, namespace) ||
	    hash_map_set(&queues->namespaces, namespace, queues))
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		read_file(queues, pid, files[i]);
	if (proc_has_own_namespace(pid, -1, "net"))
		unix_queues_visit(add_unix, queues);
}

/* Returns the inode of a descriptor's socket; 0 if the descriptor is no socket. */
static uint64_t socket_of(pid_t pid, int dir, const char *descriptor)
{
	char target[PATH_MAX];
	uint64_t inode = 0;

	if (*descriptor != '.' && proc_readlink(pid, dir, descriptor, target) > 0)
		sscanf(target, "socket:[%" SCNu64 "]", &inode);
	return inode;
}

static uint64_t bytes_of(const struct socket_queues *queues, pid_t pid)
{
	const struct dirent *entry;
	struct hash_map seen = {0};
	uint64_t sum = 0, inode;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = queues->bytes.cnt ? opendir(path) : NULL;
	for (int i = 0; dir && i < OPEN_FDS_MAX && (entry = readdir(dir)); i++) {
		inode = socket_of(pid, dirfd(dir), entry->d_name);
		/* A socket may have several descriptors. */
		if (!inode || hash_map_get(&seen, inode) || hash_map_set(&seen, inode, &seen))
			continue;
		sum += (uintptr_t)hash_map_get(&queues->bytes, inode);
	}
	if (dir)
		closedir(dir);
	hash_map_deinit(&seen);
	return sum;
}

void socket_queues_read(struct socket_queues *queues, pid_t pid, struct footprint *ret)
{
	uint64_t namespace = proc_namespace(pid, "net");

	read_namespace(queues, pid, namespace);
	ret->parts[FOOTPRINT_SOCKETS] = bytes_of(queues, pid);
	ret->has_other_network = namespace && namespace != proc_namespace(getpid(), "net");
}
