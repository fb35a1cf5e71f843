// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes facts about a core file and its process. */
#include "sinks/core.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "base/path.h"
#include "sinks/json_parts.h"

/* Maximum number of threads that are listed */
#define THREADS_MOST 8

static void write_thread(FILE *out, const struct core_thread *thread)
{
	const struct sym_frame frame = {.file = thread->file, .line = thread->line};

	fprintf(out, "\tthread %d: ", thread->tid);
	if (thread->function)
		escape_puts(out, thread->function);
	else
		fprintf(out, "0x%" PRIx64, thread->pc);
	text_write_source(out, &frame);
	if (thread->module) {
		fputs(thread->module[0] == '[' ? " " : " [", out);
		escape_puts(out, path_name(thread->module));
		fputs(thread->module[0] == '[' ? "" : "]", out);
	}
	fputc('\n', out);
}

static void write_heap(const struct text_part *part, const struct core_facts *core)
{
	FILE *out = part->out;

	fputs("\theap: ", out);
	text_write_bytes(part, core->used.bytes);
	fputs(" used in ", out);
	text_write_count(out, core->used.count, "block");
	fputs(", ", out);
	text_write_bytes(part, core->free_.bytes);
	fputs(" free in ", out);
	text_write_count(out, core->free_.count, "block");
	if (part->look == LOOK_BCC) {
		fprintf(out, ", %" PRIu64 " the allocator's own; ", core->own_bytes);
	} else {
		fputs(", ", out);
		text_write_bytes(part, core->own_bytes);
		fputs(" of the allocator's own; ", out);
	}
	text_write_bytes(part, core->memory_bytes);
	fputs(" of memory in all\n", out);
	if (core->missing_bytes) {
		fputs("\ttruncated; missing at the end of the file: ", out);
		text_write_bytes(part, core->missing_bytes);
		fputc('\n', out);
	}
	if (core->absent_bytes) {
		fputs("\tnot written to the core: ", out);
		text_write_bytes(part, core->absent_bytes);
		fputs(" of memory, whose pointers are unknown\n", out);
	}
}

void core_write_text(const struct text_part *part)
{
	const struct core_facts *core = part->report->snapshot->core;
	FILE *out = part->out;

	escape_puts(out, core->path);
	fputs(": ", out);
	escape_puts(out, *core->arguments ? core->arguments : *core->program ? core->program : "?");
	fprintf(out, ", pid %d, ", core->pid);
	if (core->signal) {
		const char *name = sigabbrev_np(core->signal);

		fputs("ended by ", out);
		if (name)
			fprintf(out, "SIG%s", name);
		else
			fprintf(out, "signal %d", core->signal);
	} else {
		fputs("not ended by a signal", out);
	}
	fputs(", ", out);
	text_write_count(out, core->thread_cnt, "thread");
	fputc('\n', out);
	for (size_t i = 0; i < core->thread_cnt && i < THREADS_MOST; i++)
		write_thread(out, &core->threads[i]);
	if (core->thread_cnt > THREADS_MOST)
		text_write_more(out, "\t", core->thread_cnt - THREADS_MOST, "thread");
	write_heap(part, core);
}

static void write_thread_json(struct json_writer *json, const struct core_thread *thread)
{
	json_begin_object(json, NULL);
	json_signed(json, "tid", thread->tid);
	json_hex(json, "addr", thread->pc);
	json_string(json, "symbol", thread->function);
	json_string(json, "module", thread->module);
	json_string(json, "file", thread->file);
	if (thread->line)
		json_unsigned(json, "line", thread->line);
	else
		json_null(json, "line");
	json_end_object(json);
}

void core_write_json(struct json_writer *json, const struct core_facts *core)
{
	json_begin_object(json, "core");
	json_string(json, "path", core->path);
	json_string(json, "program", core->program);
	json_string(json, "arguments", core->arguments);
	json_signed(json, "pid", core->pid);
	json_signed(json, "signal", core->signal);
	json_unsigned(json, "memory_bytes", core->memory_bytes);
	json_unsigned(json, "missing_bytes", core->missing_bytes);
	json_unsigned(json, "absent_bytes", core->absent_bytes);
	json_write_totals(json, "used", core->used.bytes, core->used.count);
	json_write_totals(json, "free", core->free_.bytes, core->free_.count);
	json_unsigned(json, "own_bytes", core->own_bytes);
	json_begin_array(json, "threads");
	for (size_t i = 0; i < core->thread_cnt; i++)
		write_thread_json(json, &core->threads[i]);
	json_end_array(json);
	json_end_object(json);
}
