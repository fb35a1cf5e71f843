/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What functions for qsort() and its like return of two numbers of one type. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

/* -1: a is below b; 0: neither is; 1: above. Join them by ?: to compare by several fields. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#endif
