// SPDX-License-Identifier: GPL-2.0-or-later
/* memleak: finds memory that a running process or the kernel allocates and does not free. */
#include "app/commands.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "options/parse.h"

static int run(const struct options *opts)
{
	log_set_verbosity(opts->verbose);
	switch (opts->mode) {
	case MODE_REPORT:
		return report_command(opts);
	case MODE_DIFF:
		return diff_command(opts);
	case MODE_CORE:
		return core_command(opts);
	default:
		return opts->rss ? rss_command(opts) : trace_command(opts);
	}
}

int main(int argc, char **argv)
{
	struct options opts;
	enum options_result parsed = options_parse(argc, argv, &opts);
	int code = 0;

	signals_hold_requests();
	clock_read_offsets();
	if (parsed == OPTIONS_EXIT_USAGE)
		code = EXIT_USAGE;
	else if (parsed == OPTIONS_EXIT_FAILED)
		code = EXIT_CANNOT;
	else if (parsed == OPTIONS_RUN)
		code = run(&opts);
	options_deinit(&opts);
	return code;
}
