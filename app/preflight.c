// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks the capabilities, limits and kernel features that tracing needs. */
#include "app/preflight.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app/rights.h"
#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "loader/probes/features.h"
#include "loader/probes/link_kind.h"
#include "loader/tables/table_sizes.h"
#include "loader/target/pid_namespace.h"

struct need {
	unsigned int cap;
	const char *name;
	const char *purpose;
};

/*
 * The capabilities that tracing needs. CAP_SYS_ADMIN implies all of them but CAP_SYS_PTRACE. Older
 * kernels lack some of these capabilities, and require CAP_SYS_ADMIN instead.
 */
static const struct need needs[] = {
	{CAP_SYS_PTRACE, "CAP_SYS_PTRACE", "to read what a process has mapped"},
	{CAP_BPF, "CAP_BPF", "to load BPF programs"},
	{CAP_PERFMON, "CAP_PERFMON", "to place probes"},
	{CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE",
	 "to open the files a process has mapped"},
};

#define NEEDS (sizeof(needs) / sizeof(needs[0]))

static void log_missing(const struct options *opts, const struct need *const *missing, size_t cnt)
{
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	for (size_t i = 0; i < cnt; i++)
		fprintf(out, "%s%s %s", i ? ", " : "", missing[i]->name, missing[i]->purpose);
	if (fclose(out))
		return;
	if (geteuid())
		log_error("must run as root, or with %s%s", text,
			  opts->refused & 1U << ADVISED_AGENT
				  ? ""
				  : "; --agent -- CMD needs no privileges");
	else
		log_error("root lacks capabilities that memleak needs: %s", text);
}

static int check_capabilities(const struct options *opts)
{
	const struct need *missing[NEEDS];
	struct capability_sets caps;
	size_t cnt = 0;
	bool admin;

	if (capabilities_read(&caps))
		return 0; /* skip the check; a later call fails if capabilities are missing */
	admin = caps.effective & CAPABILITY(CAP_SYS_ADMIN);
	for (size_t i = 0; i < NEEDS; i++)
		if (!(caps.effective & CAPABILITY(needs[i].cap)) &&
		    !(admin && needs[i].cap != CAP_SYS_PTRACE))
			missing[cnt++] = &needs[i];
	if (!cnt)
		return 0;
	log_missing(opts, missing, cnt);
	return -EPERM;
}

/*
 * Checks for CAP_SYS_ADMIN where the kernel requires it in addition to CAP_BPF and CAP_PERFMON: for
 * probes in programs before Linux 6.6, and for perf events on kernels that restrict these.
 */
static int check_admin(const struct options *opts)
{
	struct capability_sets caps;

	if (!options_trace_processes(opts) || capabilities_read(&caps) ||
	    caps.effective & CAPABILITY(CAP_SYS_ADMIN))
		return 0;
	if (link_kind_needs_admin()) {
		log_error("before Linux 6.6, CAP_SYS_ADMIN is needed to probe programs: give it to "
			  "memleak, too");
		return -EPERM;
	}
	if (rights_may_open_events())
		return 0;
	log_error("CAP_SYS_ADMIN is needed while kernel.perf_event_paranoid is above 2: set it "
		  "to 2 (sysctl), or give the capability to memleak, too");
	return -EPERM;
}

static int check_bpf(void)
{
	union bpf_attr attr = {0};

	/* Try an invalid command: the error is EINVAL if bpf(2) exists and is permitted. */
	if (syscall(SYS_bpf, -1, &attr, sizeof(attr)) == 0)
		return 0;
	if (errno == ENOSYS) {
		log_error("this kernel has no bpf(2) (CONFIG_BPF_SYSCALL), or a seccomp filter "
			  "hides it");
		return -ENOSYS;
	}
	if (errno == EPERM) {
		log_error("bpf(2) is not permitted: a seccomp filter or security module denies it");
		return -EPERM;
	}
	return 0;
}

/*
 * Minimum for the limit of open files. Each BPF program, BPF map and probe takes a descriptor; with
 * a lower limit, opening any file could fail.
 */
#define FILES_MIN 128

static int check_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= FILES_MIN)
		return 0;
	log_error("only %llu open files are allowed (ulimit -n): memleak needs %d",
		  (unsigned long long)limit.rlim_cur, FILES_MIN);
	return -EMFILE;
}

/*
 * Minimum for the limit of address space, in bytes. Each ring buffer is mapped twice, and files are
 * read into memory.
 */
#define ADDRESS_SPACE_MIN (128ULL << 20)

static int check_address_space(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur >= ADDRESS_SPACE_MIN)
		return 0;
	log_error("only %llu MiB of address space are allowed (ulimit -v): memleak needs %llu",
		  (unsigned long long)limit.rlim_cur >> 20, ADDRESS_SPACE_MIN >> 20);
	return -ENOMEM;
}

/* Checks for BTF, in which libbpf finds the offsets of the kernel fields that BPF programs read. */
static int check_types(void)
{
	struct btf *types;

	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return 0;
	types = btf__load_vmlinux_btf();
	if (types) {
		btf__free(types);
		return 0;
	}
	log_error("the kernel's type information (BTF) cannot be read: /sys/kernel/btf/vmlinux is "
		  "missing (a kernel without CONFIG_DEBUG_INFO_BTF, or /sys is not mounted)");
	return -ENOENT;
}

/*
 * Checks the memory limit of memleak's cgroup. If memleak exceeded the limit, the kernel would kill
 * it before it could log the reason.
 */
static int check_memory(const struct options *opts)
{
	const struct memory_limit limit = memory_limit_read();
	uint64_t least = table_least_memory(opts);

	if (opts->count_by || limit.cgroup_left >= least)
		return 0;
	log_error("memleak's memory cgroup has %llu MiB left of its limit of %llu MiB: memleak "
		  "needs %llu MiB for itself and its smallest tables",
		  (unsigned long long)(limit.cgroup_left >> 20),
		  (unsigned long long)(limit.cgroup_limit >> 20),
		  (unsigned long long)(least >> 20));
	return -ENOMEM;
}

static int check_pids(void)
{
	if (pid_namespace_has_proc())
		return 0;
	log_error("/proc belongs to a different pid namespace than memleak's: mount it again here "
		  "(unshare --mount-proc), or run memleak in that namespace");
	return -EINVAL;
}

__attribute__((format(printf, 2, 0))) static int print_libbpf(enum libbpf_print_level level,
							      const char *fmt, va_list args)
{
	return log_verbosity() > 1 ? vfprintf(stderr, fmt, args) : 0;
}

void preflight_quieten_libbpf(void)
{
	libbpf_set_print(print_libbpf);
}

int preflight_check(const struct options *opts)
{
	uint32_t depth = features_walk_depth(opts->stack_depth);
	int err = check_capabilities(opts);

	if (!err)
		err = check_bpf();
	if (!err)
		err = check_files();
	if (!err)
		err = check_address_space();
	if (!err)
		err = check_memory(opts);
	if (!err)
		err = check_pids();
	if (err)
		return err;
	err = check_types();
	if (!err)
		err = check_admin(opts);
	if (err)
		return err;
	/*
	 * A low kernel.perf_event_max_stack is no error: it limits only stacks that the kernel
	 * walks.
	 */
	if (depth < opts->stack_depth && !options_trace_processes(opts))
		log_note("stacks are cut at %u frames, the limit of kernel.perf_event_max_stack",
			 depth);
	return 0;
}
