// SPDX-License-Identifier: GPL-2.0-or-later
/* Appends snapshots to a file, each as one chunk and by one write. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/output_file.h"
#include "base/write_all.h"
#include "recording/recorder.h"
#include "recording/recording.h"

/*
 * Opens the file. A regular file becomes accessible by its owner only, even if it exists already:
 * recordings reveal memory layouts. Returns the descriptor or a negative errno.
 */
static int open_for_owner(const char *path)
{
	int fd = output_file_open(path);
	struct stat st;
	int err;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) == 0 &&
	    (!S_ISREG(st.st_mode) || !(st.st_mode & 077) || fchmod(fd, 0600) == 0))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int recorder__new(const char *path, struct recorder **ret)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int fd = recorder ? open_for_owner(path) : -ENOMEM;

	if (fd < 0) {
		free(recorder);
		return fd;
	}
	recorder->fd = fd;
	*ret = recorder;
	return 0;
}

int recorder__begin(struct recorder *recorder, unsigned int flags)
{
	uint8_t header[HEADER_BYTES];
	struct stat st;

	recorder->header = recording_header_now(flags);
	recorder->words = calloc(2 * SNAPSHOT_WORDS(&recorder->header), sizeof(*recorder->words));
	if (!recorder->words)
		return -ENOMEM;
	if (fstat(recorder->fd, &st) || (S_ISREG(st.st_mode) && ftruncate(recorder->fd, 0)))
		return -errno;
	recording_header_put(&recorder->header, header);
	return append_all(recorder->fd, header, sizeof(header));
}

void recorder__free(struct recorder *recorder)
{
	if (!recorder)
		return;
	for (size_t i = 0; i < SECTION_CNT; i++)
		free(recorder->sections[i].bytes.bytes);
	intern_deinit(&recorder->strings);
	intern_deinit(&recorder->locations);
	intern_deinit(&recorder->processes);
	for (size_t i = 0; i < recorder->summary_cnt; i++)
		free(recorder->summaries[i]);
	free(recorder->summaries);
	recorder_free_sites(recorder);
	free(recorder->words);
	close(recorder->fd);
	free(recorder);
}

/*
 * Returns the words of a process's latest recorded summary; all 0 if there is none yet. NULL if out
 * of memory.
 */
static uint64_t *summary_of(struct recorder *recorder, uint64_t process)
{
	if (array_reserve(&recorder->summaries, &recorder->summary_cap, (size_t)process + 1))
		return NULL;
	while (recorder->summary_cnt <= process)
		recorder->summaries[recorder->summary_cnt++] = NULL;
	if (!recorder->summaries[process])
		recorder->summaries[process] =
			calloc(SUMMARY_WORDS(&recorder->header), sizeof(uint64_t));
	return recorder->summaries[process];
}

static int add_summary(struct recorder *recorder, const struct process_summary *summary)
{
	struct section_buffer *section = &recorder->sections[SECTION_SUMMARIES];
	uint64_t words[6 + FAMILY_CNT];
	uint64_t process, *before;
	int err = recorder_process(recorder, summary->process, &process);

	if (err)
		return err;
	before = summary_of(recorder, process);
	if (!before)
		return -ENOMEM;
	recording_summary_words(summary, words);
	bytes_put_number(&section->bytes, process);
	bytes_put_changes(&section->bytes, before, words, SUMMARY_WORDS(&recorder->header));
	section->cnt++;
	memcpy(before, words, sizeof(words));
	return 0;
}

static void put_rss(struct section_buffer *section, const struct rss *rss)
{
	for (size_t i = 0; i < RSS_PART_CNT; i++)
		bytes_put_number(&section->bytes, rss->parts[i]);
	bytes_put_number(&section->bytes, rss->arenas);
	bytes_put_number(&section->bytes, rss->torn_arenas);
	bytes_put_number(&section->bytes, rss->skipped_arenas);
	bytes_put_number(&section->bytes, rss->allocator);
	bytes_put_number(&section->bytes, rss->has_blocks);
	bytes_put_number(&section->bytes, rss->outside);
	for (size_t i = 0; rss->has_blocks && i < HEAP_CLASSES; i++) {
		bytes_put_number(&section->bytes, rss->older[i].bytes);
		bytes_put_number(&section->bytes, rss->older[i].count);
	}
	bytes_put_number(&section->bytes, rss->pinned_by_older);
	bytes_put_number(&section->bytes, rss->huge);
	bytes_put_number(&section->bytes, rss->swapped);
	bytes_put_number(&section->bytes, rss->main_top);
	bytes_put_number(&section->bytes, rss->room);
}

/* Adds the number of a name of a footprint to the section of the tallies. */
static int put_name(struct recorder *recorder, const char *name)
{
	uint64_t number;
	int err = recorder_string(recorder, *name ? name : NULL, &number);

	bytes_put_number(&recorder->sections[SECTION_TALLIES].bytes, err ? 0 : number);
	return err;
}

static int put_footprint(struct recorder *recorder, const struct footprint *footprint)
{
	struct byte_buffer *bytes = &recorder->sections[SECTION_TALLIES].bytes;

	for (size_t i = 0; i < FOOTPRINT_CNT; i++)
		bytes_put_number(bytes, footprint->parts[i]);
	bytes_put_number(bytes, footprint->mappings_max);
	bytes_put_number(bytes, footprint->virtual_max);
	return put_name(recorder, footprint->mapped) ?: put_name(recorder, footprint->orphan);
}

static int add_tally(struct recorder *recorder, const struct process_tally *tally)
{
	struct section_buffer *section = &recorder->sections[SECTION_TALLIES];
	uint64_t process;
	int err = recorder_process(recorder, tally->process, &process);
	bool has_rss = rss_total(&tally->rss);

	bytes_put_number(&section->bytes, err ? 0 : process);
	bytes_put_number(&section->bytes, tally->refused);
	bytes_put_number(&section->bytes, tally->earlier.cnt);
	bytes_put_number(&section->bytes, tally->earlier.sized);
	bytes_put_number(&section->bytes, tally->earlier.bytes);
	bytes_put_number(
		&section->bytes,
		tally->footprint.is_known * RECORDING_TALLY_FOOTPRINT |
			tally->ended * RECORDING_TALLY_ENDED |
			tally->ended_here * RECORDING_TALLY_ENDED_HERE |
			tally->footprint.is_stopped * RECORDING_TALLY_STOPPED |
			tally->footprint.has_traced_children * RECORDING_TALLY_TRACED_CHILDREN |
			tally->footprint.has_other_network * RECORDING_TALLY_OTHER_NETWORK |
			has_rss * RECORDING_TALLY_RSS |
			tally->out_of_memory * RECORDING_TALLY_OUT_OF_MEMORY |
			(unsigned int)tally->killed_by << RECORDING_TALLY_KILLED_BY);
	if (!err && tally->footprint.is_known)
		err = put_footprint(recorder, &tally->footprint);
	if (has_rss)
		put_rss(section, &tally->rss);
	section->cnt++;
	return err;
}

static int fill_sections(struct recorder *recorder, const struct snapshot *snap, bool final,
			 struct symbol_backend *symbols, uint64_t deadline_ns)
{
	int err = recorder_add_sites(recorder, snap);

	if (!err && symbols)
		err = recorder_add_names(recorder, symbols, final, deadline_ns);
	if (!err)
		err = recorder_add_holders(recorder, snap, symbols, deadline_ns);
	if (!err)
		recorder_add_hanging(recorder, snap);
	if (!err)
		err = recorder_add_peak(recorder, snap);
	if (!err)
		err = recorder_add_births(recorder, snap);
	if (!err)
		err = recorder_add_states(recorder, snap);
	for (size_t i = 0; !err && i < snap->summary_cnt; i++)
		err = add_summary(recorder, &snap->summaries[i]);
	for (size_t i = 0; !err && i < snap->tally_cnt; i++)
		err = add_tally(recorder, &snap->tallies[i]);
	if (!err)
		err = recorder_add_python(recorder, snap);
	return err ?: recorder_add_growths(recorder, snap);
}

static int write_chunk(const struct recorder *recorder, const struct byte_buffer *payload)
{
	cleanup_free uint8_t *chunk = NULL;
	size_t len;
	int err = payload->failed ? -ENOMEM : recording_pack(payload, &chunk, &len);

	return err ? err : append_all(recorder->fd, chunk, len);
}

static int write_snapshot(struct recorder *recorder, const struct snapshot *snap, bool final)
{
	size_t word_cnt = SNAPSHOT_WORDS(&recorder->header);
	uint64_t *words = recorder->words + word_cnt;
	struct byte_buffer payload = {0};
	int err;

	recording_snapshot_words(&recorder->header, snap, final, words);
	bytes_put_changes(&payload, recorder->words, words, word_cnt);
	memcpy(recorder->words, words, word_cnt * sizeof(*words));
	for (size_t i = 0; i < SECTION_CNT; i++) {
		const struct section_buffer *section = &recorder->sections[i];

		payload.failed |= section->bytes.failed;
		bytes_put_number(&payload, section->cnt);
		bytes_put(&payload, section->bytes.bytes, section->bytes.len);
	}
	err = write_chunk(recorder, &payload);
	free(payload.bytes);
	return err;
}

int recorder__add(struct recorder *recorder, const struct snapshot *snap, bool final,
		  struct symbol_backend *symbols, uint64_t deadline_ns)
{
	int err;

	for (size_t i = 0; i < SECTION_CNT; i++) {
		recorder->sections[i].bytes.len = 0;
		recorder->sections[i].cnt = 0;
	}
	recorder->snapshots++;
	err = fill_sections(recorder, snap, final, symbols, deadline_ns);
	return err ? err : write_snapshot(recorder, snap, final);
}
