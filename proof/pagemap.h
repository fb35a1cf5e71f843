/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bits of an entry of /proc/PID/pagemap: see Documentation/admin-guide/mm/pagemap.rst of Linux.
 */
#ifndef PROOF_PAGEMAP_H
#define PROOF_PAGEMAP_H

#define PAGEMAP_FRAME ((1ULL << 55) - 1)
#define PAGEMAP_FILE (1ULL << 61) /* file page, or shared memory */
#define PAGEMAP_SWAPPED (1ULL << 62)
#define PAGEMAP_PRESENT (1ULL << 63)

#endif
