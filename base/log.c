// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes each log line to stderr with one write(): lines of several processes do not mix. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"

static unsigned int verbosity_level;
static void (*diverted)(void *arg, const char *line, size_t len);
static void *diverted_arg;

void log_divert(void (*take)(void *arg, const char *line, size_t len), void *arg)
{
	diverted = take;
	diverted_arg = arg;
}

void log_set_verbosity(unsigned int verbosity)
{
	verbosity_level = verbosity;
}

unsigned int log_verbosity(void)
{
	return verbosity_level;
}

static void write_stderr(const char *bytes, size_t len)
{
	if (diverted)
		diverted(diverted_arg, bytes, len);
	if (diverted && isatty(STDERR_FILENO))
		return;
	while (len) {
		ssize_t written = write(STDERR_FILENO, bytes, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		bytes += written;
		len -= (size_t)written;
	}
}

/*
 * Makes a log line of `text`: adds the prefix "memleak: ", drops newlines at the end, and escapes
 * all other newlines and unsafe characters.
 */
static int make_line(const char *text, char **ret, size_t *len)
{
	size_t text_len = strlen(text);
	FILE *out = open_memstream(ret, len);

	if (!out)
		return -ENOMEM;
	while (text_len && text[text_len - 1] == '\n')
		text_len--;
	fputs("memleak: ", out);
	escape_write(out, text, text_len);
	fputc('\n', out);
	return fclose(out) ? -ENOMEM : 0;
}

__attribute__((format(printf, 1, 0))) static void log_line(const char *fmt, va_list args)
{
	static const char no_memory[] = "memleak: out of memory\n";
	int saved_errno = errno;
	cleanup_free char *text = NULL;
	cleanup_free char *line = NULL;
	size_t len;

	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	if (!text || make_line(text, &line, &len))
		write_stderr(no_memory, sizeof(no_memory) - 1);
	else
		write_stderr(line, len);
	errno = saved_errno;
}

void log_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

void log_note(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

void log_verbose(const char *fmt, ...)
{
	va_list args;

	if (!verbosity_level)
		return;
	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}
