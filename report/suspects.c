// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Merges paths by program and blamed function, and adds up how fast they grow, what they have lost,
 * or what they pin.
 */
#include "report/suspects.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/order.h"
#include "report/blame.h"
#include "report/function_name.h"
#include "report/site_order.h"
#include "report/trend.h"

/*
 * Minimum growth of a suspect, as a fraction of the growth of all suspects and untraced memory.
 * Also the minimum growth of a suspect per day, as a fraction of all outstanding memory: with less
 * growth, it would take years until the memory has doubled.
 */
#define TRIFLE 0.001
/*
 * A suspect is slight if its growth is less than this fraction of the growth of another suspect of
 * its program, or of another kernel suspect for a kernel suspect.
 */
#define SLIGHT 0.01
#define SECONDS_OF_DAY 86400.0

static const struct sym_frame *blamed_function(const struct report_site *site)
{
	const struct sym_location *location;

	if (!site->site->frame_cnt)
		return NULL;
	location = site->locations[site->blamed.frame];
	return location && location->frame_cnt ? &location->frames[site->blamed.function] : NULL;
}

static const struct sym_location *location_of(const struct report_site *site)
{
	return site->locations[site->blamed.frame];
}

static const char *module_of(const struct report_site *site)
{
	const struct sym_location *location = location_of(site);

	return location && location->module ? location->module : "";
}

static uint64_t offset_of(const struct report_site *site)
{
	const struct sym_location *location = location_of(site);

	return location ? location->module_offset : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* True if two sites are blamed in the same file, or in copies of a file. */
static bool have_one_file(const struct report_site *a, const struct report_site *b)
{
	return !strcmp(module_of(a), module_of(b)) ||
	       same_text(location_of(a)->build_id, location_of(b)->build_id);
}

static bool have_one_source(const struct sym_frame *a, const struct sym_frame *b)
{
	return same_text(a->file, b->file);
}

/* True if two functions of one source file are instances of the same template. */
static bool are_instances(const struct sym_frame *a, const struct sym_frame *b)
{
	cleanup_free char *left = NULL, *right = NULL;

	if (!have_one_source(a, b))
		return false;
	left = function_name_instances(a->symbol);
	right = left ? function_name_instances(b->symbol) : NULL;
	return right && !strcmp(left, right);
}

/*
 * True if the same function, or two instances of one template, are blamed for two sites. Functions
 * of several files, such as copies of a library, are the same if they have one name and one source.
 * If neither blamed function has a name, true if the blamed frames have the same offset in the same
 * file or in a copy of it.
 */
static bool have_one_name(const struct report_site *a, const struct report_site *b)
{
	const struct sym_frame *left = blamed_function(a), *right = blamed_function(b);
	bool in_one_file;

	if (!left || !right)
		return false;
	in_one_file = have_one_file(a, b) && (!sym_is_script(location_of(a)) || !left->file ||
					      !right->file || have_one_source(left, right));
	if (!left->symbol && !right->symbol)
		return in_one_file && *module_of(a) && offset_of(a) && offset_of(a) == offset_of(b);
	if (!left->symbol || !right->symbol || !(in_one_file || have_one_source(left, right)))
		return false;
	return !strcmp(left->symbol, right->symbol) || are_instances(left, right);
}

/* True if the functions blamed for two paths of a suspect have different names. */
static bool names_differ(const struct report_site *a, const struct report_site *b)
{
	const struct sym_frame *left = blamed_function(a), *right = blamed_function(b);

	return left && right && left->symbol && right->symbol &&
	       strcmp(left->symbol, right->symbol);
}

static const struct sym_frame *caller_of(const struct report_site *path)
{
	struct stack_pos pos = path->blamed;

	return path->site->frame_cnt && blame_next_caller(path, &pos)
		       ? &path->locations[pos.frame]->frames[pos.function]
		       : NULL;
}

/*
 * True if the blamed functions of two paths have different callers, which are not instances of one
 * template.
 */
static bool callers_differ(const struct report_site *a, const struct report_site *b)
{
	const struct sym_frame *left = caller_of(a), *right = caller_of(b);

	if (!left || !right)
		return left != right;
	return strcmp(left->symbol, right->symbol) && !are_instances(left, right);
}

/*
 * True if the processes of two paths run the same program: they have the same name, or the paths
 * begin in the same executable (workers may have names of their own).
 */
static bool have_one_program(const struct report_site *a, const struct report_site *b)
{
	const struct process *left = a->site->process, *right = b->site->process;

	if (left == right)
		return true;
	return left && right &&
	       (same_text(left->comm, right->comm) || same_text(a->program.file, b->program.file));
}

/*
 * True if two paths belong to the same suspect: they have the same program and blamed function. If
 * the memory of one is runtime objects, they must instead have the same process and kind of
 * objects; if the function of a chunk pool is not known, the same process and size of chunks. With
 * --by thread, they must have the same thread.
 */
static bool are_one(const struct report_site *a, const struct report_site *b)
{
	const struct process *left = a->site->process, *right = b->site->process;

	if (a->site->tid != b->site->tid)
		return false;
	if (a->objects || b->objects)
		return a->objects == b->objects && left == right;
	if (a->chunks.function == POOL_UNKNOWN || b->chunks.function == POOL_UNKNOWN)
		return a->chunks.function == b->chunks.function &&
		       a->chunks.bytes == b->chunks.bytes && left == right;
	return have_one_program(a, b) && have_one_name(a, b);
}

/* True if no path before paths[at] belongs to the same suspect and the same process. */
static bool is_of_new_process(const struct report_site *paths, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (paths[i].site->process == paths[at].site->process &&
		    are_one(&paths[i], &paths[at]))
			return false;
	return true;
}

double path_bytes_per_s(const struct report_site *path)
{
	return (1 - path->blamed_inside) * path->history->trend.bytes_per_s;
}

static double weight_of(const struct report_site *path)
{
	return path->history->trend.score.total * path_bytes_per_s(path);
}

static bool have_two_names(const struct process *a, const struct process *b)
{
	return a && b && !same_text(a->comm, b->comm);
}

static bool have_two_owners(const struct site *a, const struct site *b)
{
	pid_t left = a->origin.owner_pid, right = b->origin.owner_pid;

	return left && right && left != right;
}

static void add(struct suspect *suspect, const struct report_site *path)
{
	const struct site_history *history = path->history;

	bool is_companion = site_is_doubtful(path->site);

	if (suspect->site && !path->objects && names_differ(path, suspect->site)) {
		suspect->has_instances = true;
		suspect->has_other_callers |= callers_differ(path, suspect->site);
	}
	suspect->has_instances |= path->has_instances;
	if (suspect->site)
		suspect->has_other_names |=
			have_two_names(path->site->process, suspect->site->site->process);
	if (!suspect->site || (!is_companion && weight_of(path) > weight_of(suspect->site)))
		suspect->site = path;
	suspect->path_cnt += path->path_cnt ?: 1;
	suspect->companion_cnt += is_companion;
	suspect->has_other_owners |= have_two_owners(path->site, suspect->site->site);
	suspect->bytes_per_s += path_bytes_per_s(path);
	suspect->slowed_per_s += (1 - path->blamed_inside) * history->trend.slowed_per_s;
	suspect->companions_per_s += is_companion ? path_bytes_per_s(path) : 0;
	suspect->weight += weight_of(path);
	suspect->seen += history->seen;
	suspect->freed += history_freed(history, 0);
	if (history->trend.since_ns > suspect->since_ns)
		suspect->since_ns = history->trend.since_ns;
}

static int by_weight(const void *left, const void *right)
{
	const struct suspect *a = left, *b = right;

	if (a->is_slight != b->is_slight)
		return ORDER(a->is_slight, b->is_slight);
	return ORDER(b->weight, a->weight) ?: ORDER(b->site->site->bytes, a->site->site->bytes)
					   ?: ORDER(a->site->site->id, b->site->site->id);
}

static size_t merge(const struct report_site *paths, size_t cnt, struct suspect *suspects)
{
	size_t merged = 0;

	for (size_t i = 0; i < cnt; i++) {
		size_t at = 0;

		if (paths[i].settling)
			continue;
		while (at < merged && !are_one(suspects[at].site, &paths[i]))
			at++;
		/*
		 * Companions come after all other paths in the array. They can join a suspect that
		 * exists, but never become suspects themselves.
		 */
		if (paths[i].is_excluded || (at == merged && site_is_doubtful(paths[i].site)))
			continue;
		if (at == merged)
			suspects[merged++] = (struct suspect){0};
		add(&suspects[at], &paths[i]);
		suspects[at].process_cnt += is_of_new_process(paths, i);
	}
	return merged;
}

/*
 * True for a kernel suspect that accounts for less than a thousandth of the growth of all kernel
 * sites, including caches.
 */
static bool is_kernel_trifle(const struct suspect *suspect, const struct trifle_scale *scale)
{
	return suspect->site->site->space == SPACE_KERNEL &&
	       suspect->bytes_per_s < TRIFLE * scale->kernel_per_s;
}

/* True if two suspects are of the same program, or if both are of the kernel. */
static bool are_comparable(const struct suspect *a, const struct suspect *b)
{
	return a->site->site->space == b->site->site->space && have_one_program(a->site, b->site);
}

/* Marks the suspects whose growth is slight beside that of another suspect. */
static void find_slight(struct suspect *suspects, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		for (size_t j = 0; j < cnt; j++)
			suspects[i].is_slight |=
				suspects[i].bytes_per_s < SLIGHT * suspects[j].bytes_per_s &&
				are_comparable(&suspects[i], &suspects[j]);
}

/*
 * Returns the minimum growth of a suspect in bytes per second. If all suspects are wanted and at
 * least one of them reaches the minimum, returns 0, so that none is left out.
 */
static double least_growth(const struct suspect *suspects, size_t cnt,
			   const struct trifle_scale *scale)
{
	double whole = 0, fastest = 0, least;

	for (size_t i = 0; i < cnt; i++) {
		whole += suspects[i].bytes_per_s;
		fastest = fmax(fastest, suspects[i].bytes_per_s);
	}
	whole = fmax(whole, scale->explained_per_s) + scale->untraced_per_s;
	least = TRIFLE * fmax(whole, (double)scale->held_bytes / SECONDS_OF_DAY);
	return scale->wants_all && fastest >= least ? 0 : least;
}

int suspects_init(const struct report_site *paths, size_t cnt, const struct trifle_scale *scale,
		  size_t most, size_t *ret_cnt, struct suspect **ret)
{
	struct suspect *suspects = calloc(cnt + 1, sizeof(*suspects));
	double least;
	size_t shown = 0;

	if (!suspects)
		return -ENOMEM;
	cnt = merge(paths, cnt, suspects);
	if (!scale->wants_all)
		find_slight(suspects, cnt);
	qsort(suspects, cnt, sizeof(*suspects), by_weight);
	least = least_growth(suspects, cnt, scale);
	for (size_t i = 0; i < cnt && shown < most; i++)
		if (suspects[i].bytes_per_s >= least &&
		    (scale->wants_all || !(shown && is_kernel_trifle(&suspects[i], scale))))
			suspects[shown++] = suspects[i];
	*ret_cnt = shown;
	*ret = suspects;
	return 0;
}

static void add_loss(struct proven_loss *loss, const struct report_site *path)
{
	const struct site_reach *reach = &path->site->reach;

	if (loss->site && names_differ(path, loss->site)) {
		loss->has_instances = true;
		loss->has_other_callers |= callers_differ(path, loss->site);
	}
	if (loss->site)
		loss->has_other_names |=
			have_two_names(path->site->process, loss->site->site->process);
	if (!loss->site ||
	    reach->lost.bytes + reach->hanging.bytes >
		    loss->site->site->reach.lost.bytes + loss->site->site->reach.hanging.bytes)
		loss->site = path;
	loss->path_cnt++;
	loss->lost.bytes += reach->lost.bytes;
	loss->lost.count += reach->lost.count;
	loss->hanging.bytes += reach->hanging.bytes;
	loss->hanging.count += reach->hanging.count;
	loss->per_s += reach->lost_per_s;
	if (reach->lost_for_ns > loss->for_ns)
		loss->for_ns = reach->lost_for_ns;
}

static int by_lost_bytes(const void *left, const void *right)
{
	const struct proven_loss *a = left, *b = right;

	return ORDER(b->lost.bytes + b->hanging.bytes, a->lost.bytes + a->hanging.bytes)
		       ?: ORDER(a->site->site->id, b->site->site->id);
}

int losses_init(const struct report_site *paths, size_t cnt, size_t most, size_t *ret_cnt,
		struct proven_loss **ret)
{
	struct proven_loss *losses = calloc(cnt + 1, sizeof(*losses));
	size_t merged = 0;

	if (!losses)
		return -ENOMEM;
	for (size_t i = 0; i < cnt; i++) {
		size_t at = 0;

		while (at < merged && !are_one(losses[at].site, &paths[i]))
			at++;
		merged += at == merged;
		add_loss(&losses[at], &paths[i]);
		losses[at].process_cnt += is_of_new_process(paths, i);
	}
	qsort(losses, merged, sizeof(*losses), by_lost_bytes);
	*ret_cnt = merged < most ? merged : most;
	*ret = losses;
	return 0;
}

static int by_pinned_bytes(const void *left, const void *right)
{
	const struct pinner *a = left, *b = right;

	return ORDER(b->bytes, a->bytes) ?: ORDER(a->site->site->id, b->site->site->id);
}

int pinners_init(const struct report_site *paths, size_t cnt, size_t most, size_t *ret_cnt,
		 struct pinner **ret)
{
	struct pinner *pinners = calloc(cnt + 1, sizeof(*pinners));
	size_t merged = 0;

	if (!pinners)
		return -ENOMEM;
	for (size_t i = 0, at; i < cnt; i++) {
		for (at = 0; at < merged && !are_one(pinners[at].site, &paths[i]); at++)
			;
		if (at == merged)
			pinners[merged++] = (struct pinner){.site = &paths[i]};
		pinners[at].bytes += paths[i].site->pinned_bytes;
	}
	qsort(pinners, merged, sizeof(*pinners), by_pinned_bytes);
	*ret_cnt = merged < most ? merged : most;
	*ret = pinners;
	return 0;
}

bool suspect_has(const struct suspect *suspect, const struct report_site *path)
{
	return are_one(suspect->site, path);
}

bool suspects_move_first(struct suspect *suspects, size_t cnt, const struct report_site *path)
{
	struct suspect found;
	size_t at = 0;

	while (at < cnt && !are_one(suspects[at].site, path))
		at++;
	if (at == cnt)
		return false;
	found = suspects[at];
	found.is_slight = false;
	memmove(&suspects[1], suspects, at * sizeof(*suspects));
	suspects[0] = found;
	return true;
}

bool suspect_is_lost(const struct suspect *suspect, const struct proven_loss *losses, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (are_one(losses[i].site, suspect->site))
			return true;
	return false;
}
