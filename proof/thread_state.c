// SPDX-License-Identifier: GPL-2.0-or-later
/* Frees the states of threads. */
#include "proof/thread_state.h"

#include <stdlib.h>

void thread_states_deinit(struct thread_states *states)
{
	for (size_t i = 0; i < states->cnt; i++)
		free(states->items[i].words);
	free(states->items);
	*states = (struct thread_states){0};
}
