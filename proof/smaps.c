// SPDX-License-Identifier: GPL-2.0-or-later
/* First parses the lines that describe mappings, then the lines with the sizes of mappings. */
#include "proof/smaps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KIB 1024U

/* Returns the text that follows `name` and blanks, NULL if the line does not begin with `name`. */
static const char *value_of(const char *line, const char *end, const char *name)
{
	size_t len = strlen(name);

	if ((size_t)(end - line) <= len || memcmp(line, name, len) != 0)
		return NULL;
	line += len;
	while (line < end && *line == ' ')
		line++;
	return line;
}

static uint64_t number(const char *text, const char *end, unsigned int base)
{
	uint64_t value = 0;

	for (; text < end; text++) {
		const char *digits = "0123456789abcdef", *digit = memchr(digits, *text, base);

		if (!digit || value > UINT64_MAX / base - base)
			break;
		value = value * base + (uint64_t)(digit - digits);
	}
	return value;
}

/*
 * Returns the mapping whose description begins at this line, NULL if the line belongs to the
 * description of the previous mapping.
 */
static const struct mapping *mapping_of(const struct proc_maps *maps, const char *line,
					const char *end)
{
	const char *dash = memchr(line, '-', (size_t)(end - line));
	const struct mapping *mapping;
	uint64_t start;

	if (!dash || dash == line || dash - line > 16)
		return NULL;
	start = number(line, dash, 16);
	mapping = proc_maps_find(maps, start);
	return mapping && mapping->start == start ? mapping : NULL;
}

static void read_sizes(const char *text, size_t len, struct smaps *smaps)
{
	const char *at = text, *end = text + len;
	const struct mapping *mapping = NULL, *next;

	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));
		const char *value;

		if (!line_end)
			line_end = end;
		value = value_of(at, line_end, "AnonHugePages:");
		if (value)
			smaps->huge += number(value, line_end, 10) * KIB;
		value = value_of(at, line_end, "Swap:");
		if (value)
			smaps->swapped += number(value, line_end, 10) * KIB;
		value = value_of(at, line_end, "Rss:");
		if (value && mapping)
			smaps->rss[mapping - smaps->maps.mappings] =
				number(value, line_end, 10) * KIB;
		else if ((next = mapping_of(&smaps->maps, at, line_end)))
			mapping = next;
		at = line_end + 1;
	}
}

int smaps_parse(const char *text, size_t len, struct smaps *ret)
{
	int err = proc_maps_parse(text, len, &ret->maps);

	if (err)
		return err;
	ret->huge = ret->swapped = 0;
	ret->rss = calloc(ret->maps.cnt + 1, sizeof(*ret->rss));
	if (!ret->rss) {
		proc_maps_deinit(&ret->maps);
		return -ENOMEM;
	}
	read_sizes(text, len, ret);
	return 0;
}

void smaps_deinit(struct smaps *smaps)
{
	free(smaps->rss);
	proc_maps_deinit(&smaps->maps);
}
