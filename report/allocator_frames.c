// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists names of allocator functions, and file names of allocators and of C and C++ runtimes. */
#include "report/allocator_frames.h"
#include "base/path.h"
#include "base/prefix.h"

#include <ctype.h>
#include <string.h>

/*
 * Names of allocator functions. Such a function is on the stack of an allocation if it is not
 * probed itself but calls a probed function, as operator new calls malloc.
 */
static const char *const allocator_names[] = {
	"malloc",       "calloc",         "realloc",       "reallocarray",
	"memalign",     "posix_memalign", "aligned_alloc", "valloc",
	"pvalloc",      "mmap",           "mmap64",        "mremap",
	"operator new", "operator new[]", "rust_alloc",    "rust_alloc_zeroed",
	"rust_realloc", "rdl_alloc",      "rdl_realloc",   "rdl_alloc_zeroed",
};

/* Prefixes that C libraries and allocators add to the names of allocator functions. */
static const char *const allocator_prefixes[] = {
	"",    "__",     "__libc_",   "__GI_", "__GI___", "__GI___libc_",
	"je_", "_rjem_", "_rjem_je_", "mi_",   "tc_",
};

/* True if `symbol` is `name`, or `name` with C++ parameters. */
static bool is_name(const char *symbol, const char *name)
{
	const char *rest = behind_prefix(symbol, name);

	return rest && (!*rest || *rest == '(');
}

static bool is_user_allocator(const char *symbol)
{
	for (size_t i = 0; i < sizeof(allocator_prefixes) / sizeof(allocator_prefixes[0]); i++) {
		const char *rest = behind_prefix(symbol, allocator_prefixes[i]);

		for (size_t j = 0; rest && j < sizeof(allocator_names) / sizeof(allocator_names[0]);
		     j++)
			if (is_name(rest, allocator_names[j]))
				return true;
	}
	return false;
}

/* Prefixes of the names of kernel allocator functions, without leading underscores. */
static const char *const kernel_allocator_names[] = {
	"alloc_pages",
	"alloc_frozen_pages",
	"alloc_page",
	"folio_alloc",
	"vma_alloc_folio",
	"get_free_page",
	"get_zeroed_page",
	"get_free_pages",
	"kmalloc",
	"kzalloc",
	"kcalloc",
	"kmem_cache_alloc",
	"kvmalloc",
	"krealloc",
	"kmemdup",
	"vmalloc",
	"vzalloc",
	"alloc_percpu",
	"pcpu_alloc",
	"do_kmalloc",
	"do_kmem_cache",
	"kmem_cache_zalloc",
	"pcpu_create_chunk",
	"vm_area_alloc_pages",
	"slab_alloc",
	"allocate_slab",
	"new_slab",
	"alloc_slab_obj_exts",
	"refill_sheaf",
	"alloc_from_pcs",
	/* code from which the kernel calls BPF programs that are attached to a kernel function */
	"bpf_trampoline",
};

/*
 * Names of kernel free functions. A symbol matches if its part before the first dot is equal to a
 * name. A longer symbol does not match, because kfree_skb(), for example, is no allocator function.
 */
static const char *const kernel_free_names[] = {
	"kfree",
	"kvfree",
	"vfree",
	"kfree_sensitive",
	"kfree_bulk",
	"kmem_cache_free",
	"kmem_cache_free_bulk",
	"kvfree_call_rcu",
	"slab_free",
	"free_large_kmalloc",
	"free_percpu",
	"free_pages",
	"free_pages_ok",
	"free_pages_prepare",
	"free_frozen_pages",
	"free_compound_page",
	"free_the_page",
	"free_unref_page",
	"free_unref_page_list",
	"free_unref_folios",
	"folio_put",
	"folios_put_refs",
	"put_page",
	"release_pages",
};

static bool frees_for_others(const char *symbol)
{
	size_t len = strcspn(symbol, ".");

	for (size_t i = 0; i < sizeof(kernel_free_names) / sizeof(kernel_free_names[0]); i++)
		if (strlen(kernel_free_names[i]) == len &&
		    !strncmp(symbol, kernel_free_names[i], len))
			return true;
	return false;
}

static bool is_kernel_allocator(const char *symbol)
{
	symbol += strspn(symbol, "_");
	return frees_for_others(symbol) ||
	       has_prefix_of(symbol, kernel_allocator_names,
			     sizeof(kernel_allocator_names) / sizeof(kernel_allocator_names[0]));
}

/* Checks only the last function of the location. All other functions are inlined into it. */
bool frame_is_allocator(const struct site *site, const struct sym_location *location)
{
	const char *symbol = sym_outermost_symbol(location);

	if (!symbol)
		return false;
	return site->space == SPACE_KERNEL ? is_kernel_allocator(symbol)
					   : is_user_allocator(symbol);
}

/*
 * Prefixes of the file names of C and C++ libraries, dynamic loaders and allocators. After the
 * prefix comes a suffix or a version: "libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2".
 */
static const char *const runtime_files[] = {
	"libc",
	"ld",
	"ld-linux",
	"ld-musl",
	"libpthread",
	"libstdc++",
	"libsupc++",
	"libc++",
	"libc++abi",
	"libunwind",
	"libgcc_s",
	"libffi", /* only passes calls on, so its frames say nothing about a leak */
	"libjemalloc",
	"libtcmalloc",
	"libtcmalloc_minimal",
	"libtcmalloc_debug",
	"libtcmalloc_minimal_debug",
	"libtcmalloc_and_profiler",
	"libmimalloc",
	"libmimalloc-secure",
	"libasan",
	"libhwasan",
	"liblsan",
	"libtsan",
	"libubsan",
	"libclang_rt",
};

/*
 * True if `rest` may follow `name`, an entry of runtime_files, in the file name of a library: as a
 * suffix, as a version or, after "ld-linux" or "ld-musl", as an architecture.
 */
static bool ends_name(const char *rest, const char *name)
{
	if (*rest == '.')
		return true;
	if (*rest != '-')
		return false;
	return isdigit((unsigned char)rest[1]) || !strncmp(name, "ld-", 3);
}

bool module_is_runtime(const char *module)
{
	const char *file = path_name(module);

	if (!strstr(file, ".so"))
		return false;
	for (size_t i = 0; i < sizeof(runtime_files) / sizeof(runtime_files[0]); i++) {
		const char *rest = behind_prefix(file, runtime_files[i]);

		if (rest && ends_name(rest, runtime_files[i]))
			return true;
	}
	return false;
}
