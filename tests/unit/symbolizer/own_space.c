// SPDX-License-Identifier: GPL-2.0-or-later
/* A symbolizer for the addresses of this process. */
#include "tests/unit/symbolizer/own_space.h"

struct symbolizer *sym;
struct symspace *space;

int set_up(void **state)
{
	return symbolizer__new(&sym) || symspace__new(sym, getpid(), &space) ? -1 : 0;
}

int tear_down(void **state)
{
	symspace__free(space);
	symbolizer__free(sym);
	return 0;
}

void assert_others_named(unsigned int budget_ms)
{
	struct known known = known_function();

	assert_known(resolve_one(space, known.addr, false, budget_ms), &known, true);
}

void *map_code(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *code;

	assert_true(fd >= 0 && !fstat(fd, &st));
	code = mmap(NULL, st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	assert_true(code != MAP_FAILED);
	close(fd);
	*len = st.st_size;
	assert_int_equal(symspace__refresh(space), 0);
	return code;
}

void resolve_many(void *code, size_t len, unsigned int budget_ms)
{
	enum { CNT = 64 };
	const struct sym_location *locs[CNT];
	struct sym_query queries[CNT];

	for (size_t i = 0; i < CNT; i++)
		queries[i] = (struct sym_query){
			.addr = (uintptr_t)code + len * i / CNT,
			.exact = i % 2,
		};
	assert_int_equal(symspace__resolve(space, queries, CNT,
					   clock_deadline_ns(budget_ms * 1000000ULL), locs),
			 0);
	for (size_t i = 0; i < CNT; i++)
		for (size_t j = 0; j < locs[i]->frame_cnt; j++)
			assert_true(!locs[i]->frames[j].symbol ||
				    strlen(locs[i]->frames[j].symbol) <= MESSAGE_STRING_BYTES);
}

bool build_library(const char *flags)
{
	char command[512];

	snprintf(command, sizeof(command),
		 "echo 'static inline int in(int x) { return x * 7; } int out(int x) "
		 "{ for (int i = 0; i < x; i++) { int y = in(x); x -= y / 3; } return in(x); }' "
		 "> l.c && $CC %s -O1 -shared -fPIC -Wl,--build-id -o lib.so l.c",
		 flags);
	return run(command);
}
