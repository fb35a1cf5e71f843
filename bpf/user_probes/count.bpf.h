/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --count: counts calls of allocator functions at their entry. The only other BPF programs loaded
 * for user memory are those that follow the life of processes.
 */
#ifndef BPF_USER_PROBES_COUNT_BPF_H
#define BPF_USER_PROBES_COUNT_BPF_H

#include "bpf/count.h"
#include "bpf/user_probes/ring.bpf.h"
#include "bpf/user_probes/target_filter.bpf.h"

/* Table of counts; the loader sets its size. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct memleak_count);
} counts SEC(".maps");

/* Upper limit of a plausible size: the user address space. */
#define ASKED_MAX (1ULL << 47)

static __always_inline __u64 product(__u64 cnt, __u64 size)
{
	return cnt < ASKED_MAX && size < ASKED_MAX / (cnt + 1) ? cnt * size : ASKED_MAX;
}

/*
 * Returns the number of bytes that a call requests; 0 if the call requests none or returns a
 * string, or if the number is implausible.
 */
static __always_inline __u64 asked_bytes(struct pt_regs *ctx, __u32 shape)
{
	__u64 arg1 = PT_REGS_PARM1(ctx), arg2 = PT_REGS_PARM2(ctx), arg3 = PT_REGS_PARM3(ctx);
	__u64 size = 0;

	switch (shape) {
	case MEMLEAK_SHAPE_SIZE:
		size = arg1;
		break;
	case MEMLEAK_SHAPE_COUNT_SIZE:
		size = product(arg1, arg2);
		break;
	case MEMLEAK_SHAPE_ALIGN_SIZE:
	case MEMLEAK_SHAPE_REALLOC:
	case MEMLEAK_SHAPE_REALLOCF:
	case MEMLEAK_SHAPE_RESIZE:
		size = arg2;
		break;
	case MEMLEAK_SHAPE_REALLOCARRAY:
	case MEMLEAK_SHAPE_HEAP_COUNT_SIZE:
		size = product(arg2, arg3);
		break;
	case MEMLEAK_SHAPE_POSIX_MEMALIGN:
	case MEMLEAK_SHAPE_HEAP_REALLOC:
	case MEMLEAK_SHAPE_HEAP_REALLOCF:
		size = arg3;
		break;
	case MEMLEAK_SHAPE_HEAP_REALLOCARRAY:
		size = product(arg3, PT_REGS_PARM4(ctx));
		break;
	}
	return size < ASKED_MAX ? size : 0;
}

/*
 * True if the call neither allocates nor frees anything, such as free(NULL), or realpath() with a
 * buffer of its caller.
 */
static __always_inline bool moves_nothing(struct pt_regs *ctx, __u32 shape)
{
	return (shape == MEMLEAK_SHAPE_FREE && !PT_REGS_PARM1(ctx)) ||
	       (shape == MEMLEAK_SHAPE_HEAP_FREE && !PT_REGS_PARM2(ctx)) ||
	       (shape == MEMLEAK_SHAPE_PATH && PT_REGS_PARM2(ctx)) ||
	       (shape == MEMLEAK_SHAPE_HEAP_PATH && PT_REGS_PARM3(ctx));
}

static __always_inline __u64 current_cgroup(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct cgroup *cgroup;

	if (config.count_subsys == MEMLEAK_CGROUP_UNIFIED)
		return bpf_get_current_cgroup_id();
	cgroup = task__cgroup(task, config.count_subsys);
	return BPF_CORE_READ(cgroup, kn, id);
}

static __always_inline __u64 count__key(__u32 shape)
{
	switch (config.count) {
	case MEMLEAK_COUNT_PROCESS:
		return current_pids() >> 32;
	case MEMLEAK_COUNT_FUNCTION:
		return shape_plain((enum memleak_shape)shape);
	default:
		return current_cgroup();
	}
}

static __always_inline struct memleak_count *count__get(__u64 key)
{
	struct memleak_count *count = bpf_map_lookup_elem(&counts, &key), fresh = {0};
	__u64 others = MEMLEAK_COUNT_OTHERS;

	if (count)
		return count;
	if (config.count == MEMLEAK_COUNT_PROCESS)
		bpf_get_current_comm(fresh.comm, sizeof(fresh.comm));
	bpf_map_update_elem(&counts, &key, &fresh, BPF_NOEXIST);
	count = bpf_map_lookup_elem(&counts, &key);
	return count ? count : bpf_map_lookup_elem(&counts, &others);
}

static __always_inline const struct memleak_target *current_target(void)
{
	__u32 tgid = current_pids() >> 32;

	return bpf_map_lookup_elem(&targets, &tgid);
}

/* True if calls of the current process are counted. */
static __always_inline bool is_counted(void)
{
	const struct memleak_target *target;

	if (!tracking)
		return false;
	if (!config.count_targets)
		return true;
	target = current_target();
	return target && target->image;
}

/* Asks the loader to search new libraries for allocator functions. */
static __always_inline void send_libraries(void)
{
	const struct memleak_target *target = current_target();
	struct memleak_record *record;

	if (!target)
		return;
	record = record__reserve(MEMLEAK_REC_LIBS, target->image);
	if (record)
		bpf_ringbuf_submit(record, 0);
}

static __always_inline void count_call(struct pt_regs *ctx, __u32 shape)
{
	struct memleak_count *count;
	__u64 bytes;

	if (shape == MEMLEAK_SHAPE_LIBRARIES) {
		send_libraries();
		return;
	}
	if (moves_nothing(ctx, shape) || !is_counted())
		return;
	count = count__get(count__key(shape));
	if (!count)
		return;
	/* Atomic, because another thread may preempt this one on the CPU. */
	__sync_fetch_and_add(&count->calls, 1);
	/*
	 * For shapes without a size, the compiler would turn the addition of 0 into an instruction
	 * that older kernels lack.
	 */
	bytes = asked_bytes(ctx, shape);
	if (bytes)
		__sync_fetch_and_add(&count->bytes, bytes);
}

SEC("?uprobe")
int count_any(struct pt_regs *ctx)
{
	count_call(ctx, MEMLEAK_COOKIE_SHAPE(bpf_get_attach_cookie(ctx)));
	return 0;
}

#define COUNT_PROGRAM(name, shape)                                                                 \
	SEC("?uprobe") int name(struct pt_regs *ctx)                                               \
	{                                                                                          \
		count_call(ctx, shape);                                                            \
		return 0;                                                                          \
	}

COUNT_PROGRAM(count_of_size, MEMLEAK_SHAPE_SIZE)
COUNT_PROGRAM(count_of_count_size, MEMLEAK_SHAPE_COUNT_SIZE)
COUNT_PROGRAM(count_of_align_size, MEMLEAK_SHAPE_ALIGN_SIZE)
COUNT_PROGRAM(count_of_realloc, MEMLEAK_SHAPE_REALLOC)
COUNT_PROGRAM(count_of_reallocarray, MEMLEAK_SHAPE_REALLOCARRAY)
COUNT_PROGRAM(count_of_posix_memalign, MEMLEAK_SHAPE_POSIX_MEMALIGN)
COUNT_PROGRAM(count_of_free, MEMLEAK_SHAPE_FREE)
COUNT_PROGRAM(count_of_heap_count_size, MEMLEAK_SHAPE_HEAP_COUNT_SIZE)
COUNT_PROGRAM(count_of_heap_realloc, MEMLEAK_SHAPE_HEAP_REALLOC)
COUNT_PROGRAM(count_of_heap_reallocarray, MEMLEAK_SHAPE_HEAP_REALLOCARRAY)
COUNT_PROGRAM(count_of_heap_free, MEMLEAK_SHAPE_HEAP_FREE)
COUNT_PROGRAM(count_of_resize, MEMLEAK_SHAPE_RESIZE)
COUNT_PROGRAM(count_of_heap_destroy, MEMLEAK_SHAPE_HEAP_DESTROY)
COUNT_PROGRAM(count_of_string, MEMLEAK_SHAPE_STRING)
COUNT_PROGRAM(count_of_path, MEMLEAK_SHAPE_PATH)
COUNT_PROGRAM(count_of_heap_path, MEMLEAK_SHAPE_HEAP_PATH)
COUNT_PROGRAM(count_of_reallocf, MEMLEAK_SHAPE_REALLOCF)
COUNT_PROGRAM(count_of_heap_reallocf, MEMLEAK_SHAPE_HEAP_REALLOCF)
COUNT_PROGRAM(count_of_libraries, MEMLEAK_SHAPE_LIBRARIES)

#endif
