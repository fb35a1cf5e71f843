// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives up capabilities (capabilities(7)). */
#include "app/rights.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/capabilities.h"

/*
 * Capabilities that CAP_SYS_ADMIN implies. If memleak does not have all of these, CAP_SYS_ADMIN is
 * not dropped.
 */
#define ADMIN_STANDS_FOR                                                                           \
	(CAPABILITY(CAP_BPF) | CAPABILITY(CAP_PERFMON) | CAPABILITY(CAP_CHECKPOINT_RESTORE))

/*
 * Capabilities needed for tracing. CAP_SYS_RESOURCE is for kernels that count BPF maps as locked
 * memory: there, libbpf raises the limit of locked memory.
 */
#define TRACING                                                                                    \
	(ADMIN_STANDS_FOR | CAPABILITY(CAP_SYS_PTRACE) | CAPABILITY(CAP_DAC_READ_SEARCH) |         \
	 CAPABILITY(CAP_SYSLOG) | CAPABILITY(CAP_SYS_RESOURCE))

/* Capabilities needed to replace a file, since the file and its folder may belong to any user */
#define REPLACING (CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_CHOWN) | CAPABILITY(CAP_FOWNER))

/*
 * Tries to open a perf event, because kernels differ: those of Debian require CAP_SYS_ADMIN for all
 * perf events if kernel.perf_event_paranoid is above 2.
 */
bool rights_may_open_events(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.size = sizeof(attr),
		.exclude_kernel = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || (errno != EACCES && errno != EPERM);
}

int rights_shed(bool replaces_files, bool ends_command, bool needs_admin)
{
	uint64_t kept = TRACING | (replaces_files ? REPLACING : 0) |
			(ends_command ? CAPABILITY(CAP_KILL) : 0);
	struct capability_sets sets;
	uint64_t permitted;
	int err = capabilities_read(&sets);

	if (err)
		return err;
	permitted = sets.permitted;
	if (needs_admin || ~permitted & ADMIN_STANDS_FOR)
		kept |= CAPABILITY(CAP_SYS_ADMIN);
	kept &= permitted;
	err = capabilities_set(kept | (CAPABILITY(CAP_SETPCAP) & permitted), permitted);
	if (err)
		return err;
	if (!rights_may_open_events())
		kept |= CAPABILITY(CAP_SYS_ADMIN) & permitted;
	/*
	 * Ignore failure to reduce the capability bounding set: even with the full set,
	 * PR_SET_NO_NEW_PRIVS keeps executed programs from gaining capabilities.
	 */
	capabilities_bound(kept);
	err = capabilities_set(kept, kept);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}
