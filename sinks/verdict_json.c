// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the verdict of a report, with its reasons, as one line of JSON of at most LINE_MOST bytes
 * ("memleak-verdict/1"), for scripts and assistants. If it would be longer, the last findings and
 * notes are left out, and counted. If no finding would fit, names are shortened.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "report/conclusion.h"
#include "sinks/json_parts.h"
#include "sinks/next_command.h"
#include "sinks/python_line.h"
#include "sinks/sink.h"
#include "sinks/text_facts.h"
#include "sinks/verdict.h"
#include "sinks/verdict_line.h"

#define LINE_MOST 3072
/* Maximum number of findings and notes, taken together, in the first attempt */
#define ITEMS_MOST 16
/* Maximum bytes of a function's name if not even one finding with full names fits into the line */
#define NAME_MOST 120

/* Number of findings and notes that may still be written, and number of those left out so far */
struct room {
	size_t left;
	size_t omitted;
};

static bool has_room(struct room *room)
{
	if (!room->left) {
		room->omitted++;
		return false;
	}
	room->left--;
	return true;
}

/* Writes a JSON string with the output of write(). Writes nothing if out of memory. */
static void write_words(struct json_writer *json, const char *key, const struct text_part *part,
			void (*write)(const struct text_part *part))
{
	struct text_part inner = *part;
	cleanup_free char *text = NULL;
	size_t len;

	inner.out = open_memstream(&text, &len);
	if (!inner.out)
		return;
	write(&inner);
	fclose(inner.out);
	json_string(json, key, text);
}

static void write_target(const struct text_part *part)
{
	text_write_target(part->out, part->report);
}

static void write_function(struct json_writer *json, const char *symbol, bool is_short)
{
	cleanup_free char *text = NULL;
	size_t len;
	FILE *out = is_short && symbol ? open_memstream(&text, &len) : NULL;

	if (out) {
		text_write_function(out, symbol, NAME_MOST);
		fclose(out);
	}
	json_string(json, "function", text ?: symbol);
}

static void write_path(struct json_writer *json, const char *key, const char *path, bool is_short)
{
	json_string(json, key, is_short && path ? path_name(path) : path);
}

static void write_place(struct json_writer *json, const struct text_part *part,
			const struct report_site *site)
{
	const struct sym_location *location =
		site->site->frame_cnt ? site->locations[site->blamed.frame] : NULL;
	const struct sym_frame *frame =
		location && location->frame_cnt && site->chunks.function != POOL_UNKNOWN
			? &location->frames[site->blamed.function]
			: NULL;

	write_function(json, frame && sym_is_known(frame->symbol) ? frame->symbol : NULL,
		       part->short_names);
	write_path(json, "file", frame && sym_is_known(frame->file) ? frame->file : NULL,
		   part->short_names);
	if (frame && frame->line)
		json_unsigned(json, "line", frame->line);
	else
		json_null(json, "line");
	write_path(json, "module",
		   location && sym_is_known(location->module) ? location->module : NULL,
		   part->short_names);
}

static void begin_finding(struct json_writer *json, const struct text_part *part, const char *what,
			  char *text, const struct report_site *site)
{
	cleanup_free char *owned = text;

	json_begin_object(json, NULL);
	json_string(json, "verdict", what);
	json_string(json, "text", owned);
	json_write_id(json, site->site->id);
	json_write_process(json, site->site->process);
	write_place(json, part, site);
	json_write_totals(json, "outstanding", site->site->bytes, site->site->count);
}

static void write_loss(struct json_writer *json, const struct text_part *part,
		       const struct proven_loss *loss)
{
	begin_finding(json, part, "lost", verdict_loss_line(part, loss, 0), loss->site);
	json_real(json, "blocks_per_s", loss->per_s);
	json_begin_object(json, "evidence");
	json_write_totals(json, "lost", loss->lost.bytes, loss->lost.count);
	json_write_totals(json, "lost_with_them", loss->hanging.bytes, loss->hanging.count);
	json_unsigned(json, "lost_for_ns", loss->for_ns);
	json_unsigned(json, "paths", loss->path_cnt);
	json_end_object(json);
	json_end_object(json);
}

static void write_suspect(struct json_writer *json, const struct text_part *part,
			  const struct suspect *suspect)
{
	const struct trend *trend = &suspect->site->history->trend;

	begin_finding(json, part, "grows", verdict_suspect_line(part, suspect, 0), suspect->site);
	json_real(json, "bytes_per_s", suspect->bytes_per_s);
	json_begin_object(json, "evidence");
	json_unsigned(json, "since_ns", suspect->since_ns);
	json_real(json, "score", trend->score.total);
	json_real(json, "confidence", trend->reasons.confidence);
	json_unsigned(json, "rises", trend->reasons.rises);
	json_unsigned(json, "paths", suspect->path_cnt);
	json_end_object(json);
	json_begin_object(json, "counter_evidence");
	json_unsigned(json, "seen", suspect->seen);
	json_unsigned(json, "freed", suspect->freed);
	json_unsigned(json, "older_ns", trend->score.older_ns);
	json_real(json, "recent_rate", trend->reasons.lately);
	json_end_object(json);
	json_end_object(json);
}

static void write_findings(struct json_writer *json, const struct text_part *part,
			   struct room *room)
{
	const struct report *report = part->report;

	json_begin_array(json, "findings");
	for (size_t i = 0; i < report->loss_cnt; i++)
		if (has_room(room))
			write_loss(json, part, &report->losses[i]);
	for (size_t i = 0; i < report->suspect_cnt; i++)
		if (!report->suspects[i].is_slight &&
		    !suspect_is_lost(&report->suspects[i], report->losses, report->loss_cnt) &&
		    has_room(room))
			write_suspect(json, part, &report->suspects[i]);
	json_end_array(json);
}

static void write_notes(struct json_writer *json, const struct text_part *part, struct room *room)
{
	struct text_part inner = *part;
	cleanup_free char *notes = NULL;
	char *rest = NULL;
	size_t len;

	inner.out = open_memstream(&notes, &len);
	if (!inner.out)
		return;
	text_write_incomplete(inner.out, part->report);
	verdict_write_notes(&inner);
	python_write_line(&inner);
	fclose(inner.out);
	json_begin_array(json, "notes");
	for (char *line = strtok_r(notes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (has_room(room))
			json_string(json, NULL, line + strspn(line, "\t"));
	json_end_array(json);
}

static void write_lost_events(struct json_writer *json, const uint64_t *lost)
{
	json_begin_object(json, "lost_events");
	for (size_t i = 0; i < LOSS_CNT; i++)
		if (lost[i])
			json_unsigned(json, lost_texts[i].key, lost[i]);
	json_end_object(json);
}

static void write_line(FILE *out, const struct report *report, size_t most, bool short_names)
{
	const struct text_part part = {.out = out,
				       .report = report,
				       .indent = "",
				       .with_process = text_several_processes(report->snapshot),
				       .look = LOOK_UNSIGNED,
				       .short_names = short_names};
	cleanup_free char *next = next_command(report);
	struct room room = {.left = most};
	struct json_writer json;

	json_init(&json, out);
	json_begin_object(&json, NULL);
	json_string(&json, "schema", "memleak-verdict/1");
	json_write_time(&json, report->snapshot->wall_ns);
	json_unsigned(&json, "elapsed_ns", report->snapshot->elapsed_ns);
	json_bool(&json, "final", report->final);
	write_words(&json, "target", &part, write_target);
	json_string(&json, "verdict", conclusion_name(conclusion_of(report)));
	json_string(&json, "level", conclusion_level(report));
	write_words(&json, "text", &part, verdict_write_sentence);
	json_string(&json, "next", next);
	json_write_totals(&json, "outstanding", report->bytes, report->count);
	json_unsigned(&json, "complete_bytes", report->complete_bytes);
	write_findings(&json, &part, &room);
	write_notes(&json, &part, &room);
	json_unsigned(&json, "omitted", room.omitted);
	write_lost_events(&json, report->snapshot->lost);
	json_end_object(&json);
	fputc('\n', out);
}

static int verdict_report(FILE *out, const struct report *report)
{
	bool short_names = false;

	for (size_t most = ITEMS_MOST;; most--) {
		cleanup_free char *line = NULL;
		size_t len;
		FILE *memory = open_memstream(&line, &len);

		if (!memory)
			return -ENOMEM;
		write_line(memory, report, most, short_names);
		if (fclose(memory))
			return -ENOMEM;
		if (most && len > LINE_MOST) {
			if (most == 1 && !short_names) {
				short_names = true;
				most = ITEMS_MOST + 1;
			}
			continue;
		}
		fwrite(line, 1, len, out);
		return 0;
	}
}

const struct sink sink_verdict = {
	.name = "verdict",
	.says_losses = true,
	.report = verdict_report,
};
