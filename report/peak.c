// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies sites with all that they point to. */
#include "report/peak.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_memory(const struct site *site)
{
	return site->count && site->kind != MEMLEAK_KIND_RESERVE &&
	       site->kind != MEMLEAK_KIND_STACK;
}

/* The copy of a process; its name is NULL if there was no memory for it. */
static const struct process *copy_process(const struct process *process, struct peak *peak)
{
	struct process *copy = peak->processes;

	if (!process)
		return NULL;
	for (size_t i = 0; i < peak->process_cnt; i++, copy++)
		if (copy->image == process->image)
			return copy;
	*copy = *process;
	copy->cgroup = NULL;
	copy->comm = process->comm ? strdup(process->comm) : NULL;
	peak->process_cnt++;
	return copy;
}

int peak_copy(const struct snapshot *snap, struct peak *ret)
{
	struct peak peak = {.wall_ns = snap->wall_ns, .t0_ns = snap->t0_ns};
	size_t frame_cnt = 0;
	uint64_t *next;

	for (size_t i = 0; i < snap->site_cnt; i++)
		frame_cnt += snap->sites[i].frame_cnt;
	peak.sites = calloc(snap->site_cnt + 1, sizeof(*peak.sites));
	peak.processes = calloc(snap->site_cnt + 1, sizeof(*peak.processes));
	peak.frame_store = next = calloc(frame_cnt + 1, sizeof(*next));
	if (!peak.sites || !peak.processes || !peak.frame_store) {
		peak_deinit(&peak);
		return -ENOMEM;
	}
	for (size_t i = 0; i < snap->site_cnt; i++) {
		struct site *site = &peak.sites[peak.site_cnt];

		if (!is_memory(&snap->sites[i]))
			continue;
		*site = snap->sites[i];
		site->process = copy_process(site->process, &peak);
		site->frames = next;
		site->oldest_ns = AGE_UNKNOWN;
		site->newest_ns = AGE_UNKNOWN;
		for (size_t j = 0; j < site->frame_cnt; j++)
			*next++ = snap->sites[i].frames[j];
		peak.bytes += site->bytes;
		peak.count += site->count;
		peak.site_cnt++;
	}
	*ret = peak;
	return 0;
}

void peak_deinit(struct peak *peak)
{
	for (size_t i = 0; i < peak->process_cnt; i++)
		free(peak->processes[i].comm);
	free(peak->sites);
	free(peak->processes);
	free(peak->frame_store);
	memset(peak, 0, sizeof(*peak));
}
