/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process without rights that reads the heaps of other processes, which may be hostile.
 * Each request contains an open file. The helper replies only to SMAPS, the last of these requests:
 *
 *   MEM                           the fd of mem
 *   PAGEMAP                       the fd of pagemap
 *   BLOCKS count                  a file with the blocks that memleak tracks, for the next SMAPS
 *   ORIGINAL_SMAPS                if MEM, PAGEMAP and SMAPS are of a copy: the fd of smaps of the
 *                                 process itself
 *   SMAPS program, version of Python, zero frame, page size
 *                                 the fd of smaps → status, arenas, torn and skipped arenas, parts,
 *                                 huge pages, allocator;
 *                                 with BLOCKS also bytes of blocks outside the heap, the older
 *                                 blocks (bytes and count of each class), the bytes that older
 *                                 blocks pin, and the sites that pin most (index, bytes);
 *                                 growing classes and containers of Python
 *
 * program: any number, the same for all readings of a program. Growth is counted from the first of
 * these readings. 0 stands for a program that is read once. version of Python: as in Py_Version; 0
 * if lines of its scripts cannot be read.
 */
#ifndef PROOF_RSS_SERVER_H
#define PROOF_RSS_SERVER_H

enum rss_request { RSS_MEM, RSS_PAGEMAP, RSS_BLOCKS, RSS_ORIGINAL_SMAPS, RSS_SMAPS };

/* Serves requests until the socket is closed. */
void rss_server_main(int sock);

#endif
