/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes over the terminal, reads keys, and restores the terminal. Does not know what is drawn. */
#ifndef SCREEN_TERMINAL_H
#define SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Returns NULL if stdin and stdout are a usable terminal, else a message that says why not. */
const char *terminal_fault(void);

/*
 * Takes over the terminal. wake_fd is an eventfd, to which memleak writes when the terminal's size
 * changes. Returns 0 or a negative errno.
 */
int terminal_open(int wake_fd, bool colour);
/* Restores the terminal; may be called more than once. */
void terminal_close(void);
/* Restores the terminal, stops memleak until the user continues it (fg), and takes over again. */
void terminal_suspend(void);
void terminal_resize(void);
/* Makes the next refresh redraw everything. */
void terminal_redraw(void);
void terminal_mouse(bool on);

/* The line that was clicked with the mouse. */
struct terminal_point {
	int y;
	bool again; /* true for a double click */
};

/*
 * Returns the next key: an enum screen_key or a character. 0 is a mouse click, stored in *point; -1
 * means no key.
 */
int64_t terminal_key(struct terminal_point *point);

#endif
