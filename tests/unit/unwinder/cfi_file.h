/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes small ELF files, for x86-64 or aarch64, from call frame information written by hand. The
 * file's text is a hole. It is followed by a section with the frame information; the name of the
 * section can be chosen.
 */
#ifndef TESTS_UNIT_UNWINDER_CFI_FILE_H
#define TESTS_UNIT_UNWINDER_CFI_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Start of text, in the file and in memory. */
#define CFI_TEXT 0x1000ULL

struct cfi_file {
	uint64_t text_bytes;
	const char *section; /* name of the section with the frame information */
	bool is_arm64;
	bool by_header;       /* true to omit the section headers */
	uint64_t far_headers; /* distance added to the section headers' offset */
	unsigned char *bytes; /* content of that section */
	size_t size;
};

void cfi_put(struct cfi_file *file, const void *bytes, size_t len);

/*
 * Adds a CIE and returns its offset in the section. The CIE's rule on x86-64: CFA = rsp + 8, return
 * address at CFA - 8; on aarch64: CFA = sp, return address in x30.
 */
uint32_t cfi_add_cie(struct cfi_file *file);
void cfi_add_fde(struct cfi_file *file, uint32_t cie, uint64_t start, uint64_t len,
		 const void *instructions, size_t instruction_bytes);
void cfi_write(int fd, const void *bytes, size_t len, uint64_t offset);

/*
 * Writes the ELF file to a memory file, and returns its descriptor. Clears the section's content.
 */
int cfi_file_finish(struct cfi_file *file);

#endif
