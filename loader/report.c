// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up a snapshot, puts its sites in order, and names the frames of those that are shown. */
#include "loader/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"

/*
 * The first report of a large C++ program reads hundreds of megabytes of DWARF; what is not
 * named by then is named in the next report.
 */
#define NAMING_BUDGET_MS 10000

struct candidate {
	const struct site *site;
	struct growth growth;
};

static int by_number(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_signed(int64_t a, int64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

/* Largest first; the last resort, the id, is the smallest first. No two sites are equal. */
static int compare(const void *left, const void *right, void *arg)
{
	const struct candidate *a = left;
	const struct candidate *b = right;
	const enum sort_order *order = arg;
	int diff = 0;

	if (*order == SORT_COUNT) {
		diff = by_number(a->site->count, b->site->count);
	} else if (*order == SORT_GROWTH) {
		diff = by_signed(a->growth.bytes, b->growth.bytes);
		if (!diff)
			diff = by_signed(a->growth.count, b->growth.count);
	}
	if (!diff)
		diff = by_number(a->site->bytes, b->site->bytes);
	if (!diff)
		diff = by_number(a->site->count, b->site->count);
	if (!diff)
		diff = by_number(b->site->id, a->site->id);
	return diff;
}

/* All sites that hold something, in order, and their totals. */
static int rank_sites(const struct snapshot *snap, const struct growth *growth,
		      enum sort_order order, struct report *report, struct candidate **ret)
{
	struct candidate *candidates = calloc(snap->site_cnt + 1, sizeof(*candidates));

	if (!candidates)
		return -ENOMEM;
	for (size_t i = 0; i < snap->site_cnt; i++) {
		const struct site *site = &snap->sites[i];

		if (!site->count)
			continue;
		candidates[report->sites_total].site = site;
		candidates[report->sites_total].growth = growth[i];
		report->sites_total++;
		report->bytes += site->bytes;
		report->count += site->count;
		report->bytes_variance += site->bytes_variance;
		report->count_variance += site->count_variance;
		if (site->end == UNWIND_END_COMPLETE)
			report->complete_bytes += site->bytes;
	}
	qsort_r(candidates, report->sites_total, sizeof(*candidates), compare, &order);
	*ret = candidates;
	return 0;
}

static int show_sites(const struct candidate *candidates, size_t cnt, struct report *report)
{
	size_t frame_cnt = 0;

	report->sites = calloc(cnt + 1, sizeof(*report->sites));
	for (size_t i = 0; i < cnt; i++)
		frame_cnt += candidates[i].site->frame_cnt;
	report->location_store = calloc(frame_cnt + 1, sizeof(*report->location_store));
	if (!report->sites || !report->location_store)
		return -ENOMEM;
	report->site_cnt = cnt;
	frame_cnt = 0;
	for (size_t i = 0; i < cnt; i++) {
		struct report_site *shown = &report->sites[i];

		shown->site = candidates[i].site;
		shown->growth_bytes = candidates[i].growth.bytes;
		shown->growth_count = candidates[i].growth.count;
		shown->locations = report->location_store + frame_cnt;
		frame_cnt += shown->site->frame_cnt;
	}
	return 0;
}

/* Blocks are sorted by site: the first one that does not belong to a site before this. */
static size_t first_block(const struct snapshot *snap, size_t site)
{
	size_t low = 0;
	size_t high = snap->block_cnt;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (snap->blocks[middle].site < site)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void find_blocks(struct report *report)
{
	const struct snapshot *snap = report->snapshot;

	for (size_t i = 0; snap->block_cnt && i < report->site_cnt; i++) {
		struct report_site *shown = &report->sites[i];
		size_t site = (size_t)(shown->site - snap->sites);
		size_t first = first_block(snap, site);

		shown->blocks = snap->blocks + first;
		shown->block_cnt = first_block(snap, site + 1) - first;
	}
}

/*
 * Functions that hand out memory for a living. Their frames are there when one that is not probed
 * calls one that is (operator new, malloc).
 */
static const char *const allocator_names[] = {
	"malloc",       "calloc",         "realloc",       "reallocarray",
	"memalign",     "posix_memalign", "aligned_alloc", "valloc",
	"pvalloc",      "mmap",           "mmap64",        "mremap",
	"operator new", "operator new[]", "rust_alloc",    "rust_alloc_zeroed",
	"rust_realloc", "rdl_alloc",      "rdl_realloc",   "rdl_alloc_zeroed",
};

/* What C libraries and allocators put before them. */
static const char *const allocator_prefixes[] = {
	"", "__", "__libc_", "__GI_", "__GI___", "__GI___libc_", "je_", "mi_", "tc_",
};

/* name without the parameters that C++ adds */
static bool is_name(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(symbol, name, len) && (!symbol[len] || symbol[len] == '(');
}

static bool is_user_allocator(const char *symbol)
{
	for (size_t i = 0; i < sizeof(allocator_prefixes) / sizeof(allocator_prefixes[0]); i++) {
		size_t len = strlen(allocator_prefixes[i]);

		if (strncmp(symbol, allocator_prefixes[i], len))
			continue;
		for (size_t j = 0; j < sizeof(allocator_names) / sizeof(allocator_names[0]); j++)
			if (is_name(symbol + len, allocator_names[j]))
				return true;
	}
	return false;
}

/* What the names of the kernel's own begin with; underscores before them do not count. */
static const char *const kernel_allocator_names[] = {
	"alloc_pages",       "alloc_frozen_pages",
	"alloc_page",        "folio_alloc",
	"vma_alloc_folio",   "get_free_page",
	"get_zeroed_page",   "get_free_pages",
	"kmalloc",           "kzalloc",
	"kcalloc",           "kmem_cache_alloc",
	"kvmalloc",          "krealloc",
	"kmemdup",           "vmalloc",
	"vzalloc",           "alloc_percpu",
	"pcpu_alloc",        "do_kmalloc",
	"do_kmem_cache",     "kmem_cache_zalloc",
	"pcpu_create_chunk",
};

static bool is_kernel_allocator(const char *symbol)
{
	symbol += strspn(symbol, "_");
	for (size_t i = 0; i < sizeof(kernel_allocator_names) / sizeof(kernel_allocator_names[0]);
	     i++)
		if (!strncmp(symbol, kernel_allocator_names[i], strlen(kernel_allocator_names[i])))
			return true;
	return false;
}

/* Inlined functions belong to the one that holds them, the last. */
static bool is_allocator_frame(const struct site *site, const struct sym_location *location)
{
	const char *symbol;

	if (!location || !location->frame_cnt)
		return false;
	symbol = location->frames[location->frame_cnt - 1].symbol;
	if (!symbol)
		return false;
	return site->space == SPACE_KERNEL ? is_kernel_allocator(symbol)
					   : is_user_allocator(symbol);
}

uint64_t frame_address(uint64_t frame, const struct sym_location *location)
{
	if (!MEMLEAK_FRAME_IN_FILE(frame))
		return MEMLEAK_FRAME_ADDR(frame);
	return location ? location->addr : 0;
}

static void name_frames(struct symbol_backend *symbols, struct report_site *shown)
{
	const struct site *site = shown->site;
	size_t first = 0;

	for (size_t i = 0; i < site->frame_cnt; i++)
		shown->locations[i] = symbols->lookup(symbols, site, site->frames[i]);
	while (first < site->frame_cnt && is_allocator_frame(site, shown->locations[first]))
		first++;
	/* Nobody else there: then show what is. */
	shown->first_frame = first < site->frame_cnt ? first : 0;
}

static int name_sites(struct symbol_backend *symbols, struct report *report)
{
	cleanup_free const struct site **sites = calloc(report->site_cnt + 1, sizeof(*sites));
	int err;

	if (!sites)
		return -ENOMEM;
	for (size_t i = 0; i < report->site_cnt; i++)
		sites[i] = report->sites[i].site;
	err = symbols->prepare(symbols, sites, report->site_cnt, NAMING_BUDGET_MS);
	for (size_t i = 0; !err && i < report->site_cnt; i++)
		name_frames(symbols, &report->sites[i]);
	return err;
}

int report_init(const struct options *opts, const struct snapshot *snap,
		const struct growth *growth, struct symbol_backend *symbols, bool final,
		struct report *ret)
{
	cleanup_free struct candidate *candidates = NULL;
	struct report report = {
		.snapshot = snap,
		.show_allocs = opts->show_allocs,
		.final = final,
	};
	size_t shown;
	int err = rank_sites(snap, growth, opts->sort, &report, &candidates);

	if (err)
		return err;
	shown = report.sites_total < opts->top ? report.sites_total : opts->top;
	err = show_sites(candidates, shown, &report);
	if (!err && symbols && shown)
		err = name_sites(symbols, &report);
	if (err) {
		report_deinit(&report);
		return err;
	}
	if (opts->show_allocs)
		find_blocks(&report);
	*ret = report;
	return 0;
}

void report_deinit(struct report *report)
{
	free(report->sites);
	free(report->location_store);
	memset(report, 0, sizeof(*report));
}
