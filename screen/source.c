// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads source lines in threads. A thread and the reader share only the data of one job. */
#include "screen/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "base/text_lines.h"

/*
 * A request to read lines of a file, for one thread. Until `done` is set, only this thread may use
 * `text.lines`. The thread and the reader each hold a reference; the last to drop it frees the job.
 */
struct job {
	struct source_text text;
	int wake_fd; /* duplicate of the reader's wake_fd, closed with the job */
	atomic_bool done;
	atomic_int users;
};

struct source_reader {
	int wake_fd;
	struct job *job; /* the latest job; NULL before the first */
};

static void job_put(struct job *job)
{
	if (atomic_fetch_sub(&job->users, 1) > 1)
		return;
	for (size_t i = 0; i < sizeof(job->text.lines) / sizeof(job->text.lines[0]); i++)
		free(job->text.lines[i]);
	free(job->text.file);
	close(job->wake_fd);
	free(job);
}

static void read_lines(struct source_text *text)
{
	long numbers[2 * SOURCE_AROUND + 1];
	struct stat st;
	int fd = regular_file_open(AT_FDCWD, -1, text->file, LINKS_ALL, &st);

	if (fd < 0)
		return;
	for (long i = 0; i < 2 * SOURCE_AROUND + 1; i++)
		numbers[i] = (long)text->line + i - SOURCE_AROUND;
	text_lines_read(fd, numbers, 2 * SOURCE_AROUND + 1, text->lines);
}

static void *work(void *arg)
{
	const uint64_t one = 1;
	struct job *job = arg;

	read_lines(&job->text);
	atomic_store(&job->done, true);
	if (write(job->wake_fd, &one, sizeof(one)) < 0)
		atomic_store(&job->done, true);
	job_put(job);
	return NULL;
}

static struct job *begin(int wake_fd, const char *file, unsigned int line)
{
	struct job *job = calloc(1, sizeof(*job));
	pthread_t thread;

	if (!job)
		return NULL;
	job->text.file = strdup(file);
	job->text.line = line;
	job->wake_fd = fcntl(wake_fd, F_DUPFD_CLOEXEC, 0);
	atomic_store(&job->users, 2);
	if (job->text.file && job->wake_fd >= 0 && !pthread_create(&thread, NULL, work, job)) {
		pthread_detach(thread);
		return job;
	}
	atomic_store(&job->users, 1);
	job_put(job);
	return NULL;
}

int source_reader__new(int wake_fd, struct source_reader **ret)
{
	struct source_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return -ENOMEM;
	reader->wake_fd = wake_fd;
	*ret = reader;
	return 0;
}

void source_reader__free(struct source_reader *reader)
{
	if (!reader)
		return;
	if (reader->job)
		job_put(reader->job);
	free(reader);
}

const struct source_text *source_reader__ask(struct source_reader *reader, const char *file,
					     unsigned int line, bool *is_reading)
{
	struct job *job = reader->job;

	/* Start no second thread while one runs: a hanging file system then blocks only one. */
	*is_reading = job && !atomic_load(&job->done);
	if (*is_reading)
		return NULL;
	if (!job || strcmp(job->text.file, file) || job->text.line != line) {
		if (job)
			job_put(job);
		job = reader->job = begin(reader->wake_fd, file, line);
		*is_reading = job && !atomic_load(&job->done);
	}
	return job && !*is_reading && job->text.lines[SOURCE_AROUND] ? &job->text : NULL;
}
