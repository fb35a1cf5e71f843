// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opens recordings, and finds the snapshot that was requested by a time. Each file is read twice.
 * The first pass finds this snapshot, and checks that it and all earlier snapshots can be read. The
 * second pass returns these snapshots.
 */
#include "app/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/number.h"
#include "sinks/sink.h"

#define NSEC_PER_SEC 1000000000LL

/* The requested time. Later snapshots are not used. */
struct limit {
	/* true: a time of day (hour, minute, second); false: a time since tracing began */
	bool clock;
	int hour, minute, second;
	uint64_t elapsed_ns; /* time since tracing began; UINT64_MAX if no time was requested */
	/* time of day in nanoseconds since 1970; set when the recording's date is known */
	int64_t wall_ns;
};

/*
 * Parses a time in seconds. The text stands for an interval, such as 5 to 5.999999999 seconds for
 * "5". Sets *ret to the end of this interval.
 */
static bool parse_seconds(const char *text, uint64_t *ret)
{
	uint64_t ns, unit;

	if (!is_digit(*text) || number_take_seconds(&text, &ns, &unit) || *text)
		return false;
	*ret = ns + unit - 1;
	return true;
}

static bool parse_clock(const char *text, struct limit *ret)
{
	int end = 0;

	return is_digit(*text) &&
	       sscanf(text, "%2d:%2d:%2d%n", &ret->hour, &ret->minute, &ret->second, &end) == 3 &&
	       !text[end] && ret->hour < 24 && ret->minute >= 0 && ret->minute < 60 &&
	       ret->second >= 0 && ret->second <= 60;
}

static bool parse_time(const char *text, struct limit *ret)
{
	ret->clock = parse_clock(text, ret);
	return ret->clock || parse_seconds(text, &ret->elapsed_ns);
}

/*
 * Returns the time of day of `limit` as nanoseconds since 1970: the last nanosecond of this second,
 * on the first day on which it is not before the start of tracing; INT64_MAX if this is not
 * possible.
 */
static int64_t wall_of(const struct limit *limit, const struct recorded_moment *moment)
{
	int64_t begin_ns;
	time_t first, wanted;
	struct tm tm;

	if (__builtin_sub_overflow(moment->wall_ns, moment->elapsed_ns, &begin_ns))
		begin_ns = moment->wall_ns;
	first = begin_ns / NSEC_PER_SEC;
	for (int days = 0; days < 2; days++) {
		if (!localtime_r(&first, &tm))
			return INT64_MAX;
		tm.tm_mday += days;
		tm.tm_hour = limit->hour;
		tm.tm_min = limit->minute;
		tm.tm_sec = limit->second;
		tm.tm_isdst = -1;
		wanted = mktime(&tm);
		if (wanted >= first)
			break;
	}
	if (wanted > INT64_MAX / NSEC_PER_SEC - 1)
		return INT64_MAX;
	return (wanted + 1) * NSEC_PER_SEC - 1;
}

static bool is_within(const struct limit *limit, const struct recorded_moment *moment)
{
	return limit->clock ? moment->wall_ns <= limit->wall_ns
			    : moment->elapsed_ns <= limit->elapsed_ns;
}

/*
 * True if the requested time is after the last snapshot of the recording. A time of day must be in
 * a later second than that snapshot. A time since tracing began must be at least two seconds later,
 * with both times rounded down to seconds.
 */
static bool is_behind(const struct limit *limit, const struct recorded_moment *last)
{
	return limit->clock ? limit->wall_ns - NSEC_PER_SEC >= last->wall_ns
			    : limit->elapsed_ns != UINT64_MAX &&
				      limit->elapsed_ns / NSEC_PER_SEC >
					      last->elapsed_ns / NSEC_PER_SEC + 1;
}

static void say_error(const char *path, int err)
{
	if (err == -ENOEXEC)
		log_error("%s: not a memleak recording", path);
	else if (err == -ENOTSUP)
		log_error("%s: written by a newer memleak", path);
	else if (err == -EFBIG)
		log_error("%s: invalid recording: reading it would take too much memory", path);
	else if (err == -ESPIPE)
		log_error("%s: must be a file, not a pipe", path);
	else
		log_error("cannot read %s: %s", path, strerror(-err));
}

static int open_recording(struct replay *replay)
{
	/* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
	int fd = open(replay->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	int err = file ? recording__new(file, &replay->recording) : -errno;

	if (!file && fd >= 0)
		close(fd);
	if (err)
		say_error(replay->path, err);
	return err;
}

static void close_recording(struct replay *replay)
{
	recording__free(replay->recording);
	replay->recording = NULL;
}

/*
 * If the recording cannot be used, logs why and returns a negative errno. A truncated or damaged
 * recording is used up to the last readable snapshot; logs a note if the requested time may be
 * after it.
 */
static int say_end(const struct replay *replay, size_t total, int err)
{
	if (err && err != -EBADMSG) {
		say_error(replay->path, err);
		return err;
	}
	if (!total) {
		log_error("%s: contains no %ssnapshot", replay->path, err ? "complete " : "");
		return -ENODATA;
	}
	if (!replay->cnt) {
		log_error("%s: begins later than the requested time", replay->path);
		return -ENODATA;
	}
	if (err && replay->report_cnt == total)
		log_note("%s is truncated or damaged at snapshot %zu: only earlier snapshots are "
			 "used",
			 replay->path, total + 1);
	return 0;
}

static int find_moment(struct replay *replay, struct limit *limit)
{
	struct recorded_moment moment, last = {0};
	size_t total = 0, reports = 0;
	int got;

	while ((got = recording__skip(replay->recording, &moment)) == 1) {
		if (!total++ && limit->clock)
			limit->wall_ns = wall_of(limit, &moment);
		if (moment.between)
			continue;
		reports++;
		if (is_within(limit, &moment)) {
			replay->cnt = total;
			replay->report_cnt = reports;
		}
		last = moment;
	}
	if (!got && reports && replay->report_cnt == reports && is_behind(limit, &last))
		log_note("%s ends %.1f s after tracing began, before the requested time: its last "
			 "snapshot is shown",
			 replay->path, (double)last.elapsed_ns / NSEC_PER_SEC);
	return say_end(replay, reports, got);
}

/* Splits FILE@TIME into path and time, unless there is a file whose name is the whole text. */
static int split_name(const char *name, struct replay *replay, struct limit *limit)
{
	const char *at = strrchr(name, '@');

	*limit = (struct limit){.elapsed_ns = UINT64_MAX};
	if (!at || access(name, F_OK) == 0) {
		replay->path = strdup(name);
	} else if (!parse_time(at + 1, limit)) {
		log_error("%s: '%s' is not a time: give seconds since tracing began, or HH:MM:SS",
			  name, at + 1);
		return -EINVAL;
	} else {
		replay->path = strndup(name, (size_t)(at - name));
	}
	if (replay->path)
		return 0;
	log_error("out of memory");
	return -ENOMEM;
}

int replay_open(const char *name, struct replay *ret)
{
	struct replay replay = {0};
	struct limit limit;
	int err = split_name(name, &replay, &limit);

	if (!err)
		err = open_recording(&replay);
	if (!err)
		err = find_moment(&replay, &limit);
	close_recording(&replay);
	if (!err)
		err = open_recording(&replay);
	if (err) {
		replay_deinit(&replay);
		return err;
	}
	*ret = replay;
	return 0;
}

void replay_deinit(struct replay *replay)
{
	close_recording(replay);
	free(replay->path);
	*replay = (struct replay){0};
}

int replay_open_output(const struct options *opts, const struct replay *const *replays, size_t cnt,
		       struct output *ret)
{
	const struct sink *sink = sink_for(opts->format);
	int err = output_init(ret, opts->output, !format_holds_reports(opts->format), sink->binary);

	for (size_t i = 0; !err && i < cnt; i++)
		if (output_is(ret, replays[i]->path)) {
			log_error("--output %s would overwrite the recording that is being read",
				  opts->output);
			err = -EINVAL;
		}
	return err ? err : output_empty(ret);
}

int replay_rewind(struct replay *replay)
{
	close_recording(replay);
	return open_recording(replay);
}

int replay_next(struct replay *replay, struct snapshot *ret, bool *final)
{
	int got = recording__next(replay->recording, ret, final);

	if (got == 1)
		return 0;
	log_error("%s changed while it was being read", replay->path);
	return -EIO;
}
