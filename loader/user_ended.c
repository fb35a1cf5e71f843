// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that had ended before anybody could look at them: what the kernel told of them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/attach_state.h"
#include "loader/cleanup.h"
#include "loader/map_events.h"
#include "loader/user_process.h"
#include "symbolizer/mapped_file.h"

int user_process__told_maps(const struct user_context *ctx, const struct user_process *process,
			    struct proc_maps *ret)
{
	if (!ctx->map_events)
		return -ENOENT;
	map_events__consume(ctx->map_events);
	return map_events__maps(ctx->map_events, process->info.pid, process->since_ns, ret);
}

static char *told_comm(const struct user_context *ctx, pid_t pid, uint64_t since_ns,
		       const struct user_process *parent)
{
	const char *comm = map_events__comm(ctx->map_events, pid, since_ns);

	if (!comm && parent)
		comm = parent->info.comm;
	return strdup(comm ? comm : "?");
}

int user_process__new_ended(const struct user_context *ctx, pid_t pid, uint64_t since_ns,
			    const struct user_process *parent, struct user_process **ret)
{
	struct user_process *process = calloc(1, sizeof(*process));
	struct proc_maps maps;
	int err;

	if (!process)
		return -ENOMEM;
	ranges_init(&process->ranges, (uint64_t)sysconf(_SC_PAGESIZE));
	process->info.pid = pid;
	process->found = true;
	process->ended = true;
	process->pidfd = -1;
	process->since_ns = since_ns;
	err = user_process__told_maps(ctx, process, &maps);
	/* Of one whose parent was there before there was anything to be told. */
	if (err == -ENOENT && parent)
		err = user_process__maps(ctx, parent, &maps);
	if (!err) {
		err = symspace__new_ended(ctx->symbolizer, &maps, &process->space);
		proc_maps_deinit(&maps);
	}
	if (!err)
		process->info.comm = told_comm(ctx, pid, since_ns, parent);
	if (!err && !process->info.comm)
		err = -ENOMEM;
	if (err)
		user_process__free(process);
	else
		*ret = process;
	return err;
}

/* The program file: it is mapped first when it is executed, before its dynamic loader. */
static uint64_t program_inode(const struct proc_maps *maps)
{
	const struct mapping *first = NULL;

	for_each_mapping (mapping, maps)
		if (mapping->executable && mapping->inode &&
		    (!first || mapping->since_ns < first->since_ns))
			first = mapping;
	return first ? first->inode : 0;
}

/* What it allocated by a file that nobody had looked into was not seen. */
static void look_into(struct attach_state *state, const struct mapping *mapping,
		      enum elf_scope scope)
{
	struct module module = {.path = (char *)mapping->path};
	struct stat st;

	if (!mapping->executable || !mapping->inode)
		return;
	module.fd = mapped_file_open(mapping, &st);
	if (module.fd < 0)
		return;
	attach_once(state, &module, scope);
	close(module.fd);
}

void user_process__attach_ended(const struct user_context *ctx, struct user_process *process)
{
	struct attach_state state;
	struct proc_maps maps;
	uint64_t program;

	if (attach_begin(&state, ctx, process) == 0 &&
	    user_process__told_maps(ctx, process, &maps) == 0) {
		program = program_inode(&maps);
		for_each_mapping (mapping, &maps)
			look_into(&state, mapping,
				  mapping->inode == program ? ELF_GLOBAL : ELF_EXPORTED);
		proc_maps_deinit(&maps);
	}
	if (state.placed || state.late)
		user_process__count_gap(process);
	attach_end(&state);
}
