// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares memleak's walks with libdwfl's walks of the same stacks, and counts the results. */
#include "loader/stacks/comparison.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/proc_maps.h"

void comparison_deinit(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->place_cnt; i++) {
		free(comparison->places[i].file);
		free(comparison->places[i].from);
		free(comparison->places[i].memleak);
		free(comparison->places[i].libdwfl);
	}
	*comparison = (struct comparison){0};
}

/*
 * Returns an address as text, which the caller frees: file and offset, or the plain address if no
 * file is mapped there. NULL if out of memory.
 */
static char *describe(const struct proc_maps *maps, uint64_t addr)
{
	const struct mapping *mapping = proc_maps_find(maps, addr);
	char *text;
	int len;

	if (mapping && *mapping->path)
		len = asprintf(&text, "%s+0x%" PRIx64, mapping->path,
			       addr - mapping->start + mapping->offset);
	else
		len = asprintf(&text, "0x%" PRIx64, addr);
	return len < 0 ? NULL : text;
}

static char *describe_frame(const struct proc_maps *maps, const uint64_t *frames, size_t cnt,
			    size_t at)
{
	return at < cnt ? describe(maps, frames[at]) : strdup("nothing");
}

static bool is_same_place(const struct comparison_place *place, enum agreement_verdict verdict,
			  const char *file)
{
	if (place->verdict != verdict || !place->file != !file)
		return false;
	return !file || !strcmp(place->file, file);
}

static void add_place(struct comparison *comparison, const struct proc_maps *maps,
		      const uint64_t *frames, size_t cnt, const struct walker_stack *walker,
		      const struct agreement *found)
{
	const struct mapping *mapping = proc_maps_find(maps, frames[found->last]);
	const char *file = mapping && *mapping->path ? mapping->path : NULL;

	for (size_t i = 0; i < comparison->place_cnt; i++) {
		if (is_same_place(&comparison->places[i], found->verdict, file)) {
			comparison->places[i].stack_cnt++;
			return;
		}
	}
	if (comparison->place_cnt == COMPARISON_PLACES_MAX)
		return;
	comparison->places[comparison->place_cnt++] = (struct comparison_place){
		.verdict = found->verdict,
		.stack_cnt = 1,
		.file = file ? strdup(file) : NULL,
		.from = describe(maps, frames[found->last]),
		.memleak = describe_frame(maps, frames, cnt, found->last + 1),
		.libdwfl = describe_frame(maps, walker->frames, walker->cnt, found->last + 1),
	};
}

void comparison_add(struct comparison *comparison, const struct proc_maps *maps,
		    const uint64_t *frames, size_t cnt, const struct walker_stack *walker,
		    const struct agreement *found)
{
	comparison->stack_cnt++;
	comparison->frame_cnt += found->compared;
	comparison->by_verdict[found->verdict]++;
	if (found->verdict != AGREEMENT_SAME && found->verdict != AGREEMENT_BEYOND)
		add_place(comparison, maps, frames, cnt, walker, found);
}

static void compare(struct comparison *comparison, struct walker_spaces *walker,
		    const struct walker_code_space *space, const struct memleak_stack_copy *copy)
{
	uint64_t frames[MEMLEAK_MAX_STACK_DEPTH];
	struct walker_stack stack;
	struct agreement found;

	if (walker_spaces_walk(walker, space, &copy->copy, &stack))
		return;
	for (uint32_t i = 0; i < copy->frame_cnt; i++)
		frames[i] = MEMLEAK_FRAME_ADDR(copy->frames[i]);
	found = agreement_find(frames, copy->frame_cnt, copy->end, &stack);
	comparison_add(comparison, &space->maps, frames, copy->frame_cnt, &stack, &found);
}

void comparison_take(struct comparison *comparison, struct walker_spaces *walker,
		     const struct memleak_stack_copy *copy)
{
	const struct walker_code_space *space = walker_spaces_find(walker, copy->generation);

	if (comparison->stack_cnt >= comparison->wanted)
		return;
	if (!copy->frame_cnt || copy->frame_cnt > MEMLEAK_MAX_STACK_DEPTH)
		return;
	if (space)
		compare(comparison, walker, space, copy);
	else
		comparison->unknown_cnt++;
}

char *comparison_text(const struct comparison *comparison)
{
	static const struct {
		enum agreement_verdict verdict;
		const char *text;
	} rest[] = {
		{AGREEMENT_NEITHER, "that neither finished"},
		{AGREEMENT_BEYOND, "that go beyond the memory that was copied"},
	};
	const uint64_t *by = comparison->by_verdict;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out,
		"unwinding verified: %" PRIu64 " stacks, %" PRIu64 " frames compared, %" PRIu64
		" differ; %" PRIu64 " stacks that libdwfl finished and memleak did not; %" PRIu64
		" that memleak finished and libdwfl did not",
		comparison->stack_cnt, comparison->frame_cnt, by[AGREEMENT_DIFFERS],
		by[AGREEMENT_ONLY_WALKER], by[AGREEMENT_ONLY_WALK]);
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		if (by[rest[i].verdict])
			fprintf(out, "; %" PRIu64 " %s", by[rest[i].verdict], rest[i].text);
	if (comparison->deferred_cnt)
		fprintf(out, "; %" PRIu64 " not compared: only libdwfl walked them (new code)",
			comparison->deferred_cnt);
	if (comparison->unknown_cnt)
		fprintf(out, "; %" PRIu64 " not compared: unknown code", comparison->unknown_cnt);
	return fclose(out) ? NULL : text;
}

void comparison_say(const struct comparison *comparison)
{
	static const char *const verdict_texts[AGREEMENT_CNT] = {
		[AGREEMENT_DIFFERS] = "differs",
		[AGREEMENT_ONLY_WALKER] = "was finished by libdwfl alone",
		[AGREEMENT_ONLY_WALK] = "was finished by memleak alone",
		[AGREEMENT_NEITHER] = "was finished by neither",
	};
	cleanup_free char *text = comparison_text(comparison);

	if (text)
		log_note("%s", text);
	for (size_t i = 0; i < comparison->place_cnt; i++) {
		const struct comparison_place *place = &comparison->places[i];

		log_verbose("unwinding %s after %s: %" PRIu64
			    " stacks; in the first one, after %s, memleak found %s and libdwfl %s",
			    verdict_texts[place->verdict],
			    place->file ? place->file : "code of no file", place->stack_cnt,
			    place->from ? place->from : "?", place->memleak ? place->memleak : "?",
			    place->libdwfl ? place->libdwfl : "?");
	}
}
