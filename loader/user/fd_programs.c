// SPDX-License-Identifier: GPL-2.0-or-later
/* Configures and attaches the BPF programs of --fds. */
#include "loader/user/fd_programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/log.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/target/fd_calls.h"

/* Maximum number of closed descriptors whose time of closing is stored. */
#define CLOSED_MAX 16384

/* True if the kernel may skip a BPF program for some system calls: see descriptors.bpf.h. */
static bool may_be_skipped(void)
{
	struct utsname name;
	unsigned int major;

	return !uname(&name) && sscanf(name.release, "%u.", &major) == 1 && major >= 7;
}

int fd_programs_prepare(const struct options *opts, struct user_bpf *skel)
{
	struct memleak_config *config = (struct memleak_config *)&skel->rodata->config;
	int err = 0;

	if (!opts->fds)
		return bpf_map__set_autocreate(skel->maps.closed_fds, false) ||
		       bpf_map__set_autocreate(skel->maps.fd_tail_calls, false);
	config->descriptors = true;
	fd_calls_fill((uint8_t *)skel->rodata->fd_calls);
	err |= bpf_map__set_max_entries(skel->maps.closed_fds, CLOSED_MAX);
	err |= bpf_program__set_autoload(skel->progs.fd_call_enter, true);
	err |= bpf_program__set_autoload(skel->progs.fd_call_return, true);
	err |= bpf_program__set_autoload(skel->progs.fd_second_enter, may_be_skipped());
	err |= bpf_program__set_autoload(skel->progs.fd_second_return, may_be_skipped());
	err |= bpf_program__set_autoload(skel->progs.fd_call_return_by_vma, config->find_vma);
	return err;
}

int fd_programs_attach(struct fd_programs *programs, const struct user_bpf *skel)
{
	const struct {
		const struct bpf_program *program;
		const char *tracepoint;
	} all[] = {
		{skel->progs.fd_call_return, "sys_exit"},
		{skel->progs.fd_second_return, "sys_exit"},
		{skel->progs.fd_call_enter, "sys_enter"},
		{skel->progs.fd_second_enter, "sys_enter"},
	};
	int by_vma_fd = bpf_program__fd(skel->progs.fd_call_return_by_vma);
	uint32_t at = 0;

	_Static_assert(sizeof(all) / sizeof(*all) == FD_PROGRAM_CNT, "each program has a link");
	if (by_vma_fd >= 0 &&
	    bpf_map_update_elem(bpf_map__fd(skel->maps.fd_tail_calls), &at, &by_vma_fd, BPF_ANY))
		return -errno;
	for (size_t i = 0; i < FD_PROGRAM_CNT; i++) {
		if (bpf_program__fd(all[i].program) < 0)
			continue;
		programs->links[i] =
			bpf_program__attach_raw_tracepoint(all[i].program, all[i].tracepoint);
		if (programs->links[i])
			continue;
		log_error("cannot attach to the kernel's tracepoint %s: %s", all[i].tracepoint,
			  strerror(errno));
		return -EINVAL;
	}
	return 0;
}

void fd_programs_detach(struct fd_programs *programs)
{
	for (size_t i = 0; i < FD_PROGRAM_CNT; i++)
		bpf_link__destroy(programs->links[i]);
	*programs = (struct fd_programs){0};
}

bool fd_programs_have(const struct bpf_program *program)
{
	static const char prefix[] = "fd_";

	return !strncmp(bpf_program__name(program), prefix, strlen(prefix));
}
