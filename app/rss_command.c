// SPDX-License-Identifier: GPL-2.0-or-later
/* memleak --rss: prints the use of resident memory once, and exits. Places no probes. */
#include <errno.h>
#include <string.h>

#include "app/commands.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/limited_call.h"
#include "base/log.h"
#include "base/proc.h"
#include "proof/rss_reader.h"
#include "sinks/rss_line.h"

/* Maximum time to read the heap, in nanoseconds; a heap of 10 GiB takes some seconds */
#define DEADLINE_NS 60000000000ULL

static void write_json(pid_t pid, const char *comm, const struct rss *rss)
{
	struct json_writer json;

	json_init(&json, stdout);
	json_begin_object(&json, NULL);
	json_string(&json, "schema", "memleak/1");
	json_signed(&json, "pid", pid);
	json_string(&json, "comm", comm);
	rss_write_json(&json, rss);
	json_end_object(&json);
	putchar('\n');
}

static const char *reason(int err)
{
	switch (err) {
	case -ENOENT:
	case -ESRCH:
		return "there is no such process";
	case -EACCES:
	case -EPERM:
		return "permission denied: run memleak as root";
	case -EAGAIN:
		return "it is in exec, or keeps its memory map locked: try again later";
	case -ETIMEDOUT:
		return "reading it takes more than a minute";
	case -EINTR:
		return "memleak was asked to end";
	default:
		return strerror(-err);
	}
}

static int show(const struct options *opts, pid_t pid)
{
	cleanup_free char *comm = proc_comm(pid);
	struct rss rss;
	int err = rss_read(pid, clock_deadline_ns(DEADLINE_NS), &rss);

	if (err) {
		log_error("cannot read the memory of process %d: %s", pid, reason(err));
		return err;
	}
	if (opts->format == FORMAT_JSON) {
		write_json(pid, comm, &rss);
		return 0;
	}
	rss_write_process(stdout, comm, pid);
	fputs(": ", stdout);
	rss_write_line(stdout, &rss, NULL);
	if (!rss_is_mostly_kept(&rss))
		printf("to see whether memory in use grows, and where: memleak -p %d\n", pid);
	return 0;
}

int rss_command(const struct options *opts)
{
	int code = 0;

	limited_calls_begin();
	for (size_t i = 0; i < opts->pid_cnt; i++)
		if (show(opts, opts->pids[i]))
			code = EXIT_CANNOT;
	return code;
}
