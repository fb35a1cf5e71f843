/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts a model on the terminal. It changes nothing of it but what depends on the terminal's size.
 */
#ifndef SCREEN_DRAW_H
#define SCREEN_DRAW_H

#include "screen/model.h"
#include "screen/source.h"

/* What else is to be seen. */
struct drawing {
	struct source_reader *sources;
	const char *log;     /* what memleak has said, a line each */
	const char *unread;  /* the end of it that came since the last key */
	const char *waiting; /* what is said before the first report */
};

void draw(struct model *model, const struct drawing *drawing);

/* The row of the list at that line of the terminal; negative: there is none. */
int draw_row_at(int y);

#endif
