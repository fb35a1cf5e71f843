/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares two numbers of one type, for functions passed to qsort(). */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

/*
 * Returns -1 if a is below b, 0 if they are equal, 1 if a is above b. Join results with ?: to
 * compare several fields.
 */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

#endif
