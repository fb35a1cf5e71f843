// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Handles reports and keys. After each change of the report, the grouping, the order or the filter,
 * makes the list of rows again.
 */
#include "screen/model.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/hash.h"

static const char *const view_words[VIEW_CNT] = {"stack", "process", "thread", "module"};

const char *view_word(enum screen_view view)
{
	return view_words[view];
}

void row_verdict(const struct screen_row *row, char ret[SHORT_AMOUNT_SIZE])
{
	char amount[SHORT_AMOUNT_SIZE];

	if (row->lost.count) {
		short_amount((double)row->lost.bytes, amount);
		snprintf(ret, SHORT_AMOUNT_SIZE, "lost %.9s", amount);
	} else if (row->definite.count) {
		snprintf(ret, SHORT_AMOUNT_SIZE, "definite");
	} else if (row->suspect) {
		snprintf(ret, SHORT_AMOUNT_SIZE, "leaks %.0f%%", row->score * 100);
	} else if (row->runtime_init) {
		snprintf(ret, SHORT_AMOUNT_SIZE, "runtime");
	} else {
		snprintf(ret, SHORT_AMOUNT_SIZE, "%s",
			 !row->has_past || row->tendency == TENDENCY_UNKNOWN
				 ? "-"
				 : tendency_name(row->tendency));
	}
}

void model_init(enum screen_view view, enum screen_column sort, struct model *ret)
{
	*ret = (struct model){.view = view, .sort = sort, .page_rows = 1};
}

static void forget_mark(struct model *model)
{
	hash_map_deinit(&model->marks);
	model->marks = (struct hash_map){0};
	model->mark_ns = 0;
}

void model_deinit(struct model *model)
{
	shown_report__free(model->shown);
	shown_report__free(model->newest);
	forget_mark(model);
	free(model->sums);
	free(model->rows);
	free(model->within);
	*model = (struct model){0};
}

const struct screen_row *model_selected(const struct model *model)
{
	return model->selected < model->row_cnt ? model->rows[model->selected] : NULL;
}

static int mark(struct model *model, uint64_t id, uint64_t bytes)
{
	return bytes ? hash_map_set(&model->marks, id, (void *)(uintptr_t)bytes) : 0;
}

static double change_since_mark(const struct model *model, uint64_t id, uint64_t bytes)
{
	return (double)bytes - (double)(uintptr_t)hash_map_get(&model->marks, id);
}

static double change_of(const struct model *model, const struct screen_row *row)
{
	return model->mark_ns ? change_since_mark(model, row->id, row->bytes) : row->growth;
}

static uint64_t thread_id(const struct screen_row *row, const struct screen_thread *thread)
{
	return hash_word(row->id, (uint64_t)thread->tid);
}

static double thread_change_of(const struct model *model, const struct screen_row *row,
			       const struct screen_thread *thread)
{
	double change = !model->mark_ns ? thread->change
			: model->has_thread_marks
				? change_since_mark(model, thread_id(row, thread), thread->bytes)
				: NAN;

	return isnan(change) && row->thread_cnt == 1 ? change_of(model, row) : change;
}

static int mark_row(struct model *model, const struct screen_row *row)
{
	int err = mark(model, row->id, row->bytes);

	for (size_t i = 0; !err && i < row->thread_cnt; i++)
		err = mark(model, thread_id(row, &row->threads[i]), row->threads[i].bytes);
	return err;
}

/*
 * Sets the mark: remembers the bytes of each stack and thread, so that the change since then can be
 * shown. Sorts rows by this change.
 */
static int set_mark(struct model *model)
{
	const struct shown_report *shown = model->shown;
	int err = 0;

	forget_mark(model);
	if (!shown)
		return 0;
	for (size_t i = 0; !err && i < shown->row_cnt; i++)
		err = mark_row(model, &shown->rows[i]);
	if (err) {
		forget_mark(model);
		return err;
	}
	model->has_thread_marks = shown->has_threads;
	model->mark_ns = shown->wall_ns;
	model->sort = COLUMN_CHANGE;
	model->inverted = false;
	return 0;
}

static bool has_word(const char *text, const char *word)
{
	return text && strcasestr(text, word);
}

static void find_lines(struct model *model)
{
	for (size_t i = 0; *model->filter && i < model->shown->line_cnt; i++) {
		struct screen_line *line = model->shown->lines[i];

		line->found = has_word(line->text, model->filter);
	}
}

/*
 * True if there is no filter, or if it matches the stack's process, or a function, file or module
 * of the stack.
 */
static bool passes(const struct model *model, const struct screen_row *row)
{
	if (!*model->filter || has_word(row->process, model->filter) ||
	    has_word(row->module, model->filter) || has_word(row->name, model->filter))
		return true;
	for (size_t i = 0; i < row->line_cnt; i++)
		if (row->lines[i]->found)
			return true;
	return false;
}

/*
 * Returns the id of the group to which a row belongs. If rows are grouped by thread, `thread` is an
 * index in row->threads, for this thread's part of the row.
 */
static uint64_t group_of(const struct model *model, const struct screen_row *row, size_t thread)
{
	switch (model->view) {
	case VIEW_PROCESS:
		return hash_text(0, row->process);
	case VIEW_MODULE:
		return hash_text(0, row->module);
	case VIEW_THREAD:
		return row->thread_cnt ? (uint64_t)row->threads[thread].tid : 0;
	case VIEW_STACK:
	case VIEW_CNT:
		break;
	}
	return 0;
}

static const char *group_name(struct model *model, const struct screen_row *row, size_t thread)
{
	char text[256];
	int len;

	if (model->view != VIEW_THREAD)
		return model->view == VIEW_PROCESS ? row->process : row->module;
	if (!row->thread_cnt)
		return "(not known)";
	len = snprintf(text, sizeof(text), "thread %d of %s", row->threads[thread].tid,
		       row->process);
	return arena_copy(&model->shown->arena, text,
			  len < (int)sizeof(text) ? (size_t)len + 1 : sizeof(text));
}

/*
 * Returns a copy of a row. If rows are grouped by thread and the row has several threads, the copy
 * has only the bytes and blocks that one of these threads has allocated. It then has no history,
 * ages or proof, which are not known by thread.
 */
static struct screen_row share_of(const struct model *model, const struct screen_row *row,
				  size_t thread)
{
	struct screen_row share = *row;

	share.change = model->view == VIEW_THREAD && row->thread_cnt
			       ? thread_change_of(model, row, &row->threads[thread])
			       : change_of(model, row);
	if (model->view != VIEW_THREAD || row->thread_cnt < 2)
		return share;
	share.bytes = row->threads[thread].bytes;
	share.count = row->threads[thread].count;
	share.has_past = false;
	share.bytes_per_s = NAN;
	memset(share.ages, 0, sizeof(share.ages));
	share.newest_ns = share.median_ns = share.oldest_ns = AGE_UNKNOWN;
	share.lost = share.definite = (struct reach_sum){0};
	return share;
}

static void add_to_group(struct screen_row *sum, const struct screen_row *row)
{
	sum->bytes += row->bytes;
	sum->count += row->count;
	sum->change += row->change;
	if (row->oldest_ns != AGE_UNKNOWN &&
	    (sum->oldest_ns == AGE_UNKNOWN || row->oldest_ns > sum->oldest_ns))
		sum->oldest_ns = row->oldest_ns;
	if (row->newest_ns < sum->newest_ns)
		sum->newest_ns = row->newest_ns;
	for (size_t i = 0; i < AGE_CLASS_CNT; i++)
		sum->ages[i] += row->ages[i];
	sum->has_past &= row->has_past;
	if (!isnan(row->bytes_per_s))
		sum->bytes_per_s =
			row->bytes_per_s + (isnan(sum->bytes_per_s) ? 0 : sum->bytes_per_s);
	for (size_t i = 0; i < SPARK_CNT; i++)
		sum->spark[i] += row->spark[i];
	sum->lost.bytes += row->lost.bytes;
	sum->lost.count += row->lost.count;
	sum->definite.count += row->definite.count;
	sum->runtime_init &= row->runtime_init;
	if (row->suspect && (!sum->suspect || row->score > sum->score))
		sum->score = row->score;
	sum->suspect |= row->suspect;
}

static struct screen_row *new_sum(struct model *model, uint64_t id, const char *name)
{
	struct screen_row *sum = &model->sums[model->sum_cnt++];

	*sum = (struct screen_row){
		.id = id,
		.name = name,
		.bytes_per_s = NAN,
		.oldest_ns = AGE_UNKNOWN,
		.newest_ns = AGE_UNKNOWN,
		.has_past = true,
		.runtime_init = true,
	};
	return sum;
}

static size_t threads_of(const struct model *model, const struct screen_row *row)
{
	return model->view == VIEW_THREAD && row->thread_cnt ? row->thread_cnt : 1;
}

/*
 * Adds a row to the list if it belongs to the open group. If no group is open, adds the row to the
 * sums of its group. If rows are grouped by thread, does this for each thread's part of the row.
 */
static int list_grouped(struct model *model, const struct screen_row *row, struct hash_map *groups)
{
	for (size_t i = 0; i < threads_of(model, row); i++) {
		struct screen_row share = share_of(model, row, i), *sum;
		uint64_t id = group_of(model, row, i);

		if (model->within && id == model->within_id) {
			model->sums[model->sum_cnt++] = share;
			continue;
		}
		if (model->within)
			continue;
		sum = hash_map_get(groups, id);
		if (!sum) {
			const char *name = group_name(model, row, i);

			if (!name)
				return -ENOMEM;
			sum = new_sum(model, id, name);
			if (hash_map_set(groups, id, sum))
				return -ENOMEM;
		}
		add_to_group(sum, &share);
	}
	return 0;
}

static double rank_of(const struct screen_row *row)
{
	return row->lost.count ? 2 + (double)row->lost.bytes
	       : row->suspect  ? 1 + row->score
	       : row->has_past ? row->score
			       : -1;
}

static double value_of(const struct screen_row *row, enum screen_column column)
{
	switch (column) {
	case COLUMN_BYTES:
		return (double)row->bytes;
	case COLUMN_COUNT:
		return (double)row->count;
	case COLUMN_CHANGE:
		return isnan(row->change) ? -INFINITY : row->change;
	case COLUMN_RATE:
		return isnan(row->bytes_per_s) ? -INFINITY : row->bytes_per_s;
	case COLUMN_AGE:
		return row->median_ns == AGE_UNKNOWN ? -1 : (double)row->median_ns;
	case COLUMN_VERDICT:
		return rank_of(row);
	case COLUMN_NAME:
	case COLUMN_CNT:
		break;
	}
	return 0;
}

/*
 * Compares rows for sorting: names in ascending order, values of all other columns in descending
 * order. `inverted` reverses this order.
 */
static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct screen_row *one = *(const struct screen_row *const *)a;
	const struct screen_row *other = *(const struct screen_row *const *)b;
	const struct model *model = arg;
	int order = 0;

	if (model->sort == COLUMN_NAME) {
		order = strcasecmp(one->name, other->name);
	} else {
		double x = value_of(one, model->sort), y = value_of(other, model->sort);

		order = x > y ? -1 : x < y;
	}
	if (model->inverted)
		order = -order;
	if (!order)
		order = one->bytes > other->bytes ? -1 : one->bytes < other->bytes;
	return order ? order : one->id < other->id ? -1 : one->id > other->id;
}

static void keep_in_view(struct model *model)
{
	if (model->row_cnt && model->selected >= model->row_cnt)
		model->selected = model->row_cnt - 1;
	if (!model->row_cnt)
		model->selected = 0;
	if (model->top > model->selected)
		model->top = model->selected;
	if (model->selected >= model->top + model->page_rows)
		model->top = model->selected - model->page_rows + 1;
	if (model->top + model->page_rows > model->row_cnt)
		model->top =
			model->row_cnt > model->page_rows ? model->row_cnt - model->page_rows : 0;
}

/*
 * Selects the row with the given id, which was selected in the previous list. If no row has this
 * id, or if at_top is true, the selection stays at the same position.
 */
static void select_again(struct model *model, uint64_t id, bool at_top)
{
	for (size_t i = 0; !at_top && i < model->row_cnt; i++)
		if (model->rows[i]->id == id) {
			model->selected = i;
			break;
		}
	keep_in_view(model);
}

static size_t most_sums(const struct model *model)
{
	size_t cnt = 1;

	for (size_t i = 0; i < model->shown->row_cnt; i++)
		cnt += threads_of(model, &model->shown->rows[i]);
	return cnt;
}

static int make_rows(struct model *model)
{
	struct hash_map groups = {0};
	int err = 0;

	model->row_cnt = model->sum_cnt = model->hidden_cnt = 0;
	free(model->sums);
	free(model->rows);
	model->sums =
		model->view == VIEW_STACK ? NULL : calloc(most_sums(model), sizeof(*model->sums));
	model->rows = calloc(most_sums(model), sizeof(*model->rows));
	if ((!model->sums && model->view != VIEW_STACK) || !model->rows)
		return -ENOMEM;
	find_lines(model);
	for (size_t i = 0; !err && i < model->shown->row_cnt; i++) {
		struct screen_row *row = &model->shown->rows[i];

		if (!passes(model, row)) {
			model->hidden_cnt++;
		} else if (model->view == VIEW_STACK) {
			row->change = change_of(model, row);
			model->rows[model->row_cnt++] = row;
		} else {
			err = list_grouped(model, row, &groups);
		}
	}
	hash_map_deinit(&groups);
	for (size_t i = 0; i < model->sum_cnt; i++) {
		if (model->view != VIEW_STACK && !model->within)
			screen_row_set_median(&model->sums[i]);
		model->rows[model->row_cnt++] = &model->sums[i];
	}
	return err;
}

/*
 * Makes the list of rows again. The selected row stays selected, but if the list is shown and its
 * first row was selected, the new first row is selected.
 */
static int list(struct model *model)
{
	const struct screen_row *selected = model_selected(model);
	uint64_t id = selected ? selected->id : 0;
	bool at_top = !selected || (!model->selected && model->page == PAGE_LIST);
	int err;

	if (!model->shown)
		return 0;
	err = make_rows(model);
	if (err)
		return err;
	qsort_r(model->rows, model->row_cnt, sizeof(*model->rows), compare_rows, model);
	select_again(model, id, at_top);
	if (model->page == PAGE_STACK &&
	    (!model_selected(model) || model_selected(model)->id != id))
		model->page = PAGE_LIST;
	return 0;
}

int model_show(struct model *model, struct shown_report *shown)
{
	struct shown_report *before = model->newest ? model->newest : model->shown;
	int err = before ? shown_report__keep_proof(shown, before) : 0;

	if (!err && before && !model->recorded)
		err = shown_report__compare_threads(shown, before);
	if (err) {
		shown_report__free(shown);
		return err;
	}
	if (model->paused) {
		shown_report__free(model->newest);
		model->newest = shown;
		return 0;
	}
	before = model->shown;
	model->shown = shown;
	err = list(model);
	shown_report__free(before);
	return err;
}

static int pause_or_go_on(struct model *model)
{
	struct shown_report *newest = model->newest;

	model->paused = !model->paused;
	if (model->paused || !newest)
		return 0;
	model->newest = NULL;
	return model_show(model, newest);
}

static void move(struct model *model, size_t *at, size_t cnt, long by)
{
	size_t most = cnt ? cnt - 1 : 0;

	if (by < 0)
		*at = *at > (size_t)-by ? *at - (size_t)-by : 0;
	else
		*at = most - *at > (size_t)by && *at < most ? *at + (size_t)by : most;
	keep_in_view(model);
}

/* Handles keys that move the selection. Returns false for other keys. */
static bool moves(struct model *model, uint32_t key)
{
	bool in_list = model->page == PAGE_LIST;
	size_t *at = in_list ? &model->selected : &model->line;
	size_t cnt = in_list ? model->row_cnt : model->line_cnt;
	long rows = model->page_rows > 1 ? (long)model->page_rows - 1 : 1;

	if (key == KEY_IS_UP || key == 'k')
		move(model, at, cnt, -1);
	else if (key == KEY_IS_DOWN || (key == 'j' && !model->recorded))
		move(model, at, cnt, 1);
	else if (key == KEY_IS_PAGE_UP)
		move(model, at, cnt, -rows);
	else if (key == KEY_IS_PAGE_DOWN)
		move(model, at, cnt, rows);
	else if (key == KEY_IS_HOME || key == 'g')
		move(model, at, cnt, -(long)cnt);
	else if (key == KEY_IS_END || key == 'G')
		move(model, at, cnt, (long)cnt);
	else
		return false;
	return true;
}

static int begin_list(struct model *model)
{
	model->selected = model->top = 0;
	model->page = PAGE_LIST;
	return list(model);
}

static int leave_group(struct model *model)
{
	uint64_t id = model->within_id;
	int err;

	free(model->within);
	model->within = NULL;
	err = begin_list(model);
	select_again(model, id, false);
	return err;
}

static int set_view(struct model *model, int by, enum screen_ask *ret)
{
	model->view = (enum screen_view)(((int)model->view + by + VIEW_CNT) % VIEW_CNT);
	free(model->within);
	model->within = NULL;
	if (model->view == VIEW_THREAD && !(model->shown && model->shown->has_threads))
		*ret = ASK_THREADS;
	return begin_list(model);
}

static void open_stack(struct model *model, const struct screen_row *row)
{
	model->page = PAGE_STACK;
	model->line = row->culprit;
}

static int drill(struct model *model)
{
	const struct screen_row *row = model_selected(model);

	if (!row)
		return 0;
	if (model->view == VIEW_STACK || model->within) {
		open_stack(model, row);
		return 0;
	}
	model->within = strdup(row->name);
	model->within_id = row->id;
	return model->within ? begin_list(model) : -ENOMEM;
}

int model_point(struct model *model, size_t row, bool again)
{
	size_t at = model->top + row;

	if (model->page != PAGE_LIST || at >= model->row_cnt)
		return 0;
	if (again && at == model->selected)
		return drill(model);
	model->selected = at;
	return 0;
}

static size_t utf8_encode(uint32_t character, char *ret)
{
	size_t len = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = len - 1; i; i--, character >>= 6)
		ret[i] = (char)(0x80 | (character & 0x3f));
	ret[0] = (char)(first[len] | character);
	return len;
}

/* Handles a key while the user types the filter. Keys that move the selection still work. */
static int type(struct model *model, uint32_t key)
{
	size_t len = strlen(model->filter);

	if (key == KEY_IS_ENTER || key == KEY_IS_ESCAPE)
		model->is_typing = false;
	if (key == KEY_IS_ESCAPE) {
		*model->filter = '\0';
	} else if (key == KEY_IS_BACKSPACE) {
		while (len && ((unsigned char)model->filter[--len] & 0xc0) == 0x80)
			;
		model->filter[len] = '\0';
	} else if (key == 21) { /* Ctrl-U */
		*model->filter = '\0';
	} else if (key < KEY_IS_UP && is_plain_character(key) && len + 5 < FILTER_SIZE) {
		len += utf8_encode(key, model->filter + len);
		model->filter[len] = '\0';
	} else {
		moves(model, key);
		return 0;
	}
	return list(model);
}

static int set_sort(struct model *model, enum screen_column column)
{
	model->inverted = column == model->sort ? !model->inverted : false;
	model->sort = column;
	return begin_list(model);
}

static enum screen_ask go_to_moment(struct model *model, uint32_t key)
{
	size_t at = model->wanted_moment, last = model->moment_cnt - 1;

	if (key == KEY_IS_LEFT || key == ',' || key == 'T')
		at -= at > 0;
	else if (key == KEY_IS_RIGHT || key == '.' || key == 't')
		at += at < last;
	else if (key == '<')
		at = at > 10 ? at - 10 : 0;
	else if (key == '>')
		at = last - at > 10 ? at + 10 : last;
	else if (key == '{')
		at = 0;
	else if (key == '}')
		at = last;
	else
		return ASK_NOTHING;
	if (at == model->wanted_moment)
		return ASK_NOTHING;
	model->wanted_moment = at;
	return ASK_MOMENT;
}

/* Handles a key while the user types the number of the recorded report to jump to. */
static enum screen_ask type_moment(struct model *model, uint32_t key)
{
	size_t typed = model->typed_moment;

	if (key >= '0' && key <= '9' && typed < model->moment_cnt)
		model->typed_moment = 10 * typed + (key - '0');
	else if (key == KEY_IS_BACKSPACE)
		model->typed_moment = typed / 10;
	model->is_jumping = key != KEY_IS_ENTER && key != KEY_IS_ESCAPE;
	if (key != KEY_IS_ENTER || !typed)
		return ASK_NOTHING;
	model->wanted_moment = (typed < model->moment_cnt ? typed : model->moment_cnt) - 1;
	return ASK_MOMENT;
}

static enum screen_ask request_of(const struct model *model, uint32_t key)
{
	switch (key) {
	case 12: /* Ctrl-L */
		return ASK_REDRAW;
	case 26: /* Ctrl-Z */
		return ASK_SUSPEND;
	case 'o':
		return ASK_MOUSE;
	case 'r':
		return ASK_NOW;
	case 'P':
		return ASK_PROOF;
	case 'b':
		return ASK_BASE;
	case 'w':
		return ASK_PAGE;
	case 'R':
		return ASK_RECORD;
	default:
		return ASK_NOTHING;
	}
}

/* Handles keys that work on every page of the screen. Returns the request that the key makes. */
static enum screen_ask any_page(struct model *model, uint32_t key, int *err)
{
	if (!model->recorded && !model->ended && (key == 'p' || key == ' ')) {
		*err = pause_or_go_on(model);
	} else if (model->recorded && key == 'j') {
		model->is_jumping = true;
		model->typed_moment = 0;
	}
	if (model->recorded && go_to_moment(model, key) == ASK_MOMENT)
		return ASK_MOMENT;
	return request_of(model, key);
}

static void leave_page(struct model *model)
{
	model->page = PAGE_LIST;
	model->line = 0;
}

static void open_page(struct model *model, enum screen_page page)
{
	model->page = page;
	model->line = 0;
}

static enum screen_ask other_page(struct model *model, uint32_t key, int *err)
{
	if (key == 'q' || key == KEY_IS_ESCAPE || key == KEY_IS_BACKSPACE)
		leave_page(model);
	else if (!moves(model, key))
		return any_page(model, key, err);
	return ASK_NOTHING;
}

/* Handles keys that work only on the list page. Returns false for other keys. */
static bool list_key(struct model *model, uint32_t key, enum screen_ask *ret, int *err)
{
	if (key == '/')
		model->is_typing = true;
	else if (key >= '1' && key < '1' + COLUMN_CNT)
		*err = set_sort(model, (enum screen_column)(key - '1'));
	else if (key == 's' || key == 'S')
		*err = set_sort(model, (enum screen_column)(
					       (model->sort + (key == 's' ? 1 : COLUMN_CNT - 1)) %
					       COLUMN_CNT));
	else if (key == 'I')
		*err = set_sort(model, model->sort);
	else if (key == KEY_IS_TAB || key == KEY_IS_BACK_TAB)
		*err = set_view(model, key == KEY_IS_TAB ? 1 : -1, ret);
	else if (key == KEY_IS_ENTER)
		*err = drill(model);
	else if (key == 'm') {
		*err = set_mark(model);
		if (!*err)
			*err = begin_list(model);
	} else if (key == 'M') {
		forget_mark(model);
		*err = list(model);
	} else if (key == 'v') {
		open_page(model, PAGE_FACTS);
	} else {
		return false;
	}
	return true;
}

static int back(struct model *model)
{
	if (*model->filter) {
		*model->filter = '\0';
		return list(model);
	}
	return model->within ? leave_group(model) : 0;
}

int model_key(struct model *model, uint32_t key, enum screen_ask *ret)
{
	int err = 0;

	*ret = ASK_NOTHING;
	if (key == 3) /* Ctrl-C */
		*ret = ASK_QUIT;
	else if (model->is_typing)
		return type(model, key);
	else if (model->is_jumping)
		*ret = type_moment(model, key);
	else if (key == KEY_IS_HELP || key == 'h' || key == '?')
		open_page(model, PAGE_HELP);
	else if (model->page != PAGE_LIST)
		*ret = other_page(model, key, &err);
	else if (key == 'q')
		*ret = ASK_QUIT;
	else if (key == KEY_IS_ESCAPE || key == KEY_IS_BACKSPACE)
		err = back(model);
	else if (!moves(model, key) && !list_key(model, key, ret, &err))
		*ret = any_page(model, key, &err);
	return err;
}
