// SPDX-License-Identifier: GPL-2.0-or-later
/* Stores points with a count of their users, and finds equal points by a hash of their content. */
#include "report/shared_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define POINT_WORDS (sizeof(struct history_point) / sizeof(uint64_t))

_Static_assert(sizeof(struct history_point) == 8 * sizeof(uint64_t) + 12 * (SPAN_CNT + 1),
	       "struct history_point has no padding, so its bytes can be compared");

struct shared_point {
	struct history_point point; /* the first member, so that the two have the same address */
	size_t users;
};

static uint64_t hash_of(const struct history_point *point)
{
	uint64_t words[POINT_WORDS], hash = 0;

	memcpy(words, point, sizeof(words));
	for (size_t i = 0; i < POINT_WORDS; i++)
		hash = hash_word(hash, words[i]);
	return hash;
}

const struct history_point *shared_points_get(struct shared_points *points,
					      const struct history_point *point)
{
	uint64_t hash = hash_of(point);
	struct shared_point *shared = hash_map_get(&points->by_hash, hash);

	if (shared && !memcmp(&shared->point, point, sizeof(*point))) {
		shared->users++;
		return &shared->point;
	}
	shared = malloc(sizeof(*shared));
	if (!shared)
		return NULL;
	*shared = (struct shared_point){.point = *point, .users = 1};
	if (hash_map_set(&points->by_hash, hash, shared)) {
		free(shared);
		return NULL;
	}
	return &shared->point;
}

void shared_points_end(struct shared_points *points)
{
	hash_map_deinit(&points->by_hash);
}

void history_point_drop(const struct history_point *point)
{
	struct shared_point *shared = (struct shared_point *)point;

	if (!--shared->users)
		free(shared);
}
