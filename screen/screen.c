// SPDX-License-Identifier: GPL-2.0-or-later
/* Passes keys and reports to the model, and draws the model on the terminal. */
#include "screen/screen.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fair_lock.h"
#include "base/log.h"
#include "base/signals.h"
#include "screen/draw.h"
#include "screen/terminal.h"
#include "sinks/output.h"
#include "sinks/sink.h"

/* Size of the buffer for log messages in bytes; the oldest messages are dropped when it is full. */
#define LOG_MOST 65536

struct screen {
	const struct options *opts;
	struct model model;
	struct source_reader *sources;
	int epoll_fd;
	int wake_fd;
	bool is_open;
	bool has_mouse;
	bool wants_page;
	char *page; /* the latest HTML page, or NULL */
	size_t page_len;
	/* protects `log` and its lengths, because any thread may log messages */
	pthread_mutex_t log_lock;
	char *log;
	size_t log_len;
	/* length of the beginning of `log` that was logged before the user last pressed a key */
	size_t read_len;
};

static void wake(struct screen *screen)
{
	const uint64_t one = 1;

	while (write(screen->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* Drops the oldest log lines until there is room for `len` more bytes. */
static void make_log_room(struct screen *screen, size_t len)
{
	while (screen->log_len && screen->log_len + len >= LOG_MOST) {
		const char *end = memchr(screen->log, '\n', screen->log_len);
		size_t line = end ? (size_t)(end - screen->log) + 1 : screen->log_len;

		memmove(screen->log, screen->log + line, screen->log_len - line + 1);
		screen->log_len -= line;
		screen->read_len -= screen->read_len < line ? screen->read_len : line;
	}
}

/* Adds a log line, which ends with a newline, to the messages of the screen. */
static void take_line(void *arg, const char *line, size_t len)
{
	struct screen *screen = arg;

	pthread_mutex_lock(&screen->log_lock);
	make_log_room(screen, len);
	if (len < LOG_MOST) {
		memcpy(screen->log + screen->log_len, line, len);
		screen->log_len += len;
		screen->log[screen->log_len] = '\0';
	}
	pthread_mutex_unlock(&screen->log_lock);
	wake(screen);
}

static int add_fd(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int open_fds(struct screen *screen)
{
	int err;

	screen->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	screen->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (screen->epoll_fd < 0 || screen->wake_fd < 0)
		return -errno;
	err = add_fd(screen->epoll_fd, screen->wake_fd);
	return err ? err : add_fd(screen->epoll_fd, STDIN_FILENO);
}

static enum screen_view first_view(const struct options *opts)
{
	return opts->by == BY_PROCESS  ? VIEW_PROCESS
	       : opts->by == BY_THREAD ? VIEW_THREAD
	       : opts->by == BY_MODULE ? VIEW_MODULE
				       : VIEW_STACK;
}

static enum screen_column first_sort(const struct options *opts)
{
	return opts->sort == SORT_COUNT    ? COLUMN_COUNT
	       : opts->sort == SORT_GROWTH ? COLUMN_CHANGE
	       : opts->sort == SORT_SCORE  ? COLUMN_VERDICT
					   : COLUMN_BYTES;
}

int screen__new(const struct options *opts, struct screen **ret)
{
	const char *fault = terminal_fault();
	struct screen *screen;
	int err;

	if (fault) {
		log_error("%s", fault);
		return -ENOTTY;
	}
	screen = calloc(1, sizeof(*screen));
	if (!screen)
		return -ENOMEM;
	screen->opts = opts;
	pthread_mutex_init(&screen->log_lock, NULL);
	model_init(first_view(opts), first_sort(opts), &screen->model);
	screen->log = calloc(1, LOG_MOST);
	err = open_fds(screen);
	if (!err && screen->log)
		err = source_reader__new(screen->wake_fd, &screen->sources);
	if (err || !screen->log) {
		log_error("cannot prepare the screen: %s", strerror(err ? -err : ENOMEM));
		screen__free(screen);
		return err ? err : -ENOMEM;
	}
	*ret = screen;
	return 0;
}

int screen__open(struct screen *screen)
{
	bool colour =
		output_has_colour(&(struct output){.fd = STDOUT_FILENO}, screen->opts->colour);
	int err = terminal_open(screen->wake_fd, colour);

	if (err) {
		log_error("cannot draw on this terminal: %s", strerror(-err));
		return err;
	}
	screen->is_open = true;
	log_divert(take_line, screen);
	wake(screen);
	return 0;
}

void screen__close(struct screen *screen)
{
	if (!screen || !screen->is_open)
		return;
	terminal_close();
	log_divert(NULL, NULL);
	screen->is_open = false;
	if (isatty(STDERR_FILENO)) {
		fwrite(screen->log, 1, screen->log_len, stderr);
		fflush(stderr);
	}
}

void screen__free(struct screen *screen)
{
	if (!screen)
		return;
	screen__close(screen);
	model_deinit(&screen->model);
	source_reader__free(screen->sources);
	close(screen->epoll_fd);
	close(screen->wake_fd);
	pthread_mutex_destroy(&screen->log_lock);
	free(screen->page);
	free(screen->log);
	free(screen);
}

int screen__poll_fd(const struct screen *screen)
{
	return screen->epoll_fd;
}

static void draw_all(struct screen *screen)
{
	struct drawing drawing = {
		.sources = screen->sources,
		.log = screen->log,
		.waiting = screen->opts->mode == MODE_REPORT ? "reading the recording ..."
							     : "waiting for the first report ...",
	};

	pthread_mutex_lock(&screen->log_lock);
	drawing.unread = screen->log + screen->read_len;
	draw(&screen->model, &drawing);
	pthread_mutex_unlock(&screen->log_lock);
}

/* True if the terminal is gone; this may happen without a signal. */
static bool has_hung_up(void)
{
	struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLERR | POLLNVAL));
}

static int point_at(struct screen *screen, const struct terminal_point *point)
{
	int row = draw_row_at(point->y);

	return row < 0 ? 0 : model_point(&screen->model, (size_t)row, point->again);
}

/*
 * Carries out requests that concern only the terminal. Returns false for other requests, which the
 * caller must carry out.
 */
static bool serve(struct screen *screen, enum screen_ask ask)
{
	switch (ask) {
	case ASK_SUSPEND:
		terminal_suspend();
		return true;
	case ASK_REDRAW:
		terminal_redraw();
		return true;
	case ASK_MOUSE:
		screen->has_mouse = !screen->has_mouse;
		terminal_mouse(screen->has_mouse);
		log_note("the mouse is %s",
			 screen->has_mouse ? "on: click, double click, wheel" : "off");
		return true;
	default:
		return ask == ASK_NOTHING;
	}
}

/* Marks all messages as read. Must be called when the user presses a key. */
static void mark_as_read(struct screen *screen)
{
	pthread_mutex_lock(&screen->log_lock);
	screen->read_len = screen->log_len;
	pthread_mutex_unlock(&screen->log_lock);
}

int screen__next(struct screen *screen, enum screen_ask *ret)
{
	struct terminal_point point;
	uint64_t cnt;

	*ret = ASK_NOTHING;
	if (!screen->is_open)
		return 0;
	while (read(screen->wake_fd, &cnt, sizeof(cnt)) == sizeof(cnt))
		terminal_resize();
	for (;;) {
		int64_t key = terminal_key(&point);
		int err = 0;

		if (key < 0)
			break;
		mark_as_read(screen);
		if (key)
			err = model_key(&screen->model, (uint32_t)key, ret);
		else
			err = point_at(screen, &point);
		if (err || !serve(screen, *ret))
			return err;
		*ret = ASK_NOTHING;
	}
	if (has_hung_up())
		*ret = ASK_QUIT;
	else
		draw_all(screen);
	return 0;
}

bool screen__wants_threads(const struct screen *screen)
{
	return screen->model.view == VIEW_THREAD;
}

char *screen__file_name(const char *suffix)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32], *name = NULL;

	if (!localtime_r(&now, &tm) || !strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm))
		strcpy(stamp, "now");
	for (unsigned int i = 0; i < 100; i++) {
		free(name);
		if (i ? asprintf(&name, "memleak-%s-%u.%s", stamp, i, suffix) < 0
		      : asprintf(&name, "memleak-%s.%s", stamp, suffix) < 0)
			return NULL;
		if (access(name, F_OK))
			break;
	}
	return name;
}

/* Saves the HTML page in `page` to a new file. */
static void save_page(struct screen *screen)
{
	cleanup_free char *name = screen__file_name("html");
	struct output out;
	FILE *stream;

	screen->wants_page = false;
	if (!name || output_init(&out, name, true, false))
		return;
	stream = output_begin(&out);
	if (stream) {
		fwrite(screen->page, 1, screen->page_len, stream);
		if (!output_end(&out))
			log_note("the report is in %s", name);
	}
	output_deinit(&out);
}

static int make_page(struct screen *screen, const struct report *report)
{
	FILE *stream;
	int err;

	free(screen->page);
	screen->page = NULL;
	stream = open_memstream(&screen->page, &screen->page_len);
	if (!stream)
		return -ENOMEM;
	err = sink_html.report(stream, report);
	if (fclose(stream) && !err)
		err = -ENOMEM;
	if (err) {
		free(screen->page);
		screen->page = NULL;
	}
	return err;
}

void screen__want_page(struct screen *screen)
{
	screen->wants_page = true;
	if (screen->model.ended && screen->page)
		save_page(screen);
}

/* Lets the thread that handles keys run. Called at intervals while a large report is copied. */
static void breathe(void)
{
	fair_lock_release();
	fair_lock_acquire();
}

int screen__show(struct screen *screen, const struct report *report, struct screen_load load)
{
	struct shown_report *shown;
	int err = shown_report__new(report, report->recorded || report->final ? NULL : breathe,
				    &shown);

	if (!err) {
		shown->load = load;
		err = model_show(&screen->model, shown);
	}
	/* Make the final report's page even without a request: it cannot be made later. */
	if (!err && (screen->wants_page || (report->final && !report->recorded)))
		err = make_page(screen, report);
	if (!err && screen->wants_page)
		save_page(screen);
	wake(screen);
	return err;
}

void screen__end(struct screen *screen)
{
	screen->model.ended = true;
	wake(screen);
}

/*
 * Handles a request that the user makes after tracing has ended: saves the HTML page, or logs that
 * other requests are no longer possible.
 */
static void refuse(struct screen *screen, enum screen_ask ask)
{
	if (ask == ASK_PAGE)
		screen__want_page(screen);
	else if (ask != ASK_QUIT)
		log_note("tracing has ended: this is the last report");
}

int screen__stay(struct screen *screen)
{
	cleanup_close int signal_fd = signals_open();
	struct pollfd fds[] = {{.fd = screen->epoll_fd, .events = POLLIN},
			       {.fd = signal_fd, .events = POLLIN}};
	enum screen_ask ask = ASK_NOTHING;
	int err = signal_fd < 0 ? -errno : 0;

	while (!err && ask != ASK_QUIT && screen->is_open) {
		err = screen__next(screen, &ask);
		if (err || ask != ASK_NOTHING) {
			refuse(screen, ask);
			continue;
		}
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents && signals_read(signal_fd) == REQUEST_END)
			break;
	}
	return err;
}

void screen__begin_moments(struct screen *screen, size_t cnt)
{
	screen->model.recorded = true;
	screen->model.moment_cnt = cnt;
	screen->model.moment = screen->model.wanted_moment = cnt - 1;
}

void screen__at_moment(struct screen *screen, size_t at)
{
	screen->model.moment = at;
}

size_t screen__wanted_moment(const struct screen *screen)
{
	return screen->model.wanted_moment;
}
