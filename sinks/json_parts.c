// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes keys that several parts of a JSON report have in common: ids, processes, stacks. */
#include "sinks/json_parts.h"

#include <inttypes.h>
#include <time.h>

#include "sinks/sink.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000

bool time_text(int64_t wall_ns, char ret[TIME_TEXT_SIZE])
{
	time_t seconds = wall_ns / NSEC_PER_SEC;
	int millis = (int)(wall_ns % NSEC_PER_SEC / NSEC_PER_MSEC);
	struct tm tm;
	char day[TIME_TEXT_SIZE - 16];

	if (wall_ns < 0 || !gmtime_r(&seconds, &tm) ||
	    !strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm))
		return false;
	snprintf(ret, TIME_TEXT_SIZE, "%s.%03dZ", day, millis);
	return true;
}

void json_write_time(struct json_writer *json, int64_t wall_ns)
{
	char text[TIME_TEXT_SIZE];

	json_string(json, "time", time_text(wall_ns, text) ? text : NULL);
}

void json_write_id(struct json_writer *json, uint64_t id)
{
	char text[17];

	snprintf(text, sizeof(text), "%016" PRIx64, id);
	json_string(json, "id", text);
}

void json_write_process(struct json_writer *json, const struct process *process)
{
	if (!process) {
		json_null(json, "pid");
		json_null(json, "comm");
		return;
	}
	json_signed(json, "pid", process->pid);
	json_string(json, "comm", process->comm);
}

void json_write_totals(struct json_writer *json, const char *key, uint64_t bytes, uint64_t count)
{
	json_begin_object(json, key);
	json_unsigned(json, "bytes", bytes);
	json_unsigned(json, "count", count);
	json_end_object(json);
}

void json_write_reserved(struct json_writer *json, const struct reserved *reserved)
{
	json_begin_object(json, "reserved");
	json_unsigned(json, "bytes", reserved->bytes);
	json_unsigned(json, "count", reserved->count);
	json_unsigned(json, "sites", reserved->sites);
	json_end_object(json);
}

/* Writes a frame. `location` is NULL if only the address is known. */
static void write_frame(struct json_writer *json, uint64_t addr,
			const struct sym_location *location, const struct sym_frame *frame)
{
	static const struct sym_location no_location;

	if (!location)
		location = &no_location;
	json_begin_object(json, NULL);
	if (addr)
		json_hex(json, "addr", addr);
	else
		json_null(json, "addr");
	json_string(json, "symbol", frame->symbol);
	if (frame->symbol && !frame->inlined)
		json_unsigned(json, "offset", frame->offset);
	else
		json_null(json, "offset");
	json_string(json, "module", location->module);
	if (location->module)
		json_hex(json, "module_offset", location->module_offset);
	else
		json_null(json, "module_offset");
	json_string(json, "build_id", location->build_id);
	json_string(json, "file", frame->file);
	if (frame->line)
		json_unsigned(json, "line", frame->line);
	else
		json_null(json, "line");
	json_bool(json, "inlined", frame->inlined);
	json_end_object(json);
}

void json_write_stack(struct json_writer *json, const struct report_site *shown)
{
	static const struct sym_frame no_frame;

	json_begin_array(json, "stack");
	for (size_t i = 0; i < shown->site->frame_cnt; i++) {
		const struct sym_location *location = shown->locations[i];
		uint64_t addr = frame_address(shown->site->frames[i], location);

		if (!location || !location->frame_cnt)
			write_frame(json, addr, location, &no_frame);
		for (size_t j = 0; location && j < location->frame_cnt; j++)
			write_frame(json, addr, location, &location->frames[j]);
	}
	json_end_array(json);
}

static void write_index(struct json_writer *json, const char *key, const struct report_site *shown,
			const struct stack_pos *pos)
{
	size_t index = pos->function;

	for (size_t i = 0; i < pos->frame; i++)
		index += shown->locations[i] && shown->locations[i]->frame_cnt
				 ? shown->locations[i]->frame_cnt
				 : 1;
	json_unsigned(json, key, index);
}

void json_write_blamed(struct json_writer *json, const struct report_site *shown)
{
	if (shown->site->frame_cnt && shown->chunks.function != POOL_UNKNOWN)
		write_index(json, "culprit", shown, &shown->blamed);
	else
		json_null(json, "culprit");
	if (shown->has_through)
		write_index(json, "through", shown, &shown->through);
	else
		json_null(json, "through");
}

static const char *end_word(enum stack_end end)
{
	switch (end) {
	case STACK_END_UNKNOWN:
		return NULL;
	case STACK_END_COMPLETE:
		return "complete";
	case STACK_END_TRUNCATED:
		return "truncated";
	default:
		return "cut";
	}
}

void json_write_end(struct json_writer *json, enum stack_end end)
{
	json_string(json, "stack_end", end_word(end));
}

void json_write_lost(struct json_writer *json, const uint64_t *lost)
{
	json_begin_object(json, "lost");
	for (size_t i = 0; i < LOSS_CNT; i++)
		json_unsigned(json, lost_texts[i].key, lost[i]);
	json_end_object(json);
}
