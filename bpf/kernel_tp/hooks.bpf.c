// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What no tracepoint shows: objects that the kernel allocates and frees in bulk, and those it is
 * to free after a grace period. Hooks on functions, as fentry/fexit or as kprobes; the tables are
 * those of the object that has the tracepoints.
 *
 * An object that is handed to kvfree_call_rcu() is freed from there on: its owner has let go, and
 * the kernel frees it in bulk or keeps it for the next allocation without an event.
 */
#include "bpf/kernel_tp/handled.bpf.h"
#include "bpf/kernel_tp/slab.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * A batch is taken in steps, so that the verifier follows short loops. The kernel's own batches
 * fill a page with pointers: about 500, or 8000 where pages are large. Drivers make others.
 */
#define BULK_STEP 64
#define BULK_MOST 65536

/* bpf_get_stack begins with the program and its trampoline. */
#define HOOK_FRAMES 2

/*
 * A call to kmem_cache_alloc_bulk that has not returned: at the return, kprobes see no arguments.
 */
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
 * Functions of their own, not static: the verifier checks them once and not at each turn of a loop.
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

__noinline int bulk__record_one(__u64 object, __u64 site_id, __u64 size)
{
	struct memleak_block_key key = {.addr = object, .domain = MEMLEAK_DOMAIN_SLAB};
	struct memleak_site *site = bpf_map_lookup_elem(&sites, &site_id);

	/*
	 * Each object is chosen separately: a sample of whole batches would be worse than its rate
	 * says.
	 */
	if (!chosen(size, countdown(interrupt_level())))
		return 0;
	if (site && object)
		record_block(site_id, &key, size, (__u32)current_pids());
	emit_event(MEMLEAK_EVENT_ALLOC, MEMLEAK_KERNEL_BULK_ALLOC, object, size,
		   config.trace_stacks && site ? site->stack : 0);
	return 0;
}

__noinline int bulk__record_step(__u64 objects, __u64 cnt, __u64 first, __u64 site_id, __u64 size)
{
	for (__u64 i = 0; i < BULK_STEP && first + i < cnt; i++)
		bulk__record_one(read_pointer(objects + (first + i) * sizeof(__u64)), site_id,
				 size);
	return 0;
}

static __always_inline void bulk__count_lost(__u64 cnt)
{
	if (cnt > BULK_MOST)
		count(MEMLEAK_LOST_RECURSION, cnt - BULK_MOST);
}

/*
 * One stack for all frees of a batch, walked before it is known whether one of them has an event.
 */
static __always_inline int on_bulk_free(void *ctx, __u32 user, __u32 skipped, __u64 cnt,
					__u64 objects)
{
	__u64 stack = free_stack(ctx, user, 0, skipped);

	for (__u64 first = 0; first < BULK_MOST && first < cnt; first += BULK_STEP)
		bulk__free_step(objects, cnt, first, stack);
	bulk__count_lost(cnt);
	return 0;
}

/* where: the object's address, or how far inside it the head lies */
static __always_inline int on_rcu_free(void *ctx, __u32 user, __u32 skipped, __u64 head,
				       __u64 where)
{
	__u64 object = where;

	if (kernel_config.at.rcu_func && head)
		object = head - where;
	return on_slab_free(ctx, user, MEMLEAK_KERNEL_RCU_FREE, 0, skipped, object);
}

/*
 * --sample-bytes: whether the next sample lies behind the whole batch, so that no stack is needed.
 */
static __always_inline bool bulk__is_passed(__u32 level, __u64 size, __u32 cnt)
{
	__u64 *left = countdown(level);

	if (!left || size * cnt >= *left)
		return false;
	*left -= size * cnt;
	return true;
}

static __always_inline int on_bulk_alloc(void *ctx, __u32 second, struct kmem_cache *cache,
					 __u64 objects, __u32 cnt)
{
	__u32 user = second + STACK_BULK_ALLOC, walked;
	struct requester requester;
	__u64 size = BPF_CORE_READ(cache, size), id;
	struct memleak_site *site;
	struct stack_buffer *buf;

	if (!cnt || !is_traced(&requester) || !wanted(size) ||
	    bulk__is_passed(requester.level, size, cnt))
		return 0;
	buf = stack__buffer(user, requester.level);
	if (!buf)
		return 0;
	walked = stack__walk(ctx, buf);
	trim_stack(user, requester.level, walked,
		   walked > HOOK_FRAMES ? buf->words[1 + HOOK_FRAMES] : 0);
	site = site__of(buf, MEMLEAK_KIND_SLAB, &requester, &id);
	if (!site)
		return 0;
	origin__note_cache(&site->origin, cache, 0, size);
	for (__u64 first = 0; first < BULK_MOST && first < cnt; first += BULK_STEP)
		bulk__record_step(objects, cnt, first, id, size);
	bulk__count_lost(cnt);
	return 0;
}

/*
 * Argument n of a hooked function as a number. A load would give what BTF says it is: verifiers
 * allow no arithmetic with that, and older ones reject a pointer to a pointer.
 */
static __always_inline __u64 hook_argument(const __u64 *ctx, __u32 n)
{
	return read_pointer((__u64)(ctx + n));
}

/* kmem_cache_free_bulk(cache, cnt, objects) */
static __always_inline int hook_bulk_free(__u64 *ctx, __u32 second)
{
	return on_bulk_free(ctx, second + FREE_BULK_FREE, HOOK_FRAMES, hook_argument(ctx, 1),
			    hook_argument(ctx, 2));
}

/* kvfree_call_rcu(head, object) */
static __always_inline int hook_rcu_free(__u64 *ctx, __u32 second)
{
	return on_rcu_free(ctx, second + FREE_RCU_FREE, HOOK_FRAMES, hook_argument(ctx, 0),
			   hook_argument(ctx, 1));
}

/* cnt = kmem_cache_alloc_bulk(cache, flags, wanted, objects) */
static __always_inline int hook_bulk_alloc(__u64 *ctx, __u32 second)
{
	return on_bulk_alloc(ctx, second, (void *)hook_argument(ctx, 0), hook_argument(ctx, 3),
			     (__u32)hook_argument(ctx, 4));
}

/* The kernel does not promise in which order it runs the hooks of a function. */
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

/* Each thread can have one call under way, and so can each kind of interrupt on each CPU. */
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
