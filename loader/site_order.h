/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the sites of a snapshot in the order in which a report has them. */
#ifndef SITE_ORDER_H
#define SITE_ORDER_H

#include "loader/options.h"
#include "loader/ranking.h"

struct candidate {
	const struct site *site;
	struct growth growth;
};

#endif
