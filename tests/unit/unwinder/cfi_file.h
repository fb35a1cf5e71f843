/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes small ELF files, of x86-64 or aarch64, from call frame information that is written by hand:
 * text, which is a hole, then the information as a section of any name.
 */
#ifndef TESTS_UNIT_UNWINDER_CFI_FILE_H
#define TESTS_UNIT_UNWINDER_CFI_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text begins here, in the file and in memory. */
#define CFI_TEXT 0x1000ULL

struct cfi_file {
	uint64_t text_bytes;
	const char *section; /* its name */
	bool is_arm64;
	bool by_header;       /* no section headers */
	uint64_t far_headers; /* added to where the section headers are said to be */
	unsigned char *bytes; /* of the section */
	size_t size;
};

void cfi_put(struct cfi_file *file, const void *bytes, size_t len);

/*
 * x86-64: CFA = rsp + 8, return address at CFA - 8; aarch64: CFA = sp, return address in x30.
 * Returns its offset.
 */
uint32_t cfi_add_cie(struct cfi_file *file);
void cfi_add_fde(struct cfi_file *file, uint32_t cie, uint64_t start, uint64_t len,
		 const void *instructions, size_t instruction_bytes);
void cfi_write(int fd, const void *bytes, size_t len, uint64_t offset);

/* The file, in memory. What was put into the section is gone afterwards. */
int cfi_file_finish(struct cfi_file *file);

#endif
