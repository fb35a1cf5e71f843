// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests counting the resident memory of a process that changes its heap meanwhile. */
#include "proof/rss_count.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 32768U
#define BLOCK_BYTES 1000U
#define MIB (1ULL << 20)

/* Allocates blocks, and frees them after the parent has sent a byte. */
static _Noreturn void run_child(int sock)
{
	static void *blocks[BLOCKS];
	char byte = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(BLOCK_BYTES);
		memset(blocks[i], 1, BLOCK_BYTES);
	}
	if (write(sock, &byte, 1) != 1 || read(sock, &byte, 1) != 1)
		_exit(1);
	for (size_t i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	malloc_trim(0);
	if (write(sock, &byte, 1) == 1)
		pause();
	_exit(1);
}

static int open_file(pid_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static struct smaps read_smaps(pid_t pid)
{
	const size_t size = 4 * MIB;
	int fd = open_file(pid, "smaps");
	char *text = malloc(size);
	struct smaps smaps;
	size_t len = 0;
	ssize_t got;

	assert_non_null(text);
	while ((got = read(fd, text + len, size - len)) > 0)
		len += (size_t)got;
	assert_int_equal(got, 0);
	assert_int_equal(smaps_parse(text, len, &smaps), 0);
	close(fd);
	free(text);
	return smaps;
}

static void count(pid_t pid, const struct smaps *smaps, struct rss *ret)
{
	const struct rss_blocks none = {.cnt = 0};
	struct rss_files files = {.mem_fd = open_file(pid, "mem"),
				  .pagemap_fd = open_file(pid, "pagemap"),
				  .page_size = (uint64_t)sysconf(_SC_PAGESIZE)};
	struct rss_pinners pinners;

	assert_int_equal(rss_count(&files, &none, smaps, NULL, ret, &pinners), 0);
	close(files.mem_fd);
	close(files.pagemap_fd);
}

/*
 * After smaps was read, the process returns most of its heap to the kernel. This memory must not
 * count as other anonymous memory.
 */
static void returned_meanwhile(void **state)
{
	struct rss before, after;
	struct smaps smaps;
	int socks[2];
	pid_t pid;
	char byte;

#ifdef __SANITIZE_ADDRESS__
	skip(); /* the heap is not glibc's */
#endif
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		run_child(socks[1]);
	assert_int_equal(read(socks[0], &byte, 1), 1);
	smaps = read_smaps(pid);
	count(pid, &smaps, &before);
	assert_in_range(before.parts[RSS_LIVE], BLOCKS * BLOCK_BYTES, 40 * MIB);
	assert_int_equal(write(socks[0], &byte, 1), 1);
	assert_int_equal(read(socks[0], &byte, 1), 1);
	count(pid, &smaps, &after);
	assert_in_range(after.parts[RSS_LIVE], 1, MIB);
	assert_true(after.parts[RSS_MAPPED] < before.parts[RSS_MAPPED] + MIB);
	assert_true(rss_total(&after) < rss_total(&before) - 30 * MIB);
	smaps_deinit(&smaps);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(socks[0]);
	close(socks[1]);
}

/* Counts the memory of a child that writes to the first `bytes` bytes at `at`. */
static struct rss rss_of_child(char *at, size_t bytes)
{
	pid_t pid = fork();
	struct smaps smaps;
	struct rss rss;

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memset(at, 1, bytes);
		raise(SIGSTOP);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
	smaps = read_smaps(pid);
	count(pid, &smaps, &rss);
	smaps_deinit(&smaps);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return rss;
}

/* A private mapping of /dev/zero is anonymous memory, and a shared one is shared memory. */
static void zero_device(void **state)
{
	static const struct {
		int flags;
		enum rss_part part;
	} mappings[] = {{MAP_PRIVATE, RSS_MAPPED}, {MAP_SHARED, RSS_SHARED}};
	int fd = open("/dev/zero", O_RDWR | O_CLOEXEC);

#ifdef __SANITIZE_ADDRESS__
	skip(); /* the heap is not glibc's */
#endif
	assert_true(fd >= 0);
	for (size_t i = 0; i < sizeof(mappings) / sizeof(*mappings); i++) {
		char *at = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, mappings[i].flags, fd, 0);
		struct rss rss;

		assert_ptr_not_equal(at, MAP_FAILED);
		rss = rss_of_child(at, 32 * MIB);
		assert_true(rss.parts[mappings[i].part] >= 32 * MIB);
		assert_true(rss.parts[RSS_FILES] < 32 * MIB);
		munmap(at, 32 * MIB);
	}
	close(fd);
}

/*
 * The rest of a mapping is room for the program once a part is resident, but not if the program
 * may not write there.
 */
static void room(void **state)
{
	char *at = mmap(NULL, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before;
	struct rss rss;

#ifdef __SANITIZE_ADDRESS__
	skip(); /* the heap is not glibc's */
#endif
	assert_ptr_not_equal(at, MAP_FAILED);
	assert_int_equal(madvise(at, 32 * MIB, MADV_NOHUGEPAGE), 0);
	/* Guards on both sides, so that the mapping does not join another one. */
	assert_int_equal(mprotect(at, MIB, PROT_NONE), 0);
	assert_int_equal(mprotect(at + 31 * MIB, MIB, PROT_NONE), 0);
	before = rss_of_child(at + MIB, 0).room;
	rss = rss_of_child(at + MIB, 6 * MIB);
	assert_int_equal(rss.room, before + 24 * MIB);
	assert_int_equal(mprotect(at + 21 * MIB, 10 * MIB, PROT_NONE), 0);
	rss = rss_of_child(at + MIB, 6 * MIB);
	assert_int_equal(rss.room, before + 14 * MIB);
	munmap(at, 32 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(returned_meanwhile),
		cmocka_unit_test(zero_device),
		cmocka_unit_test(room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
