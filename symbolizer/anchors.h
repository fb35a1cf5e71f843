/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From addresses in memory to those that libdwfl gives a file, by sections or symbols whose place
 * in memory is known: the kernel moves itself as a whole, a module section by section. Runs in
 * the helper.
 */
#ifndef ANCHORS_H
#define ANCHORS_H

#include "symbolizer/elf_object.h"

/* Looks the anchors up in obj->mod, which is open. */
void anchors_resolve(struct elf_object *obj);
/* 0: no anchor knows the address. */
uint64_t anchors_translate(const struct elf_object *obj, uint64_t addr);
void anchors_deinit(struct elf_object *obj);

#endif
