// SPDX-License-Identifier: GPL-2.0-or-later
/* Frees marks. */
#include "proof/marks.h"

#include <stdlib.h>
#include <string.h>

void marks_deinit(struct marks *marks)
{
	free(marks->kinds);
	free(marks->holders);
	free(marks->slots);
	memset(marks, 0, sizeof(*marks));
}
