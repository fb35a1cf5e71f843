/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes out of snapshots the sites that suppressions are about. Each site is named once for that,
 * and what came of it is remembered by the site's id.
 */
#ifndef SUPPRESSOR_H
#define SUPPRESSOR_H

#include "report/report.h"
#include "report/suppressions.h"

struct suppressor;

/* suppressions must outlive it. */
int suppressor__new(const struct suppressions *suppressions, struct suppressor **ret);
void suppressor__free(struct suppressor *suppressor);

/*
 * Takes them out, with their blocks, and out of the peak as well, and tells what that was in
 * snap->suppressed; both are valid until the next call. What cannot be named within budget_ms stays
 * and is tried again the next time. Fails only with -ENOMEM; the snapshot is then as it was.
 */
int suppressor__apply(struct suppressor *suppressor, struct symbol_backend *symbols,
		      unsigned int budget_ms, struct snapshot *snap);

#endif
