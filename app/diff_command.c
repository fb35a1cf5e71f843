// SPDX-License-Identifier: GPL-2.0-or-later
/* memleak diff: compares two snapshots, which are in one recording or in two. */
#include <errno.h>

#include "app/commands.h"
#include "app/replay.h"
#include "base/log.h"
#include "report/diff.h"
#include "report/ended.h"
#include "report/reserves.h"
#include "sinks/diff.h"
#include "sinks/html.h"

/* One of the two snapshots that are compared, and the recording that it comes from. */
struct moment_of {
	struct replay replay;
	struct snapshot snap;
	struct snapshot_view view;
};

static int open_moment(const struct options *opts, const char *name, struct moment_of *ret)
{
	struct recorded_moment moment;
	bool final;
	int err = replay_open(name, &ret->replay);

	if (err)
		return err;
	for (size_t i = 1; i < ret->replay.cnt; i++)
		recording__skip(ret->replay.recording, &moment);
	err = replay_next(&ret->replay, &ret->snap, &final);
	if (err)
		return err;
	ret->view = snapshot_view_of(&ret->snap);
	err = ended_leave_out(&ret->view);
	return err || opts->reserved ? err : reserves_leave_out(&ret->view);
}

static void close_moment(struct moment_of *moment)
{
	snapshot_view_deinit(&moment->view);
	snapshot_deinit(&moment->snap);
	replay_deinit(&moment->replay);
}

static int write_diff(FILE *out, const struct options *opts, const struct diff *diff)
{
	if (opts->format == FORMAT_HTML)
		return html_write_diff(out, diff);
	if (opts->format == FORMAT_JSON)
		diff_write_json(out, diff);
	else
		diff_write_text(out, diff);
	return 0;
}

static int print(const struct options *opts, const struct diff *diff, struct output *out)
{
	FILE *stream = output_begin(out);
	int err = stream ? write_diff(stream, opts, diff) : -ENOMEM;

	return err ? err : output_end(out);
}

static int compare_moments(const struct options *opts, const struct moment_of *moments,
			   struct output *out)
{
	struct diff_side sides[2];
	struct diff diff;
	int err;

	for (size_t i = 0; i < 2; i++)
		sides[i] = (struct diff_side){
			.name = moments[i].replay.path,
			.snap = &moments[i].view.snap,
			.symbols = recording__symbols(moments[i].replay.recording),
		};
	err = diff_init(
		opts, sides,
		recording__same_run(moments[0].replay.recording, moments[1].replay.recording),
		&diff);
	if (!err) {
		err = print(opts, &diff, out);
		diff_deinit(&diff);
	}
	if (err == -ENOMEM)
		log_error("out of memory");
	return err;
}

int diff_command(const struct options *opts)
{
	struct output out = {.fd = -1};
	struct moment_of moments[2] = {0};
	const struct replay *const replays[] = {&moments[0].replay, &moments[1].replay};
	int err = open_moment(opts, opts->files[0], &moments[0]);

	if (!err)
		err = open_moment(opts, opts->files[1], &moments[1]);
	if (!err)
		err = replay_open_output(opts, replays, 2, &out);
	if (!err)
		err = compare_moments(opts, moments, &out);
	close_moment(&moments[0]);
	close_moment(&moments[1]);
	output_deinit(&out);
	return err && err != -EPIPE ? EXIT_CANNOT : 0;
}
