/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What was found, by its inode: anybody may have any number of memfds open, so
 * that nothing is searched for one by one.
 */
#ifndef PLD_INFO_INDEX_H
#define PLD_INFO_INDEX_H

#include <stddef.h>
#include <sys/types.h>

/* Of entries that begin with their ino_t; zeroes are an empty one. */
struct index {
	void *tree;
};

/* The entry of that inode, or NULL. */
void *find_inode(const struct index *index, ino_t inode);
/* A new entry for an inode that has none: zeroes of that size behind it. */
void *add_inode(struct index *index, ino_t inode, size_t size);
/* With all entries. */
void free_index(struct index *index);

#endif
