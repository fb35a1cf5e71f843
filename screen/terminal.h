/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal: taken over, read from, and given back as it was. It does not know what is drawn. */
#ifndef SCREEN_TERMINAL_H
#define SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* NULL: there is one that can be drawn on; else what is wrong, in words. */
const char *terminal_fault(void);

/* wake_fd: an eventfd, which is written to when the size has changed. 0 or a negative errno. */
int terminal_open(int wake_fd, bool colour);
/* Gives it back; may be called again. */
void terminal_close(void);
/* Gives it back until somebody says fg. */
void terminal_suspend(void);
/* Takes over the size that it has now. */
void terminal_resize(void);
/* What is drawn next is drawn from scratch. */
void terminal_redraw(void);
void terminal_mouse(bool on);

/* What was pointed at. */
struct terminal_point {
	int y;
	bool again; /* a double click */
};

/* A key, as of enum screen_key, or a character; 0: a point; -1: none is there. */
int64_t terminal_key(struct terminal_point *point);

#endif
