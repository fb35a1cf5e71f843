// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives up capabilities (capabilities(7)). */
#include "app/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BIT(cap) (1ULL << (cap))

/* CAP_SYS_ADMIN stands for each of them that is not there. */
#define ADMIN_STANDS_FOR (BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_CHECKPOINT_RESTORE))

/* Some kernels count tables as locked memory, of which libbpf then takes more than is allowed. */
#define TRACING                                                                                    \
	(ADMIN_STANDS_FOR | BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYSLOG) |     \
	 BIT(CAP_SYS_RESOURCE))

/*
 * A helper that has crashed is started again. It gets another user and a root folder, and loses
 * what it inherits; then it is another user's process, which only CAP_KILL can end.
 */
#define HELPERS                                                                                    \
	(BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_SETPCAP) | BIT(CAP_SYS_CHROOT) |              \
	 BIT(CAP_KILL) | BIT(CAP_SYS_NICE))

/* The folder, and the file's owner, may be any user. */
#define REPLACING (BIT(CAP_DAC_OVERRIDE) | BIT(CAP_CHOWN) | BIT(CAP_FOWNER))

/* Who may not change the bounding set has no program's capabilities either: of no_new_privs. */
static void bound(uint64_t kept)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(kept & BIT(cap)))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

static int set(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		data[i] = (struct __user_cap_data_struct){
			.effective = (uint32_t)(effective >> 32 * i),
			.permitted = (uint32_t)(permitted >> 32 * i),
		};
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

/* Debian's kernels want CAP_SYS_ADMIN for any event while kernel.perf_event_paranoid is above 2. */
static bool may_open_events(void)
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

int rights_shed(bool replaces_files, bool needs_admin)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t kept = TRACING | HELPERS | (replaces_files ? REPLACING : 0), permitted;
	int err;

	if (syscall(SYS_capget, &header, data))
		return -errno;
	permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted;
	if (needs_admin || ~permitted & ADMIN_STANDS_FOR)
		kept |= BIT(CAP_SYS_ADMIN);
	kept &= permitted;
	err = set(kept, permitted);
	if (err)
		return err;
	if (!may_open_events())
		kept |= BIT(CAP_SYS_ADMIN) & permitted;
	bound(kept);
	/* Without inheritable capabilities there are no ambient ones. */
	err = set(kept, kept);
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	return err;
}
