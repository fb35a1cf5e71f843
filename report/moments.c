// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses which times of earlier snapshots are kept. */
#include "report/moments.h"

#include "base/array.h"
#include "base/bisect.h"

size_t moments_least_informative(const uint64_t *ns, size_t cnt)
{
	uint64_t now_ns = ns[cnt - 1];
	double least = 0;
	size_t ret = 1;

	for (size_t i = 1; i + RECENT_MOMENTS < cnt; i++) {
		double gap = (double)(ns[i + 1] - ns[i - 1]);
		double weight = gap / (double)(now_ns - ns[i] + 1);

		if (i == 1 || weight < least) {
			least = weight;
			ret = i;
		}
	}
	return ret;
}

void moments_add(struct moments *moments, uint64_t ns)
{
	moments->ns[moments->cnt++] = ns;
	if (moments->cnt == MOMENTS_MAX)
		array_remove(moments->ns, &moments->cnt,
			     moments_least_informative(moments->ns, moments->cnt));
}

size_t moments_before(const struct moments *moments, uint64_t ns)
{
	return bisect_numbers(moments->ns, moments->cnt, ns);
}
