/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the screen: its rows, their order, the selection, and what keys do. Knows nothing of
 * curses and does not block.
 */
#ifndef SCREEN_MODEL_H
#define SCREEN_MODEL_H

#include "base/hash_map.h"
#include "screen/shown_report.h"

enum screen_view { VIEW_STACK, VIEW_PROCESS, VIEW_THREAD, VIEW_MODULE, VIEW_CNT };

/* Columns of the list, in the order of display. */
enum screen_column {
	COLUMN_BYTES,
	COLUMN_COUNT,
	COLUMN_CHANGE,
	COLUMN_RATE,
	COLUMN_AGE,
	COLUMN_VERDICT,
	COLUMN_NAME,
	COLUMN_CNT,
};

enum screen_page { PAGE_LIST, PAGE_STACK, PAGE_FACTS, PAGE_HELP };

/* Requests that the user makes by a key, and that the caller must carry out. */
enum screen_ask {
	ASK_NOTHING,
	ASK_QUIT,
	ASK_SUSPEND,
	ASK_REDRAW,  /* redraw everything */
	ASK_MOUSE,   /* switch the mouse on or off */
	ASK_NOW,     /* make a report */
	ASK_PROOF,   /* make a report with a proof */
	ASK_BASE,    /* set a baseline */
	ASK_PAGE,    /* write an HTML page */
	ASK_RECORD,  /* begin or end a recording */
	ASK_THREADS, /* make a report that lists the threads of each stack */
	ASK_MOMENT,  /* show the report number wanted_moment of a recording */
};

/* Keys that do not stand for a character. Their numbers are above those of all characters. */
enum screen_key {
	KEY_IS_UP = 0x110000,
	KEY_IS_DOWN,
	KEY_IS_LEFT,
	KEY_IS_RIGHT,
	KEY_IS_PAGE_UP,
	KEY_IS_PAGE_DOWN,
	KEY_IS_HOME,
	KEY_IS_END,
	KEY_IS_ENTER,
	KEY_IS_ESCAPE,
	KEY_IS_BACKSPACE,
	KEY_IS_TAB,
	KEY_IS_BACK_TAB,
	KEY_IS_HELP,
	KEY_IS_UNKNOWN,
};

#define FILTER_SIZE 128

struct model {
	struct shown_report *shown;  /* report that is shown; NULL before the first report */
	struct shown_report *newest; /* while paused: the latest report; NULL if there is none */
	bool paused;
	bool ended; /* true if there will be no more reports */
	/* true if the reports are those of a recording, and the user can move among them */
	bool recorded;
	size_t moment, wanted_moment, moment_cnt;

	enum screen_view view;
	enum screen_column sort;
	bool inverted;
	char filter[FILTER_SIZE];
	bool is_typing; /* true while the user is typing the filter */
	/* true while the user is typing the number of a recorded report to jump to */
	bool is_jumping;
	size_t typed_moment;
	enum screen_page page;
	/*
	 * Name and id of the open group, whose stacks are listed; the name is NULL if none is open.
	 */
	char *within;
	uint64_t within_id;

	/* bytes at the mark, cast to pointers, of each stack and of each thread in a stack */
	struct hash_map marks;
	bool has_thread_marks;
	int64_t mark_ns; /* time of the report at which the user set the mark; 0 if none */

	/* if rows are grouped: memory for the rows of the list, which are groups or parts of one */
	struct screen_row *sums;
	size_t sum_cnt;
	/* pointers to the rows in `sums` or of the report, in the order in which they are listed */
	const struct screen_row **rows;
	size_t row_cnt;
	size_t hidden_cnt; /* number of stacks that the filter hides */
	size_t selected;
	size_t top;       /* index of the first visible row */
	size_t page_rows; /* number of rows that fit on the screen; set by draw() */
	/*
	 * on the page of a stack: index of the selected function; on a page of text: first visible
	 * line
	 */
	size_t line;
	size_t line_cnt; /* number of possible values of `line`; set by draw() */
};

void model_init(enum screen_view view, enum screen_column sort, struct model *ret);
void model_deinit(struct model *model);

/*
 * Shows a report. While the screen is paused, only stores the report as `newest`. Takes ownership
 * of the report, even on failure. Returns 0 or -ENOMEM.
 */
int model_show(struct model *model, struct shown_report *shown);

/*
 * Handles a key or character. *ret is the request that it makes, or ASK_NOTHING. Returns 0 or
 * -ENOMEM.
 */
int model_key(struct model *model, uint32_t key, enum screen_ask *ret);

/*
 * Handles a click on a visible row. `again` is true for a double click, which opens the row.
 * Returns 0 or -ENOMEM.
 */
int model_point(struct model *model, size_t row, bool again);

/* Returns the selected row; NULL if there is none. */
const struct screen_row *model_selected(const struct model *model);

/* Returns the word for a view: "stack", "process", "thread" or "module". */
const char *view_word(enum screen_view view);

/* Returns the verdict on a row, such as "lost 5.00M", "leaks 97%" or "steady". */
void row_verdict(const struct screen_row *row, char ret[SHORT_AMOUNT_SIZE]);

#endif
