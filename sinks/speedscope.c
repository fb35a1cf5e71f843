// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a file for speedscope: a list of functions, and two profiles with the same stacks. One
 * profile is in bytes, the other in blocks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "report/frame_walk.h"
#include "report/listing.h"
#include "sinks/json_writer.h"
#include "sinks/sink.h"

struct document {
	struct json_writer json;
	const struct report_site **sites;
	size_t site_cnt;
	/*
	 * Numbers of speedscope's frames. A frame is here a function with a source line, and not a
	 * call.
	 */
	struct intern frames;
};

static const char *file_of(const struct frame_walk *walk)
{
	return walk && walk->frame ? walk->frame->file : NULL;
}

static unsigned int line_of(const struct frame_walk *walk)
{
	return file_of(walk) ? walk->frame->line : 0;
}

/*
 * Returns the number of a frame, counted from 1; 0 if out of memory. Sets *fresh if the speedscope
 * file does not have the frame yet.
 */
static uint64_t frame_number(struct document *document, const char *name,
			     const struct frame_walk *walk, bool *fresh)
{
	const char *file = file_of(walk) ? file_of(walk) : "";
	struct byte_buffer key = {0};
	uint64_t number = 0;

	*fresh = false;
	bytes_put(&key, name, strlen(name) + 1);
	bytes_put(&key, file, strlen(file) + 1);
	bytes_put_number(&key, line_of(walk));
	if (!key.failed)
		number = intern_get(&document->frames, key.bytes, key.len, fresh);
	free(key.bytes);
	return number;
}

static int add_frame(void *arg, const char *name, const struct frame_walk *walk)
{
	struct document *document = arg;
	struct json_writer *json = &document->json;
	bool fresh;

	if (!frame_number(document, name, walk, &fresh))
		return -ENOMEM;
	if (!fresh)
		return 0;
	json_begin_object(json, NULL);
	json_string(json, "name", name);
	if (file_of(walk))
		json_string(json, "file", file_of(walk));
	if (line_of(walk))
		json_unsigned(json, "line", line_of(walk));
	json_end_object(json);
	return 0;
}

static int write_index(void *arg, const char *name, const struct frame_walk *walk)
{
	struct document *document = arg;
	bool fresh;
	uint64_t number = frame_number(document, name, walk, &fresh);

	json_unsigned(&document->json, NULL, number - 1);
	return number ? 0 : -ENOMEM;
}

static int write_frames(struct document *document)
{
	int err = 0;

	json_begin_object(&document->json, "shared");
	json_begin_array(&document->json, "frames");
	for (size_t i = 0; !err && i < document->site_cnt; i++)
		err = stack_for_each(document->sites[i], add_frame, document);
	json_end_array(&document->json);
	json_end_object(&document->json);
	return err;
}

static uint64_t bytes_of(const struct site *site)
{
	return site->bytes;
}

static uint64_t count_of(const struct site *site)
{
	return site->count;
}

static int write_profile(struct document *document, const char *name, const char *unit,
			 uint64_t (*weight)(const struct site *))
{
	struct json_writer *json = &document->json;
	uint64_t total = 0;
	int err = 0;

	json_begin_object(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", name);
	json_string(json, "unit", unit);
	json_begin_array(json, "samples");
	for (size_t i = 0; !err && i < document->site_cnt; i++) {
		json_begin_array(json, NULL);
		err = stack_for_each(document->sites[i], write_index, document);
		json_end_array(json);
	}
	json_end_array(json);
	json_begin_array(json, "weights");
	for (size_t i = 0; i < document->site_cnt; i++) {
		json_unsigned(json, NULL, weight(document->sites[i]->site));
		total += weight(document->sites[i]->site);
	}
	json_end_array(json);
	json_unsigned(json, "startValue", 0);
	json_unsigned(json, "endValue", total);
	json_end_object(json);
	return err;
}

static int write_profiles(struct document *document, const struct report *report)
{
	bool sampled = report->snapshot->sampling.mode != SAMPLING_NONE;
	int err;

	json_begin_array(&document->json, "profiles");
	err = write_profile(document,
			    sampled ? "outstanding bytes (estimated)" : "outstanding bytes",
			    "bytes", bytes_of);
	if (!err)
		err = write_profile(document,
				    sampled ? "outstanding allocations (estimated)"
					    : "outstanding allocations",
				    "none", count_of);
	json_end_array(&document->json);
	return err;
}

static int speedscope_report(FILE *out, const struct report *report)
{
	struct document document = {0};
	int err = report_list(report, report->site_cnt, &document.site_cnt, &document.sites);

	if (err)
		return err;
	json_init(&document.json, out);
	json_begin_object(&document.json, NULL);
	json_string(&document.json, "$schema",
		    "https://www.speedscope.app/file-format-schema.json");
	json_string(&document.json, "exporter", "memleak " MEMLEAK_VERSION);
	err = write_frames(&document);
	if (!err)
		err = write_profiles(&document, report);
	json_end_object(&document.json);
	fputc('\n', out);
	intern_deinit(&document.frames);
	free(document.sites);
	return err;
}

const struct sink sink_speedscope = {
	.name = "speedscope",
	.report = speedscope_report,
};
