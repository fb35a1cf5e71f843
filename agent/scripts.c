// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds CPython's thread state by its thread-specific key, and follows the script frames of the
 * thread. A signal handler may have interrupted a change of the frames, so all pointers are
 * checked.
 */
#include "agent/scripts.h"

#include <pthread.h>

#include "agent/call_tree.h"
#include "agent/readable.h"
#include "agent/script_code.h"
#include "prober/server/python_layout.h"

/* Variables of CPython, resolved when the agent is loaded; their addresses are 0 if undefined. */
extern const uint32_t Py_Version __attribute__((weak));
extern const uint8_t _PyRuntime[] __attribute__((weak));
/*
 * Returns 0 while CPython ends: it then frees the states of threads that still run. This function
 * of CPython only reads a variable.
 */
extern int Py_IsInitialized(void) __attribute__((weak));

bool scripts_known;
static const struct python_layout *layout;
static struct memleak_interpreter interpreter;
/* incremented when memory is unmapped: pages found readable earlier may be gone */
static uint64_t generation = 1;

static inline bool read_word(struct script_walk *walk, uint64_t addr, uint64_t *ret)
{
	return readable_copy(walk->readable, addr, ret, sizeof(*ret));
}

void scripts_load(void)
{
	static struct readable readable;
	struct python_debug_offsets offsets;
	uint32_t version;
	uint64_t key;

	if (!&Py_Version || !_PyRuntime || !Py_IsInitialized ||
	    !readable_copy(&readable, (uint64_t)&Py_Version, &version, sizeof(version)) ||
	    !readable_copy(&readable, (uint64_t)_PyRuntime, &offsets, sizeof(offsets)) ||
	    python_is_free_threaded(&offsets))
		return;
	layout = python_layout_of(version);
	if (!layout)
		return;
	interpreter = python_interpreter(layout, (uint64_t)_PyRuntime);
	if (!readable_copy(&readable, interpreter.key, &key, sizeof(key)))
		return;
	scripts_known = true;
}

uint64_t scripts_interpreter(void)
{
	return scripts_known ? (uint64_t)Py_IsInitialized : 0;
}

/* Reads the innermost script frame from a thread state. False if it is not this thread's state. */
static bool read_state(struct script_walk *walk, uint64_t state)
{
	uint64_t thread;

	return state && read_word(walk, state + interpreter.thread, &thread) &&
	       thread == (uint64_t)pthread_self() &&
	       read_word(walk, state + interpreter.holder, &walk->frame);
}

/* As in the BPF programs: see bpf/user_probes/script_frames.bpf.h. */
static bool find_state(struct script_walk *walk)
{
	uint64_t current = 0;
	struct {
		uint32_t is_set;
		uint32_t number;
	} key;

	/* Needs no check: these are variables of CPython, which stays mapped. */
	if (interpreter.current)
		__builtin_memcpy(&current, (const void *)interpreter.current, sizeof(current));
	__builtin_memcpy(&key, (const void *)interpreter.key, sizeof(key));
	if (!key.is_set || !Py_IsInitialized())
		return false;
	return read_state(walk, current) ||
	       read_state(walk, (uint64_t)pthread_getspecific(key.number));
}

/* Finds the thread's innermost script frame. False if none is found. */
static bool find_innermost(struct script_walk *walk)
{
	if (!find_state(walk))
		return false;
	if (interpreter.has_holder &&
	    (!walk->frame || !read_word(walk, walk->frame + interpreter.held, &walk->frame)))
		return false;
	return walk->frame;
}

/* Adds a script frame to the walk. False if the walk is full or the code object is unreadable. */
static bool keep(struct script_walk *walk, const uint8_t *frame)
{
	uint64_t code, instr;
	uint32_t copy;

	__builtin_memcpy(&code, frame + interpreter.code, sizeof(code));
	__builtin_memcpy(&instr, frame + interpreter.instr, sizeof(instr));
	code &= ~MEMLEAK_SCRIPT_CODE_TAGS;
	if (walk->cnt >= MEMLEAK_SCRIPT_FRAMES_MAX ||
	    !script_code_find(walk->account, walk->readable, layout, code, &copy))
		return false;
	walk->lacks_code |= !copy;
	walk->words[walk->cnt++] = ACCOUNT_SCRIPT_FRAME(copy, instr - code);
	return true;
}

/* Marks the stack as cut after its last stored frame, and ends the walk. */
static bool cut(struct script_walk *walk)
{
	if (walk->cnt)
		walk->words[walk->cnt - 1] |= ACCOUNT_SCRIPT_CUT;
	return true;
}

/* Reads the next frame. True if the walk is over. */
static bool step(struct script_walk *walk)
{
	uint8_t frame[MEMLEAK_SCRIPT_FRAME_BYTES];
	bool ends;

	if (!walk->frame)
		return true;
	if (!readable_copy(walk->readable, walk->frame, frame, sizeof(frame)))
		return cut(walk);
	ends = frame[interpreter.border] == interpreter.border_value;
	if (!(ends && interpreter.border_is_empty) && !keep(walk, frame))
		return cut(walk);
	if (ends && walk->cnt)
		walk->words[walk->cnt - 1] |= MEMLEAK_FRAME_EXACT;
	__builtin_memcpy(&walk->frame, frame + interpreter.previous, sizeof(walk->frame));
	return false;
}

void scripts_unmapped(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_RELEASE);
}

uint32_t scripts_find(struct account *account, uint32_t native, struct script_walk *walk,
		      struct readable *readable)
{
	uint64_t now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	uint32_t number = native;
	bool made = false;

	walk->account = account;
	walk->cnt = 0;
	walk->lacks_code = false;
	walk->readable = readable ? readable : &walk->checked;
	if (!readable || readable->generation != now)
		readable_begin(walk->readable, now);
	if (!find_innermost(walk))
		return native;
	for (int i = 0; i < MEMLEAK_SCRIPT_STEPS_MAX && !step(walk); i++)
		;
	for (uint32_t i = walk->cnt; number && i-- > 0;)
		number = call_tree_child(account, number, walk->words[i], &made);
	if (!number || walk->lacks_code)
		lose(account, ACCOUNT_LOST_STACKS);
	if (!number)
		return native;
	if (made)
		__atomic_fetch_add(&account->stack_cnt, 1, __ATOMIC_RELAXED);
	return number;
}
