// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Draws, from top to bottom: title, sums, verdict, page (list, stack, facts or help), messages and
 * keys. On a small terminal, leaves out the least important of these.
 */
#include "screen/draw.h"

#include <curses.h>
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/escape.h"

#define LINE_MOST 512

/* Colour pairs, defined in terminal.c. */
#define RED COLOR_PAIR(1)
#define YELLOW COLOR_PAIR(2)
#define CYAN COLOR_PAIR(3)

/* Minimum terminal height in lines to show the verdict above the list. */
#define ROWS_FOR_VERDICT 14
#define VERDICT_ROWS 2
/* Minimum terminal width in columns to show the number of blocks and stacks. */
#define COLUMNS_FOR_COUNTS 60
/* Minimum terminal width in columns at which rows have an age and a chart. */
#define COLUMNS_FOR_AGES 72
/* Minimum width in columns of the chart of the total. */
#define SPARK_LEAST 4
/*
 * Minimum terminal height in lines to draw charts of CHART_ROWS lines, and memleak's own load in
 * its own line.
 */
#define ROWS_FOR_CHART 20
#define CHART_ROWS 3
/*
 * Minimum terminal column at which the chart of the total starts, on a terminal of
 * COLUMNS_FOR_COUNTS or more columns.
 */
#define CHART_X 40
/* Width in columns of the numbers at the left of a stack's chart, including the gap behind them. */
#define FIGURE_WIDTH 14
/* Percentage of a CPU above which memleak's own load is highlighted. */
#define CPU_PERCENT_MOST 10
/* Minimum number of columns for the arrow and the name of a caller. A longer name is cut. */
#define CALLER_LEAST 12
/*
 * Minimum terminal height in lines to show several source lines; on a lower terminal, only the
 * selected function's line.
 */
#define ROWS_FOR_SOURCE 18
/* Minimum number of frames shown of a stack; they take precedence over charts and source lines. */
#define FRAMES_LEAST 6

static int list_y = -1, list_rows;

static bool has_utf8(void)
{
	static int known = -1;

	if (known < 0)
		known = !strcmp(nl_langinfo(CODESET), "UTF-8");
	return known;
}

static wchar_t shown_character(uint32_t character)
{
	if (character < 0x80 || (has_utf8() && wcwidth((wchar_t)character) >= 0))
		return (wchar_t)character;
	/* The terminal cannot show the character: use ASCII for the signs of verdicts. */
	return character == 0x25b2 ? L'^' : character == 0x2717 ? L'x' : L'?';
}

/*
 * Converts text to wide characters. If the text does not fit, cuts it and ends it with an ellipsis.
 * Returns the width of the result in columns.
 */
static int cut(const char *text, int width, wchar_t ret[LINE_MOST])
{
	size_t len = strlen(text), cnt = 0, end_cnt = 0;
	int columns = 0, end_columns = 0;

	while (len && cnt + 2 < LINE_MOST) {
		uint32_t character;
		size_t bytes = utf8_decode(text, len, &character);
		wchar_t shown = shown_character(bytes ? character : '?');
		int more = wcwidth(shown) < 0 ? 0 : wcwidth(shown);

		if (columns + more > width)
			break;
		ret[cnt++] = shown;
		columns += more;
		/* Remember the longest beginning of the text that leaves room for an ellipsis. */
		if (columns < width) {
			end_cnt = cnt;
			end_columns = columns;
		}
		bytes = bytes ? bytes : 1;
		text += bytes;
		len -= bytes;
	}
	if (len && width > 0) {
		cnt = end_cnt;
		columns = end_columns + 1;
		ret[cnt++] = has_utf8() ? L'\u2026' : L'~';
	}
	ret[cnt] = L'\0';
	return columns;
}

/* Draws text and returns the column after it. */
static int put(int y, int x, int width, const char *text)
{
	wchar_t line[LINE_MOST];
	int columns = cut(text, width, line);

	if (width > 0)
		mvaddwstr(y, x, line);
	return x + columns;
}

__attribute__((format(printf, 4, 5))) static int print(int y, int x, int width, const char *fmt,
						       ...)
{
	char text[LINE_MOST * 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return put(y, x, width, text);
}

static void put_right(int y, int x, int width, const char *text)
{
	int len = (int)strlen(text);

	put(y, len < width ? x + width - len : x, width, text);
}

static void clock_text(int64_t wall_ns, char ret[16])
{
	time_t seconds = wall_ns / 1000000000;
	struct tm tm;

	if (!localtime_r(&seconds, &tm) || !strftime(ret, 16, "%H:%M:%S", &tm))
		strcpy(ret, "--:--:--");
}

struct chart {
	const uint64_t *values;
	size_t cnt;
	uint64_t least;   /* value that has the lowest bar, which is one eighth of a line high */
	bool leaves_gaps; /* true if values of 0 have no bar */
};

static struct chart chart_of(const uint64_t *values, size_t cnt)
{
	struct chart ret = {values, cnt, UINT64_MAX, false};

	for (size_t i = 0; i < cnt; i++)
		ret.least = values[i] < ret.least ? values[i] : ret.least;
	return ret;
}

/*
 * Draws a bar's part in one line of the terminal. eighths: its height in eighths of a line.
 * is_single: the whole bar is in this line.
 */
static void put_bar(int y, int x, int eighths, bool is_single)
{
	static const char ascii[] = "_.:-=+*#";
	wchar_t text[] = {0, 0};

	if (eighths <= 0)
		return;
	eighths = eighths > 8 ? 8 : eighths;
	text[0] = has_utf8() ? L'\u2580' + eighths : is_single ? (wchar_t)ascii[eighths - 1] : L'#';
	mvaddwstr(y, x, text);
}

/* Draws a chart of `rows` lines, which the highest bar fills. */
static void put_chart(int y, int x, int width, int rows, struct chart chart)
{
	uint64_t most = chart.least;

	for (size_t i = 0; i < chart.cnt; i++)
		most = chart.values[i] > most ? chart.values[i] : most;
	for (int i = 0; chart.cnt && i < width; i++) {
		/* If there are more values than columns, a column shows the last of its values. */
		size_t columns = (size_t)width, at = ((size_t)i + 1) * chart.cnt + columns - 1;
		uint64_t value = chart.values[at / columns - 1], over = value - chart.least;
		double part = over ? (double)over / (double)(most - chart.least) : 0;
		int eighths = 1 + (int)(part * (8 * rows - 1) + 0.5);

		if (!value && chart.leaves_gaps)
			continue;
		for (int row = rows - 1; row >= 0; row--, eighths -= 8)
			put_bar(y + row, x + i, eighths, rows == 1);
	}
}

static void put_spark(int y, int x, int width, const uint64_t *values, size_t cnt)
{
	put_chart(y, x, width, 1, chart_of(values, cnt));
}

/*
 * Returns the text at the right end of the title: the time of the mark, if any; then "moment 3 of
 * 10" for a recording, else "ENDED" or "PAUSED". is_short selects a shorter text for narrow
 * terminals.
 */
static void state_text(const struct model *model, bool is_short, char ret[80])
{
	char mark[16], since[32] = "";

	if (model->mark_ns && !is_short) {
		clock_text(model->mark_ns, mark);
		snprintf(since, sizeof(since), "since %s  ", mark);
	}
	if (model->recorded)
		snprintf(ret, 80, "%s%s%zu of %zu", since, is_short ? "" : "moment ",
			 model->moment + 1, model->moment_cnt);
	else
		snprintf(ret, 80, "%s%s", since,
			 model->ended    ? "ENDED"
			 : model->paused ? "PAUSED"
					 : "");
}

static void draw_title(const struct model *model)
{
	char state[80], clock[16];
	int len;

	state_text(model, COLS < 60, state);
	len = (int)strlen(state);
	attron(A_BOLD);
	if (!model->shown) {
		print(0, 0, COLS, "memleak");
	} else {
		clock_text(model->shown->wall_ns, clock);
		print(0, 0, COLS - len - 1, "%s  %s  traced %" PRIu64 " s", clock,
		      model->shown->target, model->shown->elapsed_ns / 1000000000);
	}
	if (COLS > len)
		put(0, COLS - len, len, state);
	attroff(A_BOLD);
}

/* Formats a change of an amount, such as "+1.20M", in at most 6 columns; "-" if it is NAN. */
static void signed_amount(double bytes, char ret[SHORT_AMOUNT_SIZE + 1])
{
	char amount[SHORT_AMOUNT_SIZE] = "-";

	if (!isnan(bytes))
		short_amount(fabs(bytes) < 0.5 ? 0 : bytes, amount);
	snprintf(ret, SHORT_AMOUNT_SIZE + 1, "%s%s", bytes >= 0.5 ? "+" : "", amount);
}

/*
 * Draws the total bytes and, if there is room, the number of blocks and stacks. Returns the column
 * after them.
 */
static int draw_total(const struct shown_report *shown, int y, int x)
{
	char bytes[SHORT_AMOUNT_SIZE];

	short_amount((double)shown->bytes, bytes);
	x = print(y, x, COLS - x, "%s%s", shown->estimated ? "~" : "", bytes);
	if (COLS < COLUMNS_FOR_COUNTS)
		return x;
	return print(y, x, COLS - x, " in %" PRIu64 " block%s, %zu stack%s", shown->count,
		     shown->count == 1 ? "" : "s", shown->row_cnt, shown->row_cnt == 1 ? "" : "s");
}

static void total_texts(const struct shown_report *shown, char peak[SHORT_AMOUNT_SIZE],
			char rate[SHORT_AMOUNT_SIZE + 1])
{
	short_amount((double)shown->peak_bytes, peak);
	*rate = '\0';
	if (!isnan(shown->bytes_per_s))
		signed_amount(shown->bytes_per_s, rate);
}

static const char *losses_text(const struct shown_report *shown)
{
	return !shown->lost ? "" : COLS < COLUMNS_FOR_COUNTS ? "  losses: v" : "  losses: press v";
}

static int draw_losses(const struct shown_report *shown, int y, int x)
{
	attron(RED | A_BOLD);
	x = put(y, x, COLS - x, losses_text(shown));
	attroff(RED | A_BOLD);
	return x;
}

/* Draws the total, its peak, its growth and its chart in one line. */
static void draw_sums(const struct shown_report *shown)
{
	char peak[SHORT_AMOUNT_SIZE], rate[SHORT_AMOUNT_SIZE + 1];
	int x = draw_total(shown, 1, 0), cnt = (int)shown->past_cnt, width;

	total_texts(shown, peak, rate);
	x = print(1, x, COLS - x, ", peak %s", peak);
	if (*rate)
		x = print(1, x, COLS - x, ", %s/s", rate);
	width = COLS - x - 1 - (int)strlen(losses_text(shown));
	if (width > cnt)
		width = cnt;
	if (cnt > 1 && width >= SPARK_LEAST) {
		put_spark(1, x + 1, width, shown->past, shown->past_cnt);
		x += 1 + width;
	}
	draw_losses(shown, 1, x);
}

/* Draws the total, its peak and its growth in CHART_ROWS lines, with their chart at the right. */
static void draw_chart(const struct shown_report *shown, int y)
{
	char peak[SHORT_AMOUNT_SIZE], rate[SHORT_AMOUNT_SIZE + 1];
	int ends[CHART_ROWS], x = COLS < COLUMNS_FOR_COUNTS ? 0 : CHART_X;

	total_texts(shown, peak, rate);
	ends[0] = draw_total(shown, y, print(y, 0, COLS, "now  "));
	ends[1] = print(y + 1, 0, COLS, "peak %s", peak);
	ends[2] = print(y + 2, 0, COLS, "rate %s%s", *rate ? rate : "-", *rate ? "/s" : "");
	ends[2] = draw_losses(shown, y + 2, ends[2]);
	for (int i = 0; i < CHART_ROWS; i++)
		x = ends[i] + 2 > x ? ends[i] + 2 : x;
	if (shown->past_cnt > 1 && COLS - x >= SPARK_LEAST)
		put_chart(y, x, COLS - x, CHART_ROWS, chart_of(shown->past, shown->past_cnt));
}

/* Draws how rows are grouped, the name of the open group, and the filter, if there are any. */
static void draw_choice(const struct model *model, int y)
{
	int x = 0;

	attron(CYAN);
	if (model->view != VIEW_STACK)
		x = print(y, x, COLS - x, "by %s  ", view_word(model->view));
	if (model->within)
		x = print(y, x, COLS - x, "%s  ", model->within);
	if (*model->filter && !model->is_typing)
		print(y, x, COLS - x, "filter: %s (%zu hidden)", model->filter, model->hidden_cnt);
	attroff(CYAN);
}

/* True if a line of the verdict begins with a sign of a leak (text_write_sign()). */
static bool is_of_leak(const char *line)
{
	return !strncmp(line, "\u25b2", 3) || !strncmp(line, "\u2717", 3);
}

/*
 * Draws the first VERDICT_ROWS lines of the verdict: its sentence, and lines that explain it.
 * Returns the line below.
 */
static int draw_verdict(const struct model *model, int y)
{
	const char *at = model->shown->verdict;
	int end = y + VERDICT_ROWS;

	for (; y < end && *at; y++) {
		attrset(is_of_leak(at) ? RED : A_NORMAL);
		print(y, 0, COLS, "%.*s", (int)strcspn(at, "\n"), at);
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	attrset(A_NORMAL);
	return y;
}

static const int widths[COLUMN_CNT] = {6, 8, 7, 7, 7, 10, 0};
#define SHARE_WIDTH 5

/*
 * Terminal column at which each column of the list starts; -1 for a column that does not fit. The
 * share has no enum screen_column: sorting by it equals sorting by bytes.
 */
struct layout {
	int x[COLUMN_CNT];
	int share_x;
	int spark_x, spark_width;
};

/* Returns *x, the start of a column, and moves *x to the start of the next column. */
static int add_column(int *x, int width)
{
	int start = *x;

	*x += width + 1;
	return start;
}

/*
 * True if the list has the column CHANGE. At widths from COLUMNS_FOR_AGES to 99, names would have
 * too little room: there, the list has it only if there is a mark, or if rows are sorted by it.
 */
static bool shows_change(const struct model *model)
{
	return COLS < COLUMNS_FOR_AGES || COLS >= 100 || model->mark_ns ||
	       model->sort == COLUMN_CHANGE;
}

static struct layout lay_out(const struct model *model)
{
	struct layout ret = {.x = {0, -1, -1, -1, -1, -1, -1}, .share_x = -1, .spark_x = -1};
	int x = widths[COLUMN_BYTES] + 1;

	if (COLS >= 64)
		ret.share_x = add_column(&x, SHARE_WIDTH);
	if (COLS >= 100)
		ret.x[COLUMN_COUNT] = add_column(&x, widths[COLUMN_COUNT]);
	if (shows_change(model))
		ret.x[COLUMN_CHANGE] = add_column(&x, widths[COLUMN_CHANGE]);
	if (COLS >= 52)
		ret.x[COLUMN_RATE] = add_column(&x, widths[COLUMN_RATE]);
	if (COLS >= COLUMNS_FOR_AGES) {
		ret.x[COLUMN_AGE] = add_column(&x, widths[COLUMN_AGE]);
		ret.spark_width = COLS >= 110 ? 16 : 8;
		ret.spark_x = add_column(&x, ret.spark_width);
	}
	if (COLS >= 60)
		ret.x[COLUMN_VERDICT] = add_column(&x, widths[COLUMN_VERDICT]);
	ret.x[COLUMN_NAME] = x;
	return ret;
}

static void draw_heads(const struct model *model, const struct layout *layout, int y)
{
	const char *names[COLUMN_CNT] = {"BYTES",  "BLOCKS",  model->mark_ns ? "SINCE" : "CHANGE",
					 "RATE/s", "AGE p50", "VERDICT",
					 "CULPRIT"};
	const char *arrow = has_utf8() ? (model->inverted ? "\u25b2" : "\u25bc")
				       : (model->inverted ? "^" : "v");

	if (model->view != VIEW_STACK && !model->within)
		names[COLUMN_NAME] = view_word(model->view);
	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	for (int i = 0; i < COLUMN_CNT; i++) {
		bool sorted = (int)model->sort == i, left = i >= COLUMN_VERDICT;
		int x = layout->x[i], len = (int)strlen(names[i]) + sorted;

		if (x < 0)
			continue;
		if (!left)
			x += widths[i] - len;
		attron(sorted ? A_BOLD : A_NORMAL);
		print(y, x, COLS - x, "%s%s", names[i], sorted ? arrow : "");
		attroff(A_BOLD);
	}
	if (layout->share_x >= 0)
		put(y, layout->share_x, SHARE_WIDTH, "SHARE");
	if (layout->spark_x >= 0)
		put(y, layout->spark_x, layout->spark_width, "HISTORY");
	attroff(A_REVERSE);
}

static attr_t style_of(const struct screen_row *row)
{
	if (row->lost.count)
		return RED | A_BOLD;
	if (row->suspect || row->definite.count)
		return RED;
	if (row->tendency == TENDENCY_STEADY || row->tendency == TENDENCY_STEPS)
		return YELLOW;
	return A_NORMAL;
}

/*
 * Returns a short verdict to be written before the name of a row; "" if the list has a verdict
 * column.
 */
static const char *sign_of(const struct screen_row *row, const struct layout *layout)
{
	if (layout->x[COLUMN_VERDICT] >= 0)
		return "";
	return row->lost.count ? "lost " : row->suspect ? "! " : "";
}

static void draw_past(const struct screen_row *row, const struct layout *layout, int y)
{
	char text[SHORT_AMOUNT_SIZE];

	if (layout->x[COLUMN_RATE] >= 0) {
		if (isnan(row->bytes_per_s))
			strcpy(text, "-");
		else
			short_amount(row->bytes_per_s, text);
		put_right(y, layout->x[COLUMN_RATE], widths[COLUMN_RATE], text);
	}
	if (layout->spark_x >= 0 && row->has_past)
		put_spark(y, layout->spark_x, layout->spark_width, row->spark, SPARK_CNT);
}

static void draw_share(const struct screen_row *row, uint64_t total, const struct layout *layout,
		       int y)
{
	double percent = total ? 100 * (double)row->bytes / (double)total : 0;
	char text[SHORT_AMOUNT_SIZE] = "<1%";

	if (layout->share_x < 0)
		return;
	if (percent >= 1 || !row->bytes)
		snprintf(text, sizeof(text), "%.0f%%", percent);
	put_right(y, layout->share_x, SHARE_WIDTH, text);
}

/* Draws the caller of a row's blamed function, unless only a few letters of its name would fit. */
static void draw_caller(const struct screen_row *row, int y, int x)
{
	char text[LINE_MOST];
	wchar_t line[LINE_MOST];
	int least;

	if (!row->caller)
		return;
	snprintf(text, sizeof(text), " %s %s", has_utf8() ? "\u2190" : "<-", row->caller);
	least = cut(text, CALLER_LEAST, line);
	if (COLS - x >= least)
		put(y, x, COLS - x, text);
}

static void draw_row(const struct model *model, size_t at, const struct layout *layout, int y)
{
	const struct screen_row *row = model->rows[at];
	attr_t style = at == model->selected ? A_REVERSE : A_NORMAL;
	char text[SHORT_AMOUNT_SIZE], change[SHORT_AMOUNT_SIZE + 1];
	int x = layout->x[COLUMN_NAME];

	attrset(style);
	mvhline(y, 0, ' ', COLS);
	short_amount((double)row->bytes, text);
	put_right(y, 0, widths[COLUMN_BYTES], text);
	draw_share(row, model->shown->bytes, layout, y);
	if (layout->x[COLUMN_COUNT] >= 0) {
		snprintf(text, sizeof(text), "%" PRIu64, row->count);
		put_right(y, layout->x[COLUMN_COUNT], widths[COLUMN_COUNT], text);
	}
	if (layout->x[COLUMN_CHANGE] >= 0) {
		signed_amount(row->change, change);
		put_right(y, layout->x[COLUMN_CHANGE], widths[COLUMN_CHANGE], change);
	}
	draw_past(row, layout, y);
	if (layout->x[COLUMN_AGE] >= 0) {
		short_age(row->median_ns, text);
		put_right(y, layout->x[COLUMN_AGE], widths[COLUMN_AGE], text);
	}
	attrset(style | style_of(row));
	if (layout->x[COLUMN_VERDICT] >= 0) {
		row_verdict(row, text);
		put(y, layout->x[COLUMN_VERDICT], widths[COLUMN_VERDICT], text);
	}
	x = print(y, x, COLS - x, "%s%s", sign_of(row, layout), row->name);
	attrset(style);
	draw_caller(row, y, x);
	attrset(A_NORMAL);
}

static void draw_list(struct model *model, int y, int end)
{
	struct layout layout = lay_out(model);

	draw_heads(model, &layout, y++);
	list_y = y;
	list_rows = end - y;
	model->page_rows = end > y ? (size_t)(end - y) : 1;
	if (model->selected < model->top)
		model->top = model->selected;
	if (model->selected >= model->top + model->page_rows)
		model->top = model->selected - model->page_rows + 1;
	for (size_t i = model->top; i < model->row_cnt && y < end; i++, y++)
		draw_row(model, i, &layout, y);
	if (!model->row_cnt)
		put(y, 2, COLS - 2,
		    model->hidden_cnt
			    ? "nothing passes the filter: Esc clears it"
			    : "no outstanding block passes --older and the other filters");
}

/*
 * Returns the length of the part of a line that fits into `columns`. If possible, the part ends at
 * a blank.
 */
static size_t part_of_line(const char *line, size_t len, size_t columns)
{
	size_t cnt = columns;

	if (len <= columns)
		return len;
	while (cnt && line[cnt] != ' ')
		cnt--;
	return cnt ? cnt : columns;
}

/*
 * Draws a text with long lines wrapped. Skips the first `from` of the resulting lines. Advances *y
 * to the line below. Returns the number of all lines.
 */
static size_t draw_text(const char *text, size_t from, int *y, int end)
{
	size_t cnt = 0, indent = 0;

	while (*text) {
		size_t tabs = indent ? 0 : strspn(text, "\t");
		size_t len = strcspn(text + tabs, "\n");
		size_t left =
			(size_t)COLS > indent + 2 * tabs ? (size_t)COLS - indent - 2 * tabs : 1;
		size_t part = part_of_line(text + tabs, len, left);

		if (cnt++ >= from && *y < end)
			print((*y)++, 0, COLS, "%*s%.*s", (int)(indent + 2 * tabs), "", (int)part,
			      text + tabs);
		text += tabs + part;
		indent = *text && *text != '\n' ? 4 : 0;
		text += strspn(text, indent ? " " : "\n") > 0;
	}
	return cnt;
}

static void draw_source(const struct drawing *drawing, const struct screen_line *line, int y,
			int end)
{
	bool is_reading = false;
	const struct source_text *text =
		line->file
			? source_reader__ask(drawing->sources, line->file, line->line, &is_reading)
			: NULL;
	int around = (end - y - 2) / 2;

	if (!line->file) {
		put(y, 0, COLS, "unknown source file");
		return;
	}
	attron(CYAN);
	if (around > 0) {
		char *plain = escape_dup(line->file);

		print(y++, 0, COLS, "%s:%u%s", plain ? plain : "?", line->line,
		      text         ? ""
		      : is_reading ? " (reading ...)"
				   : " (no such file here)");
		free(plain);
	}
	attroff(CYAN);
	around = around > SOURCE_AROUND ? SOURCE_AROUND : around > 0 ? around : 0;
	for (int i = -around; text && i <= around && y < end; i++) {
		const char *words = text->lines[SOURCE_AROUND + i];

		if (!words)
			continue;
		attron(i ? A_NORMAL : A_BOLD);
		print(y++, 0, COLS, "%6u %s %s", line->line + (unsigned int)i, i ? " " : ">",
		      words);
		attroff(A_BOLD);
	}
}

static void draw_row_facts(const struct screen_row *row, int y)
{
	char bytes[SHORT_AMOUNT_SIZE], age[SHORT_AMOUNT_SIZE], verdict[SHORT_AMOUNT_SIZE],
		rate[SHORT_AMOUNT_SIZE] = "";

	short_amount((double)row->bytes, bytes);
	short_age(row->oldest_ns, age);
	row_verdict(row, verdict);
	if (!isnan(row->bytes_per_s))
		short_amount(row->bytes_per_s, rate);
	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	print(y, 0, COLS, "%s in %" PRIu64 " block%s, oldest %s%s%s%s%s%s, %s", bytes, row->count,
	      row->count == 1 ? "" : "s", age, *rate ? ", " : "", rate, *rate ? "/s" : "",
	      strcmp(verdict, "-") ? ", " : "", strcmp(verdict, "-") ? verdict : "", row->process);
	attroff(A_REVERSE);
}

/*
 * Draws a chart of the bytes that a stack has held since tracing began. Returns the column after
 * the chart and a gap.
 */
static int draw_history(const struct screen_row *row, uint64_t elapsed_ns, int y)
{
	struct chart chart = chart_of(row->spark, SPARK_CNT);
	int width = COLS >= FIGURE_WIDTH + 2 * SPARK_CNT ? 2 * SPARK_CNT : SPARK_CNT;
	char least[SHORT_AMOUNT_SIZE], most[SHORT_AMOUNT_SIZE], time[SHORT_AMOUNT_SIZE];
	uint64_t largest = 0;

	for (size_t i = 0; i < SPARK_CNT; i++)
		largest = row->spark[i] > largest ? row->spark[i] : largest;
	short_amount((double)chart.least, least);
	short_amount((double)largest, most);
	short_age(elapsed_ns, time);
	print(y, 0, COLS, "most  %s", most);
	print(y + 1, 0, COLS, "least %s", least);
	print(y + 2, 0, COLS, "over  %s", time);
	put_chart(y, FIGURE_WIDTH, width, CHART_ROWS, chart);
	return FIGURE_WIDTH + width + 3;
}

/* Draws a chart of the number of a stack's blocks by age. The newest blocks are at the left. */
static void draw_ages(const struct screen_row *row, int y, int x)
{
	const uint64_t ages[] = {row->newest_ns, row->median_ns, row->oldest_ns};
	static const char *const names[] = {"newest", "p50", "oldest"};
	uint64_t values[AGE_CLASS_CNT] = {0};
	size_t first = AGE_CLASS_CNT, end = 0;

	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		values[i] = row->ages[i];
		if (values[i]) {
			first = first < i ? first : i;
			end = i + 1;
		}
	}
	if (end && COLS - x - FIGURE_WIDTH >= (int)(end - first))
		put_chart(y, x + FIGURE_WIDTH, (int)(end - first), CHART_ROWS,
			  (struct chart){values + first, end - first, 0, true});
	for (int i = 0; i < CHART_ROWS; i++) {
		char text[SHORT_AMOUNT_SIZE];

		short_age(ages[i], text);
		print(y + i, x, COLS - x, "%-6s %s", names[i], text);
	}
}

/*
 * Draws the charts of a stack's history and of its blocks' ages, if there is room above line `end`.
 * Returns the line below.
 */
static int draw_row_charts(const struct model *model, const struct screen_row *row, int y, int end)
{
	int x = 0;

	if (LINES < ROWS_FOR_CHART || y + CHART_ROWS > end ||
	    (!row->has_past && row->oldest_ns == AGE_UNKNOWN))
		return y;
	if (row->has_past)
		x = draw_history(row, model->shown->elapsed_ns, y);
	if (row->oldest_ns != AGE_UNKNOWN && COLS >= x + FIGURE_WIDTH)
		draw_ages(row, y, x);
	return y + CHART_ROWS;
}

static void draw_frame(const struct model *model, const struct screen_row *row, size_t at, int y)
{
	attrset((at == model->line ? A_REVERSE : A_NORMAL) |
		(at == row->culprit ? style_of(row) | A_BOLD : A_NORMAL));
	if (at == model->line)
		mvhline(y, 0, ' ', COLS);
	print(y, 0, COLS, "%s %s",
	      at != row->culprit ? " "
	      : has_utf8()       ? "\u2192"
				 : ">",
	      row->lines[at]->text);
	attrset(A_NORMAL);
}

static void draw_stack(struct model *model, const struct drawing *drawing, int y, int end)
{
	const struct screen_row *row = model_selected(model);
	int frames = row->line_cnt < FRAMES_LEAST ? (int)row->line_cnt : FRAMES_LEAST;
	int source_y = LINES >= ROWS_FOR_SOURCE ? end - 2 * SOURCE_AROUND - 2 : end - 1;
	size_t top;

	draw_row_facts(row, y++);
	if (source_y < y + frames)
		source_y = y + frames < end ? y + frames : end - 1;
	y = draw_row_charts(model, row, y, source_y - frames);
	model->line_cnt = row->line_cnt;
	model->page_rows = source_y > y ? (size_t)(source_y - y) : 1;
	if (model->line >= row->line_cnt)
		model->line = row->line_cnt ? row->line_cnt - 1 : 0;
	top = model->line < model->page_rows ? 0 : model->line - model->page_rows + 1;
	for (size_t i = top; i < row->line_cnt && y < source_y; i++)
		draw_frame(model, row, i, y++);
	if (!row->line_cnt)
		put(y++, 0, COLS, row->name);
	draw_text(row->notes, 0, &y, source_y);
	if (row->line_cnt)
		draw_source(drawing, row->lines[model->line], source_y, end);
}

static const char help[] =
	"Up Down PgUp PgDn Home End  move (also k g G; j not in a recording)\n"
	"Enter    open a group or a stack, with its source;  Esc q  back\n"
	"/        filter as you type: functions, files, modules, processes\n"
	"s S 1-7  order: next, previous, or by a column;  I  reverse\n"
	"Tab      by stack, process, thread, module\n"
	"m M      mark this moment, to show changes since; unmark\n"
	"p Space  pause: keep showing this report\n"
	"v        verdicts, totals, what was lost, messages\n"
	"r P      a report now; one with a proof: which blocks nothing points to\n"
	"b        baseline: leave out everything allocated so far\n"
	"w R      into this folder: a page (HTML); begin or end a recording\n"
	"t T j < > { }  recording: next, previous or numbered moment; ten; ends\n"
	"o        mouse on or off;  Ctrl-L  redraw;  q  quit\n"
	"\n"
	"K M G are powers of 1024. RATE is while it grows. HISTORY begins with tracing.\n"
	"VERDICT: lost: two proofs found no pointer to it; definite: one proof\n"
	"  leaks: it grows and is not freed, and how likely that is\n"
	"  steady, steps: it grows; levelled, flat, shrinks: it does not\n"
	"  runtime: libraries keep it for themselves\n"
	"SHARE: of all bytes. AGE p50: half are younger. CULPRIT: function and caller.\n"
	"An arrow marks the culprit in a stack. The last line has the load of memleak.\n";

static void draw_pages(struct model *model, const struct drawing *drawing, int y, int end)
{
	size_t from = model->line, cnt;

	model->page_rows = end > y ? (size_t)(end - y) : 1;
	if (model->page == PAGE_HELP) {
		cnt = draw_text(help, from, &y, end);
	} else {
		cnt = draw_text(model->shown ? model->shown->verdict : "", from, &y, end);
		cnt += draw_text(model->shown ? model->shown->facts : "",
				 from > cnt ? from - cnt : 0, &y, end);
		cnt += draw_text(drawing->log, from > cnt ? from - cnt : 0, &y, end);
	}
	/* Scrolling ends when the last line of the text is visible. */
	model->line_cnt = cnt > model->page_rows ? cnt - model->page_rows + 1 : 1;
}

/*
 * Draws the latest unread messages above line `end`. Returns the line of the first message drawn;
 * `end` if there are none.
 */
static int draw_messages(const char *unread, int end)
{
	static const char prefix[] = "memleak: ";
	size_t most = LINES >= ROWS_FOR_SOURCE ? 3 : 1, cnt = 0;
	int y;

	for (const char *at = unread; *at; at++)
		cnt += *at == '\n';
	for (; cnt > most; cnt--)
		unread = strchr(unread, '\n') + 1;
	y = end - (int)cnt;
	attron(CYAN);
	for (int i = y; i < end; i++) {
		if (!strncmp(unread, prefix, strlen(prefix)))
			unread += strlen(prefix);
		print(i, 0, COLS, "%.*s", (int)strcspn(unread, "\n"), unread);
		unread = strchr(unread, '\n') + 1;
	}
	attroff(CYAN);
	return y;
}

static bool has_load(const struct shown_report *shown)
{
	return shown && !isnan(shown->load.cpu_percent) && COLS >= COLUMNS_FOR_COUNTS;
}

/*
 * Draws memleak's own load at the right end of line `y`; in yellow if it is high or if anything was
 * lost. Returns the width that remains on the line.
 */
static int draw_load(const struct shown_report *shown, int y)
{
	char text[LINE_MOST];
	attr_t style;
	int len;

	len = snprintf(text, sizeof(text), "memleak %.1f%% CPU  %.0f calls/s  lost %" PRIu64,
		       shown->load.cpu_percent, shown->load.calls_per_s, shown->lost_events);
	style = shown->load.cpu_percent > CPU_PERCENT_MOST || shown->lost_events ? YELLOW
										 : A_NORMAL;
	attron(style);
	put(y, COLS > len ? COLS - len : 0, COLS, text);
	attroff(style);
	return COLS - len - 2;
}

/*
 * Returns the length of the beginning of `keys` that fits into `width`. It ends between two keys,
 * which are separated by two blanks.
 */
static int fitting_keys(const char *keys, int width)
{
	int len = (int)strlen(keys);

	while (len > 0 && (len > width || (keys[len] && strncmp(keys + len, "  ", 2))))
		len--;
	return len;
}

static const char *moment_keys(const struct model *model)
{
	return model->recorded ? "  t T step  j jump" : "";
}

/* Writes the line of keys of the list page, the most important keys first. */
static void list_keys(const struct model *model, char ret[LINE_MOST])
{
	bool is_traced = !model->recorded && !model->ended;

	snprintf(ret, LINE_MOST,
		 "h help  q quit%s%s%s  / filter  s --sort  Tab --by  Enter open%s  w --format "
		 "html%s%s",
		 model->paused ? "  p go on" : "",
		 *model->filter || model->within ? "  Esc back" : "", moment_keys(model),
		 is_traced ? "  P --prove  R --record" : "",
		 is_traced && !model->paused ? "  p pause" : "",
		 model->mark_ns ? "  M unmark  v verdict" : "  m mark  v verdict");
}

/*
 * Draws the filter or the number that the user is typing, and puts the cursor behind it. Returns
 * false if there is neither.
 */
static bool draw_typed(const struct model *model, int y)
{
	char number[24] = "";

	if (model->typed_moment)
		snprintf(number, sizeof(number), "%zu", model->typed_moment);
	if (model->is_typing)
		move(y, print(y, 0, COLS - 1, "filter: %s", model->filter));
	if (model->is_jumping)
		move(y, print(y, 0, COLS - 1, "moment (1 to %zu): %s", model->moment_cnt, number));
	return model->is_typing || model->is_jumping;
}

/* True if memleak's own load has its own line, below the line of keys. */
static bool has_load_line(const struct model *model)
{
	return LINES >= ROWS_FOR_CHART && has_load(model->shown);
}

static void draw_keys(const struct model *model)
{
	int y = LINES - 1 - has_load_line(model), width = COLS;
	char text[LINE_MOST];

	if (model->page == PAGE_LIST)
		list_keys(model, text);
	else
		snprintf(text, sizeof(text), "q back  %s%s%s",
			 model->page == PAGE_STACK ? "Up Down source of a frame" : "Up Down move",
			 model->page == PAGE_HELP ? "" : "  h help", moment_keys(model));
	/* Erase the line: on a very low terminal, the column headings of the list are in it. */
	move(y, 0);
	clrtoeol();
	if (y < LINES - 1)
		draw_load(model->shown, LINES - 1);
	else if (has_load(model->shown) && !model->is_typing)
		width = draw_load(model->shown, y);
	curs_set(model->is_typing || model->is_jumping);
	if (!draw_typed(model, y))
		print(y, 0, COLS, "%.*s", fitting_keys(text, width), text);
}

static void draw_list_page(struct model *model, int end)
{
	bool has_choice =
		model->view != VIEW_STACK || (*model->filter && !model->is_typing) || model->within;
	bool has_chart = LINES >= ROWS_FOR_CHART;
	int y = has_chart ? 1 : 2;

	if (!has_chart)
		draw_sums(model->shown);
	if (LINES >= ROWS_FOR_VERDICT)
		y = draw_verdict(model, y);
	if (has_chart) {
		draw_chart(model->shown, y);
		y += CHART_ROWS;
	}
	if (has_choice)
		draw_choice(model, y++);
	draw_list(model, y, end);
}

void draw(struct model *model, const struct drawing *drawing)
{
	int end;

	list_y = -1;
	erase();
	attrset(A_NORMAL);
	end = draw_messages(drawing->unread, LINES - 1 - has_load_line(model));
	draw_title(model);
	if (model->shown && model->page != PAGE_LIST)
		draw_sums(model->shown);
	if (model->page == PAGE_STACK && model_selected(model))
		draw_stack(model, drawing, 2, end);
	else if (model->page == PAGE_HELP || model->page == PAGE_FACTS)
		draw_pages(model, drawing, 2, end);
	else if (model->shown)
		draw_list_page(model, end);
	else
		put(2, 0, COLS, drawing->waiting);
	draw_keys(model);
	refresh();
}

int draw_row_at(int y)
{
	return list_y >= 0 && y >= list_y && y < list_y + list_rows ? y - list_y : -1;
}
