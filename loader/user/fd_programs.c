// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads and attaches the programs of --fds. */
#include "loader/user/fd_programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/target/fd_calls.h"

/* Maximum closed descriptors whose time of closing is kept. */
#define CLOSED_MAX 16384

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
	err |= bpf_program__set_autoload(skel->progs.fd_call_return_by_vma, config->find_vma);
	return err;
}

static struct bpf_link *attach(const struct bpf_program *program, const char *tracepoint)
{
	struct bpf_link *link = bpf_program__attach_raw_tracepoint(program, tracepoint);

	if (!link)
		log_error("cannot attach to the kernel's tracepoint %s: %s", tracepoint,
			  strerror(errno));
	return link;
}

int fd_programs_attach(struct fd_programs *programs, const struct user_bpf *skel)
{
	int by_vma_fd = bpf_program__fd(skel->progs.fd_call_return_by_vma);
	uint32_t at = 0;

	if (by_vma_fd >= 0 &&
	    bpf_map_update_elem(bpf_map__fd(skel->maps.fd_tail_calls), &at, &by_vma_fd, BPF_ANY))
		return -errno;
	programs->leave = attach(skel->progs.fd_call_return, "sys_exit");
	if (programs->leave)
		programs->enter = attach(skel->progs.fd_call_enter, "sys_enter");
	return programs->enter ? 0 : -EINVAL;
}

void fd_programs_detach(struct fd_programs *programs)
{
	bpf_link__destroy(programs->enter);
	bpf_link__destroy(programs->leave);
	*programs = (struct fd_programs){0};
}
