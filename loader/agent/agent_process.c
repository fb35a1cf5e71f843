// SPDX-License-Identifier: GPL-2.0-or-later
/* Turns the cells and events of one account into blocks and mappings, each with its site. */
#include "loader/agent/agent_process.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc.h"
#include "bpf/memleak.h"

/* Maximum sites (distinct call stacks) per process; only a forged account has more. */
#define SITES_MAX (1U << 20)

/* Maximum time to read the names of a stack's script frames, in nanoseconds. */
#define SCRIPTS_NS 5000000000ULL

/* Name of a process that ended before its name was read. */
#define NO_NAME "?"

/* True if a process was reaped, so that another process may have its pid. A zombie was not. */
static bool is_reaped(int pidfd)
{
	return pidfd < 0 || (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) && errno == ESRCH);
}

/*
 * Reads the name and the mappings of a process, and drops them if they may be those of another
 * process with its pid.
 */
static int describe(struct agent_process *process, struct symbolizer *symbolizer)
{
	const struct proc_maps none = {0};
	struct symspace *space = NULL;
	char *comm = proc_comm(process->info.pid);
	int err = symspace__new(symbolizer, process->info.pid, &space);

	process->ended = is_reaped(process->pidfd);
	if (process->ended) {
		if (process->pidfd >= 0)
			close(process->pidfd);
		process->pidfd = -1;
		symspace__free(space);
		free(comm);
		comm = NULL;
		err = -ESRCH;
	}
	if (err && err != -ENOMEM)
		err = symspace__new_ended(symbolizer, &none, &space);
	process->info.comm = comm ? comm : strdup(NO_NAME);
	process->space = err ? NULL : space;
	return process->info.comm ? err : -ENOMEM;
}

int agent_process__new(struct symbolizer *symbolizer, struct account_view *view, pid_t pid,
		       int pidfd, uint32_t image, struct agent_process **ret)
{
	struct agent_process *process = calloc(1, sizeof(*process));
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	int err;

	if (!process) {
		if (pidfd >= 0)
			close(pidfd);
		return -ENOMEM;
	}
	process->view = *view;
	view->account = NULL;
	process->info.image = image;
	process->info.pid = pid;
	process->pidfd = pidfd;
	ranges_init(&process->ranges, page_size, (uint64_t)sysconf(_SC_PHYS_PAGES) * page_size);
	err = describe(process, symbolizer);
	if (!err)
		err = account_view_take_ranges(&process->view, &process->ranges);
	if (err) {
		agent_process__free(process);
		return err;
	}
	*ret = process;
	return 0;
}

int agent_process__name_after(struct agent_process *process, const struct agent_process *parent)
{
	char *comm;

	if (strcmp(process->info.comm, NO_NAME) != 0)
		return 0;
	comm = strdup(parent->info.comm);
	if (!comm)
		return -ENOMEM;
	free(process->info.comm);
	process->info.comm = comm;
	return 0;
}

void agent_process__free(struct agent_process *process)
{
	if (!process)
		return;
	account_view_deinit(&process->view);
	if (process->pidfd >= 0)
		close(process->pidfd);
	symspace__free(process->space);
	if (process->scripts)
		scripts_drop(process->scripts, process->info.image);
	ranges_deinit(&process->ranges);
	mapping_counts_deinit(&process->mapping_counts);
	heritage_deinit(&process->heritage);
	hash_map_deinit(&process->sites);
	free(process->files);
	free(process->info.comm);
	free(process->info.cgroup);
	free(process);
}

struct sampling agent_process__sampling(const struct agent_process *process)
{
	const struct account *account = process->view.account;
	/* Read the rate once: the program may set it to 0 after the check. */
	uint64_t rate = __atomic_load_n(&account->sample_rate, __ATOMIC_RELAXED);

	if (!(__atomic_load_n(&account->modes, __ATOMIC_ACQUIRE) & ACCOUNT_SAMPLES))
		return (struct sampling){0};
	return rate ? (struct sampling){SAMPLING_COUNT, rate}
		    : (struct sampling){SAMPLING_BYTES, account->sample_bytes};
}

void agent_process__sample(struct agent_process *process, const struct sampling *sampling)
{
	struct account *account = process->view.account;

	account->sample_bytes = sampling->mode == SAMPLING_BYTES ? sampling->rate : 0;
	account->sample_rate = sampling->mode == SAMPLING_COUNT ? sampling->rate : 0;
	__atomic_fetch_or(&account->modes, ACCOUNT_SAMPLES, __ATOMIC_RELEASE);
}

static int apply(struct agent_process *process, const struct account_event *event)
{
	struct range range = {
		.start = event->addr,
		.end = event->addr + event->len,
		.site = event->stack |
			(event->flags & ACCOUNT_MAP_SAMPLE ? ACCOUNT_RANGE_SAMPLE : 0),
		.birth_ns = event->time_ns,
		.mapped_size = event->len,
		.kind = MEMLEAK_KIND_MMAP,
		.placed_ns = event->time_ns,
		.tid = (pid_t)account_view_tid(&process->view, event->thread),
	};
	pid_t tid = range.tid;

	switch (event->type) {
	case ACCOUNT_EVENT_MAP:
		if (event->flags & ACCOUNT_MAP_STACK)
			range.kind = MEMLEAK_KIND_STACK;
		else if (event->flags & ACCOUNT_MAP_NO_ACCESS)
			range.kind = MEMLEAK_KIND_RESERVE;
		range.reserved = range.kind == MEMLEAK_KIND_RESERVE;
		return range.end < range.start ? 0 : ranges_insert(&process->ranges, &range);
	case ACCOUNT_EVENT_TAKE:
		return ranges_take(&process->ranges, tid, event->addr, event->len, event->flags);
	case ACCOUNT_EVENT_UNTAKE:
		return ranges_untake(&process->ranges, tid);
	case ACCOUNT_EVENT_GONE:
		ranges_forget(&process->ranges, tid);
		return 0;
	case ACCOUNT_EVENT_MOVE:
		return ranges_move(&process->ranges, tid, event->addr, event->len, event->time_ns);
	default:
		return heritage_apply(&process->heritage, &process->view, process->info.image,
				      &process->ranges, event);
	}
}

int agent_process__take_events(struct agent_process *process)
{
	struct account_event event;
	uint64_t left = account_view_event_room(&process->view);
	int err = 0;

	/*
	 * A forked child's events must be applied after its inherited mappings, so wait until these
	 * are known. The number of events is limited, as the process may write them faster than
	 * memleak reads them.
	 */
	while (!err && left-- && !process->awaited_parent &&
	       account_view_event(&process->view, process->ended, &event))
		err = apply(process, &event);
	if (account_view_events_half_full(&process->view))
		agent_process__store_mappings(process);
	return err;
}

int agent_process__reconcile(struct agent_process *process)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct proc_maps maps;
	int err = agent_process__take_events(process);

	if (err || process->ended || !process->ranges.cnt ||
	    symspace__read_maps(process->space, &maps))
		return err;
	if (maps.whole)
		err = ranges_reconcile(&process->ranges, &maps, now_ns);
	proc_maps_deinit(&maps);
	return err;
}

void agent_process__store_mappings(struct agent_process *process)
{
	account_view_keep_ranges(&process->view, &process->ranges);
}

/*
 * Returns the number of a module's file; UINT32_MAX if it is unknown. pid: a process that has the
 * module mapped.
 */
static uint32_t file_of(struct agent_process *process, struct code_files *files, pid_t pid,
			uint32_t module)
{
	struct account_module found;
	char path[PATH_MAX];
	uint32_t number;

	if (module < process->file_cnt && process->files[module])
		return process->files[module] - 1;
	if (!account_view_module(&process->view, module, &found, path, sizeof(path)))
		return UINT32_MAX;
	number = code_files_number(files, pid, &found, path);
	if (account_view_runs_scripts(&process->view, &found) || scripts_may_run(path))
		code_files_add_scripts(files, pid, process->info.image, number, &found, path);
	process->scripts = &files->scripts;
	if (module >= process->file_cnt) {
		size_t cnt = module + 64;
		uint32_t *more = reallocarray(process->files, cnt, sizeof(*more));

		if (!more)
			return number;
		memset(more + process->file_cnt, 0, (cnt - process->file_cnt) * sizeof(*more));
		process->files = more;
		process->file_cnt = cnt;
	}
	process->files[module] = number + 1;
	return number;
}

/*
 * Translates a frame with a module number to one with a file number. A file has the same number in
 * all processes.
 */
static uint64_t translate(struct agent_process *process, struct code_files *files, pid_t pid,
			  uint64_t frame)
{
	uint32_t file;

	if (!MEMLEAK_FRAME_IN_FILE(frame))
		return frame &
		       (MEMLEAK_FRAME_EXACT | MEMLEAK_FRAME_UNKNOWN | (MEMLEAK_FRAME_UNKNOWN - 1));
	file = file_of(process, files, pid, MEMLEAK_FRAME_FILE_NUMBER(frame));
	if (file >= MEMLEAK_FRAME_FILES)
		return MEMLEAK_FRAME_UNSURE;
	return (frame & MEMLEAK_FRAME_EXACT) | MEMLEAK_FRAME_FILE |
	       (uint64_t)file << MEMLEAK_FRAME_OFFSET_BITS | MEMLEAK_FRAME_OFFSET(frame);
}

/*
 * Inserts script frames. Truncates the stack to MEMLEAK_MAX_STACK_DEPTH frames. Returns the number
 * of frames.
 */
static size_t insert_scripts(const struct agent_process *process, struct scripts *scripts,
			     const struct script_frames *found, uint64_t *frames, size_t cnt,
			     unsigned int *ret_end)
{
	cleanup_free struct memleak_stack *stack = malloc(sizeof(*stack) + cnt * sizeof(*frames));
	uint32_t image = process->info.image;
	cleanup_free uint64_t *merged = NULL;
	size_t merged_cnt;

	if (!stack)
		return cnt;
	stack->frame_cnt = (__u16)cnt;
	memcpy(stack->frames, frames, cnt * sizeof(*frames));
	scripts_read_from(scripts, process->view.fd, image, 0, found,
			  clock_deadline_ns(SCRIPTS_NS));
	if (scripts_merge(scripts, image, 0, stack, found, &merged, &merged_cnt))
		return cnt;
	if (script_frames_are_cut(found) && *ret_end == UNWIND_END_COMPLETE)
		*ret_end = UNWIND_END_TRUNCATED;
	if (merged_cnt > MEMLEAK_MAX_STACK_DEPTH) {
		merged_cnt = MEMLEAK_MAX_STACK_DEPTH;
		*ret_end = UNWIND_END_TRUNCATED;
	}
	memcpy(frames, merged, merged_cnt * sizeof(*frames));
	return merged_cnt;
}

/*
 * Does the work of agent_process__stack(). pid: a process that has the modules mapped. frames: room
 * for MEMLEAK_MAX_STACK_DEPTH frames.
 */
static size_t read_stack(struct agent_process *process, struct code_files *files, pid_t pid,
			 uint32_t stack, const struct options *opts, uint64_t *frames,
			 unsigned int *ret_end)
{
	struct script_frames scripts;
	size_t cnt = account_view_stack(&process->view, stack, frames, opts->stack_depth, &scripts,
					ret_end);

	for (size_t i = 0; i < cnt; i++)
		frames[i] = translate(process, files, pid, frames[i]);
	return scripts.cnt
		       ? insert_scripts(process, &files->scripts, &scripts, frames, cnt, ret_end)
		       : cnt;
}

size_t agent_process__stack(struct agent_process *process, struct code_files *files, uint32_t stack,
			    const struct options *opts, uint64_t *frames, unsigned int *ret_end)
{
	return read_stack(process, files, process->info.pid, stack, opts, frames, ret_end);
}

/* A stack in the account of the process with this exec image: the walked process or an ancestor. */
struct owned_stack {
	uint32_t image;
	uint32_t stack;
	uint32_t kind;
};

static int load_site(struct agent_process *process, const struct ancestry *ancestry,
		     const struct owned_stack *owned, struct block_walk *walk,
		     struct site_entry **ret)
{
	uint64_t frames[MEMLEAK_MAX_STACK_DEPTH], hash = 0;
	unsigned int end = UNWIND_END_UNKNOWN;
	struct agent_process *of = owned->image == process->info.image
					   ? process
					   : ancestry->find(ancestry->arg, owned->image);
	struct site_entry *entry;
	size_t cnt = 0;

	if (of)
		cnt = read_stack(of, ancestry->files, process->info.pid, owned->stack,
				 walk->walker->opts, frames, &end);
	for (size_t i = 0; i < cnt; i++)
		hash = hash_mix(hash, frames[i]);
	hash = hash_mix(hash, end);
	entry = site_table_get(&walk->walker->sites,
			       site__id(hash, process->info.image, owned->kind));
	if (!entry)
		return -ENOMEM;
	*ret = entry;
	if (entry->loaded)
		return 0;
	entry->frames = calloc(cnt + 1, sizeof(*frames));
	if (!entry->frames)
		return -ENOMEM;
	memcpy(entry->frames, frames, cnt * sizeof(*frames));
	entry->frame_cnt = cnt;
	entry->end = (enum unwind_end)end;
	entry->image = process->info.image;
	entry->kind = owned->kind;
	entry->is_known = entry->loaded = true;
	return 0;
}

struct process_walk {
	struct agent_process *process;
	const struct ancestry *ancestry;
	struct block_walk *walk;
	uint64_t since_ns;
	struct block_owner owner;
	uint32_t epoch; /* current epoch of the account */
};

/* Returns the site of a stack; NULL if out of memory. */
static struct site_entry *site_of(const struct process_walk *at, struct owned_stack owned)
{
	struct agent_process *process = at->process;
	struct site_entry *entry;
	uint64_t key;

	if (owned.stack >> ACCOUNT_STACK_BITS)
		owned.stack = ACCOUNT_NO_STACK;
	key = ((uint64_t)owned.image << 8 | owned.kind) << ACCOUNT_STACK_BITS | owned.stack;
	entry = hash_map_get(&process->sites, key);
	if (entry)
		return entry;
	if (process->sites.cnt >= SITES_MAX && owned.stack != ACCOUNT_NO_STACK) {
		process->stackless++;
		owned.stack = ACCOUNT_NO_STACK;
		return site_of(at, owned);
	}
	if (load_site(process, at->ancestry, &owned, at->walk, &entry) ||
	    hash_map_set(&process->sites, key, entry))
		return NULL;
	return entry;
}

void agent_process__begin_epoch(struct agent_process *process, uint64_t now_ns)
{
	process->epoch = account_view_begin_epoch(&process->view, now_ns);
	process->pictured = false;
}

static uint64_t birth_of(const struct process_walk *at, const struct account_block *found)
{
	return found->birth_ns == UINT64_MAX ? at->walk->t0_ns : found->birth_ns;
}

/*
 * True if the block was stored in the newest epoch that memleak began, or later: a fork may have
 * begun another epoch since.
 */
static bool was_put_since(const struct process_walk *at, const struct account_block *found)
{
	uint32_t since = at->process->epoch;

	return at->epoch - since >= ACCOUNT_EPOCHS ||
	       ACCOUNT_EPOCH(found->epoch - since) <= at->epoch - since;
}

static bool has_size(const struct options *opts, uint64_t size)
{
	return size >= opts->min_size && size <= opts->max_size;
}

/*
 * Returns the sampled_size of a block (see struct block). A block that is not a sample was recorded
 * before sampling began, when all blocks were recorded.
 */
static uint64_t sampled_size(const struct block_walk *walk, bool is_sample, uint64_t size)
{
	return walk->sampling.mode && !is_sample ? SAMPLED_FOR_CERTAIN : size;
}

static int add_block(void *arg, const struct account_block *found)
{
	const struct process_walk *at = arg;
	const struct options *opts = at->walk->walker->opts;
	uint64_t birth_ns = birth_of(at, found);
	const struct block block = {
		.addr = found->addr,
		.size = found->size,
		.sampled_size = sampled_size(at->walk, found->is_sample, found->size),
		.tid = (pid_t)found->tid,
		.moved = at->process->pictured && was_put_since(at, found),
	};
	const struct owned_stack owned = {at->process->info.image, found->stack, MEMLEAK_KIND_HEAP};
	const struct site_entry *site;
	int skips;

	if (!has_size(opts, found->size) || birth_ns < at->since_ns)
		return 0;
	skips = block_walk_skips(at->walk);
	if (skips)
		return skips < 0 ? skips : 0;
	site = site_of(at, owned);
	return site ? block_walk_add(at->walk, &at->owner, site->id, &block, birth_ns) : -ENOMEM;
}

/*
 * Adds an inherited block. The site may still have the sums of an earlier walk: looking it up in
 * the table again resets them.
 */
static int inherit(const struct process_walk *at, const struct site_entry *site,
		   const struct block *block, uint64_t birth_ns)
{
	struct site_entry *entry = site_table_get(&at->walk->walker->sites, site->id);

	return entry ? block_walk_inherit(at->walk, &at->owner, entry, block, birth_ns) : -ENOMEM;
}

static int add_mapping(void *arg, const struct range_block *found)
{
	const struct process_walk *at = arg;
	const struct options *opts = at->walk->walker->opts;
	const struct range *range = found->range;
	const struct block block = {
		.addr = found->addr,
		.size = found->bytes,
		.sampled_size = sampled_size(at->walk, agent_stack_is_sample(range->site),
					     range->mapped_size),
		.tid = range->tid,
	};
	struct owned_stack owned = {at->process->info.image, agent_stack(range->site), found->kind};
	const struct site_entry *site;

	if (!has_size(opts, range->mapped_size) || range->birth_ns < at->since_ns)
		return 0;
	if (range->descendant_of)
		owned.image = range->descendant_of;
	site = site_of(at, owned);
	if (!site)
		return -ENOMEM;
	if (range->descendant_of)
		return inherit(at, site, &block, range->birth_ns);
	return block_walk_add(at->walk, &at->owner, site->id, &block, range->birth_ns);
}

static struct process_walk walk_of(struct agent_process *process, const struct ancestry *ancestry,
				   struct block_walk *walk)
{
	return (struct process_walk){
		.process = process,
		.ancestry = ancestry,
		.walk = walk,
		.owner = {.process = &process->info, .ended = process->ended || process->at_end},
		.epoch = account_view_epoch(&process->view),
	};
}

int agent_process__walk(struct agent_process *process, const struct ancestry *ancestry,
			uint64_t since_ns, struct block_walk *walk)
{
	struct process_walk at = walk_of(process, ancestry, walk);
	int err;

	at.since_ns = since_ns;
	process->stackless = 0;
	process->too_young = 0;
	at.owner.too_young = &process->too_young;
	err = account_view_blocks(&process->view, add_block, &at);
	at.owner.too_young = NULL;
	if (!err)
		err = ranges_visit(&process->ranges, add_mapping, &at);
	if (process->stackless > process->stacks_lost)
		process->stacks_lost = process->stackless;
	return err;
}

int agent_process__inherit(struct agent_process *process, const struct ancestry *ancestry,
			   const struct inherited_block *inherited, struct block_walk *walk)
{
	const struct process_walk at = walk_of(process, ancestry, walk);
	const struct block block = {
		.addr = inherited->addr,
		.size = inherited->size,
		.sampled_size =
			sampled_size(walk, agent_stack_is_sample(inherited->site), inherited->size),
		.tid = inherited->tid,
	};
	const struct owned_stack owned = {inherited->image, agent_stack(inherited->site),
					  MEMLEAK_KIND_HEAP};
	const struct site_entry *site;
	int skips;

	if (!has_size(walk->walker->opts, inherited->size) ||
	    !block_walk_takes(walk, &at.owner, inherited->birth_ns))
		return 0;
	skips = block_walk_skips(walk);
	if (skips)
		return skips < 0 ? skips : 0;
	site = site_of(&at, owned);
	return site ? inherit(&at, site, &block, inherited->birth_ns) : -ENOMEM;
}

struct adding_up {
	uint64_t since_ns;
	uint64_t bytes;
};

static int add_bytes(void *arg, const struct account_block *found)
{
	struct adding_up *sum = arg;

	if (found->birth_ns != UINT64_MAX && found->birth_ns >= sum->since_ns)
		sum->bytes += found->size;
	return 0;
}

static void raise_to(__s64 *most, int64_t to)
{
	__s64 seen = __atomic_load_n(most, __ATOMIC_RELAXED);

	while (to > seen && !__atomic_compare_exchange_n(most, &seen, to, false, __ATOMIC_RELAXED,
							 __ATOMIC_RELAXED))
		;
}

/*
 * Enables sums, then adds the existing blocks to them. A block that is allocated or freed while
 * this function runs may be counted once, twice or not at all.
 */
int agent_process__add_up(struct agent_process *process, uint64_t start_ns, uint64_t since_ns)
{
	struct account *account = process->view.account;
	struct adding_up sum = {.since_ns = since_ns};
	struct account_totals totals;
	int err;

	if (__atomic_load_n(&account->modes, __ATOMIC_ACQUIRE) & ACCOUNT_ADDS_UP)
		return 0;
	account_view_totals(&process->view, &totals);
	for (unsigned int i = 0; i < ACCOUNT_CALL_CNT; i++)
		account->calls_before[i] = process->view.began_ns < start_ns ? totals.calls[i] : 0;
	__atomic_fetch_or(&account->modes, ACCOUNT_ADDS_UP, __ATOMIC_SEQ_CST);
	err = account_view_blocks(&process->view, add_bytes, &sum);
	if (err)
		return err;
	sum.bytes -= (uint64_t)__atomic_load_n(&account->sums.outstanding, __ATOMIC_RELAXED);
	account->sums.before = (int64_t)sum.bytes;
	raise_to(&account->sums.peak, __atomic_add_fetch(&account->sums.outstanding,
							 (int64_t)sum.bytes, __ATOMIC_RELAXED));
	return 0;
}

void agent_process__count(struct agent_process *process)
{
	struct account *account = process->view.account;

	__atomic_fetch_or(&account->modes, ACCOUNT_COUNTS, __ATOMIC_SEQ_CST);
	account_view_totals(&process->view, &process->counted);
}

uint64_t agent_process__outstanding(struct agent_process *process, uint64_t since_ns)
{
	struct account_sums *sums = &process->view.account->sums;
	const struct ranges *ranges = &process->ranges;
	/* Add as unsigned numbers: a forged sum may overflow. */
	uint64_t mapped = 0;
	int64_t total;

	for (size_t i = 0; i < ranges->cnt; i++) {
		const struct range *range = &ranges->items[i];

		if (range->birth_ns >= since_ns && range_kind(ranges, range) == MEMLEAK_KIND_MMAP)
			mapped += range->end - range->start;
	}
	__atomic_store_n(&sums->mapped, (int64_t)mapped, __ATOMIC_RELAXED);
	total = (int64_t)((uint64_t)__atomic_load_n(&sums->outstanding, __ATOMIC_RELAXED) + mapped);
	raise_to(&sums->highest, total);
	return total > 0 ? (uint64_t)total : 0;
}

uint64_t agent_process__highest(const struct agent_process *process)
{
	return (uint64_t)__atomic_load_n(&process->view.account->sums.highest, __ATOMIC_RELAXED);
}
