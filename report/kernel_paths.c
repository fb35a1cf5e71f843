// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Walks from the system call inwards, as long as nearly all growth goes through the same function.
 */
#include "report/kernel_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/prefix.h"
#include "report/runtime_objects.h"
#include "report/site_order.h"
#include "report/trend.h"

#define CNT(array) (sizeof(array) / sizeof((array)[0]))

/* Minimum fraction of the growth, in bytes and in blocks, that goes through the blamed function. */
#define LEAST_PART 0.95

/*
 * Maximum growth of a companion (kernel_paths.h) in blocks per second, as a multiple of the growth
 * of the fastest path that it joins.
 */
#define MOST_BLOCKS 1.25

/*
 * Name prefixes of functions that enter the kernel. These functions are outermost on kernel stacks.
 */
static const char *const entry_names[] = {
	"entry_",
	"do_syscall_",
	"x64_sys_call",
	"ia32_sys_call",
	"do_int80_",
	"do_fast_syscall_",
	"__do_fast_syscall_",
	"el0",
	"do_el0_svc",
	"invoke_syscall",
	"ret_from_fork",
	"kthread",
	"worker_thread",
	"process_one_work",
	"process_scheduled_works",
	"smpboot_thread_fn",
	"run_ksoftirqd",
	"__do_softirq",
	"do_softirq",
	"handle_softirqs",
	"irq_exit",
	"__irq_exit",
	"asm_",
	"sysvec_",
	"common_interrupt",
};

/* Prefixes that the kernel's macros for system calls add to the names of functions. */
static const char *const wrapper_names[] = {
	"__x64_sys_", "__ia32_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_",
};

/*
 * Kernel functions that allocate for memleak or another tracer. Their memory normally has a limit.
 */
static const char *const tracer_functions[] = {
	/*
	 * Entries of BPF maps, allocated in advance in an interrupt; each map has a maximum number
	 * of entries. Objects that BPF programs allocate have the same stack, but no maximum.
	 */
	"bpf_mem_refill",
	/*
	 * Records of return probes (uretprobes) of functions that have not returned yet. They are
	 * freed with the thread, and their number is limited by the depth of calls.
	 */
	"uprobe_notify_resume",
};

/*
 * Kernel functions that allocate data attached to another object, such as an inode. The data is
 * freed with the object, possibly long after the object's last use. If these objects leak, their
 * own site grows, too. Inodes are an exception, because their caches are reclaimable: leaked
 * references to inodes show in the figures of caches alone.
 */
static const char *const attached_functions[] = {
	/* data that a security module (LSM) adds to an inode; freed with the inode */
	"security_inode_alloc",
	/* records of the cgroups that own the objects on a slab page; freed with the page */
	"alloc_slab_obj_exts",
	"memcg_alloc_slab_cgroups",
	"memcg_alloc_page_obj_cgroups",
};

/*
 * Kernel functions that read an inode from a file system, and allocate parts of it, such as the
 * target of a symlink. Only the blocks that they allocate themselves are attached to the inode;
 * blocks of functions that they call may leak on their own.
 */
static const char *const inode_readers[] = {
	"__ext4_iget",
	"ext4_cache_fast_symlink",
	"xfs_init_local_fork",
	"btrfs_init_file_extent_tree",
};

/* Kernel functions that allocate page tables for user memory. */
static const char *const page_table_functions[] = {
	"pte_alloc_one", "__pte_alloc", "__pmd_alloc", "__pud_alloc", "__p4d_alloc",
};

/* Prefixes of kernel functions that map memory of the kernel, for which they add page tables. */
static const char *const kernel_mappers[] = {
	"vmap_", "__vmap_", "ioremap_", "vmemmap_", "__apply_to_page_range",
};

static const struct runtime_objects page_tables = {
	.words = "page tables",
	.advice = "mapped memory grows with them: -p PID shows where",
};

/* Growth per second. */
struct rate {
	double bytes;
	double blocks;
};

/* Facts about a path. */
struct facts {
	bool is_attached; /* true if its blocks are attached to other objects: see is_attached() */
	/* true if is_attached or site_is_doubtful() is true: its growth alone says little */
	bool is_doubtful;
	/* true if `blamed` or `objects` of the path is set, or if the path is excluded */
	bool is_assigned;
};

struct kernel_paths {
	struct report_site *paths;
	size_t cnt;
	struct facts *facts; /* facts[i] belongs to paths[i] */
};

static bool begins_with_one_of(const struct sym_location *location, const char *const *names,
			       size_t cnt)
{
	const char *symbol = sym_outermost_symbol(location);

	return symbol && has_prefix_of(symbol, names, cnt);
}

static bool is_entry(const struct sym_location *location)
{
	return begins_with_one_of(location, entry_names, CNT(entry_names));
}

bool kernel_frame_is_entry(const struct sym_location *location)
{
	return is_entry(location) ||
	       begins_with_one_of(location, wrapper_names, CNT(wrapper_names));
}

static struct rate rate_of(const struct report_site *path)
{
	const struct site *site = path->site;
	double bytes = path->history->trend.bytes_per_s;

	return (struct rate){
		.bytes = bytes,
		.blocks = site->bytes ? bytes * (double)site->count / (double)site->bytes : 0,
	};
}

/* Returns the root: the outermost frame whose function does not merely enter the kernel. */
static size_t root_of(const struct report_site *path)
{
	size_t frame = path->site->frame_cnt - 1;

	while (frame > path->first_frame && is_entry(path->locations[frame]))
		frame--;
	return frame;
}

/* Returns the number of frames from the root to the function that allocates, both included. */
static size_t depth_of(const struct report_site *path)
{
	return root_of(path) - path->first_frame + 1;
}

/* True if the first `depth` frames from the root inwards have the same functions on both paths. */
static bool have_common(const struct report_site *a, const struct report_site *b, size_t depth)
{
	if (depth_of(a) < depth || depth_of(b) < depth)
		return false;
	for (size_t i = 0; i < depth; i++) {
		const char *left = sym_outermost_symbol(a->locations[root_of(a) - i]);
		const char *right = sym_outermost_symbol(b->locations[root_of(b) - i]);

		if (!left || !right || strcmp(left, right))
			return false;
	}
	return true;
}

static bool is_one_of(const char *symbol, const char *const *names, size_t cnt)
{
	for (size_t i = 0; symbol && i < cnt; i++)
		if (!strcmp(symbol, names[i]))
			return true;
	return false;
}

/* True if one of `functions` is on a kernel path. */
static bool calls(const struct report_site *path, const char *const *functions, size_t cnt)
{
	for (size_t i = 0; path->site->space == SPACE_KERNEL && i < path->site->frame_cnt; i++)
		if (is_one_of(sym_outermost_symbol(path->locations[i]), functions, cnt))
			return true;
	return false;
}

/*
 * True if the function at a frame has this name. Frame 0 is the function that allocates; the frames
 * after it are its callers.
 */
static bool is_function(const struct report_site *path, size_t frame, const char *name)
{
	frame += path->first_frame;
	return frame < path->site->frame_cnt &&
	       is_one_of(sym_outermost_symbol(path->locations[frame]), &name, 1);
}

/*
 * True if the blocks of a kernel path are attached to other objects: see attached_functions and
 * inode_readers.
 */
static bool is_attached(const struct report_site *path)
{
	if (path->site->space != SPACE_KERNEL || !path->site->frame_cnt)
		return false;
	/*
	 * The address range (vmap_area) of a vmalloc() call is attached to the call's vm_struct.
	 * The kernel frees such ranges lazily.
	 */
	if (is_function(path, 0, "alloc_vmap_area"))
		return is_function(path, 1, "__get_vm_area_node");
	return calls(path, attached_functions, CNT(attached_functions)) ||
	       is_one_of(sym_outermost_symbol(path->locations[path->first_frame]), inode_readers,
			 CNT(inode_readers));
}

/* True if a path allocates page tables for user memory. */
static bool has_page_tables(const struct report_site *path)
{
	for (size_t i = 0; i < path->site->frame_cnt; i++)
		if (begins_with_one_of(path->locations[i], kernel_mappers, CNT(kernel_mappers)))
			return false;
	return calls(path, page_table_functions, CNT(page_table_functions));
}

static bool is_open(const struct kernel_paths *all, size_t path)
{
	const struct site *site = all->paths[path].site;

	return site->space == SPACE_KERNEL && site->frame_cnt && !all->facts[path].is_assigned;
}

/*
 * True if `path` is not assigned yet, has the same owner as the path `other`, and has the same
 * `depth` outermost functions, from the root inwards.
 */
static bool goes_with(const struct kernel_paths *all, size_t path, size_t other, size_t depth)
{
	const struct site *a = all->paths[path].site, *b = all->paths[other].site;

	return is_open(all, path) && a->process == b->process && a->tid == b->tid &&
	       a->origin.interrupt == b->origin.interrupt &&
	       (!a->origin.owner_pid || !b->origin.owner_pid ||
		a->origin.owner_pid == b->origin.owner_pid) &&
	       have_common(&all->paths[path], &all->paths[other], depth);
}

/*
 * Returns the highest rate of growth, in blocks per second, among the paths that are not doubtful
 * and have the same owner and root function as the path `heaviest`.
 */
static double most_blocks(const struct kernel_paths *all, size_t heaviest)
{
	double most = 0;

	for (size_t i = 0; i < all->cnt; i++)
		if (!all->facts[i].is_doubtful && goes_with(all, i, heaviest, 1) &&
		    rate_of(&all->paths[i]).blocks > most)
			most = rate_of(&all->paths[i]).blocks;
	return most;
}

/*
 * True if a path is not doubtful, or if it may be a companion. A companion has an owner, or its
 * blocks are attached to other objects; and it grows by at most MOST_BLOCKS times `most` blocks per
 * second.
 */
static bool may_join(const struct kernel_paths *all, size_t path, double most)
{
	const struct site *site = all->paths[path].site;
	const struct facts *facts = &all->facts[path];

	return !facts->is_doubtful ||
	       ((facts->is_attached || site->process || site->origin.owner_pid) &&
		rate_of(&all->paths[path]).blocks <= MOST_BLOCKS * most);
}

/*
 * Sums up the growth of all paths, including companions, that have the same owner and the same
 * `depth` outermost functions as the path `heaviest`.
 */
static struct rate rate_through(const struct kernel_paths *all, size_t heaviest, size_t depth,
				double most)
{
	struct rate sum = {0};

	for (size_t i = 0; i < all->cnt; i++) {
		struct rate rate;

		if (!may_join(all, i, most) || !goes_with(all, i, heaviest, depth))
			continue;
		rate = rate_of(&all->paths[i]);
		sum.bytes += rate.bytes;
		sum.blocks += rate.blocks;
	}
	return sum;
}

/* Returns the number of frames, from the root inwards, through which nearly all growth goes. */
static size_t common_depth(const struct kernel_paths *all, size_t heaviest, double most)
{
	struct rate outer = rate_through(all, heaviest, 1, most);
	size_t depth = 1;

	while (depth < depth_of(&all->paths[heaviest])) {
		struct rate inner = rate_through(all, heaviest, depth + 1, most);

		if (inner.bytes < LEAST_PART * outer.bytes ||
		    inner.blocks < LEAST_PART * outer.blocks)
			break;
		depth++;
	}
	return depth;
}

static void assign(struct kernel_paths *all, size_t path, size_t depth)
{
	struct report_site *shown = &all->paths[path];

	shown->blamed = (struct stack_pos){.frame = root_of(shown) + 1 - depth};
	all->facts[path].is_assigned = true;
}

static void blame_with(struct kernel_paths *all, size_t heaviest)
{
	double most = most_blocks(all, heaviest);
	size_t depth = common_depth(all, heaviest, most);

	for (size_t i = 0; i < all->cnt; i++)
		if (i != heaviest && may_join(all, i, most) && goes_with(all, i, heaviest, depth))
			assign(all, i, depth);
	assign(all, heaviest, depth);
}

/*
 * Returns the index of the path that grows fastest, in bytes, among the paths that are neither
 * assigned nor doubtful; all->cnt if there are none.
 */
static size_t heaviest_of(const struct kernel_paths *all)
{
	size_t ret = all->cnt;

	for (size_t i = 0; i < all->cnt; i++)
		if (is_open(all, i) && !all->facts[i].is_doubtful &&
		    (ret == all->cnt ||
		     rate_of(&all->paths[i]).bytes > rate_of(&all->paths[ret]).bytes))
			ret = i;
	return ret;
}

/*
 * Excludes the paths that allocate for tracers. Among the remaining paths, finds those that
 * allocate page tables, names their objects "page tables", and marks them as assigned, so that no
 * function is blamed for them.
 */
static void set_objects(struct kernel_paths *all)
{
	for (size_t i = 0; i < all->cnt; i++) {
		struct report_site *path = &all->paths[i];

		path->is_excluded = calls(path, tracer_functions, CNT(tracer_functions));
		if (!path->is_excluded && has_page_tables(path))
			path->objects = &page_tables;
		all->facts[i].is_assigned = path->is_excluded || path->objects == &page_tables;
	}
}

static void find_doubtful(struct kernel_paths *all)
{
	for (size_t i = 0; i < all->cnt; i++) {
		const struct report_site *path = &all->paths[i];
		struct facts *facts = &all->facts[i];

		facts->is_attached = is_attached(path);
		facts->is_doubtful = facts->is_attached || site_is_doubtful(path->site);
	}
}

int kernel_paths_blame(struct report_site *paths, size_t cnt)
{
	cleanup_free struct facts *facts = calloc(cnt + 1, sizeof(*facts));
	struct kernel_paths all = {paths, cnt, facts};
	size_t heaviest;

	if (!facts)
		return -ENOMEM;
	find_doubtful(&all);
	set_objects(&all);
	while ((heaviest = heaviest_of(&all)) < cnt)
		blame_with(&all, heaviest);
	for (size_t i = 0; i < cnt; i++)
		paths[i].is_excluded |= facts[i].is_doubtful && !facts[i].is_assigned;
	return 0;
}
