// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a heap profile (profile.proto, compressed) for pprof and for other readers of its format.
 * The profile contains the names of functions and files, so machines that do not have the traced
 * programs can read it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <zlib.h>

#include "base/cleanup.h"
#include "report/frame.h"
#include "report/frame_walk.h"
#include "report/listing.h"
#include "sinks/profile.h"
#include "sinks/sink.h"

#define GZIP_WINDOW (15 + 16)
#define GZIP_MEMORY 8

/*
 * Returns the ratio by which outstanding amounts are multiplied to estimate all allocations of a
 * site: the number of all its blocks that reports have seen, divided by the number of those blocks
 * that are outstanding. Blocks freed before any report saw them are not counted. Bytes are
 * multiplied by the same ratio: the sizes of freed blocks are not known.
 */
static double seen_per_block(const struct site_history *history)
{
	uint64_t freed = history ? history_freed(history, 0) : 0;

	if (!history || history->seen <= freed)
		return 1;
	return (double)history->seen / (double)(history->seen - freed);
}

static uint64_t scaled(uint64_t value, double factor)
{
	return factor > 1 ? estimate_rounded((double)value * factor) : value;
}

static void add_values(struct profile *profile, Pprof__Sample *sample,
		       const struct report_site *shown)
{
	const struct site *site = shown->site;
	double seen = seen_per_block(shown->history);

	profile_add_value(profile, sample, scaled(site->count, seen));
	profile_add_value(profile, sample, scaled(site->bytes, seen));
	profile_add_value(profile, sample, site->count);
	profile_add_value(profile, sample, site->bytes);
}

static void add_labels(struct profile *profile, Pprof__Sample *sample, const struct site *site)
{
	if (site->process) {
		profile_add_label(profile, sample, "pid", NULL, site->process->pid);
		profile_add_label(profile, sample, "comm", stack_root(site), 0);
	}
	profile_add_label(profile, sample, "space", site->space == SPACE_KERNEL ? "kernel" : "user",
			  0);
	profile_add_label(profile, sample, "kind", kind_name(site->kind), 0);
	if (site->origin.cache)
		profile_add_label(profile, sample, "cache", site->origin.cache, 0);
}

static void add_bytes(struct profile *profile, Pprof__Sample *sample, const char *key,
		      uint64_t bytes)
{
	const int64_t most = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;

	if (bytes)
		profile_add_number(profile, sample, key, most, "bytes");
}

/* Adds labels for the result of a proof; an amount of 0 gets no label. */
static void add_reach(struct profile *profile, Pprof__Sample *sample,
		      const struct report_site *shown)
{
	static const char *const keys[REACH_CNT] = {"definite_bytes", "indirect_bytes",
						    "possible_bytes", "reachable_bytes"};
	const struct site_reach *reach = &shown->site->reach;

	for (size_t i = 0; i < REACH_CNT; i++)
		add_bytes(profile, sample, keys[i], reach->of[i].bytes);
	add_bytes(profile, sample, "lost_bytes", reach->lost.bytes);
	if (shown->held_by_cnt)
		profile_add_label(profile, sample, "held_by", shown->held_by[0], 0);
}

/*
 * Returns an address within the call instruction: the return address is after the call, and may
 * belong to another line or function.
 */
static uint64_t call_address(const struct site *site, uint64_t frame,
			     const struct sym_location *location)
{
	uint64_t addr = frame_address(frame, location);

	/* A memory address has no meaning without mappings, which recordings do not have. */
	if (site->space != SPACE_KERNEL && location && location->module && !location->mapping.end)
		addr = location->module_offset;
	return addr && !frame_is_exact(frame) ? addr - 1 : addr;
}

/*
 * Adds the location of a frame, and returns its id. Modules of kernel frames are in brackets:
 * otherwise pprof would search for files with these names.
 */
static uint64_t add_place(struct profile *profile, const struct site *site, uint64_t frame,
			  const struct sym_location *location)
{
	uint64_t address = call_address(site, frame, location);
	const char *module = location ? location->module : NULL;
	cleanup_free char *bracketed = NULL;

	if (module && site->space == SPACE_KERNEL) {
		if (asprintf(&bracketed, "[%s]", module) < 0) {
			bracketed = NULL;
			profile->err = -ENOMEM;
		}
		module = bracketed;
	}
	return profile_location(profile, address, module, location);
}

static void add_stack(struct profile *profile, Pprof__Sample *sample,
		      const struct report_site *shown)
{
	const struct site *site = shown->site;
	const char *missing = frame_missing(site);

	for (size_t i = shown->first_frame; i < site->frame_cnt; i++)
		profile_add_frame(profile, sample,
				  add_place(profile, site, site->frames[i], shown->locations[i]));
	if (missing)
		profile_add_frame(profile, sample, profile_named(profile, missing));
}

static void add_site(struct profile *profile, const struct report_site *shown)
{
	Pprof__Sample *sample = profile_add_sample(profile);

	if (!sample)
		return;
	add_stack(profile, sample, shown);
	add_values(profile, sample, shown);
	add_labels(profile, sample, shown->site);
	add_reach(profile, sample, shown);
}

/* Adds the comments that "pprof -comments" prints. */
static void add_comments(struct profile *profile, const struct snapshot *snap)
{
	if (snap->sampling.mode != SAMPLING_NONE)
		profile_add_comment(profile, "estimates, scaled up from samples");
	for (size_t i = 0; i < LOSS_CNT; i++) {
		cleanup_free char *words = snap->lost[i] ? lost_describe(i, snap->lost[i]) : NULL;
		cleanup_free char *text = NULL;

		if (!snap->lost[i])
			continue;
		if (!words || asprintf(&text, "lost: %s", words) < 0) {
			text = NULL;
			profile->err = -ENOMEM;
			return;
		}
		profile_add_comment(profile, text);
	}
}

static void add_period(struct profile *profile, const struct sampling *sampling)
{
	Pprof__Profile *message = profile->message;

	if (sampling->mode == SAMPLING_COUNT)
		message->period_type = profile_value_type(profile, "objects", "count");
	else
		message->period_type = profile_value_type(profile, "space", "bytes");
	message->period = sampling->mode == SAMPLING_NONE ? 1 : (int64_t)sampling->rate;
}

/*
 * Adds the mapping of the program first, because pprof takes the first mapping for the program.
 * Uses the module of the outermost function, which is usually the program.
 */
static void add_program(struct profile *profile, const struct report_site *shown)
{
	const struct site *site = shown->site;
	size_t last = site->frame_cnt - 1;

	if (site->frame_cnt)
		add_place(profile, site, site->frames[last], shown->locations[last]);
}

static int fill(struct profile *profile, const struct report *report)
{
	cleanup_free const struct report_site **sites = NULL;
	size_t cnt;
	int err = report_list(report, report->site_cnt, &cnt, &sites);
	const struct snapshot *snap = report->snapshot;
	Pprof__Profile *message = profile->message;

	profile_add_sample_type(profile, "alloc_objects", "count");
	profile_add_sample_type(profile, "alloc_space", "bytes");
	profile_add_sample_type(profile, "inuse_objects", "count");
	profile_add_sample_type(profile, "inuse_space", "bytes");
	message->default_sample_type = profile_string(profile, "inuse_space");
	message->time_nanos = snap->wall_ns;
	message->duration_nanos = (int64_t)snap->elapsed_ns;
	add_period(profile, &snap->sampling);
	add_comments(profile, snap);
	if (report->site_cnt)
		add_program(profile, report->sites);
	for (size_t i = 0; !err && i < cnt; i++)
		add_site(profile, sites[i]);
	return err;
}

static int write_gzip(FILE *out, uint8_t *bytes, size_t len)
{
	z_stream stream = {.next_in = bytes, .avail_in = (uInt)len};
	uLong room;
	cleanup_free uint8_t *packed = NULL;
	int err = -ENOMEM;

	if (len != (uInt)len || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
					     GZIP_WINDOW, GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	room = deflateBound(&stream, len);
	packed = malloc(room);
	stream.next_out = packed;
	stream.avail_out = (uInt)room;
	if (packed && deflate(&stream, Z_FINISH) == Z_STREAM_END) {
		fwrite(packed, 1, stream.total_out, out);
		err = 0;
	}
	deflateEnd(&stream);
	return err;
}

static int write_message(FILE *out, const Pprof__Profile *message)
{
	size_t len = pprof__profile__get_packed_size(message);
	cleanup_free uint8_t *bytes = malloc(len);

	if (!bytes)
		return -ENOMEM;
	pprof__profile__pack(message, bytes);
	return write_gzip(out, bytes, len);
}

static int pprof_report(FILE *out, const struct report *report)
{
	struct profile profile;
	int err;

	profile_init(&profile);
	err = profile.err ?: fill(&profile, report);
	err = err ?: profile.err ?: write_message(out, profile.message);
	profile_deinit(&profile);
	return err;
}

const struct sink sink_pprof = {
	.name = "pprof",
	.binary = true,
	.report = pprof_report,
};
