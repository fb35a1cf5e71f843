// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shows any report of a recording on the screen. A recording can only be read forwards, so for an
 * earlier report it is read again from the start. Keys are handled after each snapshot that is
 * read.
 */
#include "app/scrub.h"

#include <errno.h>
#include <poll.h>

#include "app/reporter.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/signals.h"
#include "screen/screen.h"

struct scrub {
	struct options opts;
	struct replay *replay;
	struct screen *screen;
	struct output out;
	struct reporter reporter;
	bool has_reporter;
	size_t next; /* number of snapshots read so far, not counting those between reports */
	bool over;
};

static int begin_anew(struct scrub *scrub)
{
	int err;

	if (scrub->has_reporter)
		reporter_deinit(&scrub->reporter);
	scrub->has_reporter = false;
	err = scrub->next ? replay_rewind(scrub->replay) : 0;
	scrub->next = 0;
	if (!err)
		err = reporter_init(&scrub->opts, recording__symbols(scrub->replay->recording),
				    &scrub->out, &scrub->reporter);
	if (err)
		return err;
	scrub->has_reporter = true;
	scrub->reporter.recorded = true;
	scrub->reporter.screen = scrub->screen;
	return 0;
}

/* Reads the next snapshot. Shows its report if it has the number `wanted`. */
static int step(struct scrub *scrub, size_t wanted)
{
	struct snapshot snap;
	bool final;
	int err = replay_next(scrub->replay, &snap, &final);

	if (err)
		return err;
	if (scrub->next == wanted && !snap.between)
		screen__at_moment(scrub->screen, wanted);
	err = reporter_add(&scrub->reporter, &snap, UINT64_MAX, final, scrub->next == wanted);
	if (err == -ENOMEM)
		log_error("out of memory");
	scrub->next += !snap.between;
	snapshot_deinit(&snap);
	return err;
}

static int answer(struct scrub *scrub, enum screen_ask ask)
{
	switch (ask) {
	case ASK_QUIT:
		scrub->over = true;
		return 0;
	case ASK_PAGE:
		screen__want_page(scrub->screen);
		return begin_anew(scrub);
	case ASK_BASE:
		log_note("no baseline can be set in a recording: press m to mark a moment");
		return 0;
	case ASK_NOW:
	case ASK_PROOF:
	case ASK_RECORD:
		log_note("not available in a recording: nothing is being traced");
		return 0;
	case ASK_THREADS:
		if (!(recording__flags(scrub->replay->recording) & RECORDING_BLOCKS))
			log_note("no threads: the recording was made with neither --by thread "
				 "nor --show-allocs");
		return 0;
	default:
		return 0;
	}
}

static int serve_keys(struct scrub *scrub)
{
	enum screen_ask ask;
	int err;

	do {
		err = screen__next(scrub->screen, &ask);
		if (!err)
			err = answer(scrub, ask);
	} while (!err && ask != ASK_NOTHING && !scrub->over);
	return err;
}

static int loop(struct scrub *scrub, int signal_fd)
{
	struct pollfd fds[] = {{.fd = screen__poll_fd(scrub->screen), .events = POLLIN},
			       {.fd = signal_fd, .events = POLLIN}};
	int err = begin_anew(scrub);

	while (!err && !scrub->over) {
		size_t wanted = screen__wanted_moment(scrub->screen);
		bool is_there = scrub->next == wanted + 1;

		if (!is_there && scrub->next > wanted)
			err = begin_anew(scrub);
		if (!err && !is_there)
			err = step(scrub, wanted);
		if (err || (poll(fds, 2, is_there ? -1 : 0) < 0 && errno != EINTR))
			return err ? err : -errno;
		if (fds[1].revents && signals_read(signal_fd) == REQUEST_END)
			scrub->over = true;
		else if (fds[0].revents)
			err = serve_keys(scrub);
	}
	return err;
}

int scrub(const struct options *opts, struct replay *replay)
{
	struct scrub scrub = {.opts = *opts, .replay = replay, .out.fd = -1};
	unsigned int flags = recording__flags(replay->recording);
	cleanup_close int signal_fd = -1;
	int err = screen__new(opts, &scrub.screen);

	if (err)
		return err;
	scrub.opts.by = BY_STACK;
	scrub.opts.show_allocs = flags & RECORDING_BLOCKS;
	err = signals_hold_all();
	signal_fd = err ? err : signals_open();
	screen__begin_moments(scrub.screen, replay->report_cnt);
	if (signal_fd >= 0)
		err = screen__open(scrub.screen);
	if (signal_fd >= 0 && !err)
		err = loop(&scrub, signal_fd);
	if (scrub.has_reporter)
		reporter_deinit(&scrub.reporter);
	screen__free(scrub.screen);
	return signal_fd < 0 ? signal_fd : err;
}
