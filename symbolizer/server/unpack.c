// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copies a file section by section. In the copy, sections have their original offsets, except
 * unpacked sections, which follow beyond the end of the original file.
 */
#include "symbolizer/server/unpack.h"

#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/write_all.h"
#include "symbolizer/server/protocol.h"

/* ELFCOMPRESS_ZSTD, which elf.h of older C libraries lacks. */
#define COMPRESSED_BY_ZSTD 2
#define ALIGNMENT 16

struct copy {
	Elf *elf;
	int fd;
	uint64_t bytes; /* file offset where the next unpacked section will be written */
	Elf64_Shdr *headers;
	size_t header_cnt;
};

static int make_memfd(void *arg, uint64_t bytes)
{
	int fd = memfd_create("debug information", MFD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static unpack_make_fn *make_file = make_memfd;
static void *make_arg;

void unpack_init(unpack_make_fn *make, void *arg)
{
	make_file = make;
	make_arg = arg;
}

/* Returns the bytes of a section as stored in the file, without decompression; NULL on failure. */
static Elf_Data *raw_data(Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);

	return data && data->d_buf ? data : NULL;
}

/* Reads a section's compression header. Returns false if the section is not compressed. */
static bool compression_of(Elf_Scn *scn, Elf64_Chdr *ret)
{
	const Elf64_Shdr *header = elf64_getshdr(scn);
	Elf_Data *data;

	if (!header || !(header->sh_flags & SHF_COMPRESSED) || header->sh_type == SHT_NOBITS)
		return false;
	data = raw_data(scn);
	if (!data || data->d_size < sizeof(*ret))
		return false;
	memcpy(ret, data->d_buf, sizeof(*ret));
	return true;
}

/*
 * Returns 0 if the file has a section that elfutils cannot unpack, -ENOENT if it has none, or
 * -EOPNOTSUPP if a section is compressed in an unknown way.
 */
static int find_compressed(Elf *elf)
{
	Elf_Scn *scn = NULL;
	Elf64_Chdr compressed;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!compression_of(scn, &compressed) || compressed.ch_type == ELFCOMPRESS_ZLIB)
			continue;
		/* Try elfutils: newer versions can unpack zstd if they were built with zstd. */
		if (elf_compress(scn, 0, 0) >= 0)
			return -ENOENT;
		return compressed.ch_type == COMPRESSED_BY_ZSTD ? 0 : -EOPNOTSUPP;
	}
	return -ENOENT;
}

static int write_at(const struct copy *copy, uint64_t offset, const void *bytes, size_t len)
{
	if (offset > SERVER_MEMORY_BYTES_MAX || len > SERVER_MEMORY_BYTES_MAX - offset)
		return -EFBIG;
	if (lseek(copy->fd, (off_t)offset, SEEK_SET) < 0)
		return -errno;
	return write_all(copy->fd, bytes, len);
}

/* Unpacks all zstd frames of the input. Returns -EBADMSG unless the result has `bytes` bytes. */
static int unpack_frames(const struct copy *copy, ZSTD_DCtx *context, ZSTD_inBuffer *in,
			 uint64_t bytes)
{
	uint64_t at = 0;
	char buf[64 * 1024];

	while (in->pos < in->size) {
		ZSTD_outBuffer out = {buf, sizeof(buf), 0};
		size_t before = in->pos;
		int err;

		if (ZSTD_isError(ZSTD_decompressStream(context, &out, in)) ||
		    out.pos > bytes - at || (!out.pos && in->pos == before))
			return -EBADMSG;
		err = write_at(copy, copy->bytes + at, buf, out.pos);
		if (err)
			return err;
		at += out.pos;
	}
	return at == bytes ? 0 : -EBADMSG;
}

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int unpack_section(struct copy *copy, Elf_Scn *scn, const Elf64_Chdr *compressed,
			  Elf64_Shdr *header)
{
	Elf_Data *data = raw_data(scn);
	ZSTD_inBuffer in = {data->d_buf, data->d_size, sizeof(*compressed)};
	ZSTD_DCtx *context;
	int err;

	context = ZSTD_createDCtx();
	err = context ? unpack_frames(copy, context, &in, compressed->ch_size) : -ENOMEM;
	ZSTD_freeDCtx(context);
	header->sh_offset = copy->bytes;
	header->sh_size = compressed->ch_size;
	header->sh_flags &= ~(Elf64_Xword)SHF_COMPRESSED;
	header->sh_addralign = compressed->ch_addralign;
	copy->bytes += aligned(compressed->ch_size);
	return err;
}

/* True if a section must be copied. Code is left out: it is not needed to find names. */
static bool is_copied(const Elf64_Shdr *header)
{
	return header->sh_type != SHT_NOBITS && header->sh_type != SHT_NULL &&
	       !(header->sh_flags & SHF_EXECINSTR);
}

static int copy_section(struct copy *copy, Elf_Scn *scn, Elf64_Shdr *header)
{
	Elf64_Chdr compressed;
	Elf_Data *data;

	if (compression_of(scn, &compressed) && compressed.ch_type == COMPRESSED_BY_ZSTD)
		return unpack_section(copy, scn, &compressed, header);
	data = is_copied(header) ? raw_data(scn) : NULL;
	return data ? write_at(copy, header->sh_offset, data->d_buf, data->d_size) : 0;
}

/* Writes the ELF header with the new offset of the section headers, then the program headers. */
static int copy_headers(struct copy *copy)
{
	Elf64_Ehdr *from = elf64_getehdr(copy->elf), header;
	const Elf64_Phdr *segments = elf64_getphdr(copy->elf);
	size_t segment_cnt;
	int err;

	if (!from || elf_getphdrnum(copy->elf, &segment_cnt))
		return -ENOEXEC;
	header = *from;
	header.e_shoff = copy->bytes;
	err = write_at(copy, 0, &header, sizeof(header));
	if (!err && segments)
		err = write_at(copy, header.e_phoff, segments, segment_cnt * sizeof(*segments));
	return err;
}

static int copy_file(struct copy *copy)
{
	int err = 0;

	for (size_t i = 0; !err && i < copy->header_cnt; i++) {
		Elf_Scn *scn = elf_getscn(copy->elf, i);
		const Elf64_Shdr *header = scn ? elf64_getshdr(scn) : NULL;

		if (!header)
			return -ENOEXEC;
		copy->headers[i] = *header;
		err = copy_section(copy, scn, &copy->headers[i]);
	}
	if (!err)
		err = copy_headers(copy);
	return err ? err
		   : write_at(copy, copy->bytes, copy->headers,
			      copy->header_cnt * sizeof(*copy->headers));
}

/* True if the file has the byte order of this machine, as files of local processes do. */
static bool is_native(Elf *elf)
{
	const Elf64_Ehdr *header = elf_kind(elf) == ELF_K_ELF ? elf64_getehdr(elf) : NULL;
	const unsigned char order =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	return header && header->e_ident[EI_DATA] == order;
}

/* Computes the size of a copy, including its section headers. Returns 0 or -EFBIG. */
static int count_bytes(const struct copy *copy, uint64_t *ret)
{
	uint64_t bytes = copy->bytes + copy->header_cnt * sizeof(*copy->headers);
	Elf_Scn *scn = NULL;
	Elf64_Chdr compressed;

	while ((scn = elf_nextscn(copy->elf, scn))) {
		if (!compression_of(scn, &compressed) || compressed.ch_type != COMPRESSED_BY_ZSTD)
			continue;
		if (compressed.ch_size > SERVER_MEMORY_BYTES_MAX || bytes > SERVER_MEMORY_BYTES_MAX)
			return -EFBIG;
		bytes += aligned(compressed.ch_size);
	}
	*ret = bytes;
	return bytes > SERVER_MEMORY_BYTES_MAX ? -EFBIG : 0;
}

static int make_copy(Elf *elf, uint64_t file_bytes, int *ret)
{
	struct copy copy = {.elf = elf, .bytes = (file_bytes / ALIGNMENT + 1) * ALIGNMENT};
	int err = elf_getshdrnum(elf, &copy.header_cnt) ? -ENOEXEC : 0;
	uint64_t bytes = 0;

	if (!err)
		err = count_bytes(&copy, &bytes);
	if (err)
		return err;
	copy.headers = calloc(copy.header_cnt, sizeof(*copy.headers));
	if (!copy.headers)
		return -ENOMEM;
	copy.fd = make_file(make_arg, bytes);
	err = copy.fd < 0 ? copy.fd : copy_file(&copy);
	free(copy.headers);
	if (err && copy.fd >= 0)
		close(copy.fd);
	if (!err)
		*ret = copy.fd;
	return err;
}

int unpack_file(int fd, int *ret)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct stat st;
	int err = -ENOENT;

	if (elf && is_native(elf) && !fstat(fd, &st))
		err = find_compressed(elf);
	if (!err)
		err = make_copy(elf, (uint64_t)st.st_size, ret);
	elf_end(elf);
	return err;
}
