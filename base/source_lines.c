// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps source lines that were read, by file and line number. Lines to read are collected in a job,
 * which a thread then owns until it has read them all.
 */
#include "base/source_lines.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fair_lock.h"
#include "base/intern.h"
#include "base/order.h"
#include "base/regular_file.h"
#include "base/text_lines.h"

#define NSEC_PER_MSEC 1000000
/* Maximum number of lines in one job. */
#define LINES_MOST 65536

struct wanted {
	uid_t uid;
	char *file;
	long line;
	size_t at; /* index of this line in source_lines.texts */
	char *text;
};

/* Lines to read. Used by the table and the reading thread; the last user frees the job. */
struct job {
	struct wanted *items;
	size_t cnt, cap;
	int done_fd;
	atomic_int users;
};

struct source_lines {
	struct intern keys; /* keys "LINE UID FILE"; texts[i] is the line of key number i + 1 */
	char **texts;
	size_t cnt, cap;
	struct job *next;    /* lines to read next, or NULL */
	struct job *running; /* lines that a thread is reading, or NULL */
};

static void job_put(struct job *job)
{
	if (!job || atomic_fetch_sub(&job->users, 1) > 1)
		return;
	for (size_t i = 0; i < job->cnt; i++) {
		free(job->items[i].file);
		free(job->items[i].text);
	}
	free(job->items);
	if (job->done_fd >= 0)
		close(job->done_fd);
	free(job);
}

static struct job *job_new(void)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	atomic_store(&job->users, 1);
	return job;
}

/*
 * True if all users may search (x permission) each folder of an absolute path without symbolic
 * links. Overwrites the path.
 */
static bool is_in_open_folders(char *path)
{
	struct stat st;

	for (char *slash = strrchr(path, '/'); slash; slash = strrchr(path, '/')) {
		*slash = '\0';
		if (stat(*path ? path : "/", &st) || !(st.st_mode & S_IXOTH))
			return false;
	}
	return true;
}

/* True if a file belongs to the user `uid`, or if all users may read it and search its folders. */
static bool may_show(int fd, const struct stat *st, uid_t uid)
{
	char name[64], path[PATH_MAX];
	ssize_t len;

	if (st->st_uid == uid)
		return true;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	len = st->st_mode & S_IROTH ? readlink(name, path, sizeof(path) - 1) : -1;
	if (len <= 0 || *path != '/')
		return false;
	path[len] = '\0';
	return is_in_open_folders(path);
}

/* Reads the lines of `items`, all of which have the same file and the same uid. */
static void read_file(struct wanted *items, size_t cnt)
{
	cleanup_free long *numbers = calloc(cnt, sizeof(*numbers));
	cleanup_free char **texts = calloc(cnt, sizeof(*texts));
	struct stat st;
	int fd = regular_file_open(AT_FDCWD, -1, items->file, LINKS_ALL, &st);

	if (fd < 0)
		return;
	if (!numbers || !texts || !may_show(fd, &st, items->uid)) {
		close(fd);
		return;
	}
	for (size_t i = 0; i < cnt; i++)
		numbers[i] = items[i].line;
	text_lines_read(fd, numbers, cnt, texts);
	for (size_t i = 0; i < cnt; i++)
		items[i].text = texts[i];
}

/* Orders lines by file and user. */
static int by_file(const struct wanted *x, const struct wanted *y)
{
	return strcmp(x->file, y->file) ?: ORDER(x->uid, y->uid);
}

static int by_file_and_line(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return by_file(x, y) ?: ORDER(x->line, y->line);
}

static void *work(void *arg)
{
	struct job *job = arg;

	qsort(job->items, job->cnt, sizeof(*job->items), by_file_and_line);
	for (size_t first = 0, end; first < job->cnt; first = end) {
		for (end = first + 1;
		     end < job->cnt && !by_file(&job->items[end], &job->items[first]);)
			end++;
		read_file(&job->items[first], end - first);
	}
	eventfd_write(job->done_fd, 1);
	job_put(job);
	return NULL;
}

/* Starts a thread that reads the lines of the job `next`, unless a thread is still running. */
static void start(struct source_lines *lines)
{
	struct job *job = lines->next;
	pthread_t thread;

	if (lines->running || !job || !job->cnt || job->done_fd < 0)
		return;
	lines->next = NULL;
	lines->running = job;
	atomic_store(&job->users, 2);
	if (!pthread_create(&thread, NULL, work, job)) {
		pthread_detach(thread);
		return;
	}
	atomic_store(&job->users, 1);
	job_put(job);
	lines->running = NULL;
}

/* Waits for the thread and stores its lines in the table. Returns false if it is still reading. */
static bool finish(struct source_lines *lines, uint64_t deadline_ns)
{
	struct job *job = lines->running;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct pollfd end = {.fd = job ? job->done_fd : -1, .events = POLLIN};
	int left_ms = deadline_ns > now_ns ? (int)((deadline_ns - now_ns) / NSEC_PER_MSEC) : 0;

	if (!job)
		return true;
	if (fair_lock_poll(&end, left_ms) <= 0)
		return false;
	for (size_t i = 0; i < job->cnt; i++) {
		lines->texts[job->items[i].at] = job->items[i].text;
		job->items[i].text = NULL;
	}
	job_put(job);
	lines->running = NULL;
	return true;
}

void source_lines__read(struct source_lines *lines, uint64_t deadline_ns)
{
	if (!finish(lines, deadline_ns))
		return;
	start(lines);
	finish(lines, deadline_ns);
}

/*
 * Adds a line to the job `next`. If out of memory, or if the job is full, the line is never read.
 */
static void want(struct source_lines *lines, uid_t uid, const char *file, unsigned int line,
		 size_t at)
{
	struct job *job = lines->next = lines->next ? lines->next : job_new();
	char *copy = job && job->cnt < LINES_MOST ? strdup(file) : NULL;

	if (!copy || array_reserve(&job->items, &job->cap, job->cnt + 1)) {
		free(copy);
		return;
	}
	job->items[job->cnt++] =
		(struct wanted){.uid = uid, .file = copy, .line = (long)line, .at = at};
}

const char *source_lines__ask(struct source_lines *lines, uid_t uid, const char *file,
			      unsigned int line)
{
	cleanup_free char *key = NULL;
	const char *text;
	bool fresh;
	size_t number;
	int len;

	if (!*file || !line)
		return NULL;
	len = asprintf(&key, "%u %u %s", line, uid, file);
	if (len < 0 || array_reserve(&lines->texts, &lines->cap, lines->cnt + 1)) {
		key = len < 0 ? NULL : key;
		return NULL;
	}
	number = intern_get(&lines->keys, key, (size_t)len, &fresh);
	if (fresh) {
		lines->texts[lines->cnt++] = NULL;
		want(lines, uid, file, line, number - 1);
	}
	text = number ? lines->texts[number - 1] : NULL;
	return text && text[strspn(text, " ")] ? text + strspn(text, " ") : NULL;
}

int source_lines__new(struct source_lines **ret)
{
	struct source_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	*ret = lines;
	return 0;
}

void source_lines__free(struct source_lines *lines)
{
	if (!lines)
		return;
	job_put(lines->next);
	job_put(lines->running);
	for (size_t i = 0; i < lines->cnt; i++)
		free(lines->texts[i]);
	free(lines->texts);
	intern_deinit(&lines->keys);
	free(lines);
}
