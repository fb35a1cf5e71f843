// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes seed inputs for fuzz_core, small core files, to a folder. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/proof/made_core.h"

#define PAGE 4096ULL

static unsigned char content[PAGE];

static void make(struct made_core *core, unsigned int machine)
{
	const struct made_thread threads[] = {
		{.tid = 4711, .signal = 11, .registers = {0x10, [31] = 0x7ff0}},
		{.tid = 4712, .registers = {0x600008, [19] = 0x7000, [16] = 0x401}},
	};
	const struct made_file files[] = {
		{0x400000, 0x402000, 0, "/bin/program"},
		{0x500000, 0x504000, 1, "/lib/a (deleted)"},
	};
	const uint64_t auxv[] = {6, PAGE, 9, 0x400100, 33, 0x7ff000, 0, 0};
	const uint64_t vector[68] = {[20] = 0x600008};

	*core = (struct made_core){.machine = machine, .content_end = 0x2000};
	made_core_segment(core, 0x400000, 2 * PAGE, PF_R | PF_X, content, PAGE);
	made_core_segment(core, 0x402000, PAGE, PF_R | PF_W, content, 512);
	made_core_segment(core, 0x600000, 2 * PAGE, PF_R | PF_W, content, 64);
	made_core_segment(core, 0x7ff000, PAGE, PF_R, NULL, 0);
	for (size_t i = 0; i < 2; i++) {
		made_core_thread(core, &threads[i]);
		made_core_note(core, "CORE", NT_FPREGSET, vector, 512);
		made_core_note(core, "LINUX", machine == EM_X86_64 ? NT_X86_XSTATE : NT_ARM_TLS,
			       vector, 16);
	}
	made_core_info(core, 4711, "program", "/bin/program --fast");
	made_core_note(core, "CORE", NT_AUXV, auxv, sizeof(auxv));
	made_core_files(core, files, 2);
}

static void save(const struct made_core *core, const char *folder, const char *name)
{
	int from = made_core_open(core), to;
	struct stat st;
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_true(to >= 0);
	assert_int_equal(fstat(from, &st), 0);
	assert_int_equal(sendfile(to, from, &(off_t){0}, (size_t)st.st_size), st.st_size);
	close(from);
	close(to);
}

int main(int argc, char **argv)
{
	struct made_core core;

	if (argc != 2)
		return 2;
	make(&core, EM_X86_64);
	save(&core, argv[1], "x86_64");
	core.counts_in_section = true;
	core.empty_headers = 3;
	save(&core, argv[1], "section");
	make(&core, EM_AARCH64);
	save(&core, argv[1], "aarch64");
	return 0;
}
