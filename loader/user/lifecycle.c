// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches the BPF programs that record starts and ends of processes. */
#include "loader/user/lifecycle.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "bpf/memleak.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"

int lifecycle_init(struct lifecycle *lifecycle, const struct user_bpf *skel, bool by_cgroup)
{
	const struct {
		struct bpf_program *program;
		const char *tracepoint;
	} programs[LIFECYCLE_LINKS] = {
		{skel->progs.process_exec, "sched_process_exec"},
		{skel->progs.process_exec_second, "sched_process_exec"},
		{skel->progs.process_fork, "task_newtask"},
		{skel->progs.process_fork_second, "task_newtask"},
		{skel->progs.thread_exit, "sched_process_exit"},
		{skel->progs.thread_exit_second, "sched_process_exit"},
		{skel->progs.process_move, "cgroup_attach_task"},
		{skel->progs.process_move_second, "cgroup_attach_task"},
		{skel->progs.cgroup_made, "cgroup_mkdir"},
		{skel->progs.cgroup_made_second, "cgroup_mkdir"},
	};
	size_t cnt = by_cgroup ? LIFECYCLE_LINKS : LIFECYCLE_LINKS - 4;

	for (size_t i = 0; i < cnt; i++) {
		struct bpf_link *link = bpf_program__attach_raw_tracepoint(programs[i].program,
									   programs[i].tracepoint);

		if (!link) {
			int err = -errno;

			log_error("cannot attach to the kernel's tracepoint %s: %s",
				  programs[i].tracepoint, strerror(-err));
			return err;
		}
		lifecycle->links[lifecycle->cnt++] = link;
	}
	return 0;
}

bool lifecycle_is_second(const struct bpf_program *program)
{
	static const char suffix[] = "_second";
	const char *name = bpf_program__name(program);
	size_t len = strlen(name), suffix_len = sizeof(suffix) - 1;

	return len > suffix_len && !strcmp(name + len - suffix_len, suffix);
}

void lifecycle_deinit(struct lifecycle *lifecycle)
{
	for (size_t i = 0; i < lifecycle->cnt; i++)
		bpf_link__destroy(lifecycle->links[i]);
}
