// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads a second BPF object for entry links. The main object has the programs for session links. */
#include "loader/probes/entry_programs.h"

#include <string.h>

#include "base/log.h"
#include "bpf/memleak.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/probes/multi_link.h"
#include "loader/probes/skeleton.h"

struct entry_programs {
	struct user_bpf *shared;
	struct user_bpf *own; /* second object, with the entry programs; NULL until loaded */
	bool failed;
};

struct entry_programs *entry_programs__new(struct user_bpf *shared)
{
	struct entry_programs *programs = calloc(1, sizeof(*programs));

	if (programs)
		programs->shared = shared;
	return programs;
}

void entry_programs__free(struct entry_programs *programs)
{
	if (programs)
		user_bpf__destroy(programs->own);
	free(programs);
}

/*
 * Makes the second object use the maps of the first. Both objects come from the same BPF source, so
 * their maps have the same order.
 */
static int share_maps(struct user_bpf *from, struct user_bpf *to)
{
	struct bpf_map *shared = NULL, *map;
	int err = 0;

	bpf_object__for_each_map(map, to->obj)
	{
		shared = bpf_object__next_map(from->obj, shared);
		if (bpf_map__fd(shared) < 0)
			err |= bpf_map__set_autocreate(map, false);
		else
			err |= bpf_map__reuse_fd(map, bpf_map__fd(shared));
	}
	return err;
}

static int choose_programs(struct user_bpf *skel, const struct memleak_config *config)
{
	const struct {
		struct bpf_program *program;
		bool wanted;
	} programs[] = {
		{skel->progs.enter_any, true},
		{skel->progs.walk_stack, true},
		{skel->progs.walk_by_vma, config->find_vma},
		{skel->progs.walk_event, config->trace_stacks},
		{skel->progs.decide_nesting, true},
	};
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, skel->obj)
	{
		err |= bpf_program__set_autoload(program, false);
	}
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		err |= bpf_program__set_autoload(programs[i].program, programs[i].wanted);
		err |= bpf_program__set_expected_attach_type(
			programs[i].program, (enum bpf_attach_type)MULTI_LINK_ATTACH_TYPE);
	}
	return err;
}

int entry_programs_put_tail_calls(const struct user_bpf *skel, const struct bpf_program *enter)
{
	const struct bpf_program *const tail_calls[MEMLEAK_TAIL_CNT] = {
		[MEMLEAK_TAIL_WALK] = skel->progs.walk_stack,
		[MEMLEAK_TAIL_VMA] = skel->progs.walk_by_vma,
		[MEMLEAK_TAIL_EVENT] = skel->progs.walk_event,
		[MEMLEAK_TAIL_DECIDE] = skel->progs.decide_nesting,
		[MEMLEAK_TAIL_ENTER] = enter,
	};

	return skeleton_put_tail_calls(skel->maps.tail_calls, tail_calls);
}

static int load(struct entry_programs *programs)
{
	struct user_bpf *skel = SKELETON_OPEN(user_bpf);
	int err;

	if (!skel)
		return -errno;
	programs->own = skel;
	err = share_maps(programs->shared, skel) ||
	      choose_programs(skel, &programs->shared->rodata->config);
	if (err)
		return -EINVAL;
	err = bpf_object__load(skel->obj);
	if (!err)
		err = entry_programs_put_tail_calls(skel, skel->progs.enter_any);
	return err;
}

struct bpf_program *entry_programs__get(struct entry_programs *programs)
{
	int err;

	if (!programs->own && !programs->failed) {
		err = load(programs);
		programs->failed = err;
		if (err)
			log_error("the kernel rejected the programs for functions that may throw: "
				  "%s (-vv shows the verifier's messages)",
				  strerror(-err));
	}
	return programs->failed ? NULL : programs->own->progs.enter_any;
}
