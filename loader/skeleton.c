// SPDX-License-Identifier: GPL-2.0-or-later
/* Removes what older kernels do not know from BPF objects before they are opened. */
#include "loader/skeleton.h"

#include <elf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>

#include "loader/cleanup.h"
#include "loader/features.h"

/* An atomic operation that returns something. What it returned nobody will ask. */
static bool returns_old_value(const struct bpf_insn *insn)
{
	return BPF_CLASS(insn->code) == BPF_STX && BPF_MODE(insn->code) == BPF_ATOMIC &&
	       insn->imm & BPF_FETCH;
}

static void replace_exchanges(struct bpf_insn *insns, size_t cnt)
{
	static const struct bpf_insn nothing = {.code = BPF_JMP | BPF_JA};

	for (size_t i = 0; i < cnt; i++) {
		bool two_words = insns[i].code == (BPF_LD | BPF_IMM | BPF_DW);

		if (returns_old_value(&insns[i]))
			insns[i] = nothing;
		i += two_words;
	}
}

/* The object is our own, made when memleak was built. */
static void replace_in_object(char *data)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)data;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(data + header->e_shoff);

	for (size_t i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_PROGBITS && sections[i].sh_flags & SHF_EXECINSTR)
			replace_exchanges((struct bpf_insn *)(data + sections[i].sh_offset),
					  sections[i].sh_size / sizeof(struct bpf_insn));
}

int skeleton_open(struct bpf_object_skeleton *skeleton)
{
	cleanup_free char *copy = NULL;

	if (!features_have_exchange()) {
		copy = malloc(skeleton->data_sz);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, skeleton->data, skeleton->data_sz);
		replace_in_object(copy);
		skeleton->data = copy;
	}
	return bpf_object__open_skeleton(skeleton, NULL);
}
