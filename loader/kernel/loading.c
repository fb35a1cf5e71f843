// SPDX-License-Identifier: GPL-2.0-or-later
/* Configures BPF objects of kernel programs before they are loaded. */
#include "loader/kernel/loading.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "helper/starter.h"
#include "loader/kernel/places.h"
#include "loader/tables/tracker.h"

/*
 * Maximum number of slab pages that are known at the same time: the number of 4 KiB pages in 1 GiB
 */
#define SLAB_PAGES (1U << 18)

/*
 * Bytes of the event ring for -tt if all processes are traced. The kernel then produces more events
 * than memleak can print. All events in the ring are printed before each report, so the ring has
 * room only for the events that can be printed in about a second.
 */
#define STACK_EVENTS_BYTES (1U << 22)

static void fill_config(const struct kernel_loading *loading, struct memleak_kernel_config *config)
{
	const struct kernel_functions *functions = loading->functions;

	config->own_tgid = (uint32_t)getpid();
	config->starter_tgid = (uint32_t)starter_pid();
	config->by_process = loading->target_cnt > 0;
	config->by_thread = config->by_process || options_want_threads(loading->opts);
	config->wa_missing_free = loading->opts->wa_missing_free;
	config->percpu = loading->opts->percpu;
	config->movable = loading->opts->movable;
	config->page_shift = (uint8_t)__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE));
	config->at = loading->at;
	config->preempt_count_at = kernel_places_preempt_count(loading->btf);
	/* Older BTF does not describe variables, so use the addresses from /proc/kallsyms. */
	if (!config->preempt_count_at && functions->run_queue && functions->preempt_count)
		config->preempt_count_at =
			(int64_t)(functions->preempt_count - functions->run_queue);
	memcpy(config->slab_functions, functions->slab, sizeof(functions->slab));
	/*
	 * With -P, percpu allocations are counted one by one, so do not also count the pages that
	 * contain percpu memory.
	 */
	for (size_t i = 0, at = functions->slab_cnt;
	     loading->opts->percpu && i < functions->percpu_cnt && at < MEMLEAK_SLAB_FUNCTIONS; i++)
		config->slab_functions[at++] = functions->percpu[i];
	memcpy(config->interrupt_edges, functions->edges, sizeof(functions->edges));
}

static int size_map(struct bpf_object *object, const char *name, uint32_t entries)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	return map ? bpf_map__set_max_entries(map, entries) : 0;
}

/*
 * Map entries are preallocated: creating an entry on demand would be a kernel allocation within a
 * traced allocation.
 */
int kernel_loading_prepare(const struct kernel_loading *loading, struct bpf_object *object,
			   struct memleak_config *config,
			   struct memleak_kernel_config *kernel_config)
{
	const struct options *opts = loading->opts;
	int err;

	fill_config(loading, kernel_config);
	err = tracker_prepare(opts, object, loading->stack_depth, false, config);
	err |= size_map(object, "targets", loading->target_cnt ? loading->target_cnt : 1);
	err |= size_map(object, "slab_pages", SLAB_PAGES);
	if (!opts->trace) {
		err |= size_map(object, "events", (uint32_t)getpagesize());
		err |= size_map(object, "sent_events", 1);
	}
	if (opts->trace < 2)
		err |= size_map(object, "free_buffers", 1);
	else if (!loading->target_cnt)
		err |= size_map(object, "events", STACK_EVENTS_BYTES);
	return err;
}

struct bpf_program *kernel_loading_program(const struct bpf_object *object, const char *prefix,
					   const char *event)
{
	cleanup_free char *name = NULL;

	if (asprintf(&name, "%s_%s", prefix, event) < 0)
		return NULL;
	return bpf_object__find_program_by_name(object, name);
}
