// SPDX-License-Identifier: GPL-2.0
/*
 * Other drivers' memory as a rank's. What an import is, and its lock: import.h.
 */
#include <linux/dma-buf.h>
#include <linux/dma-direction.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "compat.h"
#include "gfp.h"
#include "import.h"

static int check_dmabuf(const struct dma_buf *dmabuf, u64 size)
{
	/*
	 * Not more either: whoever may have the window's memory may have the
	 * dma-buf, which mappings of it and exports are.
	 */
	if (dmabuf->size != size)
		return -ERANGE;
	if (!(dmabuf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	if (!dmabuf->ops->mmap)
		return -ENODEV;
	return 0;
}

/* What exporters say differs; what it means to our caller does not. */
static int refusal(long err)
{
	switch (err) {
	case -ENOMEM:
	case -EINTR:
	case -ERESTARTSYS:
		return err;
	default:
		return -EIO;
	}
}

static int attach(struct pld_import *import, struct device *dev)
{
	struct dma_buf *dmabuf = import->dmabuf;

	import->attachment = dma_buf_attach(dmabuf, dev);
	if (IS_ERR(import->attachment))
		return refusal(PTR_ERR(import->attachment));
	import->sgt = dma_buf_map_attachment_unlocked(import->attachment,
						      DMA_BIDIRECTIONAL);
	if (IS_ERR(import->sgt)) {
		dma_buf_detach(dmabuf, import->attachment);
		return refusal(PTR_ERR(import->sgt));
	}
	return 0;
}

static struct pld_import *create_import(struct dma_buf *dmabuf,
					struct device *dev)
{
	struct pld_import *import;
	int ret;

	import = kzalloc(sizeof(*import), PLD_GFP);
	if (!import)
		return ERR_PTR(-ENOMEM);
	mutex_init(&import->lock);
	import->dmabuf = dmabuf;
	ret = attach(import, dev);
	if (ret) {
		kfree(import);
		return ERR_PTR(ret);
	}
	return import;
}

/* @size is of whole pages. */
struct pld_import *pld_import_create(int fd, struct device *dev, u64 size)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct pld_import *import;
	int ret;

	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	ret = check_dmabuf(dmabuf, size);
	import = ret ? ERR_PTR(ret) : create_import(dmabuf, dev);
	if (IS_ERR(import))
		dma_buf_put(dmabuf);
	return import;
}

void pld_import_destroy(struct pld_import *import)
{
	if (iosys_map_is_set(&import->view))
		pld_dma_buf_vunmap(import->dmabuf, &import->view);
	dma_buf_unmap_attachment_unlocked(import->attachment, import->sgt,
					  DMA_BIDIRECTIONAL);
	dma_buf_detach(import->dmabuf, import->attachment);
	dma_buf_put(import->dmabuf);
	kfree(import);
}

/* The caller has seen to it that the mapping lies in the import. */
int pld_import_mmap(struct pld_import *import, struct vm_area_struct *vma,
		    unsigned long pgoff)
{
	return dma_buf_mmap(import->dmabuf, vma, pgoff);
}

static int make_view(struct pld_import *import)
{
	int ret;

	lockdep_assert_held(&import->lock);

	if (iosys_map_is_set(&import->view))
		return 0;
	ret = pld_dma_buf_vmap(import->dmabuf, &import->view);
	if (ret) {
		iosys_map_clear(&import->view);
		if (ret == -ENOMEM)
			return -ENOMEM;
		return -ENXIO;
	}
	/* Cells are plain memory, to us as to the ranks. */
	if (import->view.is_iomem) {
		pld_dma_buf_vunmap(import->dmabuf, &import->view);
		iosys_map_clear(&import->view);
		return -ENXIO;
	}
	return 0;
}

/* Good for as long as the import is. An ERR_PTR: the kernel cannot see it. */
void *pld_import_address(struct pld_import *import, u64 offset)
{
	int ret;

	mutex_lock(&import->lock);
	ret = make_view(import);
	mutex_unlock(&import->lock);
	if (ret)
		return ERR_PTR(ret);
	return import->view.vaddr + offset;
}

/* @size is of whole pages. Waits for the dma-buf's fences, or a signal. */
int pld_import_zero(struct pld_import *import, u64 size)
{
	void *start = pld_import_address(import, 0);
	u64 at;
	int ret;

	if (IS_ERR(start))
		return PTR_ERR(start);
	ret = dma_buf_begin_cpu_access(import->dmabuf, DMA_BIDIRECTIONAL);
	if (ret)
		return refusal(ret);
	for (at = 0; at < size; at += PAGE_SIZE) {
		memset(start + at, 0, PAGE_SIZE);
		cond_resched();
	}
	ret = dma_buf_end_cpu_access(import->dmabuf, DMA_BIDIRECTIONAL);
	if (ret)
		return refusal(ret);
	return 0;
}
