/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Draws a model on the terminal. Changes only those fields of the model that depend on the
 * terminal's size.
 */
#ifndef SCREEN_DRAW_H
#define SCREEN_DRAW_H

#include "screen/model.h"
#include "screen/source.h"

/* Data to be drawn that the model does not have. */
struct drawing {
	struct source_reader *sources;
	const char *log; /* messages that memleak has logged, one per line */
	/* the part of `log` that was logged after the user last pressed a key */
	const char *unread;
	const char *waiting; /* text shown before the first report */
};

void draw(struct model *model, const struct drawing *drawing);

/*
 * Returns the index, among the visible rows of the list, of the row at line `y` of the terminal.
 * Returns a negative number if the list is not at this line.
 */
int draw_row_at(int y);

#endif
