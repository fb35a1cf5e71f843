/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes over the terminal, reads keys, and restores the terminal. Does not know what is drawn. */
#ifndef SCREEN_TERMINAL_H
#define SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Returns NULL if stdin and stdout are a usable terminal, else a message that says why not. */
const char *terminal_fault(void);

/*
 * Takes over the terminal. wake_fd is an eventfd, which is written when the terminal's size
 * changes. Returns 0 or a negative errno.
 */
int terminal_open(int wake_fd, bool colour);
/* Restores the terminal; may be called more than once. */
void terminal_close(void);
/* Restores the terminal and stops memleak until it is continued (fg). */
void terminal_suspend(void);
/* Uses the current size of the terminal from now on. */
void terminal_resize(void);
/* Makes the next refresh redraw everything. */
void terminal_redraw(void);
void terminal_mouse(bool on);

/* A position clicked with the mouse. */
struct terminal_point {
	int y;
	bool again; /* double click */
};

/*
 * Returns the next key: an enum screen_key or a character. Returns 0 for a mouse click, or -1 if
 * there is no key.
 */
int64_t terminal_key(struct terminal_point *point);

#endif
