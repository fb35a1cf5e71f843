// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests how the live screen is drawn, on a terminal without output. */
#include <locale.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>
#include <curses.h>

#include "base/regular_file.h"
#include "screen/draw.h"

#define S UINT64_C(1000000000)
#define WIDTH 80
#define LINE_SIZE (4 * WIDTH + 1)

static struct screen_line frames[] = {{.text = "inner_1"}, {.text = "inner_2"}, {.text = "inner_3"},
				      {.text = "inner_4"}, {.text = "inner_5"}, {.text = "inner_6"},
				      {.text = "inner_7"}, {.text = "inner_8"}};
static struct screen_line *lines[] = {&frames[0], &frames[1], &frames[2], &frames[3],
				      &frames[4], &frames[5], &frames[6], &frames[7]};

static struct source_reader *sources;
static sem_t is_answered;

static struct screen_row row_of(size_t line_cnt)
{
	return (struct screen_row){
		.name = "inner_1",
		.process = "leak (4711)",
		.notes = "",
		.bytes = 100,
		.count = 10,
		.oldest_ns = 9 * S,
		.median_ns = 5 * S,
		.newest_ns = S,
		.has_past = true,
		.lines = lines,
		.line_cnt = line_cnt,
	};
}

/* Draws the row's stack, or the list of rows if `page` is PAGE_LIST. */
static void draw_row(const struct screen_row *row, enum screen_page page, const char *verdict,
		     const char *unread)
{
	struct shown_report shown = {
		.target = "leak (4711)", .verdict = verdict, .facts = "", .row_cnt = 1};
	const struct screen_row *rows[] = {row};
	const struct drawing drawing = {
		.sources = sources, .log = unread, .unread = unread, .waiting = ""};
	struct model model;

	model_init(VIEW_STACK, COLUMN_BYTES, &model);
	shown.rows = (struct screen_row *)row;
	model.shown = &shown;
	model.rows = rows;
	model.row_cnt = 1;
	model.page = page;
	draw(&model, &drawing);
}

static const char *line_at(int y)
{
	static char text[LINE_SIZE];

	mvinnstr(y, 0, text, LINE_SIZE - 1);
	return text;
}

static int count_lines(const char *word)
{
	int cnt = 0;

	for (int y = 0; y < LINES; y++)
		cnt += strstr(line_at(y), word) != NULL;
	return cnt;
}

/*
 * On a low terminal, up to six frames of a stack are drawn before the charts and before the source.
 * A short stack leaves room for the charts.
 */
static void frames_first(void **state)
{
	static const char messages[] = "memleak: 1\nmemleak: 2\nmemleak: 3\n";
	struct screen_row row = row_of(8);

	resizeterm(20, WIDTH);
	draw_row(&row, PAGE_STACK, "", "");
	assert_int_equal(count_lines("inner_"), 7);
	assert_int_equal(count_lines("least "), 0);
	draw_row(&row, PAGE_STACK, "", messages);
	assert_int_equal(count_lines("inner_"), 6);
	assert_int_equal(count_lines("unknown source file"), 1);
	row = row_of(3);
	draw_row(&row, PAGE_STACK, "", "");
	assert_int_equal(count_lines("inner_"), 3);
	assert_int_equal(count_lines("least "), 1);
	row = row_of(8);
	resizeterm(30, WIDTH);
	draw_row(&row, PAGE_STACK, "", "");
	assert_int_equal(count_lines("inner_"), 8);
	assert_int_equal(count_lines("least "), 1);
}

/* The chart of ages is blank for an age that no block has, but not for one that few blocks have. */
static void empty_ages(void **state)
{
	struct screen_row row = row_of(1);

	row.ages[10] = 100;
	row.ages[12] = 1;
	resizeterm(24, WIDTH);
	draw_row(&row, PAGE_STACK, "", "");
	assert_int_equal(count_lines("oldest 9s     \u2588 \u2581 "), 1);
}

/* Returns the colour pair with which line y begins. */
static int colour_at(int y)
{
	wchar_t text[CCHARW_MAX + 1];
	attr_t style;
	cchar_t cell;
	short pair = -1;

	mvin_wch(y, 0, &cell);
	getcchar(&cell, text, &style, &pair, NULL);
	return pair;
}

/* Only lines about leaks are red. */
static void verdict_colour(void **state)
{
	struct screen_row row = row_of(1);

	row.suspect = true;
	resizeterm(24, WIDTH);
	draw_row(&row, PAGE_LIST, "\u25b2 a leak is likely\nnot known yet whether 2 sites leak\n",
		 "");
	assert_int_equal(colour_at(1), 1);
	assert_int_equal(count_lines("not known yet whether 2 sites leak"), 1);
	assert_int_equal(colour_at(2), 0);
	draw_row(&row, PAGE_LIST, "\u2717 a leak is proven\n\u2717 run has lost 1 block\n", "");
	assert_int_equal(colour_at(1), 1);
	assert_int_equal(colour_at(2), 1);
	draw_row(&row, PAGE_LIST, "? no leak found yet\n", "");
	assert_int_equal(colour_at(1), 0);
}

/* Refuses a file, like a file system that answers late. */
static bool refuse_late(int path_fd)
{
	while (sem_wait(&is_answered))
		;
	return true;
}

/* A source file is missing only once the attempt to read it has failed. */
static void missing_source(void **state)
{
	struct screen_line line = {.text = "inner", .file = "/proc/self/exe", .line = 1};
	struct screen_line *stack[] = {&line};
	struct screen_row row = row_of(1);
	int wake_fd = eventfd(0, EFD_CLOEXEC);
	uint64_t cnt;

	row.lines = stack;
	sem_init(&is_answered, 0, 0);
	assert_int_equal(source_reader__new(wake_fd, &sources), 0);
	regular_file_refuse(refuse_late);
	resizeterm(24, WIDTH);
	for (int i = 0; i < 2; i++) {
		draw_row(&row, PAGE_STACK, "", "");
		assert_int_equal(count_lines("exe:1 (reading ...)"), 1);
	}
	sem_post(&is_answered);
	assert_int_equal(read(wake_fd, &cnt, sizeof(cnt)), sizeof(cnt));
	draw_row(&row, PAGE_STACK, "", "");
	assert_int_equal(count_lines("exe:1 (no such file here)"), 1);
	regular_file_refuse(NULL);
	source_reader__free(sources);
	sources = NULL;
	close(wake_fd);
}

static int open_terminal(void **state)
{
	FILE *nowhere = fopen("/dev/null", "r+e");

	setlocale(LC_ALL, "C.UTF-8");
	if (!nowhere || !newterm("xterm", nowhere, nowhere) || start_color() == ERR)
		return -1;
	for (short i = 1; i <= 3; i++)
		init_pair(i, i, COLOR_BLACK);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_first),
		cmocka_unit_test(empty_ages),
		cmocka_unit_test(verdict_colour),
		cmocka_unit_test(missing_source),
	};

	return cmocka_run_group_tests(tests, open_terminal, NULL);
}
