// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Polls the programs' sums of outstanding bytes every 10 ms. Shorter intervals would be useless, as
 * listing the blocks also takes about 10 ms.
 */
#include "loader/agent/peak.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

#define LOOK_NS 10000000L

int agent_peak_init(struct agent_peak *ret)
{
	const struct itimerspec each = {.it_interval.tv_nsec = LOOK_NS,
					.it_value.tv_nsec = LOOK_NS};

	ret->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return ret->timer_fd < 0 || timerfd_settime(ret->timer_fd, 0, &each, NULL) ? -errno : 0;
}

void agent_peak_deinit(struct agent_peak *peak)
{
	if (peak->timer_fd >= 0)
		close(peak->timer_fd);
	peak_deinit(&peak->copies.kept);
}

bool agent_peak_look(struct agent_peak *peak, uint64_t total, uint64_t highest, bool at_report)
{
	struct peak *kept = &peak->copies.kept;
	uint64_t times;

	/* Clears the timer; the number of expirations is irrelevant. */
	if (read(peak->timer_fd, &times, sizeof(times)) < 0)
		times = 0;
	if (total > highest)
		highest = total;
	if (highest > peak->highest)
		peak->highest = highest;
	kept->highest_bytes = peak->highest > kept->bytes ? peak->highest : kept->bytes;
	if (at_report)
		return total > kept->bytes;
	return total && total >= peak->limit &&
	       clock_ns(CLOCK_MONOTONIC) >= peak->copies.not_before_ns;
}

void agent_peak_keep(struct agent_peak *peak, struct snapshot *snap, uint64_t begin_ns)
{
	struct peak *kept = &peak->copies.kept;

	peak->limit = peak_copies_keep(&peak->copies, snap, begin_ns, peak->highest);
	kept->highest_bytes = peak->highest > kept->bytes ? peak->highest : kept->bytes;
}
