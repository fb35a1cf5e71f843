/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the screen is about: which rows, in which order, which of them is chosen, and what a key
 * changes of that. It knows nothing of curses, and waits for nobody.
 */
#ifndef SCREEN_MODEL_H
#define SCREEN_MODEL_H

#include "base/hash_map.h"
#include "screen/shown_report.h"

enum screen_view { VIEW_STACK, VIEW_PROCESS, VIEW_THREAD, VIEW_MODULE, VIEW_CNT };

/* In the order in which they stand. */
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

/* What others have to do for a key. */
enum screen_ask {
	ASK_NOTHING,
	ASK_QUIT,
	ASK_SUSPEND,
	ASK_REDRAW,  /* from scratch */
	ASK_MOUSE,   /* on or off */
	ASK_NOW,     /* a report */
	ASK_PROOF,   /* one with a proof */
	ASK_BASE,    /* a baseline */
	ASK_PAGE,    /* HTML */
	ASK_RECORD,  /* begin or end */
	ASK_THREADS, /* a report that tells threads apart */
	ASK_MOMENT,  /* of a recording: wanted_moment */
};

/* Beside characters. */
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

struct screen_mark {
	uint64_t id;
	uint64_t bytes;
};

struct model {
	struct shown_report *shown;  /* NULL: there was no report yet */
	struct shown_report *newest; /* while it is paused: what has come since; NULL: nothing */
	bool paused;
	bool ended;    /* nothing comes any more */
	bool recorded; /* moments of a recording */
	size_t moment, wanted_moment, moment_cnt;

	enum screen_view view;
	enum screen_column sort;
	bool inverted;
	char filter[FILTER_SIZE];
	bool is_typing;
	enum screen_page page;
	/* The group that is looked into, and its name; NULL: none. */
	char *within;
	uint64_t within_id;

	struct screen_mark *marks;
	size_t mark_cnt;
	struct hash_map mark_of; /* by id */
	int64_t mark_ns;         /* 0: there is none */

	struct screen_row *sums; /* groups, or parts of rows */
	size_t sum_cnt;
	const struct screen_row **rows; /* that are listed */
	size_t row_cnt;
	size_t hidden_cnt; /* stacks that the filter leaves out */
	size_t selected;
	size_t top;       /* the first row on the screen */
	size_t page_rows; /* that it has room for; set by whoever draws */
	size_t line;      /* of a stack or text: the chosen or first one */
	size_t line_cnt;  /* of the page; set by whoever draws */
};

void model_init(enum screen_view view, enum screen_column sort, struct model *ret);
void model_deinit(struct model *model);

/* Takes a report over. 0 or -ENOMEM, and then it has freed it. */
int model_show(struct model *model, struct shown_report *shown);

/* A key, or a character. 0 or -ENOMEM. */
int model_key(struct model *model, uint32_t key, enum screen_ask *ret);

/* The row of the list at which somebody has pointed; again: opens it. 0 or -ENOMEM. */
int model_point(struct model *model, size_t row, bool again);

/* The one that is chosen; NULL: there is none. */
const struct screen_row *model_selected(const struct model *model);

/* "stack", "process", ... */
const char *view_word(enum screen_view view);

/* "lost 5.0M", "leaks 97%", "steady": what is said of a row. */
void row_verdict(const struct screen_row *row, char ret[SHORT_AMOUNT_SIZE]);

#endif
