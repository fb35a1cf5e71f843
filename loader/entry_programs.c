// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads programs for links of entries beside those of sessions. */
#include "loader/entry_programs.h"

#include <bpf/bpf.h>
#include <string.h>

#include "bpf/memleak.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/log.h"
#include "loader/multi_link.h"
#include "loader/skeleton.h"

struct entry_programs {
	struct user_bpf *shared;
	struct user_bpf *own; /* NULL: not loaded */
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

/* The same file makes the same maps, in the same order. */
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

static int choose_programs(struct user_bpf *skel, bool events)
{
	struct bpf_program *const wanted[] = {skel->progs.enter_any, skel->progs.walk_stack,
					      skel->progs.decide_nesting, skel->progs.walk_event};
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, skel->obj)
	{
		err |= bpf_program__set_autoload(program, false);
	}
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (wanted[i] == skel->progs.walk_event && !events)
			continue;
		err |= bpf_program__set_autoload(wanted[i], true);
		err |= bpf_program__set_expected_attach_type(
			wanted[i], (enum bpf_attach_type)MULTI_LINK_ATTACH_TYPE);
	}
	return err;
}

static int put_ending(struct user_bpf *skel, enum memleak_ending ending,
		      const struct bpf_program *program)
{
	uint32_t key = ending;
	int fd = bpf_program__fd(program);

	return bpf_map_update_elem(bpf_map__fd(skel->maps.endings), &key, &fd, BPF_ANY);
}

static int load(struct entry_programs *programs)
{
	struct user_bpf *skel = SKELETON_OPEN(user_bpf);
	bool events;
	int err;

	if (!skel)
		return -errno;
	programs->own = skel;
	events = ((const struct memleak_config *)&programs->shared->rodata->config)->trace_stacks;
	err = share_maps(programs->shared, skel) || choose_programs(skel, events);
	if (err)
		return -EINVAL;
	err = bpf_object__load(skel->obj);
	if (!err)
		err = put_ending(skel, MEMLEAK_ENDING_WALK, skel->progs.walk_stack);
	if (!err)
		err = put_ending(skel, MEMLEAK_ENDING_DECIDE, skel->progs.decide_nesting);
	if (!err && events)
		err = put_ending(skel, MEMLEAK_ENDING_EVENT, skel->progs.walk_event);
	return err;
}

struct bpf_program *entry_programs__get(struct entry_programs *programs)
{
	int err;

	if (!programs->own && !programs->failed) {
		err = load(programs);
		programs->failed = err;
		if (err)
			log_error("the kernel does not take the programs for functions that an "
				  "exception may leave: %s (-vv shows its reasons)",
				  strerror(-err));
	}
	return programs->failed ? NULL : programs->own->progs.enter_any;
}
