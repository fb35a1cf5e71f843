/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process without rights that reads heaps, which may be hostile. It is sent open files of
 * /proc/PID, a request each, and answers the last one:
 *
 *   MEM                           the fd of mem
 *   PAGEMAP                       the fd of pagemap
 *   SMAPS zero frame, page size   the fd of smaps → status, arenas, skipped arenas, each part
 */
#ifndef PROOF_RSS_SERVER_H
#define PROOF_RSS_SERVER_H

enum rss_request { RSS_MEM, RSS_PAGEMAP, RSS_SMAPS };

/* Serves requests until the socket is closed. */
void rss_server_main(int sock);

#endif
