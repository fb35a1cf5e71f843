// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes verdicts: a line for people, and the numbers behind it for programs. */
#include "sinks/verdict.h"

#include <inttypes.h>
#include <math.h>

#include "sinks/text_part.h"

#define NSEC_PER_SEC 1000000000
#define NSEC_PER_MSEC 1000000

/* Callers that are named beside the function whose memory it is. */
#define CALLERS 2

static void write_amount(FILE *out, double bytes)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (fabs(bytes) >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1024;
		unit++;
	}
	fprintf(out, "%.*f %s", unit && fabs(bytes) < 100 ? 1 : 0, bytes, units[unit]);
}

static void write_span(FILE *out, uint64_t ns)
{
	if (ns < NSEC_PER_SEC)
		fprintf(out, "%" PRIu64 " ms", ns / NSEC_PER_MSEC);
	else
		fprintf(out, "%" PRIu64 " s", ns / NSEC_PER_SEC);
}

static void write_blocks(FILE *out, const struct site_history *history)
{
	uint64_t freed = history_freed(history, 0);

	if (!history->seen)
		return;
	if (!freed) {
		fprintf(out, "; none of the %" PRIu64 " blocks seen was freed", history->seen);
		return;
	}
	fprintf(out, "; %" PRIu64 " of %" PRIu64 " blocks seen %s freed, most within ", freed,
		history->seen, freed == 1 ? "was" : "were");
	write_span(out, history_lifetime_ns(history));
	if (!history->trend.score.older_ns)
		return;
	fputs(", but those older than ", out);
	write_span(out, history->trend.score.older_ns);
	fputs(" accumulate", out);
}

/* Only what site_is_suspect() has is written. */
static const char *manner_of(enum tendency tendency)
{
	switch (tendency) {
	case TENDENCY_STEADY:
		return "steadily";
	case TENDENCY_STEPS:
		return "in steps";
	case TENDENCY_UNKNOWN:
	case TENDENCY_FLAT:
	case TENDENCY_LEVELLED:
	case TENDENCY_SHRINKS:
	case TENDENCY_CNT:
		break;
	}
	return "";
}

static void write_verdict(const struct text_part *part, const struct report_site *shown)
{
	const struct trend *trend = &shown->history->trend;
	FILE *out = part->out;

	fputc('[', out);
	text_write_clock(out, part->report->snapshot->wall_ns);
	fputs("] ", out);
	text_write_blamed(part, shown, CALLERS);
	fputs(" grows ", out);
	write_amount(out, trend->bytes_per_s);
	fprintf(out, "/s, %s for %" PRIu64 " s", manner_of(trend->tendency),
		trend->since_ns / NSEC_PER_SEC);
	write_blocks(out, shown->history);
	fprintf(out, " (leak score %.2f)\n", trend->score.total);
}

static void write_more(FILE *out, size_t cnt)
{
	fputs("] ", out);
	text_write_count(out, cnt, "more site");
	fputs(cnt == 1 ? " grows\n" : " grow\n", out);
}

void verdict_write_text(FILE *out, const struct report *report, bool with_process)
{
	const struct text_part part = {out, report, "", with_process};

	for (size_t i = 0; i < report->suspect_cnt; i++)
		write_verdict(&part, &report->suspects[i]);
	if (!report->judged ||
	    (report->suspect_cnt && report->suspect_cnt == report->suspects_total))
		return;
	fputc('[', out);
	text_write_clock(out, report->snapshot->wall_ns);
	if (report->suspect_cnt)
		write_more(out, report->suspects_total - report->suspect_cnt);
	else
		fprintf(out, "] nothing seems to leak: none of the %zu sites grows steadily\n",
			report->sites_total);
}

void verdict_write_trend(struct json_writer *json, const struct site_history *history)
{
	const struct trend *trend;

	if (!history) {
		json_null(json, "trend");
		return;
	}
	trend = &history->trend;
	json_begin_object(json, "trend");
	json_string(json, "tendency", tendency_name(trend->tendency));
	json_unsigned(json, "since_ns", trend->since_ns);
	json_real(json, "bytes_per_s", trend->bytes_per_s);
	json_real(json, "bytes_per_s_low", trend->low);
	json_real(json, "bytes_per_s_high", trend->high);
	json_unsigned(json, "seen", history->seen);
	json_unsigned(json, "freed", history_freed(history, 0));
	json_unsigned(json, "lifetime_ns", history_lifetime_ns(history));
	json_begin_object(json, "score");
	json_real(json, "total", trend->score.total);
	json_real(json, "growth", trend->score.growth);
	json_real(json, "risen", trend->score.risen);
	json_real(json, "unfreed", trend->score.unfreed);
	json_unsigned(json, "older_ns", trend->score.older_ns);
	json_end_object(json);
	json_end_object(json);
}

void verdict_write_ages(struct json_writer *json, const struct ages *ages)
{
	json_begin_array(json, "ages");
	for (size_t i = 0; i < AGE_CLASS_CNT; i++) {
		if (!ages->count[i])
			continue;
		json_begin_object(json, NULL);
		json_unsigned(json, "from_ns", age_class_ns(i));
		json_unsigned(json, "bytes", ages->bytes[i]);
		json_unsigned(json, "count", ages->count[i]);
		json_end_object(json);
	}
	json_end_array(json);
}
