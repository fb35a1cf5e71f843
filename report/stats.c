// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of tables in reports. */
#include "report/stats.h"

const char *table_name(enum table table)
{
	static const char *const names[TABLE_CNT] = {
		[TABLE_BLOCKS] = "blocks", [TABLE_RECENT] = "young",    [TABLE_SITES] = "sites",
		[TABLE_STACKS] = "stacks", [TABLE_THREADS] = "threads",
	};

	return names[table];
}
