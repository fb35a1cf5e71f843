// SPDX-License-Identifier: GPL-2.0-or-later
/* Remembers the totals of the latest reports. */
#include "report/totals.h"

#include <math.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000

void totals_add(struct totals *totals, uint64_t bytes, uint64_t at_ns)
{
	if (totals->cnt == TOTALS_MOST) {
		totals->cnt--;
		memmove(totals->bytes, totals->bytes + 1, totals->cnt * sizeof(*totals->bytes));
		memmove(totals->at_ns, totals->at_ns + 1, totals->cnt * sizeof(*totals->at_ns));
	}
	totals->bytes[totals->cnt] = bytes;
	totals->at_ns[totals->cnt++] = at_ns;
	if (bytes > totals->peak_bytes)
		totals->peak_bytes = bytes;
}

void totals_set_baseline(struct totals *totals, uint64_t baseline_ns)
{
	totals->baseline_ns = baseline_ns;
	totals->peak_bytes = 0;
}

double totals_per_s(const struct totals *totals)
{
	size_t first = 0, last = totals->cnt ? totals->cnt - 1 : 0;
	double gained;

	while (first < last && totals->at_ns[first] < totals->baseline_ns)
		first++;
	if (totals->at_ns[last] <= totals->at_ns[first])
		return NAN;
	gained = (double)totals->bytes[last] - (double)totals->bytes[first];
	return gained * NSEC_PER_SEC / (double)(totals->at_ns[last] - totals->at_ns[first]);
}
