// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes which containers and classes of a Python program grow. */
#include "sinks/python_line.h"

#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "report/keepers.h"

#define NSEC_PER_SEC UINT64_C(1000000000)
/*
 * Rates from RATE_WHOLE on are written without a fraction. Rates below RATE_MIN are written as an
 * amount and a duration.
 */
#define RATE_WHOLE 10
#define RATE_MIN 0.1

/*
 * Size of a symbol that is made from the function and the file of a script line, such as
 * "py::f:app.py".
 */
#define SYMBOL_BYTES (sizeof("py:::") + 2 * PYTHON_TEXT_BYTES)

/* The script line that adds items to a container. */
struct keeper {
	struct sym_frame frame;
	/* memory for frame.symbol, if it is made from function and file */
	char symbol[SYMBOL_BYTES];
};

static double per_s(uint64_t more, uint64_t for_ns)
{
	return for_ns ? (double)more * NSEC_PER_SEC / (double)for_ns : 0;
}

/*
 * Writes the class of a container that has no name: "a list", "an OrderedDict", or "another list".
 */
static void write_one(FILE *out, const char *class, bool is_another)
{
	const char *article = *class && strchr("AEIOUaeiou", *class) ? "an " : "a ";

	fputs(is_another ? "another " : article, out);
	escape_puts(out, class);
}

/*
 * Writes the name and the class of a container. is_another: the container listed before it has the
 * same name and class.
 */
static void write_name(FILE *out, const struct python_container *container, bool is_another)
{
	switch (container->named_by) {
	case PYTHON_VARIABLE:
		fputs(is_another ? "another " : "", out);
		escape_puts(out, container->name);
		fputs(" (", out);
		escape_puts(out, container->class);
		fputc(')', out);
		break;
	case PYTHON_HOLDER:
		write_one(out, container->class, is_another);
		fputs(" in ", out);
		escape_puts(out, container->name);
		break;
	case PYTHON_KEY:
		write_one(out, container->class, is_another);
		fputs(" with the key \"", out);
		escape_puts(out, container->name);
		fputc('"', out);
		break;
	case PYTHON_UNNAMED:
	case PYTHON_NAME_CNT:
		write_one(out, container->class, is_another);
		break;
	}
}

/*
 * Writes a growth as "20 items/s" or, if its rate is below RATE_MIN, as "16 items in 600 s". unit:
 * "" or " items".
 */
static void write_rate(FILE *out, uint64_t more, uint64_t for_ns, const char *unit)
{
	double rate = per_s(more, for_ns);

	if (rate < RATE_MIN)
		fprintf(out, "%" PRIu64 "%s in %" PRIu64 " s", more, unit, for_ns / NSEC_PER_SEC);
	else
		fprintf(out, "%.*f%s/s", rate < RATE_WHOLE ? 1 : 0, rate, unit);
}

static void write_item_rate(FILE *out, const struct python_container *container)
{
	write_rate(out, container->more, container->for_ns, " items");
}

/* Returns a frame for a place in a script; its symbol is stored in `symbol`. */
static struct sym_frame place_frame(const struct python_place *place, char symbol[SYMBOL_BYTES])
{
	snprintf(symbol, SYMBOL_BYTES, "py::%s:%s", place->function, place->file);
	return (struct sym_frame){.symbol = symbol, .file = place->file, .line = place->line};
}

/*
 * Finds the script line that adds items to a container; if it is not known, the script line that
 * allocated the memory for its items. Returns false if neither is known.
 */
static bool find_keeper(const struct report *report, const struct python_container *container,
			struct keeper *ret)
{
	const struct report_site *site =
		keepers_find(report->keepers, report->keeper_cnt, container);
	const struct sym_location *location =
		site && site->site->frame_cnt ? site->locations[site->blamed.frame] : NULL;
	bool is_known = sym_is_script(location) && location->frame_cnt;

	if (*container->adder.function)
		ret->frame = place_frame(&container->adder, ret->symbol);
	else if (is_known)
		ret->frame = location->frames[site->blamed.function];
	return *container->adder.function || is_known;
}

static void write_keeper(FILE *out, const struct sym_frame *keeper, size_t name_max)
{
	text_write_function(out, keeper->symbol, name_max);
	text_write_short_source(out, keeper);
}

/*
 * Returns the first growing class for whose objects the creating function is known; NULL if there
 * is none.
 */
static const struct python_class *placed_class(const struct python_growth *python)
{
	for (size_t i = 0; i < python->class_cnt; i++)
		if (*python->classes[i].place.function)
			return &python->classes[i];
	return NULL;
}

static void write_place(FILE *out, const struct python_place *place, size_t name_max)
{
	char symbol[SYMBOL_BYTES];
	const struct sym_frame frame = place_frame(place, symbol);

	write_keeper(out, &frame, name_max);
}

static void write_placed(FILE *out, const struct python_class *class, bool is_first,
			 size_t name_max)
{
	if (!is_first)
		fputs(", and ", out);
	escape_puts(out, class->name);
	fprintf(out, " objects %sby ", is_first ? "grow " : "");
	write_rate(out, class->more, class->for_ns, "");
	fputs(" (", out);
	write_place(out, &class->place, name_max);
	fputc(')', out);
}

/*
 * Writes which container and which class grow. Called if no script line is known that adds items to
 * a container.
 */
static void write_without_keeper(FILE *out, const struct python_growth *python, size_t name_max)
{
	const struct python_class *class = placed_class(python);

	if (python->container_cnt) {
		write_name(out, &python->containers[0], false);
		fputs(" grows by ", out);
		write_item_rate(out, &python->containers[0]);
	}
	if (class)
		write_placed(out, class, !python->container_cnt, name_max);
}

bool python_names_growth(const struct report *report)
{
	const struct python_growth *python = report->snapshot->python;

	return python && (python->container_cnt || placed_class(python));
}

void python_write_growth(FILE *out, const struct report *report, size_t name_max)
{
	const struct python_growth *python = report->snapshot->python;
	struct keeper keeper;
	size_t at = 0;

	while (at < python->container_cnt && !find_keeper(report, &python->containers[at], &keeper))
		at++;
	if (at == python->container_cnt) {
		write_without_keeper(out, python, name_max);
		return;
	}
	write_keeper(out, &keeper.frame, name_max);
	fputs(" adds ", out);
	write_item_rate(out, &python->containers[at]);
	fputs(" to ", out);
	write_name(out, &python->containers[at], false);
}

static void write_container(FILE *out, const struct report *report,
			    const struct python_container *container, bool is_another)
{
	struct keeper keeper;

	write_name(out, container, is_another);
	fputs(" grows by ", out);
	write_item_rate(out, container);
	fprintf(out, " to %" PRIu64, container->items);
	if (!find_keeper(report, container, &keeper))
		return;
	fputs(", added by ", out);
	write_keeper(out, &keeper.frame, SIZE_MAX);
}

/* True if two containers have the same name and class, like equal attributes of two objects. */
static bool has_same_name(const struct python_container *a, const struct python_container *b)
{
	return a->named_by == b->named_by && !strcmp(a->name, b->name) &&
	       !strcmp(a->class, b->class);
}

/*
 * Writes whether the stacks in the report show each object, or only one small object per MiB,
 * depending on Python's allocator.
 */
static void write_allocator(FILE *out, enum python_allocator allocator)
{
	static const char *const texts[PYTHON_ALLOCATOR_CNT] = {
		[PYTHON_ALLOCATOR_POOLS] =
			"; stacks show one small object per MiB (PYTHONMALLOC=malloc: all)",
		[PYTHON_ALLOCATOR_HEAP] = "; stacks show each object",
	};

	if (texts[allocator])
		fputs(texts[allocator], out);
}

static void write_class(FILE *out, const struct python_class *class)
{
	char amount[AMOUNT_TEXT_SIZE];

	text_amount((double)class->more_bytes, amount);
	fprintf(out, "+%" PRIu64 " ", class->more);
	escape_puts(out, class->name);
	fprintf(out, " (%s", amount);
	if (*class->place.function) {
		fputs(", ", out);
		write_place(out, &class->place, SIZE_MAX);
	}
	fputc(')', out);
}

/* True if untraced anonymous memory grows: Python may be filling pools from before tracing. */
static bool fills_old_pools(const struct report *report)
{
	for (size_t i = 0; i < report->untraced.cnt; i++)
		if (report->untraced.items[i].part == FOOTPRINT_ANONYMOUS)
			return true;
	return false;
}

/* True if the report should have the lines about Python's growth; see python_write_line(). */
static bool is_asked_for(const struct report *report)
{
	return report->suspect_cnt || report->unclear || report->settling || report->pending ||
	       report->undecided || fills_old_pools(report);
}

static void write_uncounted(FILE *out, uint64_t uncounted)
{
	if (uncounted == PYTHON_UNCOUNTED_UNKNOWN)
		fputs("python: some objects could not be counted\n", out);
	else if (uncounted == 1)
		fputs("python: 1 object could not be counted\n", out);
	else if (uncounted)
		fprintf(out, "python: %" PRIu64 " objects could not be counted\n", uncounted);
}

static void write_json_uncounted(struct json_writer *json, uint64_t uncounted)
{
	if (uncounted == PYTHON_UNCOUNTED_UNKNOWN)
		json_null(json, "uncounted");
	else if (uncounted)
		json_unsigned(json, "uncounted", uncounted);
}

void python_write_line(const struct text_part *part)
{
	const struct python_growth *python = part->report->snapshot->python;
	FILE *out = part->out;

	if (!python || !is_asked_for(part->report))
		return;
	for (size_t i = 0; i < python->container_cnt; i++) {
		fputs(i ? "; " : "python: ", out);
		write_container(out, part->report, &python->containers[i],
				i && has_same_name(&python->containers[0], &python->containers[i]));
	}
	if (python->container_cnt && python->class_cnt)
		fputc('\n', out);
	for (size_t i = 0; i < python->class_cnt; i++) {
		fputs(i ? ", " : "python: ", out);
		write_class(out, &python->classes[i]);
	}
	if (python->class_cnt)
		fprintf(out, " in %" PRIu64 " s", python->classes[0].for_ns / NSEC_PER_SEC);
	if (python->container_cnt || python->class_cnt) {
		write_allocator(out, python->allocator);
		fputc('\n', out);
	}
	write_uncounted(out, python->uncounted);
}

static const char *const name_kinds[PYTHON_NAME_CNT] = {
	[PYTHON_KEY] = "key", [PYTHON_HOLDER] = "holder", [PYTHON_VARIABLE] = "variable"};

static const char *const allocator_names[PYTHON_ALLOCATOR_CNT] = {
	[PYTHON_ALLOCATOR_POOLS] = "pymalloc", [PYTHON_ALLOCATOR_HEAP] = "malloc"};

static void write_json_keeper(struct json_writer *json, const struct report *report,
			      const struct python_container *container)
{
	struct keeper keeper;

	if (!find_keeper(report, container, &keeper))
		return;
	json_string(json, "function", keeper.frame.symbol);
	json_string(json, "file", keeper.frame.file);
	json_unsigned(json, "line", keeper.frame.line);
}

static void write_json_place(struct json_writer *json, const struct python_place *place)
{
	if (!*place->function)
		return;
	json_string(json, "function", place->function);
	json_string(json, "file", place->file);
	json_unsigned(json, "line", place->line);
}

void python_write_json(struct json_writer *json, const struct report *report)
{
	const struct python_growth *python = report->snapshot->python;

	json_begin_object(json, "python");
	json_string(json, "allocator", allocator_names[python->allocator]);
	write_json_uncounted(json, python->uncounted);
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
		write_json_keeper(json, report, container);
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
		write_json_place(json, &class->place);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}
