// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes which containers and classes of a Python program grow. */
#include "sinks/python_line.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"

#define NSEC_PER_SEC UINT64_C(1000000000)
#define RATE_WHOLE 10

static double per_s(uint64_t more, uint64_t for_ns)
{
	return for_ns ? (double)more * NSEC_PER_SEC / (double)for_ns : 0;
}

/* Writes the class of a container without a name of its own: "a list", "an OrderedDict". */
static void write_one(FILE *out, const char *class)
{
	fputs(*class && strchr("AEIOUaeiou", *class) ? "an " : "a ", out);
	escape_puts(out, class);
}

static void write_name(FILE *out, const struct python_container *container)
{
	switch (container->named_by) {
	case PYTHON_VARIABLE:
		escape_puts(out, container->name);
		fputs(" (", out);
		escape_puts(out, container->class);
		fputc(')', out);
		break;
	case PYTHON_HOLDER:
		write_one(out, container->class);
		fputs(" in ", out);
		escape_puts(out, container->name);
		break;
	case PYTHON_KEY:
		write_one(out, container->class);
		fputs(" with the key \"", out);
		escape_puts(out, container->name);
		fputc('"', out);
		break;
	case PYTHON_UNNAMED:
	case PYTHON_NAME_CNT:
		write_one(out, container->class);
		break;
	}
}

void python_write_container(FILE *out, const struct python_container *container)
{
	double rate = per_s(container->more, container->for_ns);

	write_name(out, container);
	fprintf(out, " grows by %.*f items/s", rate < RATE_WHOLE ? 1 : 0, rate);
}

static void write_class(FILE *out, const struct python_class *class)
{
	char amount[AMOUNT_TEXT_SIZE];

	text_amount((double)class->more_bytes, amount);
	fprintf(out, "+%" PRIu64 " ", class->more);
	escape_puts(out, class->name);
	fprintf(out, " (%s)", amount);
}

/* True if the report has a suspect, or a runtime whose objects may be growing. */
static bool is_asked_for(const struct report *report)
{
	return report->suspect_cnt || report->unclear;
}

void python_write_line(const struct text_part *part)
{
	const struct python_growth *python = part->report->snapshot->python;
	FILE *out = part->out;

	if (!python || !is_asked_for(part->report))
		return;
	for (size_t i = 0; i < python->container_cnt; i++) {
		fputs(i ? "; " : "python: ", out);
		python_write_container(out, &python->containers[i]);
		fprintf(out, " to %" PRIu64, python->containers[i].items);
	}
	if (python->container_cnt && python->class_cnt)
		fputc('\n', out);
	for (size_t i = 0; i < python->class_cnt; i++) {
		fputs(i ? ", " : "python: ", out);
		write_class(out, &python->classes[i]);
	}
	if (python->class_cnt)
		fprintf(out, " in %" PRIu64 " s", python->classes[0].for_ns / NSEC_PER_SEC);
	fputc('\n', out);
}

static const char *const name_kinds[PYTHON_NAME_CNT] = {
	[PYTHON_KEY] = "key", [PYTHON_HOLDER] = "holder", [PYTHON_VARIABLE] = "variable"};

void python_write_json(struct json_writer *json, const struct python_growth *python)
{
	json_begin_object(json, "python");
	json_begin_array(json, "containers");
	for (size_t i = 0; i < python->container_cnt; i++) {
		const struct python_container *container = &python->containers[i];

		json_begin_object(json, NULL);
		json_string(json, "name", container->named_by ? container->name : NULL);
		json_string(json, "named_by", name_kinds[container->named_by]);
		json_string(json, "class", container->class);
		json_unsigned(json, "items", container->items);
		json_unsigned(json, "more", container->more);
		json_unsigned(json, "for_ns", container->for_ns);
		json_end_object(json);
	}
	json_end_array(json);
	json_begin_array(json, "classes");
	for (size_t i = 0; i < python->class_cnt; i++) {
		const struct python_class *class = &python->classes[i];

		json_begin_object(json, NULL);
		json_string(json, "name", class->name);
		json_unsigned(json, "count", class->count);
		json_unsigned(json, "more", class->more);
		json_unsigned(json, "more_bytes", class->more_bytes);
		json_unsigned(json, "for_ns", class->for_ns);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}
