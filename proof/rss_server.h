/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The helper process without rights that reads the heaps of other processes, which may be hostile.
 * Each request contains an open file. The helper replies only to RSS_SMAPS, the last request of a
 * reading. The requests and their files are as follows.
 *
 * RSS_MEM: /proc/PID/mem. RSS_PAGEMAP: /proc/PID/pagemap. RSS_BLOCKS, with the number of blocks: a
 * file with the blocks that memleak tracks; optional. RSS_ORIGINAL_SMAPS: /proc/PID/smaps of a
 * process, if all other files are those of a copy of it.
 *
 * RSS_SMAPS, with the program, the version of Python, the frame number of the zero page, the page
 * size, and the number of paths of --own and these paths: /proc/PID/smaps. The program is any
 * number that is the same for all readings of one program; Python's growth is counted from the
 * first of these readings. 0 stands for a program that is read only once. The version of Python is
 * in the format of Py_Version; 0 if source lines of the scripts cannot be read.
 *
 * The reply contains, in this order: a status (0 or a negative errno); the numbers of counted, torn
 * and skipped arenas; the resident bytes of each enum rss_part; the bytes in huge pages; the
 * swapped-out bytes; the bytes at the end of the main heap; the allocator; whether blocks were
 * sent; the bytes of blocks outside the heap; if blocks were sent, the bytes and the number of
 * older blocks of each size class; the bytes that older blocks pin; the sites that pin the most
 * (index and bytes); and the growing classes and containers of Python.
 */
#ifndef PROOF_RSS_SERVER_H
#define PROOF_RSS_SERVER_H

enum rss_request { RSS_MEM, RSS_PAGEMAP, RSS_BLOCKS, RSS_ORIGINAL_SMAPS, RSS_SMAPS };

/* Serves requests until the socket is closed. */
void rss_server_main(int sock);

#endif
