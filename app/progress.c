// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows progress in a line on stderr. Each text overwrites the previous one. */
#include "app/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/path.h"
#include "base/write_all.h"

#define LINE_MAX_BYTES 512

static bool shown;

static void show(const char *path, int percent)
{
	char line[LINE_MAX_BYTES];
	FILE *out = fmemopen(line, sizeof(line), "w");
	long len;

	if (!out)
		return;
	fprintf(out, "\rmemleak: %s of ",
		percent < 0 ? "downloading debug information" : "reading symbols");
	escape_puts(out, path_name(path));
	if (percent >= 0)
		fprintf(out, ": %d %%", percent);
	/* Return to the start of the line, so that a log message will overwrite the text. */
	fputs("\033[K\r", out);
	fflush(out);
	len = ftell(out);
	fclose(out);
	if (len > 0 && !write_all(STDERR_FILENO, line, (size_t)len))
		shown = true;
}

static void write_progress(const char *path, int percent)
{
	static const char clear[] = "\r\033[K";

	if (path) {
		show(path, percent);
	} else if (shown) {
		write_all(STDERR_FILENO, clear, sizeof(clear) - 1);
		shown = false;
	}
}

void progress_show(struct symbolizer *sym)
{
	if (isatty(STDERR_FILENO))
		symbolizer__set_progress(sym, write_progress);
}
