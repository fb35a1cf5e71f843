/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tracer does, at the other end of a socket from tracer.c. */
#ifndef PROOF_TRACER_PROCESS_H
#define PROOF_TRACER_PROCESS_H

#include "proof/thread_watch.h"

/* In a process that was forked for it. watch: NULL if there is none. */
void __attribute__((noreturn)) tracer_process_run(int sock, struct thread_watch *watch);

#endif
