// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the earlier reports of a scene, and a ranking that has seen them. */
#include "tests/unit/lib/past.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void past_report(struct past *past, const struct snapshot *snap)
{
	free(past->growth);
	past->growth = calloc(snap->site_cnt + 1, sizeof(*past->growth));
	assert_non_null(past->growth);
	assert_int_equal(ranking__update(past->ranking, snap, past->growth), 0);
}

/* Sets the ages of a site's blocks in report `at` as if no earlier block had been freed. */
static void past_ages(struct site *site, uint64_t count, unsigned int at, unsigned int cnt)
{
	size_t now = age_class(site->oldest_ns * at / cnt);

	site->ages = (struct ages){0};
	site->ages.bytes[now] = site->bytes;
	site->ages.count[now] = (uint32_t)(count * at / cnt);
	site->kept[age_class(site->oldest_ns * (at - 1) / cnt)] =
		(uint32_t)(count * (at - 1) / cnt);
}

/*
 * Makes report number `at` of `cnt` reports over which memory grows evenly up to the snapshot. The
 * report has the fraction at / cnt of the snapshot's memory.
 */
static void past_share(struct past *past, const struct snapshot *snap, unsigned int at,
		       unsigned int cnt)
{
	struct site *sites = calloc(snap->site_cnt + 1, sizeof(*sites));
	struct snapshot share = *snap;

	assert_non_null(sites);
	/* The reports are spread over about a minute: 12 times the snapshot's elapsed time. */
	share.elapsed_ns = 12 * snap->elapsed_ns * at / cnt;
	share.sites = sites;
	for (size_t i = 0; i < snap->site_cnt; i++) {
		sites[i] = snap->sites[i];
		sites[i].bytes = sites[i].bytes * at / cnt;
		sites[i].count = sites[i].count * at / cnt;
		past_ages(&sites[i], snap->sites[i].count, at, cnt);
	}
	past_report(past, &share);
	free(sites);
}

struct past past_of(const struct snapshot *before, const struct snapshot *snap,
		    unsigned int growing)
{
	struct past past = {0};

	assert_int_equal(ranking__new(&past.ranking), 0);
	if (before)
		past_report(&past, before);
	for (unsigned int i = 1; i <= growing; i++)
		past_share(&past, snap, i, growing);
	if (!growing)
		past_report(&past, snap);
	return past;
}

void past_deinit(struct past *past)
{
	ranking__free(past->ranking);
	free(past->growth);
}
