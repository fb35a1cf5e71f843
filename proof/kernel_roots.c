// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads user data of epoll (proc(5), "eventpoll") and of io_uring's completions from
 * /proc/PID/fdinfo, and user data of timers from /proc/PID/timers.
 */
#include "proof/kernel_roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "base/proc.h"

/* A keyword that stands before user data in fdinfo files. */
struct keyword {
	const char *link; /* target of the descriptor's link in /proc/PID/fd */
	const char *word;
	unsigned int base;
};

/*
 * The user data of an io_uring completion follows "user_data:", or "user_data=" if the completion
 * did not fit into the ring.
 */
static const struct keyword keywords[] = {
	{"anon_inode:[eventpoll]", "data:", 16},
	{"anon_inode:[io_uring]", "user_data:", 10},
	{"anon_inode:[io_uring]", "user_data=", 10},
};
#define KEYWORD_CNT (sizeof(keywords) / sizeof(keywords[0]))

struct words {
	uint64_t *items;
	size_t cnt;
	size_t cap;
};

/* Adds the number after each occurrence of a keyword in the text. base: base of the numbers. */
static int add_numbers(struct words *words, const char *text, const char *word, unsigned int base)
{
	for (const char *at = strstr(text, word); at; at = strstr(at, word)) {
		const char *end = at + strlen(at);
		uint64_t number;

		at += strlen(word);
		while (*at == ' ')
			at++;
		if (number_take(&at, end, base, &number))
			continue;
		if (array_reserve(&words->items, &words->cap, words->cnt + 1))
			return -ENOMEM;
		words->items[words->cnt++] = number;
	}
	return 0;
}

static int add_file(struct words *words, pid_t pid, const char *fd, const char *link)
{
	char name[sizeof("fdinfo/") + NAME_MAX];
	cleanup_free char *text = NULL;
	int err = 0;

	for (size_t i = 0; !err && i < KEYWORD_CNT; i++) {
		if (strcmp(link, keywords[i].link))
			continue;
		snprintf(name, sizeof(name), "fdinfo/%s", fd);
		/* Ignore the error: the descriptor may have been closed. */
		if (!text && proc_read(pid, name, &text))
			return 0;
		err = add_numbers(words, text, keywords[i].word, keywords[i].base);
	}
	return err;
}

static int add_files(struct words *words, pid_t pid)
{
	cleanup_close int fd = proc_open(pid, "fd", O_RDONLY | O_DIRECTORY);
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1;
	while (!err && (entry = readdir(dir))) {
		char link[PATH_MAX];

		if (proc_readlink(pid, dirfd(dir), entry->d_name, link) <= 0)
			continue;
		err = add_file(words, pid, entry->d_name, link);
	}
	closedir(dir);
	return err;
}

int kernel_roots_read(pid_t pid, uint64_t **ret, size_t *ret_cnt)
{
	cleanup_free char *timers = NULL;
	struct words words = {0};
	int err = add_files(&words, pid);

	/*
	 * Read lines such as "signal: 60/00007fff86e452a8". The file /proc/PID/timers only exists
	 * in kernels with CONFIG_CHECKPOINT_RESTORE.
	 */
	if (!err && !proc_read(pid, "timers", &timers))
		err = add_numbers(&words, timers, "/", 16);
	if (err) {
		free(words.items);
		return err;
	}
	*ret = words.items;
	*ret_cnt = words.cnt;
	return 0;
}
