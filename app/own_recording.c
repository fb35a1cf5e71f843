// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starts and stops recordings when the user presses R on the live screen. The files are in the
 * current directory.
 */
#include "app/own_recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/output_file.h"
#include "base/proc.h"
#include "screen/screen.h"

static bool has_young(const struct options *opts)
{
	for (size_t i = 0; i < opts->pid_cnt; i++)
		if (proc_age_ns(opts->pids[i]) < RUN_YOUNG_NS)
			return true;
	return false;
}

struct run_facts run_facts_now(const struct options *opts)
{
	return (struct run_facts){
		.had_begun = opts->pid_cnt && !opts->follow,
		.was_young = has_young(opts),
		.has_size_filters = opts->min_size || opts->max_size != UINT64_MAX,
	};
}

unsigned int recording_flags(const struct options *opts, const struct run_facts *facts)
{
	return (facts->had_begun ? RECORDING_HAD_BEGUN : 0) |
	       (facts->was_young ? RECORDING_WAS_YOUNG : 0) |
	       (facts->has_size_filters ? RECORDING_SIZE_FILTERS : 0) |
	       (opts->show_allocs || opts->by == BY_THREAD ? RECORDING_BLOCKS : 0) |
	       (opts->combined_only ? 0 : RECORDING_AGES) | (opts->peak ? RECORDING_PEAK : 0) |
	       (opts->summary ? RECORDING_SUMMARY : 0) | (opts->prove ? RECORDING_PROVE : 0);
}

static void begin(struct own_recording *own, const struct options *opts,
		  const struct run_facts *facts)
{
	int err;

	own->name = screen__file_name("mlk");
	if (!own->name)
		return;
	err = recorder__new(own->name, &own->recorder);
	if (!err)
		err = recorder__begin(own->recorder, recording_flags(opts, facts));
	if (!err) {
		log_note("recording to %s: press R to stop", own->name);
		return;
	}
	log_error("cannot write to %s: %s", own->name, output_file_error(err));
	own_recording_end(own);
}

void own_recording_toggle(struct own_recording *own, const struct options *opts,
			  const struct run_facts *facts)
{
	if (!own->wanted)
		return;
	own->wanted = false;
	if (opts->record) {
		log_note("the whole run is already recorded to %s", opts->record);
	} else if (own->recorder) {
		log_note("the recording is in %s", own->name);
		own_recording_end(own);
	} else {
		begin(own, opts, facts);
	}
}

void own_recording_add(struct own_recording *own, const struct snapshot *snap, bool final,
		       struct symbol_backend *symbols, uint64_t deadline_ns)
{
	int err =
		own->recorder ? recorder__add(own->recorder, snap, final, symbols, deadline_ns) : 0;

	if (!err)
		return;
	log_error("cannot write to %s: %s; the recording ends", own->name, strerror(-err));
	own_recording_end(own);
}

void own_recording_end(struct own_recording *own)
{
	recorder__free(own->recorder);
	free(own->name);
	own->recorder = NULL;
	own->name = NULL;
}
