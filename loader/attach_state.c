// SPDX-License-Identifier: GPL-2.0-or-later
/* Says which functions are probed and where, which are not, and why. */
#include "loader/attach_state.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "loader/arch.h"
#include "loader/log.h"

/* Where a probe is and what it costs: columns, one line for each. */
static void say_placed(pid_t pid, const struct module *module, const struct probe *probe,
		       const struct probe_place *place)
{
	const char *cost = place->emulated ? "emulated: " : "stepped: ";

	log_verbose("pid %d: %s at %s+0x%llx, entry+%llu %s%s", pid, probe->function, module->path,
		    (unsigned long long)probe->offset, (unsigned long long)place->offset,
		    place->insn ? cost : "", place->insn ? place->insn : "");
}

void say_attached(const struct attach_state *state, const struct module *module,
		  const struct probe *probe, const struct probe_place *place)
{
	pid_t pid = state->process->info.pid;

	if (!probe->err && probe->shape == MEMLEAK_SHAPE_RETURN)
		log_verbose("pid %d: a return of %s at %s+0x%llx", pid, probe->function,
			    module->path, (unsigned long long)probe->offset);
	else if (!probe->err)
		say_placed(pid, module, probe, place);
	else if (probe->err == -EEXIST)
		log_verbose("pid %d: %s at %s+0x%llx is probed already", pid, probe->function,
			    module->path, (unsigned long long)probe->offset);
	else if (probe->err != -ESRCH)
		log_note("cannot probe %s in %s: %s", probe->function, module->path,
			 strerror(-probe->err));
}

void say_left(const struct attach_state *state, const struct module *module,
	      const struct left_function *left)
{
	if (left->verdict == FUNCTION_THROUGH)
		log_verbose("pid %d: %s in %s is left: it goes through %s",
			    state->process->info.pid, left->name, module->path, left->through);
	else if (arch_elf_machine == EM_X86_64)
		log_note("%s in %s is not traced: an exception may leave it, and not all places "
			 "where it returns are found",
			 left->name, module->path);
	else
		log_verbose("pid %d: %s in %s is left: an exception may leave it",
			    state->process->info.pid, left->name, module->path);
}

void say_settled(const struct attach_state *state, const struct module *module, size_t function)
{
	log_verbose("pid %d: %s in %s is left: that of %s comes first", state->process->info.pid,
		    state->names.names[function], module->path, state->names.settled[function]);
}
