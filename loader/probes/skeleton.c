// SPDX-License-Identifier: GPL-2.0-or-later
/* Unpacks BPF objects, and removes instructions that older kernels reject. */
#include "loader/probes/skeleton.h"

#include <bpf/bpf.h>
#include <elf.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"
#include "loader/probes/features.h"

/* Value added to zlib's window size to select the gzip format. */
#define GZIP_FORMAT 16

/*
 * True for atomic operations that return the old value. On kernels that lack these operations,
 * programs never reach them.
 */
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

/*
 * Replaces atomic exchanges in a BPF object by no-ops. The object is part of memleak, so its
 * headers are not checked.
 */
static void replace_in_object(char *data)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)data;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(data + header->e_shoff);

	for (size_t i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_PROGBITS && sections[i].sh_flags & SHF_EXECINSTR)
			replace_exchanges((struct bpf_insn *)(data + sections[i].sh_offset),
					  sections[i].sh_size / sizeof(struct bpf_insn));
}

/* Returns the unpacked size, which gzip stores in the last four bytes in little-endian order. */
static size_t unpacked_size(const unsigned char *packed, size_t size)
{
	const unsigned char *last = packed + size - 4;

	return last[0] | last[1] << 8 | last[2] << 16 | (size_t)last[3] << 24;
}

static int unpack(const unsigned char *packed, size_t size, char *ret, size_t ret_size)
{
	z_stream stream = {
		.next_in = (unsigned char *)packed,
		.avail_in = (uInt)size,
		.next_out = (unsigned char *)ret,
		.avail_out = (uInt)ret_size,
	};
	int result = inflateInit2(&stream, MAX_WBITS + GZIP_FORMAT);

	if (result == Z_OK) {
		result = inflate(&stream, Z_FINISH);
		inflateEnd(&stream);
	}
	if (result == Z_MEM_ERROR)
		return -ENOMEM;
	return result == Z_STREAM_END ? 0 : -EINVAL;
}

int skeleton_open(struct bpf_object_skeleton *skeleton, const unsigned char *packed, size_t size)
{
	size_t data_size = unpacked_size(packed, size);
	cleanup_free char *data = malloc(data_size);
	int err = data ? unpack(packed, size, data, data_size) : -ENOMEM;

	if (err)
		return err;
	if (!features_have_exchange())
		replace_in_object(data);
	skeleton->data = data;
	skeleton->data_sz = data_size;
	return bpf_object__open_skeleton(skeleton, NULL);
}

int skeleton_put_tail_calls(const struct bpf_map *map,
			    const struct bpf_program *const programs[MEMLEAK_TAIL_CNT])
{
	for (uint32_t i = 0; i < MEMLEAK_TAIL_CNT; i++) {
		int fd = bpf_program__fd(programs[i]);

		if (fd >= 0 && bpf_map_update_elem(bpf_map__fd(map), &i, &fd, BPF_ANY))
			return -errno;
	}
	return 0;
}
