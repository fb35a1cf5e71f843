// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follows the code of a function to where it returns. It is followed twice: first not beyond what
 * passes another of the named functions, to see whether all of it does; then all of it.
 */
#include "prober/server/function_returns.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The slow way of an allocator has some hundreds of instructions. */
#define FOLLOWED_MAX 20000
/* All functions of a file together. */
#define FILE_FOLLOWED_MAX 1000000
#define NO_NAME SIZE_MAX

/* What does not come back, where that matters: behind such a call there may be no code. */
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

struct walk {
	struct code_file *code;
	const struct named_functions *named;
	uint64_t entry;
	bool past_named; /* calls of named functions are followed by more */
	void *seen;      /* tree of the addresses of instructions */
	size_t seen_cnt;
	uint64_t *todo; /* where else to go on */
	size_t todo_cnt;
	size_t todo_cap;
	uint64_t *returns;
	size_t return_cnt;
	size_t return_cap;
	size_t through; /* NO_NAME: none */
	bool tables;    /* something is read that could be a table of targets */
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

/* True: it was not there before. */
static bool note_seen(struct walk *walk, uint64_t addr)
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

static size_t named_at(const struct walk *walk, uint64_t addr)
{
	uint64_t offset = code_file_offset(walk->code, addr);

	if (addr == walk->entry)
		return NO_NAME;
	for (size_t i = 0; i < walk->named->found_cnt; i++)
		if (walk->named->found[i].offset == offset)
			return walk->named->found[i].name;
	return NO_NAME;
}

static size_t named_as(const struct walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->named->cnt; i++)
		if (walk->named->items[i].name && !strcmp(walk->named->items[i].name, name))
			return i;
	return NO_NAME;
}

/* A branch whose target is a stub of the table of imports goes where that leads. */
struct destination {
	uint64_t addr;    /* 0: in another file, or not known */
	const char *name; /* of what is imported; NULL: it is not */
	size_t known;     /* one of the named functions; NO_NAME: none */
};

static bool find_import(struct walk *walk, uint64_t slot, struct destination *ret)
{
	if (!code_file_imported(walk->code, slot, &ret->name, &ret->addr))
		return false;
	ret->known = ret->addr == walk->entry ? NO_NAME : named_as(walk, ret->name);
	return true;
}

static bool find_stub(struct walk *walk, uint64_t addr, struct destination *ret)
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

/* False: nothing says where it goes. Reads other instructions. */
static bool find_destination(struct walk *walk, struct destination *ret)
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

/* True: what follows the call is reached. */
static bool follow_call(struct walk *walk)
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

/* Whoever jumps through a register leaves for good, unless there may be a table of targets. */
static void follow_jump(struct walk *walk)
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

static void note_table(struct walk *walk, const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_op *last = x86->op_count ? &x86->operands[x86->op_count - 1] : NULL;

	if (insn->id == X86_INS_MOVSXD && last && last->type == X86_OP_MEM &&
	    last->mem.index != X86_REG_INVALID)
		walk->tables = true;
}

static void note_return(struct walk *walk, uint64_t addr)
{
	if (walk->return_cnt == FUNCTION_RETURNS_MAX)
		walk->unknown = true;
	else
		push(&walk->returns, &walk->return_cnt, &walk->return_cap,
		     code_file_offset(walk->code, addr), &walk->err);
}

/* One instruction. True: the next one follows. */
static bool follow(struct walk *walk, uint64_t addr)
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

static void walk_code(struct walk *walk)
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

/* Whether its first instruction is a jump to a named function, which then does all. */
static size_t jumps_to(struct walk *walk)
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

static void judge(struct walk *walk, struct function_returns *ret)
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
	struct walk walk = {.code = code, .named = named, .through = NO_NAME};

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
