// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sets breakpoints on the item counts of growing containers between reports, where a BPF program
 * counts the items that each line of the script adds. Finds the line that added the most items.
 */
#include "loader/user/item_watch.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/limited_call.h"
#include "base/proc.h"
#include "bpf/reading.h"
#include "bpf/user_probes/user.skel.h"
#include "loader/user/process_set.h"
#include "report/function_name.h"
#include "report/own.h"

_Static_assert(PYTHON_CONTAINERS_MAX <= MEMLEAK_ITEM_WATCHES, "each container needs a watch");

/* Minimum number of counted items. With fewer, no line is reported. */
#define ITEMS_MIN 4

/* A line of the script, and the number of items that it added to a container. */
struct tally {
	const struct sym_frame *frame;
	uint64_t items;
};

struct tallies {
	struct tally items[MEMLEAK_ADDERS];
	size_t cnt;
	uint64_t sum;
};

static void remove_breakpoints(struct item_watch *watch)
{
	while (watch->fd_cnt)
		close(watch->fds[--watch->fd_cnt]);
}

void item_watches_pause(struct item_watches *watches, uint64_t addr)
{
	for (size_t i = 0; i < MEMLEAK_ITEM_WATCHES; i++)
		if (watches->items[i].addr == addr)
			remove_breakpoints(&watches->items[i]);
}

void item_watches_pause_all(struct item_watches *watches)
{
	for (size_t i = 0; i < MEMLEAK_ITEM_WATCHES; i++)
		remove_breakpoints(&watches->items[i]);
}

struct breakpoint {
	struct perf_event_attr attr;
	pid_t tid;
};

static int run_open(int fd, void *data)
{
	struct breakpoint *breakpoint = data;

	fd = (int)syscall(SYS_perf_event_open, &breakpoint->attr, breakpoint->tid, -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void drop_open(int result, void *data)
{
	(void)data;
	if (result >= 0)
		close(result);
}

/*
 * Opens a breakpoint for one thread. Since Linux 5.13, threads that it starts inherit the
 * breakpoint; child processes do not. exec removes it. perf_event_open() waits while the process is
 * in exec.
 */
static int open_breakpoint(uint64_t addr, pid_t pid, pid_t tid)
{
	static const struct limited_function function = {run_open, drop_open,
							 sizeof(struct breakpoint)};
	struct breakpoint breakpoint = {.tid = tid};
	struct perf_event_attr *attr = &breakpoint.attr;
	int fd;

	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(*attr),
		.sample_period = 1,
		.disabled = 1,
		.inherit = 1,
		.inherit_thread = 1,
		.remove_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = addr,
		.bp_len = HW_BREAKPOINT_LEN_8,
	};
	fd = limited_call(pid, -1, &function, &breakpoint);
	if (fd != -EINVAL)
		return fd;
	attr->inherit = 0;
	attr->inherit_thread = 0;
	attr->remove_on_exec = 0;
	return limited_call(pid, -1, &function, &breakpoint);
}

/* Does nothing if the machine has no breakpoint left. */
static void set_breakpoint(struct item_watch *watch, pid_t pid, pid_t tid, int program_fd)
{
	int fd = open_breakpoint(watch->addr, pid, tid);

	if (fd < 0)
		return;
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, program_fd) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		close(fd);
	else
		watch->fds[watch->fd_cnt++] = fd;
}

static void set_breakpoints(struct item_watch *watch, pid_t pid, int program_fd)
{
	int fd = proc_open(pid, "task", O_RDONLY | O_DIRECTORY);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	for (size_t i = 0; dir && i < ITEM_WATCH_THREADS && (entry = readdir(dir));) {
		if (*entry->d_name == '.')
			continue;
		set_breakpoint(watch, pid, (pid_t)atoi(entry->d_name), program_fd);
		i++;
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/*
 * Returns the image for which the process's interpreter is recorded: its own, or the one from which
 * it was forked; 0 if there is none.
 */
static uint32_t space_of(const struct process_set *set, const struct user_process *process)
{
	int fd = bpf_map__fd(set->programs->ctx.skel->maps.interpreters);
	const uint32_t images[] = {process->info.image, process->base};
	struct memleak_interpreter interpreter;

	for (size_t i = 0; i < sizeof(images) / sizeof(*images); i++)
		if (!bpf_map_lookup_elem(fd, &images[i], &interpreter))
			return images[i];
	return 0;
}

/* Sets breakpoints that fire when an item count is written. items: the count as last read. */
static void arm(const struct process_set *set, const struct user_process *process,
		struct item_watch *watch, uint64_t items)
{
	const struct user_bpf *skel = set->programs->ctx.skel;
	const struct memleak_item_watch value = {.tgid = (uint32_t)process->info.pid,
						 .space = space_of(set, process),
						 .items = items};

	if (value.space && !bpf_map_update_elem(bpf_map__fd(skel->maps.item_watches), &watch->addr,
						&value, BPF_ANY))
		set_breakpoints(watch, process->info.pid,
				bpf_program__fd(skel->progs.item_count_written));
}

static void clear(const struct bpf_map *map)
{
	struct memleak_adder key; /* has room for a key of either map */

	while (!bpf_map_get_next_key(bpf_map__fd(map), NULL, &key) &&
	       !bpf_map_delete_elem(bpf_map__fd(map), &key))
		;
}

static bool is_watched(const struct item_watches *all, uint64_t addr)
{
	for (size_t i = 0; i < MEMLEAK_ITEM_WATCHES; i++)
		if (all->items[i].addr == addr)
			return true;
	return false;
}

/*
 * Stores the containers to watch. If one is new, or the image has changed, deletes all watches and
 * counts of the BPF programs.
 */
static void choose(struct item_watches *all, const struct user_bpf *skel, uint32_t image,
		   const struct python_container *containers, size_t cnt)
{
	bool same = image == all->image;

	for (size_t i = 0; i < cnt; i++)
		same &= is_watched(all, containers[i].addr);
	for (size_t i = 0; i < MEMLEAK_ITEM_WATCHES; i++)
		all->items[i].addr = i < cnt ? containers[i].addr : 0;
	all->image = image;
	if (same)
		return;
	clear(skel->maps.item_watches);
	clear(skel->maps.adders);
}

/* Returns the stack's innermost frame of the program's own code; NULL if there is none. */
static const struct sym_frame *own_frame(struct process_set *set, uint32_t image,
					 const struct memleak_adder *adder)
{
	static const struct memleak_stack no_stack;
	struct script_frames frames = {.cnt = 0};
	cleanup_free uint64_t *merged = NULL;
	size_t cnt;

	while (frames.cnt < MEMLEAK_ADDER_FRAMES && adder->frames[frames.cnt].code) {
		frames.items[frames.cnt] = adder->frames[frames.cnt];
		frames.cnt++;
	}
	if (process_set_merge(set, image, &no_stack, &frames, &merged, &cnt))
		return NULL;
	for (size_t i = 0; i < cnt; i++) {
		const struct sym_location *location =
			scripts_location(&set->programs->unwind.scripts, merged[i]);

		if (location && location->frame_cnt &&
		    code_owner(set->programs->ctx.opts, NULL, location, location->frames) ==
			    CODE_OF_PROGRAM)
			return location->frames;
	}
	return NULL;
}

static bool is_same_line(const struct sym_frame *a, const struct sym_frame *b)
{
	return a->line == b->line && !strcmp(a->symbol, b->symbol);
}

static void count_items(struct tallies *tallies, const struct sym_frame *frame, uint64_t items)
{
	size_t at = 0;

	tallies->sum += items;
	while (at < tallies->cnt && !is_same_line(tallies->items[at].frame, frame))
		at++;
	if (at == tallies->cnt)
		tallies->items[tallies->cnt++] = (struct tally){.frame = frame};
	tallies->items[at].items += items;
}

/* Sums, for each line of the script, the items added to the container at addr. */
static void add_up(struct process_set *set, uint32_t image, uint64_t addr, struct tallies *ret)
{
	int fd = bpf_map__fd(set->programs->ctx.skel->maps.adders);
	struct memleak_adder adder, *previous = NULL;
	const struct sym_frame *frame;
	uint64_t items;

	for (size_t i = 0; i < MEMLEAK_ADDERS && !bpf_map_get_next_key(fd, previous, &adder); i++) {
		previous = &adder;
		if (adder.addr != addr || bpf_map_lookup_elem(fd, &adder, &items))
			continue;
		frame = own_frame(set, image, &adder);
		if (frame)
			count_items(ret, frame, items);
	}
}

static void find_adder(struct process_set *set, uint32_t image, struct python_container *container)
{
	struct tallies tallies = {.cnt = 0};
	const struct tally *best = tallies.items;
	struct script_function function;

	add_up(set, image, container->addr, &tallies);
	for (size_t i = 1; i < tallies.cnt; i++)
		if (tallies.items[i].items > best->items)
			best = &tallies.items[i];
	if (tallies.sum < ITEMS_MIN || !script_function_of(best->frame->symbol, &function))
		return;
	python_text_copy(container->adder.function, function.name, function.name_len);
	python_text_copy(container->adder.file, function.path, function.path_len);
	container->adder.line = best->frame->line;
}

void item_watches_find(struct item_watches *watches, struct process_set *set, uint32_t image,
		       struct python_container *containers, size_t cnt)
{
	const struct user_process *process = process_set_process(set, image);

	item_watches_pause_all(watches);
	choose(watches, set->programs->ctx.skel, image, containers, cnt);
	if (!process || process->ended)
		return;
	for (size_t i = 0; i < cnt; i++) {
		find_adder(set, image, &containers[i]);
		arm(set, process, &watches->items[i], containers[i].items);
	}
}
