/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where the facts come from. Nothing that is looked at is changed, and all of it
 * may change or vanish meanwhile: what has gone is left out, what may not be
 * seen is told by hide().
 */
#ifndef PLD_INFO_GATHER_H
#define PLD_INFO_GATHER_H

#include "model.h"

/* All of it. */
void gather(struct info *info);

/* The module, its devices and domains. After platforms is filled in. */
void gather_kmod(struct info *info);
/* Domains of processes that this one may look into, and their devices. */
void gather_memfd(struct info *info);

/* A small file as a string, without the newline at its end; false for none. */
bool read_file(const char *path, char *text, size_t size);

#endif
