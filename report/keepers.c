// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the growth of Python's containers with the suspects. */
#include "report/keepers.h"

#include <string.h>

#include "report/function_name.h"

#define NSEC_PER_SEC 1e9

/*
 * Maximum number of blocks that a suspect gains for each item of a container. An item may consist
 * of several objects.
 */
#define BLOCKS_PER_ITEM 8

/*
 * Maximum average size, in bytes, of blocks that CPython may reuse for other objects without a call
 * of the allocator.
 */
#define REUSED_BYTES 256

const struct report_site *keepers_find(const struct report_site *keepers, size_t cnt,
				       const struct python_container *container)
{
	for (size_t i = 0; i < cnt; i++)
		if (keepers[i].site->id == container->site)
			return &keepers[i];
	return NULL;
}

static double per_s(uint64_t cnt, uint64_t for_ns)
{
	return for_ns ? (double)cnt * NSEC_PER_SEC / (double)for_ns : 0;
}

/* True if the blocks of a suspect are small, and few enough to be the items of a container. */
static bool may_keep(const struct python_container *container, const struct suspect *suspect)
{
	double blocks_per_s = per_s(suspect->seen - suspect->freed, suspect->since_ns);

	return BLOCKS_PER_ITEM * per_s(container->more, container->for_ns) >= blocks_per_s &&
	       suspect->bytes_per_s <= REUSED_BYTES * blocks_per_s;
}

/* True if the function to blame for a suspect is the one that adds items to a container. */
static bool is_adder(const struct suspect *suspect, const struct python_place *adder)
{
	const struct report_site *shown = suspect->site;
	const struct sym_location *location =
		shown->site->frame_cnt ? shown->locations[shown->blamed.frame] : NULL;
	struct script_function function;
	struct python_place blamed;

	if (!*adder->function || !sym_is_script(location) || !location->frame_cnt ||
	    !location->frames[shown->blamed.function].symbol ||
	    !script_function_of(location->frames[shown->blamed.function].symbol, &function))
		return false;
	python_text_copy(blamed.function, function.name, function.name_len);
	python_text_copy(blamed.file, function.path, function.path_len);
	return !strcmp(blamed.function, adder->function) && !strcmp(blamed.file, adder->file);
}

static const struct report_site *adder_of(const struct python_container *container,
					  const struct suspect *suspects, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (is_adder(&suspects[i], &container->adder))
			return suspects[i].site;
	return NULL;
}

void keepers_prefer(const struct python_growth *python, const struct report_site *keepers,
		    size_t keeper_cnt, struct suspect *suspects, size_t suspect_cnt)
{
	bool may_be_reused = false;

	if (!python || python->allocator != PYTHON_ALLOCATOR_HEAP || !suspect_cnt)
		return;
	for (size_t i = 0; i < python->container_cnt; i++) {
		const struct report_site *keeper =
			adder_of(&python->containers[i], suspects, suspect_cnt)
				?: keepers_find(keepers, keeper_cnt, &python->containers[i]);

		if (!may_keep(&python->containers[i], &suspects[0]))
			continue;
		if (keeper && suspects_move_first(suspects, suspect_cnt, keeper))
			return;
		may_be_reused = true;
	}
	suspects[0].may_be_reused = may_be_reused;
}
