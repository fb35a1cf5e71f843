// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hooks for events without tracepoints: bulk allocations and frees of objects, frees by RCU, and
 * bulk allocations of pages. They are fentry/fexit programs or, except for pages, kprobes. They
 * share the maps of the BPF object for the tracepoints.
 *
 * An object counts as freed when it is passed to kvfree_call_rcu(): its owner has released it. The
 * kernel later frees the object in bulk, or keeps it for the next allocation, without an event.
 */
#include "bpf/kernel_tp/handled.bpf.h"
#include "bpf/kernel_tp/slab.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * BULK_STEP: objects handled in one step, which keeps loops short for the verifier. BULK_MOST:
 * maximum objects handled in a batch. The kernel's own batches have at most as many objects as a
 * page has room for pointers: about 500, or 8000 with large pages. Drivers may use larger batches.
 */
#define BULK_STEP 64
#define BULK_MOST 65536

/* Number of innermost frames of bpf_get_stack() to skip: the program and its trampoline */
#define HOOK_FRAMES 2

/* Arguments of kmem_cache_alloc_bulk(), stored because a kretprobe cannot see them. */
struct bulk_call {
	struct kmem_cache *cache;
	__u64 objects;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct bulk_call);
} bulk_calls SEC(".maps");

static __always_inline __u64 read_pointer(__u64 addr)
{
	__u64 pointer = 0;

	bpf_probe_read_kernel(&pointer, sizeof(pointer), (void *)addr);
	return pointer;
}

/*
 * The __noinline functions of this file are not static, so that the verifier checks each of them
 * once and not in every iteration of a loop.
 */
__noinline int bulk__free_one(__u64 object, __u64 stack)
{
	struct memleak_block_key key = {.addr = object, .domain = MEMLEAK_DOMAIN_SLAB};
	__u64 size;

	if (!object)
		return 0;
	count(MEMLEAK_STAT_CALLS, 1);
	if (forget_block(&key, &size))
		emit_event(MEMLEAK_EVENT_FREE, MEMLEAK_KERNEL_BULK_FREE, object, size, stack);
	return 0;
}

__noinline int bulk__free_step(__u64 objects, __u64 cnt, __u64 first, __u64 stack)
{
	for (__u64 i = 0; i < BULK_STEP && first + i < cnt; i++)
		bulk__free_one(read_pointer(objects + (first + i) * sizeof(__u64)), stack);
	return 0;
}

__noinline int bulk__record_one(__u64 addr, __u32 domain, __u64 site_id, __u64 size)
{
	struct memleak_block_key key = {.addr = addr, .domain = domain};
	struct memleak_site *site = bpf_map_lookup_elem(&sites, &site_id);

	/*
	 * Each block is sampled separately: a sample of whole batches would be less accurate than
	 * the sampling rate suggests.
	 */
	if (!chosen(size, countdown(interrupt_level())))
		return 0;
	if (site && addr)
		record_block(site_id, &key, size, (__u32)current_pids());
	emit_event(MEMLEAK_EVENT_ALLOC,
		   domain == MEMLEAK_DOMAIN_PAGE ? MEMLEAK_KERNEL_BULK_PAGES
						 : MEMLEAK_KERNEL_BULK_ALLOC,
		   addr, size, config.trace_stacks && site ? site->stack : 0);
	return 0;
}

__noinline int bulk__record_step(__u64 objects, __u64 cnt, __u64 first, __u64 site_id, __u64 size)
{
	for (__u64 i = 0; i < BULK_STEP && first + i < cnt; i++)
		bulk__record_one(read_pointer(objects + (first + i) * sizeof(__u64)),
				 MEMLEAK_DOMAIN_SLAB, site_id, size);
	return 0;
}

static __always_inline void bulk__count_lost(__u64 cnt, __u64 most)
{
	if (cnt > most)
		count(MEMLEAK_LOST_RECURSION, cnt - most);
}

/*
 * Handles the frees of a batch. They share one stack, which is walked even if none sends an event.
 */
static __always_inline int on_bulk_free(void *ctx, __u32 user, __u32 skipped, __u64 cnt,
					__u64 objects)
{
	__u64 stack = free_stack(ctx, user, 0, skipped);

	for (__u64 first = 0; first < BULK_MOST && first < cnt; first += BULK_STEP)
		bulk__free_step(objects, cnt, first, stack);
	bulk__count_lost(cnt, BULK_MOST);
	return 0;
}

/*
 * Handles a call of kvfree_call_rcu(). `where` is the object's address or, on older kernels, the
 * offset of `head` within the object.
 */
static __always_inline int on_rcu_free(void *ctx, __u32 user, __u32 skipped, __u64 head,
				       __u64 where)
{
	__u64 object = where;

	if (kernel_config.at.rcu_func && head)
		object = head - where;
	return on_slab_free(ctx, user, MEMLEAK_KERNEL_RCU_FREE, 0, skipped, object);
}

/*
 * If the next sample of --sample-bytes lies after the whole batch, advances the countdown and
 * returns true: no stack is needed.
 */
static __always_inline bool bulk__is_passed(__u32 level, __u64 size, __u32 cnt)
{
	__u64 *left = countdown(level);

	if (!left || size * cnt >= *left)
		return false;
	*left -= size * cnt;
	return true;
}

/*
 * Returns the id of a batch's site; 0 if it has none. Not inlined, to save BPF stack: the functions
 * that record a batch share 512 bytes.
 */
__noinline __u64 bulk__make_site(__u32 user, __u32 walked, __u32 kind)
{
	struct requester requester;
	struct stack_buffer *buf;
	__u64 id;

	if (!is_traced(&requester))
		return 0;
	buf = stack__buffer(user, requester.level);
	if (!buf)
		return 0;
	trim_stack(user, requester.level, walked,
		   walked > HOOK_FRAMES ? buf->words[1 + HOOK_FRAMES] : 0);
	return site__of(buf, kind, &requester, &id) ? id : 0;
}

static __always_inline struct memleak_site *bulk__site(void *ctx, __u32 user, __u32 level,
						       __u32 kind, __u64 *id)
{
	struct stack_buffer *buf = stack__buffer(user, level);

	if (!buf)
		return NULL;
	*id = bulk__make_site(user, stack__walk(ctx, buf), kind);
	return bpf_map_lookup_elem(&sites, id);
}

static __always_inline int on_bulk_alloc(void *ctx, __u32 second, struct kmem_cache *cache,
					 __u64 objects, __u32 cnt)
{
	struct requester requester;
	__u64 size = BPF_CORE_READ(cache, size), id;
	struct memleak_site *site;

	if (!cnt || !is_traced(&requester) || !wanted(size) ||
	    bulk__is_passed(requester.level, size, cnt))
		return 0;
	site = bulk__site(ctx, second + STACK_BULK_ALLOC, requester.level, MEMLEAK_KIND_SLAB, &id);
	if (!site)
		return 0;
	origin__note_cache(&site->origin, cache, 0, size);
	for (__u64 first = 0; first < BULK_MOST && first < cnt; first += BULK_STEP)
		bulk__record_step(objects, cnt, first, id, size);
	bulk__count_lost(cnt, BULK_MOST);
	return 0;
}

/*
 * Returns argument n of a hooked function as a number. If the argument were loaded directly, it
 * would get its type from BTF: the verifier would allow no arithmetic on it, and older verifiers
 * would reject a pointer to a pointer.
 */
static __always_inline __u64 hook_argument(const __u64 *ctx, __u32 n)
{
	return read_pointer((__u64)(ctx + n));
}

/* Handles the entry of kmem_cache_free_bulk(cache, cnt, objects). */
static __always_inline int hook_bulk_free(__u64 *ctx, __u32 second)
{
	return on_bulk_free(ctx, second + FREE_BULK_FREE, HOOK_FRAMES, hook_argument(ctx, 1),
			    hook_argument(ctx, 2));
}

/* Handles the entry of kvfree_call_rcu(head, object). */
static __always_inline int hook_rcu_free(__u64 *ctx, __u32 second)
{
	return on_rcu_free(ctx, second + FREE_RCU_FREE, HOOK_FRAMES, hook_argument(ctx, 0),
			   hook_argument(ctx, 1));
}

/* Handles the return of cnt = kmem_cache_alloc_bulk(cache, flags, wanted, objects). */
static __always_inline int hook_bulk_alloc(__u64 *ctx, __u32 second)
{
	return on_bulk_alloc(ctx, second, (void *)hook_argument(ctx, 0), hook_argument(ctx, 3),
			     (__u32)hook_argument(ctx, 4));
}

/*
 * Bulk allocations of pages. The kernel's function fills the empty entries of an array, beginning
 * at the array's start, and returns how many entries are full afterwards. So a hook at its entry
 * records which entries are empty. Entries beyond BULK_PAGES_MOST are counted as lost; the kernel's
 * own callers pass arrays of at most one page.
 */
#define BULK_PAGES_STEPS 16
#define BULK_PAGES_MOST (BULK_PAGES_STEPS * BULK_STEP)

/* A bulk allocation in progress. The key is the address of its arguments. */
struct bulk_pages {
	__u64 array;
	__u64 full[BULK_PAGES_STEPS]; /* one bit per array entry: 1 if not empty */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct bulk_pages);
} bulk_pages SEC(".maps");

/*
 * Returns a mask of the BULK_STEP array entries from `first` on that are not empty. Needs no
 * branches: an entry's highest bit, set in every kernel address, is its bit in the mask.
 */
__noinline __u64 bulk_pages__full(__u64 array, __u64 cnt, __u64 first)
{
	__u64 full = 0;

	for (__u64 i = 0; i < BULK_STEP && first + i < cnt; i++)
		full |= read_pointer(array + (first + i) * sizeof(__u64)) >> 63 << i;
	return full;
}

/*
 * True if the page is already recorded. The final page of a batch may come from the allocator of
 * single pages, whose event has already recorded the page. The page is then the one that the CPU
 * allocated most recently, or it is in the block table. Both are checked: with sampling, the table
 * may lack the page, and an interrupt may have allocated a different page since.
 */
__noinline int bulk_pages__is_recorded(__u64 addr)
{
	struct memleak_block_key key = {.addr = addr, .domain = MEMLEAK_DOMAIN_PAGE};
	__u32 zero = 0;
	volatile __u64 *fresh = bpf_map_lookup_elem(&fresh_pages, &zero);
	struct memleak_block block;

	if (fresh && *fresh == addr)
		return 1;
	if (!block__may_be_held(&key) || !block__take(&key, &block))
		return 0;
	store_block(addr, block.size, block.birth_ns, block.site,
		    BLOCK_WORD(MEMLEAK_DOMAIN_PAGE, block.halved, block.tid));
	return 1;
}

/*
 * Records the page of one array entry, unless the entry was full before the call (lowest bit of
 * `full`) or the page is already recorded. `left`: number of array entries after this one.
 */
__noinline int bulk_pages__record_one(__u64 page, __u64 full, __u64 left, __u64 site_id)
{
	__u64 addr = page / bpf_core_type_size(struct page) << kernel_config.page_shift;

	if (full & 1 || (!left && bulk_pages__is_recorded(addr)))
		return 0;
	bulk__record_one(addr, MEMLEAK_DOMAIN_PAGE, site_id, 1ULL << kernel_config.page_shift);
	return 0;
}

__noinline int bulk_pages__record_step(__u64 array, __u64 cnt, __u64 first, __u64 full,
				       __u64 site_id)
{
	for (__u64 i = 0; i < BULK_STEP && first + i < cnt; i++)
		bulk_pages__record_one(read_pointer(array + (first + i) * sizeof(__u64)), full >> i,
				       cnt - 1 - first - i, site_id);
	return 0;
}

static __always_inline __u64 bulk_pages__array(const __u64 *ctx)
{
	return hook_argument(ctx, kernel_config.at.bulk_pages_array);
}

/* Returns the mobility of the pages: bits 3 and 4 of gfp, in all kernels with bulk allocations. */
static __always_inline __u32 bulk_pages__mobility(const __u64 *ctx)
{
	return hook_argument(ctx, 0) >> 3 & 3;
}

static __always_inline bool bulk_pages__wanted(const __u64 *ctx, struct requester *requester)
{
	return is_traced(requester) && wanted(1ULL << kernel_config.page_shift) &&
	       (bulk_pages__mobility(ctx) != MIGRATE_MOVABLE || kernel_config.movable);
}

/* Handles the entry of alloc_pages_bulk(gfp, node, nodes, cnt, [list,] array). */
static __always_inline int hook_bulk_pages(__u64 *ctx, __u32 second)
{
	struct bulk_pages call = {.array = bulk_pages__array(ctx)};
	__u64 key = place__of(ctx), cnt = (__u32)hook_argument(ctx, 3);
	__u32 zero = 0;
	volatile __u64 *fresh = bpf_map_lookup_elem(&fresh_pages, &zero);
	struct requester requester;

	if (!call.array || !bulk_pages__wanted(ctx, &requester))
		return 0;
	if (fresh)
		*fresh = 0;
#pragma unroll
	for (__u32 i = 0; i < BULK_PAGES_STEPS; i++)
		call.full[i] = bulk_pages__full(call.array, cnt, i * BULK_STEP);
	if (bpf_map_update_elem(&bulk_pages, &key, &call, BPF_ANY))
		count(MEMLEAK_LOST_RECURSION, cnt);
	return 0;
}

static __always_inline int on_bulk_pages(__u64 *ctx, __u32 second, const struct bulk_pages *call,
					 __u64 cnt)
{
	struct memleak_site *site;
	struct requester requester;
	__u64 id;

	if (!cnt || !bulk_pages__wanted(ctx, &requester))
		return 0;
	site = bulk__site(ctx, second + STACK_BULK_PAGES, requester.level, MEMLEAK_KIND_PAGE, &id);
	if (!site)
		return 0;
	site->origin.reclaimable = bulk_pages__mobility(ctx) == MIGRATE_RECLAIMABLE;
#pragma unroll
	for (__u32 i = 0; i < BULK_PAGES_STEPS; i++)
		bulk_pages__record_step(call->array, cnt, i * BULK_STEP, call->full[i], id);
	bulk__count_lost(cnt, BULK_PAGES_MOST);
	return 0;
}

/*
 * Handles the return of cnt = alloc_pages_bulk(...). Pages on a list are only counted as lost: no
 * caller in the kernel uses lists, and newer kernels have no such parameter.
 */
static __always_inline int hook_bulk_pages_return(__u64 *ctx, __u32 second)
{
	__u64 cnt = hook_argument(ctx, kernel_config.at.bulk_pages_array + 1);
	__u64 key = place__of(ctx), array = bulk_pages__array(ctx);
	struct bulk_pages *call = bpf_map_lookup_elem(&bulk_pages, &key);
	struct requester requester;

	if (!array && bulk_pages__wanted(ctx, &requester))
		count(MEMLEAK_LOST_RECURSION, cnt);
	if (!call)
		return 0;
	if (call->array == array)
		on_bulk_pages(ctx, second, call, cnt);
	bpf_map_delete_elem(&bulk_pages, &key);
	return 0;
}

/*
 * The kernel runs the hooks of a function in no defined order, so either program of a pair may run
 * first.
 */
#define HOOK_PROGRAMS(section, hook, event)                                                        \
	SEC(section) int trampoline_##hook(__u64 *ctx)                                             \
	{                                                                                          \
		return either__has_to(handled(event), 0, ctx) ? hook_##hook(ctx, 0) : 0;           \
	}                                                                                          \
	SEC(section) int trampoline2_##hook(__u64 *ctx)                                            \
	{                                                                                          \
		return either__has_to(handled(event), 1, ctx) ? hook_##hook(ctx, STACK_SECOND)     \
							      : 0;                                 \
	}

HOOK_PROGRAMS("fentry/kmem_cache_free_bulk", bulk_free, HANDLED_BULK_FREE)
HOOK_PROGRAMS("fentry/kvfree_call_rcu", rcu_free, HANDLED_RCU_FREE)
HOOK_PROGRAMS("fexit/kmem_cache_alloc_bulk", bulk_alloc, HANDLED_BULK_ALLOC)
HOOK_PROGRAMS("fentry/__alloc_pages_bulk", bulk_pages, HANDLED_BULK_PAGES)
HOOK_PROGRAMS("fexit/__alloc_pages_bulk", bulk_pages_return, HANDLED_BULK_PAGES_RETURN)

SEC("kprobe")
int kprobe_bulk_free(struct pt_regs *ctx)
{
	return on_bulk_free(ctx, FREE_BULK_FREE, 0, PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx));
}

SEC("kprobe")
int kprobe_rcu_free(struct pt_regs *ctx)
{
	return on_rcu_free(ctx, FREE_RCU_FREE, 0, PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx));
}

/*
 * Returns the key of a call in bulk_calls. Each thread, and each kind of interrupt on each CPU, can
 * have one call in progress.
 */
static __always_inline __u64 bulk_call__key(void)
{
	__u32 level = interrupt_level();
	__u64 where = level == LEVEL_TASK ? (__u32)bpf_get_current_pid_tgid()
					  : bpf_get_smp_processor_id();

	return where << 8 | level;
}

SEC("kprobe")
int kprobe_bulk_alloc(struct pt_regs *ctx)
{
	struct bulk_call call = {(void *)PT_REGS_PARM1(ctx), PT_REGS_PARM4(ctx)};
	__u64 key = bulk_call__key();

	bpf_map_update_elem(&bulk_calls, &key, &call, BPF_ANY);
	return 0;
}

SEC("kretprobe")
int kprobe_bulk_alloc_return(struct pt_regs *ctx)
{
	__u64 key = bulk_call__key();
	struct bulk_call *call = bpf_map_lookup_elem(&bulk_calls, &key);

	if (!call)
		return 0;
	on_bulk_alloc(ctx, 0, call->cache, call->objects, (__u32)PT_REGS_RC(ctx));
	bpf_map_delete_elem(&bulk_calls, &key);
	return 0;
}
