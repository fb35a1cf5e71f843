// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes strings, code addresses and stacks of a heaptrack file. Each string, address and stack has
 * a line of its own, before the first line that refers to it.
 */
#include "sinks/heaptrack_names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"

size_t heaptrack_number(struct heaptrack_names *names, struct intern *table, const void *bytes,
			size_t len, bool *is_new)
{
	size_t number = intern_get(table, bytes, len, is_new);

	names->failed |= !number;
	return number;
}

/*
 * Returns the number of a string; for an empty text or NULL, 0, which means "no string" in the
 * file.
 */
static size_t string_number(struct heaptrack_names *names, const char *text)
{
	cleanup_free char *escaped = NULL;
	size_t number;
	bool is_new;

	if (!text || !*text)
		return 0;
	number = heaptrack_number(names, &names->strings, text, strlen(text), &is_new);
	if (!is_new)
		return number;
	escaped = escape_dup(text);
	if (escaped)
		fprintf(names->out, "s %zx %s\n", strlen(escaped), escaped);
	names->failed |= !escaped;
	return number;
}

static size_t code_number(struct heaptrack_names *names, uint64_t frame,
			  const struct sym_location *location)
{
	const uint64_t key[] = {(uintptr_t)location, frame};
	size_t frame_cnt = location ? location->frame_cnt : 0, module;
	bool is_new;
	size_t number = heaptrack_number(names, &names->codes, key, sizeof(key), &is_new);

	if (!is_new)
		return number;
	module = string_number(names, location ? location->module : NULL);
	for (size_t i = 0; i < frame_cnt; i++) {
		string_number(names, location->frames[i].symbol);
		string_number(names, location->frames[i].file);
	}
	/*
	 * All strings of this line are written by now, so string_number() inserts no line into it.
	 */
	fprintf(names->out, "i %" PRIx64 " %zx", frame_address(frame, location), module);
	for (size_t i = 0; i < frame_cnt; i++) {
		const struct sym_frame *function = &location->frames[i];

		if (!function->symbol || !*function->symbol)
			break;
		fprintf(names->out, " %zx %zx %x", string_number(names, function->symbol),
			string_number(names, function->file), function->line);
	}
	fputc('\n', names->out);
	return number;
}

/*
 * Returns the number of a code address that stands for a remark: a made-up function whose name is
 * the remark.
 */
static size_t remark_number(struct heaptrack_names *names, const char *words)
{
	size_t string = string_number(names, words);
	bool is_new;
	size_t number = heaptrack_number(names, &names->codes, &string, sizeof(string), &is_new);

	if (is_new)
		fprintf(names->out, "i 0 0 %zx 0 0\n", string);
	return number;
}

static size_t trace_number(struct heaptrack_names *names, size_t parent, size_t code)
{
	const size_t key[] = {code, parent};
	bool is_new;
	size_t number = heaptrack_number(names, &names->traces, key, sizeof(key), &is_new);

	if (is_new)
		fprintf(names->out, "t %zx %zx\n", code, parent);
	return number;
}

size_t heaptrack_remark(struct heaptrack_names *names, size_t parent, const char *format, ...)
{
	cleanup_free char *words = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&words, format, args) < 0)
		words = NULL;
	va_end(args);
	names->failed |= !words;
	return trace_number(names, parent, remark_number(names, words));
}

size_t heaptrack_call(struct heaptrack_names *names, size_t parent, uint64_t frame,
		      const struct sym_location *location)
{
	return trace_number(names, parent, code_number(names, frame, location));
}

void heaptrack_names_deinit(struct heaptrack_names *names)
{
	intern_deinit(&names->strings);
	intern_deinit(&names->codes);
	intern_deinit(&names->traces);
}
