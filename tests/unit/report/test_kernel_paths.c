// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests which function of a kernel stack is blamed for growth of its site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/kernel_paths.h"
#include "report/runtime_objects.h"
#include "report/suspects.h"
#include "report/trend.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define MOST_PATHS 8
#define MOST_FRAMES 8

static const struct process server = {1, 1, "server", NULL}, client = {2, 2, "client", NULL};

/*
 * The stack of a kernel site, and the function to be blamed, or NULL if the site must not be a
 * suspect.
 */
struct path {
	const char *symbols[MOST_FRAMES]; /* functions, innermost first */
	double blocks_per_s;
	double block_bytes;
	const char *blamed;
	pid_t owner;
	bool reclaimable;
	const struct process *process;
};

struct world {
	struct site sites[MOST_PATHS];
	struct site_history histories[MOST_PATHS];
	struct sym_frame frames[MOST_PATHS][MOST_FRAMES];
	struct sym_location locations[MOST_PATHS][MOST_FRAMES];
	const struct sym_location *located[MOST_PATHS][MOST_FRAMES];
	struct report_site shown[MOST_PATHS];
};

static void make_path(struct world *world, size_t at, const struct path *path)
{
	struct site *site = &world->sites[at];

	*site = (struct site){
		.id = at + 1,
		.space = SPACE_KERNEL,
		.process = path->process,
		.count = 100,
		.bytes = (uint64_t)(100 * path->block_bytes),
		.origin = {.owner_pid = path->owner, .reclaimable = path->reclaimable},
	};
	for (size_t i = 0; i < MOST_FRAMES && path->symbols[i]; i++) {
		world->frames[at][i].symbol = (char *)path->symbols[i];
		world->locations[at][i] = (struct sym_location){
			.module = (char *)"[kernel]",
			.frame_cnt = 1,
			.frames = &world->frames[at][i],
		};
		world->located[at][i] = &world->locations[at][i];
		site->frame_cnt++;
	}
	world->histories[at].trend = (struct trend){
		.tendency = TENDENCY_STEADY,
		.bytes_per_s = path->blocks_per_s * path->block_bytes,
		.score.total = 1,
	};
	world->shown[at] = (struct report_site){
		.site = site, .locations = world->located[at], .history = &world->histories[at]};
}

static void blame_all(struct world *world, const struct path *paths, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		make_path(world, i, &paths[i]);
	assert_int_equal(kernel_paths_blame(world->shown, cnt), 0);
	for (size_t i = 0; i < cnt; i++) {
		assert_int_equal(world->shown[i].is_excluded, !paths[i].blamed);
		if (paths[i].blamed)
			assert_string_equal(paths[i].symbols[world->shown[i].blamed.frame],
					    paths[i].blamed);
	}
}

#define SOCKET_CALL "__sys_socket", "__x64_sys_socket", "do_syscall_64", "entry_SYSCALL_64"
#define OPEN_CALL "do_sys_openat2", "__x64_sys_openat", "do_syscall_64", "entry_SYSCALL_64"

/* All blocks of a socket make up one suspect, including the inode, whose cache is reclaimable. */
static void socket_leak(void **state)
{
	static const struct path paths[] = {
		{{"sk_prot_alloc", "inet_create", SOCKET_CALL},
		 100,
		 2368,
		 "__sys_socket",
		 .owner = 7},
		{{"alloc_empty_file", "sock_alloc_file", SOCKET_CALL},
		 100,
		 192,
		 "__sys_socket",
		 .owner = 7},
		{{"security_inode_alloc", SOCKET_CALL}, 100, 32, "__sys_socket", .owner = 0},
		{{"sock_alloc_inode", "sock_alloc", SOCKET_CALL},
		 100,
		 832,
		 "__sys_socket",
		 .owner = 7,
		 .reclaimable = true},
	};
	struct world world = {0};
	struct suspect *suspects;
	size_t cnt;

	blame_all(&world, paths, LENGTH(paths));
	assert_int_equal(suspects_init(world.shown, LENGTH(paths), &(struct trifle_scale){0}, 5,
				       &cnt, &suspects),
			 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(suspects[0].path_cnt, 4);
	assert_int_equal(suspects[0].companion_cnt, 1);
	/* A site with an unknown owner does not count as a site of another owner. */
	assert_false(suspects[0].has_other_owners);
	assert_true(suspects[0].bytes_per_s == 100 * (2368 + 192 + 32 + 832));
	assert_ptr_equal(suspects[0].site, &world.shown[0]);
	free(suspects);
}

/*
 * Only the first site certainly leaks, since the others are in reclaimable caches. As all grow
 * equally, they leak together.
 */
static void only_one_is_sure(void **state)
{
	static const struct path paths[] = {
		{{"sk_prot_alloc", "inet_create", SOCKET_CALL},
		 100,
		 2368,
		 "__sys_socket",
		 .owner = 7},
		{{"alloc_empty_file", "sock_alloc_file", SOCKET_CALL},
		 101,
		 192,
		 "__sys_socket",
		 .owner = 7,
		 .reclaimable = true},
		{{"sock_alloc_inode", SOCKET_CALL},
		 101,
		 832,
		 "__sys_socket",
		 .owner = 7,
		 .reclaimable = true},
	};
	struct world world = {0};

	blame_all(&world, paths, LENGTH(paths));
}

/* With one growing site in a system call, the function that allocates is blamed. */
static void single_path(void **state)
{
	static const struct path paths[] = {
		{{"load_msg", "do_msgsnd", "__x64_sys_msgsnd", "do_syscall_64"},
		 5,
		 64,
		 "load_msg",
		 .owner = 0},
		{{"alloc_empty_file", "path_openat", OPEN_CALL},
		 5,
		 192,
		 "alloc_empty_file",
		 .owner = 0},
		{{"kthread_leak", "kthread", "ret_from_fork"}, 5, 192, "kthread_leak", .owner = 0},
		{{"kthread"}, 5, 192, "kthread", .owner = 0},
	};
	struct world world = {0};

	blame_all(&world, paths, LENGTH(paths));
}

/*
 * The leaking function is blamed, and not its caller, if other sites in the same system call
 * allocate only a few blocks.
 */
static void few_beside(void **state)
{
	static const struct path paths[] = {
		{{"driver_leak", "driver_ioctl", "vfs_ioctl", "__x64_sys_ioctl"},
		 100,
		 512,
		 "driver_leak",
		 .owner = 0},
		{{"other_alloc", "other_ioctl", "vfs_ioctl", "__x64_sys_ioctl"},
		 1,
		 512,
		 "other_alloc",
		 .owner = 0},
	};
	struct world world = {0};

	blame_all(&world, paths, LENGTH(paths));
}

/*
 * A site in a reclaimable cache is not merged into a suspect if it grows much faster than the
 * suspect, or has another owner or an unknown one.
 */
static void caches_apart(void **state)
{
	static const struct path paths[] = {
		{{"alloc_empty_file", "path_openat", OPEN_CALL},
		 10,
		 192,
		 "alloc_empty_file",
		 .owner = 7},
		{{"__d_alloc", "path_openat", OPEN_CALL},
		 1000,
		 192,
		 NULL,
		 .owner = 7,
		 .reclaimable = true},
		{{"alloc_empty_file", "path_openat", OPEN_CALL},
		 1000,
		 192,
		 NULL,
		 .owner = 7,
		 .reclaimable = true},
		{{"alloc_empty_file", "path_openat", OPEN_CALL},
		 10,
		 192,
		 NULL,
		 .owner = 8,
		 .reclaimable = true},
		{{"alloc_empty_file", "path_openat", OPEN_CALL},
		 10,
		 192,
		 NULL,
		 .owner = 0,
		 .reclaimable = true},
		{{"alloc_empty_file", "path_openat", OPEN_CALL},
		 10,
		 192,
		 "alloc_empty_file",
		 .owner = 7,
		 .reclaimable = true},
	};
	struct world world = {0};
	struct suspect *suspects;
	size_t cnt;

	blame_all(&world, paths, LENGTH(paths));
	assert_int_equal(suspects_init(world.shown, LENGTH(paths), &(struct trifle_scale){0}, 5,
				       &cnt, &suspects),
			 0);
	assert_int_equal(cnt, 1);
	assert_int_equal(suspects[0].path_cnt, 2);
	free(suspects);
}

/*
 * Blocks that belong to another block (labels of inodes, owners of the objects on slab pages,
 * address ranges) are no leak if they grow alone or with reclaimable memory. They are blamed
 * together with the block that they belong to if it is not reclaimable.
 */
static void attached(void **state)
{
	static const struct path cached[] = {
		{{"lsm_inode_alloc", "security_inode_alloc", "alloc_inode", OPEN_CALL},
		 10,
		 48,
		 NULL,
		 .owner = 7},
		{{"ext4_alloc_inode", "alloc_inode", OPEN_CALL},
		 10,
		 1096,
		 NULL,
		 .owner = 7,
		 .reclaimable = true},
		{{"ext4_cache_fast_symlink", "__ext4_iget", "ext4_lookup", OPEN_CALL},
		 1,
		 16,
		 NULL,
		 .owner = 7},
		{{"alloc_slab_obj_exts", "allocate_slab", "__d_alloc", OPEN_CALL},
		 1,
		 192,
		 NULL,
		 .owner = 0},
		{{"alloc_vmap_area", "__get_vm_area_node", "copy_process", "kernel_clone"},
		 10,
		 72,
		 NULL,
		 .owner = 0},
	};
	static const struct path kept[] = {
		{{"lsm_inode_alloc", "security_inode_alloc", "sock_alloc", SOCKET_CALL},
		 10,
		 48,
		 "__sys_socket",
		 .owner = 7},
		{{"sk_alloc", "unix_create1", SOCKET_CALL}, 10, 1152, "__sys_socket", .owner = 7},
		{{"sock_alloc_inode", "sock_alloc", SOCKET_CALL},
		 10,
		 896,
		 "__sys_socket",
		 .owner = 7,
		 .reclaimable = true},
		{{"alloc_slab_obj_exts", "sk_alloc", SOCKET_CALL},
		 1,
		 128,
		 "__sys_socket",
		 .owner = 0},
	};
	struct world world = {0};

	blame_all(&world, cached, LENGTH(cached));
	blame_all(&world, kept, LENGTH(kept));
}

#define PAGE_FAULT "__handle_mm_fault", "handle_mm_fault", "exc_page_fault", "asm_exc_page_fault"

/*
 * Blocks allocated while an inode is read may leak on their own if they are no part of the inode.
 * So may an address range of vm_map_ram(), which belongs to no other block.
 */
static void not_attached(void **state)
{
	static const struct path paths[] = {
		{{"alloc_extent_buffer", "read_block_for_search", "btrfs_iget", "btrfs_lookup"},
		 10,
		 240,
		 "alloc_extent_buffer",
		 .owner = 7},
		{{"xfs_buf_alloc", "xfs_iget", "xfs_lookup", OPEN_CALL},
		 10,
		 400,
		 "xfs_buf_alloc",
		 .owner = 7},
		{{"alloc_buffer_head", "__ext4_iget", "ext4_lookup", "ksys_stat"},
		 10,
		 104,
		 "alloc_buffer_head",
		 .owner = 7},
		{{"alloc_vmap_area", "vm_map_ram", "z_erofs_decompress", "kthread"},
		 10,
		 72,
		 "alloc_vmap_area",
		 .owner = 0},
	};
	struct world world = {0};

	blame_all(&world, paths, LENGTH(paths));
}

/* Page tables of user memory make up one suspect, since they grow with the mapped memory. */
static void page_tables(void **state)
{
	static const struct path paths[] = {
		{{"pte_alloc_one", "__pte_alloc", "do_anonymous_page", PAGE_FAULT},
		 10,
		 4096,
		 "pte_alloc_one",
		 .owner = 7},
		{{"pte_alloc_one", "do_fault", PAGE_FAULT}, 1, 4096, "pte_alloc_one", .owner = 7},
		{{"__pmd_alloc", PAGE_FAULT}, 1, 4096, "__pmd_alloc", .owner = 7},
		{{"anon_vma_alloc", PAGE_FAULT}, 10, 88, "anon_vma_alloc", .owner = 7},
	};
	struct world world = {0};
	struct suspect *suspects;
	size_t cnt;

	blame_all(&world, paths, LENGTH(paths));
	assert_int_equal(suspects_init(world.shown, LENGTH(paths), &(struct trifle_scale){0}, 5,
				       &cnt, &suspects),
			 0);
	assert_int_equal(cnt, 2);
	assert_int_equal(suspects[0].path_cnt, 3);
	assert_string_equal(suspects[0].site->objects->words, "page tables");
	assert_null(suspects[1].site->objects);
	free(suspects);
}

/* Page tables of the kernel or a tracer do not belong to memory that a process maps. */
static void other_page_tables(void **state)
{
	static const struct path paths[] = {
		{{"__pmd_alloc", "vmap_pages_range_noflush", "__vmalloc_node", "bpf_prog_alloc"},
		 10,
		 4096,
		 "__pmd_alloc",
		 .owner = 7},
		{{"pte_alloc_one", "__pte_alloc", "uprobe_notify_resume", "asm_exc_int3"},
		 10,
		 4096,
		 NULL,
		 .owner = 7},
	};
	struct world world = {0};

	blame_all(&world, paths, LENGTH(paths));
	for (size_t i = 0; i < LENGTH(paths); i++)
		assert_null(world.shown[i].objects);
}

/* Sites of different processes or owners are not blamed together. */
static void processes_apart(void **state)
{
	static const struct path paths[] = {
		{{"sk_prot_alloc", SOCKET_CALL},
		 100,
		 2368,
		 "sk_prot_alloc",
		 .owner = 0,
		 .process = &server},
		{{"alloc_empty_file", SOCKET_CALL},
		 100,
		 192,
		 "__sys_socket",
		 .owner = 0,
		 .process = &client},
		{{"sk_prot_alloc", SOCKET_CALL},
		 90,
		 2368,
		 "__sys_socket",
		 .owner = 0,
		 .process = &client},
		{{"sk_prot_alloc", OPEN_CALL}, 90, 2368, "sk_prot_alloc", .owner = 3},
		{{"alloc_empty_file", OPEN_CALL}, 90, 192, "alloc_empty_file", .owner = 4},
	};
	struct world world = {0};

	blame_all(&world, paths, LENGTH(paths));
}

/* Memory of tracers is recognised by its stack, and is not suspected. */
static void tracers(void **state)
{
	static const struct path paths[] = {
		{{"alloc_bulk", "bpf_mem_refill", "irq_work_run_list", "asm_sysvec_irq_work"},
		 100,
		 64,
		 NULL,
		 .owner = 0},
		{{"handler_chain", "uprobe_notify_resume", "irqentry_exit_to_user_mode",
		  "asm_exc_int3"},
		 100,
		 64,
		 NULL,
		 .owner = 7},
		{{"alloc_bulk", "other_refill", "irq_work_single", "asm_sysvec_irq_work"},
		 100,
		 64,
		 "alloc_bulk",
		 .owner = 0},
	};
	struct world world = {0};

	blame_all(&world, paths, LENGTH(paths));
}

static void entries(void **state)
{
	static const char *const names[] = {"do_syscall_64", "__x64_sys_socket", "kthread",
					    "__arm64_sys_openat", "el0_svc"};
	struct sym_frame frame = {0};
	struct sym_location location = {.frame_cnt = 1, .frames = &frame};

	for (size_t i = 0; i < LENGTH(names); i++) {
		frame.symbol = (char *)names[i];
		assert_true(kernel_frame_is_entry(&location));
	}
	frame.symbol = (char *)"__sys_socket";
	assert_false(kernel_frame_is_entry(&location));
	assert_false(kernel_frame_is_entry(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(socket_leak),  cmocka_unit_test(only_one_is_sure),
		cmocka_unit_test(single_path),  cmocka_unit_test(few_beside),
		cmocka_unit_test(caches_apart), cmocka_unit_test(processes_apart),
		cmocka_unit_test(entries),      cmocka_unit_test(tracers),
		cmocka_unit_test(attached),     cmocka_unit_test(page_tables),
		cmocka_unit_test(not_attached), cmocka_unit_test(other_page_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
