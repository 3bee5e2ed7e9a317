// SPDX-License-Identifier: GPL-2.0
#include <search.h>
#include <stdlib.h>

#include "index.h"
#include "model.h"

static int by_inode(const void *left, const void *right)
{
	ino_t l = *(const ino_t *)left, r = *(const ino_t *)right;

	return l < r ? -1 : l > r;
}

void *find_inode(const struct index *index, ino_t inode)
{
	void **node = tfind(&inode, &index->tree, by_inode);

	return node ? *node : NULL;
}

void *add_inode(struct index *index, ino_t inode, size_t size)
{
	ino_t *entry = calloc(1, size);

	if (!entry)
		out_of_memory();
	*entry = inode;
	if (!tsearch(entry, &index->tree, by_inode))
		out_of_memory();
	return entry;
}

void free_index(struct index *index)
{
	tdestroy(index->tree, free);
}
