/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes metrics as text in one of the formats that collectors read: OpenMetrics 1.0 or Prometheus
 * 0.0.4. (In Prometheus 0.0.4, the name of a counter's family also ends with _total, and no line
 * states the unit.) The output is valid whatever bytes labels contain. Knows nothing of reports.
 *
 * The caller must write a family first, then its samples. It must begin each sample, add its
 * labels, and end it with its value.
 */
#ifndef METRICS_TEXT_H
#define METRICS_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum metric_type { METRIC_GAUGE, METRIC_COUNTER };

struct metric_family {
	const char *name; /* name that ends with the unit, without _total */
	enum metric_type type;
	const char *unit; /* such as "bytes"; NULL if the family has no unit */
	const char *help;
};

struct metrics_text {
	FILE *out;
	bool open_metrics;
	const struct metric_family *family;
	bool labelled; /* true if the sample has a label already */
};

void metrics_text_init(struct metrics_text *text, FILE *out, bool open_metrics);
void metrics_text_end(struct metrics_text *text);

void metrics_family(struct metrics_text *text, const struct metric_family *family);

void metrics_begin(struct metrics_text *text);
/*
 * Adds a label unless the value is NULL or "": collectors treat an empty label like a missing one.
 */
void metrics_label(struct metrics_text *text, const char *name, const char *value);
__attribute__((format(printf, 3, 4))) void metrics_label_of(struct metrics_text *text,
							    const char *name, const char *fmt, ...);
void metrics_unsigned(struct metrics_text *text, uint64_t value);
void metrics_double(struct metrics_text *text, double value);

/* Write a family that has a single sample without labels. */
void metrics_one_unsigned(struct metrics_text *text, const struct metric_family *family,
			  uint64_t value);
void metrics_one_double(struct metrics_text *text, const struct metric_family *family,
			double value);

#endif
