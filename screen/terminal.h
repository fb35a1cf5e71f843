/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes over the terminal, reads keys, and restores the terminal. Does not know what is drawn. */
#ifndef SCREEN_TERMINAL_H
#define SCREEN_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>

/* Returns NULL if stdin and stdout are a usable terminal, else a message. */
const char *terminal_fault(void);

/*
 * Takes over the terminal. wake_fd: an eventfd written when the size changes. Returns 0 or a
 * negative errno.
 */
int terminal_open(int wake_fd, bool colour);
/* Restores the terminal; may be called more than once. */
void terminal_close(void);
/* Restores the terminal and stops memleak until it is continued (fg). */
void terminal_suspend(void);
/* Adopts the terminal's current size. */
void terminal_resize(void);
/* Redraws everything at the next refresh. */
void terminal_redraw(void);
void terminal_mouse(bool on);

/* A position clicked with the mouse. */
struct terminal_point {
	int y;
	bool again; /* double click */
};

/* Returns the next key (enum screen_key) or character; 0 for a mouse click, -1 if there is none. */
int64_t terminal_key(struct terminal_point *point);

#endif
