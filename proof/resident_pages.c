// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads pagemap entries: see Documentation/admin-guide/mm/pagemap.rst of Linux. */
#include "proof/resident_pages.h"

#include <sys/types.h>
#include <unistd.h>

#include "proof/pagemap.h"

static bool read_entries(struct resident_pages *pages, uint64_t page)
{
	ssize_t got = pread(pages->pagemap_fd, pages->entries, sizeof(pages->entries),
			    (off_t)(page * sizeof(*pages->entries)));

	pages->first = page;
	pages->cnt = got > 0 ? (uint64_t)got / sizeof(*pages->entries) : 0;
	return pages->cnt;
}

enum residence resident_page(struct resident_pages *pages, uint64_t addr)
{
	uint64_t page = addr / pages->page_size, entry;

	if (page - pages->first >= pages->cnt && !read_entries(pages, page))
		return PAGE_ABSENT;
	entry = pages->entries[page - pages->first];
	if (!(entry & PAGEMAP_PRESENT))
		return PAGE_ABSENT;
	if (entry & PAGEMAP_FILE)
		return PAGE_OF_FILE;
	return pages->zero_frame && (entry & PAGEMAP_FRAME) == pages->zero_frame ? PAGE_ABSENT
										 : PAGE_OWN;
}
