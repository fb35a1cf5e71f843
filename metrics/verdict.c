// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the verdict of a report, its suspects, and the Python containers and classes that grow. */
#include "metrics/verdict.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "metrics/sites.h"
#include "report/conclusion.h"
#include "report/python_growth.h"
#include "report/runtime_objects.h"

static const struct metric_family verdict = {
	"memleak_verdict", METRIC_GAUGE, NULL,
	"1 for the verdict of the last report, 0 for all other verdicts."};
static const struct metric_family suspect_growth = {
	"memleak_suspect_growth_bytes_per_second", METRIC_GAUGE, "bytes_per_second",
	"Growth rate of each function, or kind of runtime objects, that seems to leak."};
static const struct metric_family container_items = {
	"memleak_python_container_items", METRIC_GAUGE, NULL,
	"Number of items in the Python containers that keep growing."};
static const struct metric_family class_objects = {
	"memleak_python_class_objects", METRIC_GAUGE, NULL,
	"Number of objects of the Python classes that grow most."};

static void write_conclusion(struct metrics_text *text, const struct report *report)
{
	metrics_family(text, &verdict);
	for (enum conclusion i = 0; i < CONCLUSION_CNT; i++) {
		metrics_begin(text);
		metrics_label(text, "verdict", conclusion_name(i));
		metrics_unsigned(text, i == conclusion_of(report));
	}
}

/*
 * Begins the row of a suspect that stands for objects of a language runtime. The row names no
 * function: the stack at which the runtime needs more memory may differ from report to report.
 */
static void begin_objects(struct metrics_text *text, const struct report_site *shown)
{
	metrics_begin(text);
	metrics_label_of(text, "site", "%016" PRIx64, shown->site->id);
	metrics_label(text, "space", "user");
	metrics_label_process(text, shown->site->process);
	metrics_label(text, "objects", shown->objects->words);
}

/* Begins the row of a chunk pool whose function is not known. */
static void begin_pool(struct metrics_text *text, const struct report_site *shown)
{
	metrics_begin(text);
	metrics_label_of(text, "site", "%016" PRIx64, shown->site->id);
	metrics_label(text, "space", "user");
	metrics_label_process(text, shown->site->process);
	metrics_label(text, "function", "[unknown]");
	metrics_label(text, "module", shown->locations[shown->blamed.frame]->module);
}

static void write_suspects(struct metrics_text *text, const struct report *report)
{
	metrics_family(text, &suspect_growth);
	for (size_t i = 0; i < report->suspect_cnt; i++) {
		const struct suspect *suspect = &report->suspects[i];

		if (suspect->site->objects)
			begin_objects(text, suspect->site);
		else if (suspect->site->chunks.function == POOL_UNKNOWN)
			begin_pool(text, suspect->site);
		else
			metrics_begin_site(text, suspect->site, suspect->has_instances);
		metrics_double(text, suspect->bytes_per_s);
	}
}

/* A growing Python container or class. For a class, `name` is NULL. */
struct item {
	const char *name;
	const char *class;
	uint64_t value;
};

static void write_labels(struct metrics_text *text, const struct item *item)
{
	metrics_label(text, "name", item->name);
	metrics_label(text, "class", item->class);
}

/* Returns the labels of an item as they are written, to be freed; NULL if out of memory. */
static char *labels_of(const struct item *item)
{
	struct metrics_text text = {0};
	char *labels = NULL;
	size_t len;

	text.out = open_memstream(&labels, &len);
	if (!text.out)
		return NULL;
	write_labels(&text, item);
	fclose(text.out);
	return labels;
}

/*
 * True if two items get the same labels; different names may do so, because invalid characters are
 * replaced.
 */
static bool have_one_label(const struct item *a, const struct item *b)
{
	cleanup_free char *left = labels_of(a), *right = labels_of(b);

	return a == b || (left && right && !strcmp(left, right));
}

/*
 * Writes one row for all items that get the same labels, with the sum of their values: two rows of
 * a family must not have the same labels.
 */
static void write_items(struct metrics_text *text, const struct metric_family *family,
			const struct item *items, size_t cnt)
{
	metrics_family(text, family);
	for (size_t i = 0; i < cnt; i++) {
		uint64_t sum = 0;
		size_t first = 0;

		while (!have_one_label(&items[first], &items[i]))
			first++;
		for (size_t j = i; first == i && j < cnt; j++)
			sum += have_one_label(&items[j], &items[i]) ? items[j].value : 0;
		if (first < i)
			continue;
		metrics_begin(text);
		write_labels(text, &items[i]);
		metrics_unsigned(text, sum);
	}
}

static void write_python(struct metrics_text *text, const struct python_growth *python)
{
	struct item containers[PYTHON_CONTAINERS_MAX], classes[PYTHON_CLASSES_MAX];

	for (size_t i = 0; i < python->container_cnt; i++)
		containers[i] =
			(struct item){python->containers[i].name, python->containers[i].class,
				      python->containers[i].items};
	for (size_t i = 0; i < python->class_cnt; i++)
		classes[i] = (struct item){NULL, python->classes[i].name, python->classes[i].count};
	write_items(text, &container_items, containers, python->container_cnt);
	write_items(text, &class_objects, classes, python->class_cnt);
}

void metrics_write_verdict(struct metrics_text *text, const struct report *report)
{
	const struct python_growth *python = report->snapshot->python;

	write_conclusion(text, report);
	write_suspects(text, report);
	if (python)
		write_python(text, python);
}
