// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the Python interpreters of processes, and the names and lines of script frames. */
#include "loader/stacks/scripts.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/path.h"
#include "base/proc.h"
#include "base/test_knobs.h"
#include "loader/target/modules.h"
#include "prober/prober.h"
#include "prober/server/python_layout.h"

/* Maximum script frames whose names and lines are kept. Further frames have no names. */
#define PLACES_MAX (1U << 20)

/* Maximum attempts to find the interpreter in a file, if reading times out. */
#define ATTEMPTS_MAX 3

/*
 * Pause, in nanoseconds, between reads of names from an image's memory after a timeout. Doubled
 * after each further timeout.
 */
#define PAUSE_NS 1000000000ULL

/*
 * A file that may contain an interpreter. `layout` is NULL if there is none, or if its script
 * frames cannot be read.
 */
struct script_file {
	struct interpreter found;
	const struct python_layout *layout;
	unsigned int attempts;
	bool is_read; /* true if the file was searched, or given up after ATTEMPTS_MAX timeouts */
};

struct script_image {
	const struct script_file *file;
	size_t number;     /* number of the file, as in MEMLEAK_FRAME_FILE_NUMBER() */
	uint64_t retry_ns; /* earliest time of the next read if the last one timed out, else 0 */
	uint64_t pause_ns; /* time from the latest timeout to retry_ns */
	bool counts_frees; /* true if a probe counts the code objects that the process frees */
};

struct script_location {
	struct sym_location pub;
	struct sym_frame frame;
	char *path;
	char *symbol;
	uint64_t number;
	bool is_read; /* false if reading the names timed out, or was not tried yet */
};

void scripts_deinit(struct scripts *scripts)
{
	hash_map_free_all(&scripts->files);
	hash_map_free_all(&scripts->images);
	hash_map_deinit(&scripts->places);
	for (size_t i = 0; i < scripts->cnt; i++) {
		free(scripts->locations[i]->path);
		free(scripts->locations[i]->symbol);
		free(scripts->locations[i]);
	}
	free(scripts->locations);
	*scripts = (struct scripts){0};
}

bool scripts_may_run(const char *path)
{
	const char *name = path_name(path);

	/* In a virtual environment, the interpreter's name may have no version. */
	return !strcmp(name, "python") || !strncmp(name, "python3", 7) ||
	       !strncmp(name, "libpython3.", 11);
}

static void say_unread(const char *path, const struct interpreter *found)
{
	static const char read[] = "lines of scripts are read only for";

	if (found->is_free_threaded)
		log_note("%s is free-threaded: %s builds with a global interpreter lock", path,
			 read);
	else if (found->version)
		log_note("%s is Python %u.%u: %s 3.11 to 3.14", path, found->version >> 24,
			 found->version >> 16 & 255, read);
	else
		log_note("%s: %s Python 3.11 to 3.14", path, read);
}

const char *scripts_obstacle(const struct proc_maps *maps)
{
#if defined(__x86_64__)
	for_each_mapping (mapping, maps)
		if (!strncmp(path_name(mapping->path), "ld-musl-", 8))
			return "with musl";
	return NULL;
#else
	return "on this architecture";
#endif
}

static struct script_file *new_file(struct scripts *scripts, size_t number)
{
	struct script_file *file = calloc(1, sizeof(*file));

	if (!file || hash_map_set(&scripts->files, number, file)) {
		free(file);
		return NULL;
	}
	return file;
}

static void read_file(struct script_file *file, int fd, const char *path, uint64_t deadline_ns)
{
	int err = prober_interpreter(fd, deadline_ns, &file->found);

	file->is_read = err != -ETIMEDOUT || ++file->attempts == ATTEMPTS_MAX;
	if (!file->is_read)
		return;
	if (!err && !file->found.is_free_threaded)
		file->layout = python_layout_of(file->found.version);
	/* An executable without an interpreter may load libpython, which has one. */
	if (err && !scripts_may_run(path))
		return;
	if (err && err != -ENOEXEC)
		log_note("%s: lines of its scripts are not read: %s", path, strerror(-err));
	else if (!file->layout && (!err || strstr(path, ".so")))
		say_unread(path, &file->found);
}

bool scripts_add_file(struct scripts *scripts, int fd, const char *path, uint32_t image,
		      size_t number, uint64_t deadline_ns)
{
	struct script_file *file = hash_map_get(&scripts->files, number);
	struct script_image *known = hash_map_get(&scripts->images, image);

	if (!file && fd >= 0)
		file = new_file(scripts, number);
	if (file && !file->is_read && fd >= 0)
		read_file(file, fd, path, deadline_ns);
	if (!file || !file->layout)
		return false;
	if (!known) {
		known = calloc(1, sizeof(*known));
		if (!known || hash_map_set(&scripts->images, image, known)) {
			free(known);
			return false;
		}
	}
	known->counts_frees &= known->number == number;
	known->file = file;
	known->number = number;
	return true;
}

bool scripts_is_pending(const struct scripts *scripts, size_t number)
{
	const struct script_file *file = hash_map_get(&scripts->files, number);

	return file && !file->is_read;
}

bool scripts_add(struct scripts *scripts, pid_t pid, uint32_t image, const struct proc_maps *maps,
		 const struct mapping *mapping, size_t number, uint64_t deadline_ns)
{
	bool is_known =
		hash_map_get(&scripts->files, number) && !scripts_is_pending(scripts, number);
	const char *obstacle = scripts_obstacle(maps);
	cleanup_close int fd = is_known ? -1 : process_open_mapping(pid, mapping);
	const char *wanted = test_knob(TEST_KNOB_SCRIPTS);
	struct memleak_interpreter interpreter, earlier;
	const struct script_image *known;

	if (wanted && !strcmp(wanted, "no"))
		return false;
	if (!scripts_add_file(scripts, fd, mapping->path, image, number, deadline_ns))
		return false;
	if (obstacle && !is_known)
		log_note("%s: lines of scripts are not read %s", mapping->path, obstacle);
	if (obstacle)
		return false;
	known = hash_map_get(&scripts->images, image);
	interpreter = python_interpreter(known->file->layout, mapping->start - mapping->offset +
								      known->file->found.runtime);
	interpreter.counts_frees = known->counts_frees;
	if (!bpf_map_lookup_elem(scripts->interpreters_fd, &image, &earlier))
		interpreter.misses_frees = earlier.misses_frees;
	return !bpf_map_update_elem(scripts->interpreters_fd, &image, &interpreter, BPF_ANY);
}

uint64_t scripts_free_code(const struct scripts *scripts, uint32_t image, size_t *number)
{
	const struct script_image *found = hash_map_get(&scripts->images, image);

	if (!found || found->counts_frees)
		return 0;
	*number = found->number;
	return found->file->found.free_code;
}

void scripts_count_frees(struct scripts *scripts, uint32_t image)
{
	struct script_image *found = hash_map_get(&scripts->images, image);
	struct memleak_interpreter interpreter;

	if (!found || bpf_map_lookup_elem(scripts->interpreters_fd, &image, &interpreter))
		return;
	found->counts_frees = true;
	interpreter.counts_frees = true;
	bpf_map_update_elem(scripts->interpreters_fd, &image, &interpreter, BPF_EXIST);
}

void scripts_drop(struct scripts *scripts, uint32_t image)
{
	if (scripts->interpreters_fd >= 0)
		bpf_map_delete_elem(scripts->interpreters_fd, &image);
	free(hash_map_remove(&scripts->images, image));
}

static struct script_image *image_of(const struct scripts *scripts, uint32_t image, uint32_t base)
{
	struct script_image *found = hash_map_get(&scripts->images, image);

	return found || !base ? found : hash_map_get(&scripts->images, base);
}

uint32_t scripts_version(const struct scripts *scripts, uint32_t image, uint32_t base)
{
	const struct script_image *found = image_of(scripts, image, base);

	return found ? found->file->found.version : 0;
}

/*
 * Includes the image in the key, since a parent and its forked child may have different code at the
 * same address.
 */
static uint64_t key_of(uint32_t image, const struct memleak_script_frame *frame)
{
	uint64_t hash = hash_mix(image, MEMLEAK_SCRIPT_CODE(frame));

	return hash_mix(hash, frame->instr | (uint64_t)frame->cookie << 32);
}

static void name_location(struct script_location *location, struct script_place *place)
{
	location->pub = (struct sym_location){
		.module = SYM_SCRIPT, .frame_cnt = 1, .frames = &location->frame};
	location->path = place->path;
	location->frame = (struct sym_frame){.file = place->path, .line = place->line};
	if (place->name && asprintf(&location->symbol, "py::%s:%s", place->name, place->path) < 0)
		location->symbol = NULL;
	location->frame.symbol = location->symbol;
	free(place->name);
}

static struct script_location *new_location(struct scripts *scripts, uint64_t key)
{
	struct script_location *location = calloc(1, sizeof(*location));

	if (!location || array_reserve(&scripts->locations, &scripts->cap, scripts->cnt + 1) ||
	    hash_map_set(&scripts->places, key, location)) {
		free(location);
		return NULL;
	}
	name_location(location, &(struct script_place){0});
	location->number = scripts->cnt;
	scripts->locations[scripts->cnt++] = location;
	return location;
}

/* Delays further reads of an image's memory, which may be slow. */
static void pause_reading(struct script_image *image)
{
	image->pause_ns = image->pause_ns ? 2 * image->pause_ns : PAUSE_NS;
	image->retry_ns = clock_deadline_ns(image->pause_ns);
}

static bool is_paused(const struct script_image *image)
{
	return image->retry_ns && clock_left_ms(image->retry_ns);
}

static void read_place(struct scripts *scripts, int mem, struct script_image *image, uint64_t key,
		       const struct memleak_script_frame *frame, uint64_t deadline_ns)
{
	struct script_location *location = hash_map_get(&scripts->places, key);
	struct script_place place = {0};
	int err;

	/*
	 * Create the location even if its names cannot be read now: sites store only its number, so
	 * they get names that are read later.
	 */
	if (!location)
		location = new_location(scripts, key);
	if (!location || is_paused(image))
		return;
	err = prober_script(mem, image->file->found.version, frame, deadline_ns, &place);
	location->is_read = err != -ETIMEDOUT;
	if (location->is_read)
		name_location(location, &place);
	else
		pause_reading(image);
}

/* True if the frame's names are missing, and there is room to store them. */
static bool is_unread(const struct scripts *scripts, uint64_t key)
{
	const struct script_location *location = hash_map_get(&scripts->places, key);

	return location ? !location->is_read : scripts->cnt < PLACES_MAX;
}

void scripts_read_from(struct scripts *scripts, int mem, uint32_t image, uint32_t base,
		       const struct script_frames *frames, uint64_t deadline_ns)
{
	struct script_image *known = image_of(scripts, image, base);

	for (size_t i = 0; known && i < frames->cnt; i++) {
		uint64_t key = key_of(image, &frames->items[i]);

		if (is_unread(scripts, key))
			read_place(scripts, mem, known, key, &frames->items[i], deadline_ns);
	}
}

void scripts_read(struct scripts *scripts, pid_t pid, uint32_t image, uint32_t base,
		  const struct script_frames *frames, uint64_t deadline_ns)
{
	const struct script_image *known = image_of(scripts, image, base);
	cleanup_close int mem = -1;
	bool unread = false;

	for (size_t i = 0; known && i < frames->cnt; i++)
		unread |= is_unread(scripts, key_of(image, &frames->items[i]));
	if (unread)
		mem = proc_open(pid, "mem", O_RDONLY);
	if (mem >= 0)
		scripts_read_from(scripts, mem, image, base, frames, deadline_ns);
}

/* True if a native frame is in the evaluation loop, the function that runs scripts. */
static bool is_loop(const struct script_image *image, uint64_t frame)
{
	uint64_t offset = MEMLEAK_FRAME_OFFSET(frame) - !MEMLEAK_FRAME_IS_EXACT(frame);

	if (!MEMLEAK_FRAME_IN_FILE(frame) || MEMLEAK_FRAME_FILE_NUMBER(frame) != image->number)
		return false;
	for (size_t i = 0; i < LOOP_PARTS; i++) {
		const struct loop_part *part = &image->file->found.loop[i];

		if (offset >= part->start && offset < part->end)
			return true;
	}
	return false;
}

static uint64_t frame_of(const struct scripts *scripts, uint32_t image,
			 const struct memleak_script_frame *frame)
{
	const struct script_location *location =
		hash_map_get(&scripts->places, key_of(image, frame));

	return MEMLEAK_FRAME_SCRIPT |
	       (location ? location->number : MEMLEAK_FRAME_OFFSET(UINT64_MAX));
}

int scripts_merge(const struct scripts *scripts, uint32_t image, uint32_t base,
		  const struct memleak_stack *stack, const struct script_frames *frames,
		  uint64_t **ret, size_t *ret_cnt)
{
	uint64_t *merged = calloc(stack->frame_cnt + frames->cnt + 1, sizeof(*merged));
	const struct script_image *known = image_of(scripts, image, base);
	size_t cnt = 0, at = 0;
	bool ends;

	if (!merged)
		return -ENOMEM;
	for (size_t i = 0; i < stack->frame_cnt; i++) {
		ends = !known || !is_loop(known, stack->frames[i]);
		while (!ends && at < frames->cnt) {
			ends = frames->items[at].code & MEMLEAK_SCRIPT_BORDER;
			merged[cnt++] = frame_of(scripts, image, &frames->items[at++]);
		}
		merged[cnt++] = stack->frames[i];
	}
	/*
	 * If the native stack was cut before the evaluation loop, append the remaining script
	 * frames.
	 */
	while (known && at < frames->cnt)
		merged[cnt++] = frame_of(scripts, image, &frames->items[at++]);
	*ret = merged;
	*ret_cnt = cnt;
	return 0;
}

const struct sym_location *scripts_location(const struct scripts *scripts, uint64_t frame)
{
	uint64_t number = MEMLEAK_FRAME_OFFSET(frame);

	return number < scripts->cnt ? &scripts->locations[number]->pub : NULL;
}
