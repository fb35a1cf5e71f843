// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzzes the reader of recordings, and everything that handles the snapshots in them; "make fuzz"
 * builds and runs it. An input that begins like a recording is read as a recording. Any other input
 * is a list of chunks, each with its length in two bytes and its content. make_file() makes a
 * recording of these chunks, because the fuzzer itself would hardly find data with right checksums
 * that deflate accepts.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "recording/format.h"
#include "recording/recording.h"
#include "report/diff.h"
#include "report/grouping.h"
#include "report/ranking.h"
#include "report/thread_split.h"
#include "sinks/diff.h"
#include "sinks/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_file(const uint8_t *data, size_t size, struct byte_buffer *file)
{
	const struct recording_header header = recording_header_now(~0U);
	uint8_t head[HEADER_BYTES];

	recording_header_put(&header, head);
	bytes_put(file, head, sizeof(head));
	while (size >= 2) {
		size_t len = data[0] | (size_t)data[1] << 8;
		struct byte_buffer payload = {0};
		uint8_t *chunk;
		size_t chunk_len;

		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		bytes_put(&payload, data, len);
		if (recording_pack(&payload, &chunk, &chunk_len))
			abort();
		bytes_put(file, chunk, chunk_len);
		free(chunk);
		free(payload.bytes);
		data += len;
		size -= len;
	}
}

static struct recording *open_bytes(const struct byte_buffer *file)
{
	FILE *stream = fmemopen(file->bytes, file->len, "r");
	struct recording *recording;

	if (!stream)
		abort();
	return recording__new(stream, &recording) ? NULL : recording;
}

static const struct options opts = {
	.top = 5,
	.show_allocs = true,
	.largest = true,
	.peak = true,
	.summary = true,
	.stats = true,
};

static void print(FILE *out, const struct report *report)
{
	sink_text.report(out, report);
	sink_json.report(out, report);
}

static void report_groups(FILE *out, enum group_by by, const struct snapshot *snap,
			  const struct growth *growth, struct symbol_backend *symbols)
{
	struct options grouped = opts;
	struct grouping grouping;
	struct growth *group_growth;
	struct report report;

	grouped.by = by;
	if (grouping_init(by, snap, symbols, &grouping))
		abort();
	group_growth = calloc(grouping.cnt + 1, sizeof(*group_growth));
	if (!group_growth || report_init_groups(&grouped, snap, growth, &grouping, group_growth,
						NULL, symbols, UINT64_MAX, true, &report))
		abort();
	print(out, &report);
	report_deinit(&report);
	grouping_deinit(&grouping);
	free(group_growth);
}

static void report_one(FILE *out, struct ranking *ranking, const struct snapshot *snap,
		       struct symbol_backend *symbols)
{
	struct growth *growth = calloc(snap->site_cnt + 1, sizeof(*growth));
	struct snapshot_view view;
	struct report report;

	if (!growth || ranking__update(ranking, snap, growth) ||
	    report_init(&opts, snap, growth, symbols, UINT64_MAX, false, &report))
		abort();
	print(out, &report);
	report_deinit(&report);
	report_groups(out, BY_MODULE, snap, growth, symbols);
	report_groups(out, BY_CGROUP, snap, growth, symbols);
	free(growth);
	view = snapshot_view_of(snap);
	if (thread_split(&view, 0, true))
		abort();
	growth = calloc(view.snap.site_cnt + 1, sizeof(*growth));
	if (!growth)
		abort();
	report_groups(out, BY_THREAD, &view.snap, growth, symbols);
	snapshot_view_deinit(&view);
	free(growth);
}

/* Compares the first snapshot of the recording with the last one. */
static void compare(FILE *out, const struct byte_buffer *file, bool same_run)
{
	struct recording *readers[2] = {open_bytes(file), open_bytes(file)};
	struct snapshot snaps[2] = {0}, next;
	struct diff_side sides[2] = {0};
	struct diff diff;
	bool final;

	if (recording__next(readers[0], &snaps[0], &final) == 1)
		while (recording__next(readers[1], &next, &final) == 1) {
			snapshot_deinit(&snaps[1]);
			snaps[1] = next;
		}
	for (size_t i = 0; i < 2; i++)
		sides[i] = (struct diff_side){
			.name = "x", .snap = &snaps[i], .symbols = recording__symbols(readers[i])};
	/* The recording may have no snapshot. */
	if (snaps[1].sites && !diff_init(&opts, sides, same_run, &diff)) {
		diff_write_text(out, &diff);
		diff_write_json(out, &diff);
		diff_deinit(&diff);
	}
	for (size_t i = 0; i < 2; i++) {
		snapshot_deinit(&snaps[i]);
		recording__free(readers[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *out;
	struct byte_buffer file = {0};
	struct recording *recording;
	struct ranking *ranking;
	struct snapshot snap;
	bool final, whole;
	int got;

	if (!out)
		out = fopen("/dev/null", "we");
	if (size >= 8 && !memcmp(data, "memleak\x1a", 8))
		bytes_put(&file, data, size);
	else
		make_file(data, size, &file);
	recording = open_bytes(&file);
	if (!recording || ranking__new(&ranking)) {
		free(file.bytes);
		return 0;
	}
	while ((got = recording__next(recording, &snap, &final)) == 1) {
		report_one(out, ranking, &snap, recording__symbols(recording));
		snapshot_deinit(&snap);
	}
	whole = !got;
	if (got > 0 || got < -4095)
		abort();
	ranking__free(ranking);
	recording__free(recording);
	if (whole) {
		compare(out, &file, true);
		compare(out, &file, false);
	}
	free(file.bytes);
	return 0;
}
