// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the code of a function to its return instructions, in two passes. The first pass does not
 * follow a path beyond a call of another named function. If it finds no return instruction, every
 * path through the function makes such a call. The second pass continues after these calls.
 */
#include "prober/server/function_returns.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/*
 * Maximum number of instructions visited in a pass over one function. The slow path of an allocator
 * has a few hundred instructions.
 */
#define FOLLOWED_MAX 20000
/* Maximum number of instructions visited in all functions of a file together. */
#define FILE_FOLLOWED_MAX 1000000
#define NO_NAME SIZE_MAX

/* Functions that never return. The bytes after a call of such a function may not be code. */
static const char *const tail_calls[] = {
	"__cxa_throw",
	"__cxa_rethrow",
	"_Unwind_Resume",
	"_ZSt17__throw_bad_allocv",
	"_ZSt9terminatev",
	"__stack_chk_fail",
	"__assert_fail",
	"abort",
	"exit",
	"_exit",
	"_ZSt28__throw_bad_array_new_lengthv",
	"__cxa_throw_bad_array_new_length",
};

struct code_walk {
	struct code_file *code;
	const struct named_functions *named;
	uint64_t entry;
	bool past_named; /* true in the second pass: continue after calls of named functions */
	void *seen;      /* tree of the addresses of visited instructions */
	size_t seen_cnt;
	uint64_t *todo; /* addresses of instructions that are still to be visited */
	size_t todo_cnt;
	size_t todo_cap;
	uint64_t *returns;
	size_t return_cnt;
	size_t return_cap;
	/* first pass: index of a named function that is called or jumped to; NO_NAME if none is */
	size_t through;
	bool tables; /* true if an instruction reads memory that may be a jump table */
	int err;
	bool unknown;
};

static int compare_addresses(const void *a, const void *b)
{
	uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;

	return (x > y) - (x < y);
}

static void keep_node(void *node)
{
}

/*
 * Records the address of an instruction. Returns true if it is new. If there are too many
 * instructions, or if out of memory, sets walk->unknown and returns false.
 */
static bool note_seen(struct code_walk *walk, uint64_t addr)
{
	void *key = (void *)(uintptr_t)addr;

	if (tfind(key, &walk->seen, compare_addresses))
		return false;
	if (++walk->seen_cnt > FOLLOWED_MAX || ++walk->code->followed > FILE_FOLLOWED_MAX ||
	    !tsearch(key, &walk->seen, compare_addresses)) {
		walk->unknown = true;
		return false;
	}
	return true;
}

static void push(uint64_t **list, size_t *cnt, size_t *cap, uint64_t addr, int *err)
{
	if (array_reserve(list, cap, *cnt + 1))
		*err = -ENOMEM;
	else
		(*list)[(*cnt)++] = addr;
}

static size_t named_at(const struct code_walk *walk, uint64_t addr)
{
	uint64_t offset = code_file_offset(walk->code, addr);

	if (addr == walk->entry)
		return NO_NAME;
	for (size_t i = 0; i < walk->named->found_cnt; i++)
		if (walk->named->found[i].offset == offset)
			return walk->named->found[i].name;
	return NO_NAME;
}

static size_t named_as(const struct code_walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->named->cnt; i++)
		if (walk->named->items[i].name && !strcmp(walk->named->items[i].name, name))
			return i;
	return NO_NAME;
}

/* The target of a jump or call; for a PLT stub, the function to which it jumps. */
struct destination {
	uint64_t addr;    /* 0 if the target is in another file or unknown */
	const char *name; /* name of an import; else NULL */
	/* index in named_functions.items; NO_NAME if the target is not a named function */
	size_t known;
};

static bool find_import(struct code_walk *walk, uint64_t slot, struct destination *ret)
{
	if (!code_file_imported(walk->code, slot, &ret->name, &ret->addr))
		return false;
	ret->known = ret->addr == walk->entry ? NO_NAME : named_as(walk, ret->name);
	return true;
}

static bool find_stub(struct code_walk *walk, uint64_t addr, struct destination *ret)
{
	uint64_t slot;

	if (!code_file_read(walk->code, addr))
		return false;
	if (walk->code->insn->id == X86_INS_ENDBR64 &&
	    !code_file_read(walk->code, addr + walk->code->insn->size))
		return false;
	return walk->code->insn->id == X86_INS_JMP && code_insn_slot(walk->code->insn, &slot) &&
	       find_import(walk, slot, ret);
}

/*
 * Finds the target of the jump or call in code->insn. May overwrite code->insn, to read a PLT stub.
 * Returns false if the target is unknown.
 */
static bool find_destination(struct code_walk *walk, struct destination *ret)
{
	uint64_t target;

	*ret = (struct destination){.known = NO_NAME};
	if (code_insn_slot(walk->code->insn, &target))
		return find_import(walk, target, ret);
	if (!code_insn_target(walk->code->insn, &target))
		return false;
	if (find_stub(walk, target, ret))
		return true;
	*ret = (struct destination){.addr = target, .known = named_at(walk, target)};
	return true;
}

static bool never_returns(const struct destination *to)
{
	for (size_t i = 0; to->name && i < sizeof(tail_calls) / sizeof(tail_calls[0]); i++)
		if (!strcmp(to->name, tail_calls[i]))
			return true;
	return false;
}

/*
 * Returns false if the walk is not to continue after the call: the called function never returns
 * or, in the first pass, is a named function.
 */
static bool follow_call(struct code_walk *walk)
{
	struct destination to;

	if (!find_destination(walk, &to))
		return true;
	if (never_returns(&to))
		return false;
	if (to.known != NO_NAME && !walk->past_named) {
		walk->through = to.known;
		return false;
	}
	return true;
}

/*
 * Handles an unconditional jump. A jump to an unknown target is assumed to be a tail call, unless
 * it may use a jump table: then sets walk->unknown, as for a target in another file, whose code is
 * not read.
 */
static void follow_jump(struct code_walk *walk)
{
	const cs_x86_op *op = &walk->code->insn->detail->x86.operands[0];
	bool indexed = op->type == X86_OP_MEM && op->mem.index != X86_REG_INVALID;
	struct destination to;

	if (!find_destination(walk, &to)) {
		walk->unknown |= indexed || walk->tables;
		return;
	}
	if (to.known != NO_NAME) {
		if (!walk->past_named)
			walk->through = to.known;
		return;
	}
	if (to.addr)
		push(&walk->todo, &walk->todo_cnt, &walk->todo_cap, to.addr, &walk->err);
	else if (!never_returns(&to))
		walk->unknown = true;
}

static void note_table(struct code_walk *walk, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *last = x86->op_count ? &x86->operands[x86->op_count - 1] : NULL;

	if (insn->id == X86_INS_MOVSXD && last && last->type == X86_OP_MEM &&
	    last->mem.index != X86_REG_INVALID)
		walk->tables = true;
}

static void note_return(struct code_walk *walk, uint64_t addr)
{
	if (walk->return_cnt == FUNCTION_RETURNS_MAX)
		walk->unknown = true;
	else
		push(&walk->returns, &walk->return_cnt, &walk->return_cap,
		     code_file_offset(walk->code, addr), &walk->err);
}

/* Handles code->insn. Returns true if the walk is to continue at the next instruction. */
static bool follow(struct code_walk *walk, uint64_t addr)
{
	const cs_insn *insn = walk->code->insn;
	uint64_t target;

	switch (insn->id) {
	case X86_INS_RET:
		note_return(walk, addr);
		return false;
	case X86_INS_JMP:
		follow_jump(walk);
		return false;
	case X86_INS_CALL:
		return follow_call(walk);
	case X86_INS_UD2:
	case X86_INS_HLT:
	case X86_INS_INT3:
		return false;
	default:
		note_table(walk, insn);
		if (cs_insn_group(walk->code->handle, insn, CS_GRP_JUMP) &&
		    code_insn_target(insn, &target))
			push(&walk->todo, &walk->todo_cnt, &walk->todo_cap, target, &walk->err);
		return true;
	}
}

static void walk_code(struct code_walk *walk)
{
	push(&walk->todo, &walk->todo_cnt, &walk->todo_cap, walk->entry, &walk->err);
	while (walk->todo_cnt && !walk->err && !walk->unknown) {
		uint64_t addr = walk->todo[--walk->todo_cnt], next;

		while (note_seen(walk, addr)) {
			if (!code_file_read(walk->code, addr)) {
				walk->unknown = true;
				break;
			}
			next = addr + walk->code->insn->size;
			if (!follow(walk, addr))
				break;
			addr = next;
		}
	}
	tdestroy(walk->seen, keep_node);
	walk->seen = NULL;
	walk->seen_cnt = 0;
	walk->todo_cnt = 0;
}

/*
 * Returns the index of the named function to which the function's first instruction (after endbr64,
 * if there is one) jumps; NO_NAME if there is none.
 */
static size_t jumps_to(struct code_walk *walk)
{
	struct destination to;

	if (!code_file_read(walk->code, walk->entry))
		return NO_NAME;
	if (walk->code->insn->id == X86_INS_ENDBR64 &&
	    !code_file_read(walk->code, walk->entry + walk->code->insn->size))
		return NO_NAME;
	if (walk->code->insn->id != X86_INS_JMP || !find_destination(walk, &to))
		return NO_NAME;
	return to.known;
}

static void judge(struct code_walk *walk, struct function_returns *ret)
{
	ret->through = jumps_to(walk);
	ret->jumps_there = ret->through != NO_NAME;
	ret->verdict = FUNCTION_THROUGH;
	if (ret->jumps_there)
		return;
	walk_code(walk);
	ret->verdict = FUNCTION_UNKNOWN;
	if (walk->unknown)
		return;
	if (!walk->return_cnt) {
		ret->through = walk->through;
		ret->verdict = ret->through != NO_NAME ? FUNCTION_THROUGH : FUNCTION_UNKNOWN;
		return;
	}
	walk->past_named = true;
	walk->return_cnt = 0;
	walk_code(walk);
	if (!walk->unknown)
		ret->verdict = FUNCTION_RETURNS;
}

int function_returns_find(struct code_file *code, const struct elf_function *function,
			  const struct named_functions *named, struct function_returns *ret)
{
	struct function_returns found = {0};
	struct code_walk walk = {.code = code, .named = named, .through = NO_NAME};

	if (!code_file_select(code, function->segment.offset))
		return -ENOEXEC;
	walk.entry = code_file_address(code, function->offset);
	judge(&walk, &found);
	free(walk.todo);
	if (walk.err || found.verdict != FUNCTION_RETURNS) {
		free(walk.returns);
	} else {
		found.offsets = walk.returns;
		found.cnt = walk.return_cnt;
	}
	if (!walk.err)
		*ret = found;
	return walk.err;
}
