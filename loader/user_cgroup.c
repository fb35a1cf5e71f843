// SPDX-License-Identifier: GPL-2.0-or-later
/* Goes on with the cgroup that is made when the one that is traced is gone. */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "loader/log.h"
#include "loader/user_source_impl.h"

/* The programs see one in the same place be made; one elsewhere is found by looking, so often. */
#define LOOK_S 1

int user_cgroup__open(struct user_source *source)
{
	const struct itimerspec often = {{.tv_sec = LOOK_S}, {.tv_sec = LOOK_S}};
	struct epoll_event event = {.events = EPOLLIN};

	source->cgroup_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (source->cgroup_fd < 0 || timerfd_settime(source->cgroup_fd, 0, &often, NULL) ||
	    epoll_ctl(source->epoll_fd, EPOLL_CTL_ADD, source->cgroup_fd, &event))
		return -errno;
	return 0;
}

/* Those that came before the programs knew its number are those that are there now. */
static void renew(struct user_source *source)
{
	size_t cnt;

	members_tell_cgroup(&source->members, &source->ctx.skel->bss->members_cgroup);
	if (!user_members__find(source, &cnt))
		log_note("cgroup %s was made anew: tracing its processes, %zu so far",
			 source->members.cgroup.path, cnt);
}

void user_cgroup__check(struct user_source *source)
{
	uint64_t expirations;
	int ret;

	if (read(source->cgroup_fd, &expirations, sizeof(expirations)) < 0)
		return;
	ret = members_renew_cgroup(&source->members);
	if (ret < 0 && !source->cgroup_gone)
		log_note("cgroup %s is gone: waiting until it is made anew",
			 source->members.cgroup.path);
	source->cgroup_gone = ret < 0;
	if (ret > 0)
		renew(source);
}
