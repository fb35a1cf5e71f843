// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums up comparisons of stacks. */
#include "loader/unwind_verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/log.h"
#include "symbolizer/proc_maps.h"

void unwind_verdicts_deinit(struct unwind_verdicts *verdicts)
{
	for (size_t i = 0; i < verdicts->place_cnt; i++) {
		free(verdicts->places[i].file);
		free(verdicts->places[i].from);
		free(verdicts->places[i].memleak);
		free(verdicts->places[i].libdwfl);
	}
	*verdicts = (struct unwind_verdicts){0};
}

/* An address as a file and the offset in it; to be freed. */
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

static bool is_same_place(const struct verdict_place *place, enum agreement_verdict verdict,
			  const char *file)
{
	if (place->verdict != verdict || !place->file != !file)
		return false;
	return !file || !strcmp(place->file, file);
}

static void add_place(struct unwind_verdicts *verdicts, const struct proc_maps *maps,
		      const uint64_t *frames, size_t cnt, const struct reference_stack *reference,
		      const struct agreement *found)
{
	const struct mapping *mapping = proc_maps_find(maps, frames[found->last]);
	const char *file = mapping && *mapping->path ? mapping->path : NULL;

	for (size_t i = 0; i < verdicts->place_cnt; i++) {
		if (is_same_place(&verdicts->places[i], found->verdict, file)) {
			verdicts->places[i].stack_cnt++;
			return;
		}
	}
	if (verdicts->place_cnt == VERDICT_PLACES_MAX)
		return;
	verdicts->places[verdicts->place_cnt++] = (struct verdict_place){
		.verdict = found->verdict,
		.stack_cnt = 1,
		.file = file ? strdup(file) : NULL,
		.from = describe(maps, frames[found->last]),
		.memleak = describe_frame(maps, frames, cnt, found->last + 1),
		.libdwfl = describe_frame(maps, reference->frames, reference->cnt, found->last + 1),
	};
}

void unwind_verdicts_add(struct unwind_verdicts *verdicts, const struct proc_maps *maps,
			 const uint64_t *frames, size_t cnt,
			 const struct reference_stack *reference, const struct agreement *found)
{
	verdicts->stack_cnt++;
	verdicts->frame_cnt += found->compared;
	verdicts->by_verdict[found->verdict]++;
	if (found->verdict != AGREEMENT_SAME && found->verdict != AGREEMENT_BEYOND)
		add_place(verdicts, maps, frames, cnt, reference, found);
}

char *unwind_verdicts_text(const struct unwind_verdicts *verdicts)
{
	static const struct {
		enum agreement_verdict verdict;
		const char *text;
	} rest[] = {
		{AGREEMENT_NEITHER, "that neither finished"},
		{AGREEMENT_BEYOND, "that go beyond the memory that was copied"},
	};
	const uint64_t *by = verdicts->by_verdict;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	fprintf(out,
		"unwinding verified: %" PRIu64 " stacks, %" PRIu64 " frames compared, %" PRIu64
		" differ; %" PRIu64 " stacks that libdwfl finished and memleak did not; %" PRIu64
		" that memleak finished and libdwfl did not",
		verdicts->stack_cnt, verdicts->frame_cnt, by[AGREEMENT_DIFFERS],
		by[AGREEMENT_ONLY_REFERENCE], by[AGREEMENT_ONLY_WALK]);
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		if (by[rest[i].verdict])
			fprintf(out, "; %" PRIu64 " %s", by[rest[i].verdict], rest[i].text);
	if (verdicts->late_cnt)
		fprintf(out, "; %" PRIu64 " not compared, left to libdwfl for their code was new",
			verdicts->late_cnt);
	if (verdicts->unknown_cnt)
		fprintf(out, "; %" PRIu64 " not compared, of code that was not known",
			verdicts->unknown_cnt);
	return fclose(out) ? NULL : text;
}

void unwind_verdicts_say(const struct unwind_verdicts *verdicts)
{
	static const char *const verdict_texts[AGREEMENT_CNT] = {
		[AGREEMENT_DIFFERS] = "differs",
		[AGREEMENT_ONLY_REFERENCE] = "was finished by libdwfl alone",
		[AGREEMENT_ONLY_WALK] = "was finished by memleak alone",
		[AGREEMENT_NEITHER] = "was finished by neither",
	};
	cleanup_free char *text = unwind_verdicts_text(verdicts);

	if (text)
		log_note("%s", text);
	for (size_t i = 0; i < verdicts->place_cnt; i++) {
		const struct verdict_place *place = &verdicts->places[i];

		log_verbose("unwinding %s behind %s: %" PRIu64 " stacks; in the first, behind %s, "
			    "memleak found %s and libdwfl %s",
			    verdict_texts[place->verdict],
			    place->file ? place->file : "code of no file", place->stack_cnt,
			    place->from ? place->from : "?", place->memleak ? place->memleak : "?",
			    place->libdwfl ? place->libdwfl : "?");
	}
}
