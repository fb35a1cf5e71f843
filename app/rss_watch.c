// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts readings of resident memory, and takes their results when these are ready. */
#include "app/rss_watch.h"

#include <errno.h>

#include "base/clock.h"
#include "proof/rss_reader.h"

#define WAIT_NS 50000000ULL
#define WAIT_LAST_NS 1000000000ULL

/* Maximum duration of a reading, in nanoseconds. After a timeout the process is not read again. */
#define GIVE_UP_NS 60000000000ULL

/* Pause after a reading, as a multiple of the reading's duration */
#define PAUSE_FACTOR 20

/* Time until a retry after an error, in nanoseconds. The process may be about to end. */
#define RETRY_NS 10000000000ULL

/* Returns the tally of the only living process; NULL if there is none or there are several. */
static struct process_tally *only_process(struct snapshot *snap)
{
	struct process_tally *found = NULL;

	for (size_t i = 0; i < snap->tally_cnt; i++) {
		struct process_tally *tally = &snap->tallies[i];

		if (!tally->footprint.is_known || tally->ended)
			continue;
		if (found)
			return NULL;
		found = tally;
	}
	return found;
}

static void ask(struct rss_watch *watch, pid_t pid, uint64_t now_ns)
{
	if (rss_begin(pid, now_ns + WAIT_NS)) {
		watch->next_ns = now_ns + RETRY_NS;
		return;
	}
	watch->asked = pid;
	watch->asked_ns = now_ns;
}

static void take(struct rss_watch *watch, struct process_tally *tally, uint64_t now_ns,
		 bool is_last)
{
	int err = rss_take(now_ns + (is_last ? WAIT_LAST_NS : WAIT_NS), &tally->rss);
	uint64_t taken_ns = clock_ns(CLOCK_MONOTONIC) - watch->asked_ns;

	if (err == -ETIMEDOUT && taken_ns < GIVE_UP_NS)
		return;
	watch->asked = 0;
	watch->next_ns = err == -ETIMEDOUT ? UINT64_MAX
					   : now_ns + (err ? RETRY_NS : PAUSE_FACTOR * taken_ns);
}

void rss_watch_read(struct rss_watch *watch, struct snapshot *snap, bool is_last)
{
	struct process_tally *tally = only_process(snap);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (watch->asked && (!tally || tally->process->pid != watch->asked)) {
		rss_stop();
		watch->asked = 0;
	}
	if (!tally)
		return;
	if (!watch->asked && now_ns >= watch->next_ns)
		ask(watch, tally->process->pid, now_ns);
	if (watch->asked)
		take(watch, tally, now_ns, is_last);
}
