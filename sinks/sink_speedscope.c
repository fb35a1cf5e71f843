// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file of speedscope: the functions once, and two profiles over the same stacks, one of bytes and
 * one of blocks.
 */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "report/frame_walk.h"
#include "sinks/json_writer.h"
#include "sinks/sink.h"

/* A name in a stack, with its line: what speedscope calls a frame. */
struct named {
	char *name;
	const char *file; /* the report's; NULL: not known */
	unsigned int line;
	uint64_t index;
};

struct document {
	struct json_writer json;
	void *frames; /* tree of struct named */
	uint64_t frame_cnt;
};

static int compare(const void *left, const void *right)
{
	const struct named *a = left;
	const struct named *b = right;
	int diff = strcmp(a->name, b->name);

	if (!diff)
		diff = strcmp(a->file ? a->file : "", b->file ? b->file : "");
	return diff ? diff : (a->line > b->line) - (a->line < b->line);
}

static void free_named(void *item)
{
	struct named *frame = item;

	free(frame->name);
	free(frame);
}

static struct named key_of(const char *name, const struct frame_walk *walk)
{
	const struct sym_frame *frame = walk ? walk->frame : NULL;

	return (struct named){
		.name = (char *)name,
		.file = frame ? frame->file : NULL,
		.line = frame && frame->file ? frame->line : 0,
	};
}

static void write_frame(struct json_writer *json, const struct named *frame)
{
	json_begin_object(json, NULL);
	json_string(json, "name", frame->name);
	if (frame->file)
		json_string(json, "file", frame->file);
	if (frame->line)
		json_unsigned(json, "line", frame->line);
	json_end_object(json);
}

static int add_frame(void *arg, const char *name, const struct frame_walk *walk)
{
	struct document *document = arg;
	struct named key = key_of(name, walk);
	struct named *frame;

	if (tfind(&key, &document->frames, compare))
		return 0;
	frame = malloc(sizeof(*frame));
	if (!frame)
		return -ENOMEM;
	*frame = key;
	frame->index = document->frame_cnt++;
	frame->name = strdup(name);
	if (!frame->name || !tsearch(frame, &document->frames, compare)) {
		free_named(frame);
		return -ENOMEM;
	}
	write_frame(&document->json, frame);
	return 0;
}

static int write_index(void *arg, const char *name, const struct frame_walk *walk)
{
	struct document *document = arg;
	struct named key = key_of(name, walk);
	struct named **frame = tfind(&key, &document->frames, compare);

	json_unsigned(&document->json, NULL, (*frame)->index);
	return 0;
}

static int write_frames(struct document *document, const struct report *report)
{
	int err = 0;

	json_begin_object(&document->json, "shared");
	json_begin_array(&document->json, "frames");
	for (size_t i = 0; !err && i < report->site_cnt; i++)
		err = stack_for_each(&report->sites[i], add_frame, document);
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

static int write_profile(struct document *document, const struct report *report, const char *name,
			 const char *unit, uint64_t (*weight)(const struct site *))
{
	struct json_writer *json = &document->json;
	uint64_t total = 0;
	int err = 0;

	json_begin_object(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", name);
	json_string(json, "unit", unit);
	json_begin_array(json, "samples");
	for (size_t i = 0; !err && i < report->site_cnt; i++) {
		json_begin_array(json, NULL);
		err = stack_for_each(&report->sites[i], write_index, document);
		json_end_array(json);
	}
	json_end_array(json);
	json_begin_array(json, "weights");
	for (size_t i = 0; i < report->site_cnt; i++) {
		json_unsigned(json, NULL, weight(report->sites[i].site));
		total += weight(report->sites[i].site);
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
	err = write_profile(document, report,
			    sampled ? "outstanding bytes (estimated)" : "outstanding bytes",
			    "bytes", bytes_of);
	if (!err)
		err = write_profile(document, report,
				    sampled ? "outstanding allocations (estimated)"
					    : "outstanding allocations",
				    "none", count_of);
	json_end_array(&document->json);
	return err;
}

static int speedscope_report(FILE *out, const struct report *report)
{
	struct document document = {0};
	int err;

	json_init(&document.json, out);
	json_begin_object(&document.json, NULL);
	json_string(&document.json, "$schema",
		    "https://www.speedscope.app/file-format-schema.json");
	json_string(&document.json, "exporter", "memleak " MEMLEAK_VERSION);
	err = write_frames(&document, report);
	if (!err)
		err = write_profiles(&document, report);
	json_end_object(&document.json);
	fputc('\n', out);
	tdestroy(document.frames, free_named);
	return err;
}

const struct sink sink_speedscope = {
	.name = "speedscope",
	.document = true,
	.report = speedscope_report,
};
