// SPDX-License-Identifier: GPL-2.0-or-later
/* Renders metrics and reports into in-memory files. */
#include "metrics/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sinks/html.h"
#include "sinks/sink.h"

#define SEALS (F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)

static int write_sink(FILE *out, const struct metrics *metrics, enum output_format format)
{
	const struct sink *sink = sink_for(format);

	if (metrics->report)
		return sink->report(out, metrics->report);
	if (!metrics->counts || !sink->counts)
		return -ENOENT;
	sink->counts(out, metrics->counts);
	return 0;
}

static int write_page(FILE *out, enum page_kind kind, const struct metrics *metrics)
{
	switch (kind) {
	case PAGE_OPEN_METRICS:
		return metrics_write(out, metrics, true);
	case PAGE_PROMETHEUS:
		return metrics_write(out, metrics, false);
	case PAGE_REPORT:
		return write_sink(out, metrics, FORMAT_JSON);
	case PAGE_HTML:
		return metrics->report ? html_write_live(out, metrics->report) : -ENOENT;
	default:
		/*
		 * Make no profile from a report that shows groups: a profile needs all sites, but
		 * such a report lists only some of them.
		 */
		if (metrics->report && metrics->report->by != BY_STACK)
			return -ENOENT;
		return write_sink(out, metrics, FORMAT_PPROF);
	}
}

int page_make(enum page_kind kind, const struct metrics *metrics)
{
	int fd = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING), err, ret = -ENOMEM;
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	err = write_page(out, kind, metrics);
	if (!fflush(out))
		ret = err ? err : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	fclose(out);
	/*
	 * Seal the file: the helper process that receives it must not be able to change its
	 * contents.
	 */
	if (ret >= 0 && fcntl(ret, F_ADD_SEALS, SEALS)) {
		err = -errno;
		close(ret);
		ret = err;
	}
	return ret;
}

const char *page_type(enum page_kind kind)
{
	static const char *const types[] = {
		[PAGE_OPEN_METRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
		[PAGE_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
		[PAGE_REPORT] = "application/json",
		[PAGE_PPROF] = "application/octet-stream",
		[PAGE_HTML] = "text/html; charset=utf-8",
	};

	return types[kind];
}
