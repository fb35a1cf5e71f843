/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The main function of the tracer process, which receives the requests that tracer.c sends. */
#ifndef PROOF_TRACER_PROCESS_H
#define PROOF_TRACER_PROCESS_H

#include "proof/thread_watch.h"

/* Serves requests until memleak closes the socket. Call in a forked process. watch: may be NULL. */
void __attribute__((noreturn)) tracer_process_run(int sock, struct thread_watch *watch);

#endif
