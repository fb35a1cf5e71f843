// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses, loads and attaches the programs on the kernel's allocation events. */
#include "loader/kernel/programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/test_knobs.h"
#include "bpf/kernel_tp/kernel.skel.h"
#include "loader/kernel/places.h"
#include "loader/probes/features.h"
#include "loader/probes/skeleton.h"
#include "loader/tables/tracker.h"

enum event_need {
	NEED_ALWAYS,
	NEED_IF_PRESENT, /* event of older kernels, needed if the kernel has it */
	NEED_PERCPU,     /* needed only with -P */
};

/* Events that are needed only on some kernels, or only with some options */
static const struct {
	const char *name;
	enum event_need need;
} needs[] = {
	{"kmalloc_node", NEED_IF_PRESENT},
	{"kmem_cache_alloc_node", NEED_IF_PRESENT},
	{"percpu_alloc_percpu", NEED_PERCPU},
	{"percpu_free_percpu", NEED_PERCPU},
};

/*
 * Returns the name of the event from a program's name, which is PREFIX_EVENT, or PREFIX2_EVENT for
 * a second program.
 */
static const char *event_of(const struct bpf_program *prog)
{
	return strchr(bpf_program__name(prog), '_') + 1;
}

static enum event_need need_of(const char *event)
{
	for (size_t i = 0; i < LENGTH(needs); i++)
		if (!strcmp(needs[i].name, event))
			return needs[i].need;
	return NEED_ALWAYS;
}

static bool is_wanted(const struct kernel_loading *loading, const char *event)
{
	switch (need_of(event)) {
	case NEED_PERCPU:
		return loading->opts->percpu;
	case NEED_IF_PRESENT:
		return kernel_places_has(loading->btf, event);
	default:
		return true;
	}
}

/* Enables the programs of one kind for the events that are needed. */
static void choose_programs(const struct kernel_loading *loading, const struct bpf_object *object,
			    const char *prefix)
{
	size_t len = strlen(prefix);
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, object)
	{
		const char *name = bpf_program__name(prog);
		bool is_of_kind = !strncmp(name, prefix, len) &&
				  (name[len] == '_' || !strncmp(name + len, "2_", 2));

		bpf_program__set_autoload(prog, is_of_kind && is_wanted(loading, event_of(prog)));
	}
}

bool kernel_programs_is_second(const struct bpf_program *prog)
{
	return strstr(bpf_program__name(prog), "2_");
}

/*
 * Attaches the programs in the order in which the object contains them: the first program of an
 * event comes before the second.
 */
static int attach_events(struct kernel_programs *programs)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, programs->object)
	{
		struct bpf_link *link;

		if (!bpf_program__autoload(prog))
			continue;
		link = bpf_program__attach(prog);
		if (!link)
			return -errno;
		programs->links[programs->link_cnt++] = link;
	}
	return 0;
}

static void detach(struct kernel_programs *programs)
{
	while (programs->link_cnt)
		bpf_link__destroy(programs->links[--programs->link_cnt]);
	kernel_bpf__destroy(programs->kernel);
	programs->kernel = NULL;
	programs->object = NULL;
}

/*
 * Opens, configures and loads the programs of one kind. The pointers to the object's global data
 * are set last, because loading may move the data.
 */
static int load_programs(const struct kernel_loading *loading, const char *prefix,
			 struct kernel_programs *programs)
{
	struct kernel_bpf *skel = SKELETON_OPEN(kernel_bpf);
	int err;

	if (!skel)
		return -errno;
	programs->kernel = skel;
	programs->object = skel->obj;
	err = kernel_loading_prepare(loading, skel->obj,
				     (struct memleak_config *)&skel->rodata->config,
				     (struct memleak_kernel_config *)&skel->rodata->kernel_config);
	if (err)
		return err;
	choose_programs(loading, skel->obj, prefix);
	err = kernel_bpf__load(skel);
	if (!err)
		programs->switches = (struct kernel_switches){
			&skel->bss->tracking, &skel->bss->direct_map, &skel->bss->stack_watch};
	return err;
}

/* Locates the arguments of allocation events in the kernel's BTF. Logs errors. */
static int find_arguments(struct kernel_loading *loading)
{
	const char *event;

	loading->btf = btf__load_vmlinux_btf();
	if (!loading->btf) {
		int err = -errno;

		log_error("the kernel's type information (BTF) cannot be read: %s", strerror(-err));
		return err;
	}
	if (!kernel_places_by_btf(loading->btf, loading->opts->percpu, &loading->at, &event))
		return 0;
	log_error("the arguments of this kernel's tracepoint %s are not known to memleak", event);
	return -EPROTO;
}

/* Kinds of programs, best first */
static const struct {
	const char *kind;
	const char *prefix;
} program_kinds[] = {
	{"tp_btf", "btf"},
	{"raw_tp", "raw"},
};

/* Loads and attaches the best kind of programs that the kernel accepts. Logs errors. */
static int load_best(const struct kernel_loading *loading, struct kernel_programs *programs)
{
	const char *forced = test_knob(TEST_KNOB_KERNEL_PROGRAMS);
	int err = -EINVAL;

	for (size_t i = 0; i < LENGTH(program_kinds); i++) {
		const char *kind = program_kinds[i].kind;

		if (forced && strcmp(forced, kind))
			continue;
		err = load_programs(loading, program_kinds[i].prefix, programs);
		if (!err)
			err = attach_events(programs);
		if (!err) {
			programs->kind = kind;
			return 0;
		}
		log_verbose("kernel events cannot be traced by %s programs: %s", kind,
			    strerror(-err));
		detach(programs);
	}
	log_error("the kernel rejected the programs for its allocation events: %s (-v lists the "
		  "attempts, -vv the verifier's messages)",
		  strerror(-err));
	return err;
}

int kernel_programs_init(const struct options *opts, const struct kernel_functions *functions,
			 size_t target_cnt, struct kernel_programs *ret)
{
	struct kernel_loading loading = {
		.opts = opts,
		.functions = functions,
		.target_cnt = (uint32_t)target_cnt,
		.stack_depth = features_walk_depth(opts->stack_depth),
	};
	int err;

	*ret = (struct kernel_programs){.stack_depth = loading.stack_depth};
	err = find_arguments(&loading);
	if (!err)
		err = load_best(&loading, ret);
	if (!err)
		kernel_hooks_init(&loading, ret->object, &ret->hooks);
	btf__free(loading.btf);
	return err;
}

void kernel_programs_deinit(struct kernel_programs *programs)
{
	detach(programs);
	kernel_hooks_deinit(&programs->hooks);
}

void kernel_programs_start(struct kernel_programs *programs)
{
	kernel_hooks_start(&programs->hooks);
	*programs->switches.tracking = true;
}
