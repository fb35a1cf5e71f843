/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes small ELF files from hand-written call frame information, for x86-64 or aarch64. The file's
 * text is a hole. The section with the frame information follows; its name can be chosen.
 */
#ifndef TESTS_UNIT_UNWINDER_CFI_FILE_H
#define TESTS_UNIT_UNWINDER_CFI_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start of the text: offset in the file, and address in memory. */
#define CFI_TEXT 0x1000ULL

struct cfi_file {
	uint64_t text_bytes;
	const char *section; /* name of the section with the frame information */
	bool is_arm64;
	bool by_header;       /* true: no section headers are written */
	uint64_t far_headers; /* added to the offset of the section headers */
	unsigned char *bytes; /* content of the section with the frame information */
	size_t size;
};

void cfi_put(struct cfi_file *file, const void *bytes, size_t len);

/*
 * Adds a CIE and returns its offset. Its rule on x86-64: CFA = rsp + 8, return address at CFA - 8;
 * on aarch64: CFA = sp, return address in x30.
 */
uint32_t cfi_add_cie(struct cfi_file *file);
void cfi_add_fde(struct cfi_file *file, uint32_t cie, uint64_t start, uint64_t len,
		 const void *instructions, size_t instruction_bytes);
void cfi_write(int fd, const void *bytes, size_t len, uint64_t offset);

/*
 * Writes the ELF file to a memfd and returns its descriptor. Empties the section for the next file.
 */
int cfi_file_finish(struct cfi_file *file);

#endif
