// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * memleak report: makes reports from the snapshots in a recording, by the same steps as a live run.
 */
#include <errno.h>

#include "app/commands.h"
#include "app/replay.h"
#include "app/reporter.h"
#include "app/scrub.h"
#include "base/log.h"

/*
 * Returns text that says which content the options need and the recording does not have, and why;
 * NULL if the recording has everything.
 */
static const char *missing(const struct options *opts, unsigned int flags)
{
	if (opts->show_allocs && !(flags & RECORDING_BLOCKS))
		return "no individual blocks: the recording was made without --show-allocs";
	if (opts->by == BY_THREAD && !(flags & RECORDING_BLOCKS))
		return "no threads: the recording was made with neither --by thread nor "
		       "--show-allocs";
	if (opts->largest && !(flags & RECORDING_AGES))
		return "no largest blocks: the recording was made with --combined-only";
	if (opts->peak && !(flags & RECORDING_PEAK))
		return "no peak: the recording was made without --peak";
	if (opts->summary && !(flags & RECORDING_SUMMARY))
		return "no summary: the recording was made without --summary";
	return NULL;
}

static int report_all(struct replay *replay, struct reporter *reporter)
{
	int err = 0;

	for (size_t i = 0; !err && i < replay->cnt; i++) {
		bool final, last = i + 1 == replay->cnt;
		struct snapshot snap;

		err = replay_next(replay, &snap, &final);
		if (err)
			break;
		reporter->last = last;
		err = reporter_add(
			reporter, &snap, UINT64_MAX, final,
			last || (reporter->opts->all && output_wants(reporter->out, final)));
		if (err == -ENOMEM)
			log_error("out of memory");
		snapshot_deinit(&snap);
	}
	return err;
}

static int report_from(const struct options *opts, struct replay *replay, struct output *out,
		       enum last_verdict *ret_verdict)
{
	const char *lacks = missing(opts, recording__flags(replay->recording));
	const struct replay *const replays[] = {replay};
	struct reporter reporter;
	int err;

	if (lacks) {
		log_error("%s has %s", replay->path, lacks);
		return -ENODATA;
	}
	if (opts->live)
		return scrub(opts, replay);
	err = replay_open_output(opts, replays, 1, out);
	if (!err)
		err = reporter_init(opts, recording__symbols(replay->recording), out, &reporter);
	if (err)
		return err;
	reporter.recorded = true;
	reporter.needs_proof = recording__flags(replay->recording) & RECORDING_PROVE;
	err = report_all(replay, &reporter);
	*ret_verdict = reporter.verdict;
	reporter_deinit(&reporter);
	return err;
}

int report_command(const struct options *opts)
{
	struct output out = {.fd = -1};
	struct replay replay;
	enum last_verdict verdict = VERDICT_CLEAN;
	int err = replay_open(opts->files[0], &replay);

	if (err)
		return EXIT_CANNOT;
	err = report_from(opts, &replay, &out, &verdict);
	replay_deinit(&replay);
	output_deinit(&out);
	if (err && err != -EPIPE)
		return EXIT_CANNOT;
	return err ? 0 : verdict_exit_code(opts, verdict, 0);
}
