// SPDX-License-Identifier: GPL-2.0-or-later
/* Chooses the kind of link by the kernel's features. */
#include "loader/probes/link_kind.h"

#include <string.h>

#include "base/test_knobs.h"

static enum link_kind best_links(const struct features *features)
{
	if (!features->cookies)
		return LINK_SHAPE;
	if (!features->multi_links)
		return LINK_PERF;
	return features->session_links ? LINK_SESSION : LINK_MULTI;
}

enum link_kind link_kind_choose(const struct features *features)
{
	static const struct {
		const char *name;
		enum link_kind kind;
	} names[] = {{"multi", LINK_MULTI}, {"perf", LINK_PERF}, {"shape", LINK_SHAPE}};
	enum link_kind best = best_links(features);
	const char *forced = test_knob(TEST_KNOB_LINKS);

	for (size_t i = 0; forced && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(forced, names[i].name) == 0 && names[i].kind > best)
			return names[i].kind;
	return best;
}

bool link_kind_needs_admin(void)
{
	struct features features;

	features_probe(&features);
	return link_kind_choose(&features) > LINK_MULTI;
}
