// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes metrics as text: headers of metric families, escaped labels, and numbers. */
#include "metrics/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/*
 * Maximum length of a label's value: names of C++ templates can be very long, and collectors store
 * each value.
 */
#define VALUE_MAX_BYTES 512

void metrics_text_init(struct metrics_text *text, FILE *out, bool open_metrics)
{
	*text = (struct metrics_text){.out = out, .open_metrics = open_metrics};
}

void metrics_text_end(struct metrics_text *text)
{
	if (text->open_metrics)
		fputs("# EOF\n", text->out);
}

static const char *suffix_of(const struct metric_family *family)
{
	return family->type == METRIC_COUNTER ? "_total" : "";
}

void metrics_family(struct metrics_text *text, const struct metric_family *family)
{
	const char *suffix = text->open_metrics ? "" : suffix_of(family);
	const char *type = family->type == METRIC_COUNTER ? "counter" : "gauge";

	text->family = family;
	fprintf(text->out, "# TYPE %s%s %s\n", family->name, suffix, type);
	if (text->open_metrics && family->unit)
		fprintf(text->out, "# UNIT %s %s\n", family->name, family->unit);
	fprintf(text->out, "# HELP %s%s %s\n", family->name, suffix, family->help);
}

void metrics_begin(struct metrics_text *text)
{
	fprintf(text->out, "%s%s", text->family->name, suffix_of(text->family));
	text->labelled = false;
}

/*
 * Writes the first character of `value`, escaped if needed. Returns how many bytes this character
 * has in `value`.
 */
static size_t write_character(FILE *out, const char *value, size_t left)
{
	uint32_t character;
	size_t len = utf8_decode(value, left, &character);

	if (*value == '\n')
		fputs("\\n", out);
	else if (*value == '"' || *value == '\\')
		fprintf(out, "\\%c", *value);
	else if (!len || !is_plain_character(character))
		fputs(REPLACEMENT, out);
	else
		fwrite(value, 1, len, out);
	return len ? len : 1;
}

void metrics_label(struct metrics_text *text, const char *name, const char *value)
{
	FILE *out = text->out;
	size_t left = value ? strlen(value) : 0;
	size_t most = left < VALUE_MAX_BYTES ? 0 : left - VALUE_MAX_BYTES;

	if (!left)
		return;
	fprintf(out, "%c%s=\"", text->labelled ? ',' : '{', name);
	text->labelled = true;
	while (left > most) {
		size_t len = write_character(out, value, left);

		value += len;
		left -= len;
	}
	fputs(left ? "...\"" : "\"", out);
}

void metrics_label_of(struct metrics_text *text, const char *name, const char *fmt, ...)
{
	cleanup_free char *value = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&value, fmt, args) < 0)
		value = NULL;
	va_end(args);
	metrics_label(text, name, value);
}

static void end_labels(struct metrics_text *text)
{
	fputs(text->labelled ? "} " : " ", text->out);
}

void metrics_unsigned(struct metrics_text *text, uint64_t value)
{
	end_labels(text);
	fprintf(text->out, "%" PRIu64 "\n", value);
}

void metrics_double(struct metrics_text *text, double value)
{
	end_labels(text);
	if (isnan(value))
		fputs("NaN\n", text->out);
	else if (isinf(value))
		fputs(value < 0 ? "-Inf\n" : "+Inf\n", text->out);
	else
		fprintf(text->out, "%.15g\n", value);
}

void metrics_one_unsigned(struct metrics_text *text, const struct metric_family *family,
			  uint64_t value)
{
	metrics_family(text, family);
	metrics_begin(text);
	metrics_unsigned(text, value);
}

void metrics_one_double(struct metrics_text *text, const struct metric_family *family, double value)
{
	metrics_family(text, family);
	metrics_begin(text);
	metrics_double(text, value);
}
