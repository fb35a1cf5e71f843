// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads source lines in threads; each thread owns the data that it needs. */
#include "screen/source.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/regular_file.h"

#define FILE_MOST (16 << 20)
#define LINE_MOST 400
/* Spaces drawn for a tab. */
#define TAB_WIDTH 4

/*
 * A request to read lines of a file. Until done is set, only the thread uses the lines. The last
 * user frees the job.
 */
struct job {
	struct source_text text;
	int wake_fd; /* duplicate of the reader's wake_fd, closed with the job */
	atomic_bool done;
	atomic_int users;
};

struct source_reader {
	int wake_fd;
	struct job *job; /* the latest job; NULL if there is none */
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

/* Copies a line, with tabs expanded and control characters escaped. */
static char *plain_line(const char *line)
{
	char *ret = NULL;
	size_t len;
	FILE *out = open_memstream(&ret, &len);

	if (!out)
		return NULL;
	for (size_t i = 0; i < LINE_MOST && line[i] && line[i] != '\n' && line[i] != '\r'; i++) {
		size_t run = strcspn(line + i, "\t\n\r");

		run = run > LINE_MOST ? LINE_MOST : run;
		if (line[i] == '\t') {
			fprintf(out, "%*s", TAB_WIDTH, "");
			continue;
		}
		escape_write(out, line + i, run);
		i += run - 1;
	}
	fclose(out);
	return ret;
}

static void read_lines(struct source_text *text)
{
	struct stat st;
	int fd = regular_file_open(AT_FDCWD, -1, text->file, LINKS_ALL, &st);
	cleanup_fclose FILE *file = fd >= 0 ? fdopen(fd, "re") : NULL;
	cleanup_free char *line = NULL;
	size_t cap = 0;

	if (!file || st.st_size > FILE_MOST) {
		if (!file && fd >= 0)
			close(fd);
		return;
	}
	for (unsigned int i = 1; getline(&line, &cap, file) >= 0; i++) {
		if (i > text->line + SOURCE_AROUND)
			break;
		if (i + SOURCE_AROUND >= text->line)
			text->lines[i + SOURCE_AROUND - text->line] = plain_line(line);
	}
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
					     unsigned int line)
{
	struct job *job = reader->job;

	if (!job || strcmp(job->text.file, file) || job->text.line != line) {
		/* Start one thread at a time, so that a hanging file system blocks only one. */
		if (job && !atomic_load(&job->done))
			return NULL;
		if (job)
			job_put(job);
		job = reader->job = begin(reader->wake_fd, file, line);
	}
	return job && atomic_load(&job->done) && job->text.lines[SOURCE_AROUND] ? &job->text : NULL;
}
