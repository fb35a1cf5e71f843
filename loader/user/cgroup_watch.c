// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks once per second whether the traced cgroup was removed or created again. */
#include "loader/user/cgroup_watch.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"

/*
 * Interval between checks, in seconds. The checks find cgroups that are created at another path. If
 * a cgroup is created at the same path, the BPF programs notice it immediately.
 */
#define LOOK_S 1

int cgroup_watch_init(struct cgroup_watch *watch, struct process_set *set)
{
	const struct itimerspec often = {{.tv_sec = LOOK_S}, {.tv_sec = LOOK_S}};

	*watch = (struct cgroup_watch){.set = set, .fd = -1};
	if (!set->filter.rule.by_cgroup)
		return 0;
	watch->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (watch->fd < 0 || timerfd_settime(watch->fd, 0, &often, NULL))
		return -errno;
	return process_set_watch(set, watch->fd, NULL);
}

void cgroup_watch_deinit(struct cgroup_watch *watch)
{
	if (watch->set && watch->fd >= 0)
		close(watch->fd);
}

/*
 * Passes the id of the new cgroup to the BPF programs, and adds the processes that joined the
 * cgroup before the BPF programs knew its id.
 */
static void renew(struct process_set *set)
{
	size_t cnt;

	target_filter_publish_cgroup(&set->filter,
				     &set->programs->ctx.skel->bss->target_filter_cgroup);
	if (!process_set_find(set, &cnt))
		log_note("cgroup %s was created again: tracing its processes, %zu so far",
			 set->filter.cgroup.path, cnt);
}

void cgroup_watch_check(struct cgroup_watch *watch)
{
	struct process_set *set = watch->set;
	uint64_t expirations;
	int ret;

	if (watch->fd < 0 || read(watch->fd, &expirations, sizeof(expirations)) < 0)
		return;
	ret = target_filter_renew_cgroup(&set->filter);
	if (ret < 0 && !watch->gone)
		log_note("cgroup %s is gone: waiting for it to be created again",
			 set->filter.cgroup.path);
	watch->gone = ret < 0;
	if (ret > 0)
		renew(set);
}
