// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses, loads and attaches the programs on the kernel's allocation events. */
#include "loader/kernel_programs.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/kernel_tp/classic.skel.h"
#include "bpf/kernel_tp/kernel.skel.h"
#include "loader/cleanup.h"
#include "loader/features.h"
#include "loader/kernel_loading.h"
#include "loader/kernel_places.h"
#include "loader/log.h"
#include "loader/skeleton.h"
#include "loader/tracker.h"

/* Slab pages known at once: a gigabyte of single pages. */
#define SLAB_PAGES (1U << 18)

/*
 * -tt: the whole kernel can bring more than anybody prints. What the ring holds is printed before
 * each report, so it holds what takes about a second.
 */
#define STACK_EVENTS_BYTES (1U << 22)

enum event_need {
	NEED_ALWAYS,
	NEED_OLD,    /* kernels have merged it into another since */
	NEED_PERCPU, /* with -P */
};

static const struct {
	const char *name;
	enum event_need need;
} kernel_events[] = {
	{"kmalloc", NEED_ALWAYS},
	{"kmalloc_node", NEED_OLD},
	{"kfree", NEED_ALWAYS},
	{"kmem_cache_alloc", NEED_ALWAYS},
	{"kmem_cache_alloc_node", NEED_OLD},
	{"kmem_cache_free", NEED_ALWAYS},
	{"mm_page_alloc", NEED_ALWAYS},
	{"mm_page_free", NEED_ALWAYS},
	{"percpu_alloc_percpu", NEED_PERCPU},
	{"percpu_free_percpu", NEED_PERCPU},
};

static void fill_config(const struct kernel_loading *loading, struct memleak_kernel_config *config)
{
	const struct kernel_functions *functions = loading->functions;

	config->own_tgid = (uint32_t)getpid();
	config->command_tgid = (uint32_t)loading->command;
	config->by_process = loading->target_cnt > 0;
	config->wa_missing_free = loading->opts->wa_missing_free;
	config->percpu = loading->opts->percpu;
	config->movable = loading->opts->movable;
	config->page_shift = (uint8_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	config->at = loading->at;
	config->preempt_count_at = kernel_places_preempt_count(loading->btf);
	/* Older BTF has no variables. */
	if (!config->preempt_count_at && functions->run_queue && functions->preempt_count)
		config->preempt_count_at =
			(int64_t)(functions->preempt_count - functions->run_queue);
	memcpy(config->slab_functions, functions->slab, sizeof(functions->slab));
	memcpy(config->interrupt_edges, functions->edges, sizeof(functions->edges));
}

static int size_map(struct bpf_object *object, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__set_max_entries(map, entries) : 0;
}

/*
 * Entries are there from the start: those made on demand would be kernel allocations themselves,
 * in the middle of one.
 */
int kernel_loading_prepare(const struct kernel_loading *loading, struct bpf_object *object,
			   struct memleak_config *config,
			   struct memleak_kernel_config *kernel_config)
{
	const struct options *opts = loading->opts;
	int err;

	fill_config(loading, kernel_config);
	err = tracker_prepare(opts, object, loading->ret->stack_depth, false, config);
	err |= size_map(object, "targets", loading->target_cnt ? loading->target_cnt : 1);
	err |= size_map(object, "slab_pages", SLAB_PAGES);
	if (!opts->trace) {
		err |= size_map(object, "events", (uint32_t)getpagesize());
		err |= size_map(object, "told_events", 1);
	}
	if (opts->trace < 2)
		err |= size_map(object, "free_buffers", 1);
	else if (!loading->target_cnt)
		err |= size_map(object, "events", STACK_EVENTS_BYTES);
	return err;
}

static bool is_wanted(const struct kernel_loading *loading, size_t event)
{
	switch (kernel_events[event].need) {
	case NEED_PERCPU:
		return loading->opts->percpu;
	case NEED_OLD:
		/* Tracefs tells when it comes to attaching. */
		return !loading->btf || kernel_places_has(loading->btf, kernel_events[event].name);
	default:
		return true;
	}
}

struct bpf_program *kernel_loading_program(const struct bpf_object *object, const char *prefix,
					   const char *event)
{
	cleanup_free char *name = NULL;

	if (asprintf(&name, "%s_%s", prefix, event) < 0)
		return NULL;
	return bpf_object__find_program_by_name(object, name);
}

/* Of the programs for each event those of one kind are loaded. */
static int choose_programs(const struct kernel_loading *loading, struct bpf_object *object,
			   const char *prefix)
{
	cleanup_free char *second = NULL;
	struct bpf_program *prog;

	if (asprintf(&second, "%s2", prefix) < 0)
		return -ENOMEM;
	bpf_object__for_each_program(prog, object) bpf_program__set_autoload(prog, false);
	for (size_t i = 0; i < LENGTH(kernel_events); i++) {
		prog = kernel_loading_program(object, prefix, kernel_events[i].name);
		if (!prog)
			return -ENOENT;
		bpf_program__set_autoload(prog, is_wanted(loading, i));
		prog = kernel_loading_program(object, second, kernel_events[i].name);
		if (prog)
			bpf_program__set_autoload(prog, is_wanted(loading, i));
	}
	return 0;
}

bool kernel_programs_is_second(const struct bpf_program *prog)
{
	return strstr(bpf_program__name(prog), "2_");
}

/* In the order of the object, where an event's first program stands before its second. */
static int attach_events(struct kernel_programs *programs)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, programs->object)
	{
		struct bpf_link *link;

		if (!bpf_program__autoload(prog))
			continue;
		link = bpf_program__attach(prog);
		if (!link) {
			/* kmalloc_node and its kin have gone from newer kernels. */
			if (errno == ENOENT && strstr(bpf_program__name(prog), "_node"))
				continue;
			return -errno;
		}
		programs->links[programs->link_cnt++] = link;
	}
	return 0;
}

static void detach(struct kernel_programs *programs)
{
	while (programs->link_cnt)
		bpf_link__destroy(programs->links[--programs->link_cnt]);
	kernel_bpf__destroy(programs->kernel);
	classic_bpf__destroy(programs->classic);
	programs->kernel = NULL;
	programs->classic = NULL;
	programs->object = NULL;
}

/* Takes an object that is open; its memory may be elsewhere afterwards. */
static int load_object(struct kernel_loading *loading, struct bpf_object_skeleton *skeleton,
		       const char *prefix, struct memleak_config *config,
		       struct memleak_kernel_config *kernel_config)
{
	int err;

	loading->ret->object = *skeleton->obj;
	err = kernel_loading_prepare(loading, *skeleton->obj, config, kernel_config);
	if (!err)
		err = choose_programs(loading, *skeleton->obj, prefix);
	return err ? err : bpf_object__load_skeleton(skeleton);
}

/* Programs that know arguments by the kernel's BTF. */
static int load_by_btf(struct kernel_loading *loading, const char *prefix)
{
	struct kernel_bpf *skel = SKELETON_OPEN(kernel_bpf);
	int err;

	if (!skel)
		return -errno;
	loading->ret->kernel = skel;
	err = load_object(loading, skel->skeleton, prefix,
			  (struct memleak_config *)&skel->rodata->config,
			  (struct memleak_kernel_config *)&skel->rodata->kernel_config);
	if (!err)
		loading->ret->switches = (struct kernel_switches){
			&skel->bss->tracking, &skel->bss->direct_map, &skel->bss->stack_watch};
	return err;
}

static int load_classic(struct kernel_loading *loading, const char *prefix)
{
	struct classic_bpf *skel = SKELETON_OPEN(classic_bpf);
	int err;

	if (!skel)
		return -errno;
	loading->ret->classic = skel;
	err = load_object(loading, skel->skeleton, prefix,
			  (struct memleak_config *)&skel->rodata->config,
			  (struct memleak_kernel_config *)&skel->rodata->kernel_config);
	if (!err)
		loading->ret->switches = (struct kernel_switches){
			&skel->bss->tracking, &skel->bss->direct_map, &skel->bss->stack_watch};
	return err;
}

static int find_arguments(struct kernel_loading *loading)
{
	const char *event;

	if (!loading->btf)
		return -ENOENT;
	if (!kernel_places_by_btf(loading->btf, &loading->at, &event))
		return 0;
	log_verbose("the arguments of tracepoint %s are not as on any known kernel", event);
	return -EPROTO;
}

static int find_fields(struct kernel_loading *loading)
{
	static const char *const folders[] = {
		"/sys/kernel/tracing/events",
		"/sys/kernel/debug/tracing/events",
	};
	const char *event = NULL;
	int err = -ENOENT;

	for (size_t i = 0; err && i < LENGTH(folders); i++)
		err = kernel_places_by_format(folders[i], &loading->at, &event);
	if (err)
		log_verbose("no fields of %s in tracefs, which has to be mounted at "
			    "/sys/kernel/tracing",
			    event);
	return err;
}

/* From the best to the last resort. */
static const struct {
	const char *kind;
	const char *prefix;
	int (*find)(struct kernel_loading *loading);
	int (*load)(struct kernel_loading *loading, const char *prefix);
} program_kinds[] = {
	{"tp_btf", "btf", find_arguments, load_by_btf},
	{"raw_tp", "raw", find_arguments, load_by_btf},
	{"classic", "classic", find_fields, load_classic},
};

static int load_best(struct kernel_loading *loading)
{
	const char *forced =
		getenv("MEMLEAK_KERNEL_PROGRAMS"); /* a kind: for tests of the others */
	int err = -ENOENT;

	for (size_t i = 0; i < LENGTH(program_kinds); i++) {
		const char *kind = program_kinds[i].kind;

		if (forced && strcmp(forced, kind))
			continue;
		err = program_kinds[i].find(loading);
		if (!err)
			err = program_kinds[i].load(loading, program_kinds[i].prefix);
		if (!err)
			err = attach_events(loading->ret);
		if (!err) {
			loading->ret->kind = kind;
			return 0;
		}
		log_verbose("kernel events cannot be traced by %s programs: %s", kind,
			    strerror(-err));
		detach(loading->ret);
	}
	return err;
}

int kernel_programs_init(const struct options *opts, const struct kernel_functions *functions,
			 pid_t command, size_t target_cnt, struct kernel_programs *ret)
{
	struct kernel_loading loading = {
		.opts = opts,
		.functions = functions,
		.command = command,
		.target_cnt = (uint32_t)target_cnt,
		.btf = btf__load_vmlinux_btf(),
		.ret = ret,
	};
	int err;

	*ret = (struct kernel_programs){.stack_depth = features_walk_depth(opts->stack_depth)};
	err = load_best(&loading);
	if (err)
		log_error("the kernel does not take the programs for its allocation events: %s "
			  "(-v says what was tried, -vv the kernel's reasons)",
			  strerror(-err));
	else
		kernel_hooks_add(&loading);
	btf__free(loading.btf);
	return err;
}

void kernel_programs_deinit(struct kernel_programs *programs)
{
	detach(programs);
	kernel_hooks_deinit(programs);
}

void kernel_programs_start(struct kernel_programs *programs)
{
	kernel_hooks_start(programs);
	*programs->switches.tracking = true;
}
