// SPDX-License-Identifier: GPL-2.0-or-later
/* Attaches hooks to the kernel's functions for bulk allocations and frees, and for frees by RCU. */
#include "loader/kernel/hooks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/test_knobs.h"
#include "bpf/kernel_tp/hooks.skel.h"
#include "loader/probes/skeleton.h"
#include "loader/tables/tracker_stats.h"

/* Each hook is attached to the first function of its list that the kernel has */
static const struct {
	const char *prog;
	const char *functions[2];
	/*
	 * true if the hook is for bulk allocations of pages; works only as fentry and fexit
	 * programs
	 */
	bool pages;
} kernel_hooks[] = {
	{"bulk_free", {"kmem_cache_free_bulk"}, false},
	{"rcu_free", {"kvfree_call_rcu"}, false},
	{"bulk_alloc", {"kmem_cache_alloc_bulk", "kmem_cache_alloc_bulk_noprof"}, false},
	{"bulk_pages", {"__alloc_pages_bulk", "alloc_pages_bulk_noprof"}, true},
	{"bulk_pages_return", {"__alloc_pages_bulk", "alloc_pages_bulk_noprof"}, true},
};

/*
 * Name prefixes of the two programs that each hook attaches to its function. The second program
 * handles events that the first one missed.
 */
static const char *const trampoline_prefixes[] = {"trampoline", "trampoline2"};

_Static_assert(LENGTH(kernel_hooks) * LENGTH(trampoline_prefixes) <= KERNEL_HOOK_LINKS,
	       "there is room for the links of all hooks");

static bool is_trampoline(const struct bpf_program *prog)
{
	return strncmp(bpf_program__name(prog), "kprobe", 6) != 0;
}

static const char *hooked_function(const struct kernel_loading *loading, size_t hook)
{
	if (kernel_hooks[hook].pages && loading->at.bulk_pages_array == MEMLEAK_VALUE_NONE)
		return NULL;
	for (size_t i = 0; i < LENGTH(kernel_hooks[hook].functions); i++) {
		const char *name = kernel_hooks[hook].functions[i];

		if (name && btf__find_by_name_kind(loading->btf, name, BTF_KIND_FUNC) > 0)
			return name;
	}
	return NULL;
}

/* Makes the hooks use the maps of the object that contains the tracepoint programs. */
static int share_maps(const struct bpf_object *tables, struct bpf_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, object)
	{
		int fd = bpf_object__find_map_fd_by_name(tables, bpf_map__name(map));
		int err;

		if (fd < 0 || bpf_map__is_internal(map))
			continue;
		err = bpf_map__reuse_fd(map, fd);
		if (err)
			return err;
	}
	return 0;
}

/*
 * Sets the kernel function to which each hook is attached; skips hooks whose function does not
 * exist.
 */
static int aim_trampolines(const struct kernel_loading *loading, const struct bpf_object *object)
{
	for (size_t i = 0; i < LENGTH(kernel_hooks); i++) {
		const char *function = hooked_function(loading, i);

		for (size_t j = 0; j < LENGTH(trampoline_prefixes); j++) {
			struct bpf_program *prog = kernel_loading_program(
				object, trampoline_prefixes[j], kernel_hooks[i].prog);
			int err = 0;

			if (function)
				err = bpf_program__set_attach_target(prog, 0, function);
			else
				bpf_program__set_autoload(prog, false);
			if (err)
				return err;
		}
	}
	return 0;
}

/*
 * Opens and loads the hooks. The programs are fentry and fexit programs if `trampolines` is true,
 * otherwise kprobes.
 */
static int open_hooks(const struct kernel_loading *loading, const struct bpf_object *tables,
		      bool trampolines, struct kernel_hooks *hooks)
{
	struct hooks_bpf *skel = SKELETON_OPEN(hooks_bpf);
	struct bpf_program *prog;
	int err;

	if (!skel)
		return -errno;
	hooks->skel = skel;
	hooks->object = skel->obj;
	err = kernel_loading_prepare(loading, skel->obj,
				     (struct memleak_config *)&skel->rodata->config,
				     (struct memleak_kernel_config *)&skel->rodata->kernel_config);
	if (!err)
		err = share_maps(tables, skel->obj);
	bpf_object__for_each_program(prog, skel->obj)
		bpf_program__set_autoload(prog, is_trampoline(prog) == trampolines);
	if (!err && trampolines)
		err = aim_trampolines(loading, skel->obj);
	return err ? err : hooks_bpf__load(skel);
}

static int keep_link(struct kernel_hooks *hooks, struct bpf_link *link)
{
	if (!link)
		return -errno;
	hooks->links[hooks->link_cnt++] = link;
	return 0;
}

static int attach_trampolines(struct kernel_hooks *hooks, size_t hook)
{
	int err = 0;

	for (size_t i = 0; !err && i < LENGTH(trampoline_prefixes); i++)
		err = keep_link(hooks, bpf_program__attach(kernel_loading_program(
					       hooks->object, trampoline_prefixes[i],
					       kernel_hooks[hook].prog)));
	return err;
}

static struct bpf_program *returning_program(const struct kernel_hooks *hooks, size_t hook)
{
	cleanup_free char *name = NULL;

	if (asprintf(&name, "%s_return", kernel_hooks[hook].prog) < 0)
		return NULL;
	return kernel_loading_program(hooks->object, "kprobe", name);
}

static int attach_kprobes(struct kernel_hooks *hooks, size_t hook, const char *function)
{
	struct bpf_program *prog =
		kernel_loading_program(hooks->object, "kprobe", kernel_hooks[hook].prog);
	int err = keep_link(hooks, bpf_program__attach_kprobe(prog, false, function));

	prog = returning_program(hooks, hook);
	if (!err && prog)
		err = keep_link(hooks, bpf_program__attach_kprobe(prog, true, function));
	return err;
}

/*
 * Returns the maximum number of events that a hook may have missed. An event is missed only if the
 * kernel skipped both programs, so the result is the smaller number of skipped runs.
 */
static uint64_t trampolines_missed(const struct bpf_object *object, size_t hook)
{
	uint64_t fewest = UINT64_MAX;

	for (size_t i = 0; i < LENGTH(trampoline_prefixes); i++) {
		uint64_t missed = program_recursion_misses(kernel_loading_program(
			object, trampoline_prefixes[i], kernel_hooks[hook].prog));

		fewest = missed < fewest ? missed : fewest;
	}
	return fewest;
}

uint64_t kernel_hooks_missed(const struct kernel_hooks *hooks)
{
	struct bpf_program *prog;
	uint64_t misses = 0;

	if (!hooks->object)
		return 0;
	for (size_t i = 0; i < LENGTH(kernel_hooks); i++)
		misses += trampolines_missed(hooks->object, i);
	bpf_object__for_each_program(prog, hooks->object)
	{
		if (!is_trampoline(prog))
			misses += program_recursion_misses(prog);
	}
	return misses;
}

void kernel_hooks_deinit(struct kernel_hooks *hooks)
{
	while (hooks->link_cnt)
		bpf_link__destroy(hooks->links[--hooks->link_cnt]);
	hooks_bpf__destroy(hooks->skel);
	*hooks = (struct kernel_hooks){0};
}

void kernel_hooks_start(struct kernel_hooks *hooks)
{
	if (hooks->skel)
		hooks->skel->bss->tracking = true;
}

/*
 * True if the kernel supports kprobes. This is checked before the programs are loaded, to save
 * their verification if they cannot be attached.
 */
static bool has_kprobes(void)
{
	return !access("/sys/bus/event_source/devices/kprobe", F_OK) ||
	       !access("/sys/kernel/tracing/kprobe_events", F_OK);
}

static int load_hooks(const struct kernel_loading *loading, const struct bpf_object *tables,
		      bool trampolines, struct kernel_hooks *hooks)
{
	int err = trampolines || has_kprobes() ? open_hooks(loading, tables, trampolines, hooks)
					       : -ENOENT;

	for (size_t i = 0; !err && i < LENGTH(kernel_hooks); i++) {
		const char *function = hooked_function(loading, i);

		if (!function || (kernel_hooks[i].pages && !trampolines))
			continue;
		err = trampolines ? attach_trampolines(hooks, i)
				  : attach_kprobes(hooks, i, function);
		hooks->pages |= kernel_hooks[i].pages;
	}
	if (!err)
		return 0;
	kernel_hooks_deinit(hooks);
	return err;
}

void kernel_hooks_init(const struct kernel_loading *loading, const struct bpf_object *tables,
		       struct kernel_hooks *hooks)
{
	const char *forced = test_knob(TEST_KNOB_KERNEL_HOOKS);
	static const char *const kinds[] = {"kprobe", "fentry"};

	for (int trampolines = 1; trampolines >= 0; trampolines--) {
		const char *kind = kinds[trampolines];
		int err;

		if (forced && strcmp(forced, kind))
			continue;
		err = load_hooks(loading, tables, trampolines, hooks);
		if (!err) {
			log_verbose("bulk frees and frees after a grace period are traced by %s "
				    "programs",
				    kind);
			if (hooks->pages)
				log_verbose("bulk allocations of pages are traced by %s programs",
					    kind);
			return;
		}
		log_verbose("%s programs are not available: %s", kind, strerror(-err));
	}
	log_verbose("bulk allocations are missed; bulk frees and kfree_rcu() are noticed only when "
		    "the memory is reused");
}
