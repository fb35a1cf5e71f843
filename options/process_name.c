// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds a process by name in /proc. */
#include "options/process_name.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/nearest.h"
#include "base/proc.h"

#define COMM_MOST 15
/* Maximum number of pids listed in a message */
#define LISTED_MOST 8

struct name_search {
	const char *name;
	size_t len;
	pid_t own;
	pid_t first;
	size_t cnt;
	FILE *out;
	struct nearest nearest;
	char *near; /* name of a process that is most similar to `name` so far, or NULL */
};

static bool is_printable(const char *text)
{
	while (isgraph((unsigned char)*text))
		text++;
	return !*text;
}

static int look(void *arg, pid_t pid)
{
	struct name_search *search = arg;
	cleanup_free char *comm = pid == search->own ? NULL : proc_comm(pid);

	if (!comm)
		return 0;
	if (strlen(comm) != search->len || memcmp(comm, search->name, search->len) != 0) {
		if (is_printable(comm) && nearest_is(&search->nearest, comm)) {
			free(search->near);
			search->near = comm;
			comm = NULL;
		}
		return 0;
	}
	if (!search->cnt)
		search->first = pid;
	if (search->cnt < LISTED_MOST)
		fprintf(search->out, "%s%d", search->cnt ? ", " : "", pid);
	else if (search->cnt == LISTED_MOST)
		fputs(" ...", search->out);
	search->cnt++;
	return 0;
}

int process_by_name(const char *name, size_t len, pid_t *ret, char **ret_others)
{
	struct name_search search = {.name = name,
				     .len = len < COMM_MOST ? len : COMM_MOST,
				     .own = getpid(),
				     .nearest = nearest_begin(name, len)};
	cleanup_free char *listed = NULL, *near = NULL;
	size_t listed_len;
	int err;

	search.out = open_memstream(&listed, &listed_len);
	if (!search.out)
		return -ENOMEM;
	err = proc_visit(look, &search);
	near = search.near;
	if (fclose(search.out))
		return -ENOMEM;
	if (err)
		return err;
	if (!search.cnt) {
		*ret_others = near;
		near = NULL;
		return -ESRCH;
	}
	if (search.cnt > 1) {
		*ret_others = listed;
		listed = NULL;
		return -EMLINK;
	}
	*ret = search.first;
	return 0;
}
