// SPDX-License-Identifier: GPL-2.0
/*
 * Windows as dma-bufs. What an export is, and its locks: export.h.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "domain.h"
#include "export.h"
#include "fault.h"
#include "gfp.h"
#include "import.h"
#include "ioctl.h"
#include "trace.h"
#include "window.h"

/* Protects pld_exports, and keeps those in it from being freed. Innermost. */
DEFINE_MUTEX(pld_exports_lock);
LIST_HEAD(pld_exports);

struct mapping {
	struct list_head node;
	struct device *dev;
	enum dma_data_direction direction;
	struct sg_table sgt;
	/*
	 * What the importer has of it: a copy, since dma-buf's debugging hides
	 * the pages of a table for as long as an importer has it.
	 */
	struct sg_table given;
};

static int export_attach(struct dma_buf *dmabuf,
			 struct dma_buf_attachment *attachment)
{
	struct pld_export *export = dmabuf->priv;

	mutex_lock(&export->lock);
	export->nr_attachments++;
	mutex_unlock(&export->lock);
	return 0;
}

static void export_detach(struct dma_buf *dmabuf,
			  struct dma_buf_attachment *attachment)
{
	struct pld_export *export = dmabuf->priv;

	mutex_lock(&export->lock);
	export->nr_attachments--;
	mutex_unlock(&export->lock);
}

static int copy_table(struct sg_table *to_table,
		      const struct sg_table *from_table)
{
	struct scatterlist *from, *to;
	unsigned int i;
	int ret;

	ret = sg_alloc_table(to_table, from_table->orig_nents, PLD_GFP);
	if (ret)
		return ret;
	to_table->nents = from_table->nents;
	to = to_table->sgl;
	for_each_sgtable_sg(from_table, from, i) {
		sg_set_page(to, sg_page(from), from->length, from->offset);
		sg_dma_address(to) = sg_dma_address(from);
		sg_dma_len(to) = sg_dma_len(from);
		to = sg_next(to);
		cond_resched();
	}
	return 0;
}

/*
 * Overlaps the mapping of the window's own device, and other importers'. The DMA
 * layer allows that where it is told not to hand the memory over by itself; it is
 * handed over by the explicit calls here and in the begin and end of CPU access.
 */
#define EXPORT_MAP_ATTRS DMA_ATTR_SKIP_CPU_SYNC

static void unmap(struct mapping *mapping)
{
	dma_unmap_sgtable(mapping->dev, &mapping->sgt, mapping->direction,
			  EXPORT_MAP_ATTRS);
	sg_free_table(&mapping->sgt);
	kfree(mapping);
}

static struct sg_table *export_map(struct dma_buf_attachment *attachment,
				   enum dma_data_direction direction)
{
	struct pld_export *export = attachment->dmabuf->priv;
	struct mapping *mapping;
	int ret;

	mapping = kzalloc(sizeof(*mapping), PLD_GFP);
	if (!mapping)
		return ERR_PTR(-ENOMEM);
	mapping->dev = attachment->dev;
	mapping->direction = direction;
	ret = pld_memory_map(export->memory, export->first, export->nr_pages,
			     mapping->dev, direction, EXPORT_MAP_ATTRS,
			     &mapping->sgt);
	if (ret) {
		kfree(mapping);
		return ERR_PTR(ret);
	}
	ret = copy_table(&mapping->given, &mapping->sgt);
	if (ret) {
		unmap(mapping);
		return ERR_PTR(ret);
	}
	dma_sync_sgtable_for_device(mapping->dev, &mapping->sgt, direction);
	mutex_lock(&export->lock);
	list_add(&mapping->node, &export->mappings);
	export->nr_mappings++;
	mutex_unlock(&export->lock);
	return &mapping->given;
}

static void export_unmap(struct dma_buf_attachment *attachment,
			 struct sg_table *given,
			 enum dma_data_direction direction)
{
	struct pld_export *export = attachment->dmabuf->priv;
	struct mapping *mapping = container_of(given, struct mapping, given);

	mutex_lock(&export->lock);
	list_del(&mapping->node);
	export->nr_mappings--;
	mutex_unlock(&export->lock);
	dma_sync_sgtable_for_cpu(mapping->dev, &mapping->sgt, direction);
	sg_free_table(given);
	unmap(mapping);
}

static int export_begin_cpu_access(struct dma_buf *dmabuf,
				   enum dma_data_direction direction)
{
	struct pld_export *export = dmabuf->priv;
	struct mapping *mapping;

	mutex_lock(&export->lock);
	list_for_each_entry(mapping, &export->mappings, node)
		dma_sync_sgtable_for_cpu(mapping->dev, &mapping->sgt,
					 mapping->direction);
	mutex_unlock(&export->lock);
	return 0;
}

static int export_end_cpu_access(struct dma_buf *dmabuf,
				 enum dma_data_direction direction)
{
	struct pld_export *export = dmabuf->priv;
	struct mapping *mapping;

	mutex_lock(&export->lock);
	list_for_each_entry(mapping, &export->mappings, node)
		dma_sync_sgtable_for_device(mapping->dev, &mapping->sgt,
					    mapping->direction);
	mutex_unlock(&export->lock);
	return 0;
}

static vm_fault_t fill_pmd(struct vm_fault *vmf,
			   const struct pld_export *export)
{
	pgoff_t pgoff;

	/* A PMD that lies in the mapping lies in the dma-buf. */
	if (!pld_pmd_fits(vmf, &pgoff))
		return VM_FAULT_FALLBACK;
	return pld_insert_pmd(vmf, export->memory, export->first + pgoff);
}

/* The mapping's file is the dma-buf's, which keeps the export. */
static vm_fault_t export_fault(struct vm_fault *vmf)
{
	const struct pld_export *export = vmf->vma->vm_private_data;
	vm_fault_t ret = fill_pmd(vmf, export);

	if (!(ret & VM_FAULT_FALLBACK))
		return ret;
	return pld_insert_page(vmf, export->memory, export->first + vmf->pgoff);
}

static vm_fault_t export_huge_fault(struct vm_fault *vmf,
				    pld_huge_fault_size size)
{
	if (size != PLD_HUGE_FAULT_PMD)
		return VM_FAULT_FALLBACK;
	return fill_pmd(vmf, vmf->vma->vm_private_data);
}

static const struct vm_operations_struct export_vm_ops = {
	.fault = export_fault,
	.huge_fault = export_huge_fault,
};

/* That it ends in the dma-buf, dma-buf's core has seen to. */
static int export_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	/* A private mapping would be one of copies. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	vma->vm_private_data = dmabuf->priv;
	vma->vm_ops = &export_vm_ops;
	pld_vm_flags_change(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND |
			    VM_DONTDUMP, VM_MAYEXEC);
	return 0;
}

static int export_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	const struct pld_export *export = dmabuf->priv;
	struct page **pages;
	unsigned long i;
	void *vaddr;

	pages = kvmalloc_array(export->nr_pages, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for (i = 0; i < export->nr_pages; i++) {
		pages[i] = pfn_to_page(pld_memory_pfn(export->memory,
						      export->first + i));
		cond_resched();
	}
	vaddr = vmap(pages, export->nr_pages, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!vaddr)
		return -ENOMEM;
	iosys_map_set_vaddr(map, vaddr);
	return 0;
}

static void export_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	vunmap(map->vaddr);
}

static void export_release(struct dma_buf *dmabuf)
{
	struct pld_export *export = dmabuf->priv;

	mutex_lock(&pld_exports_lock);
	list_del(&export->node);
	mutex_unlock(&pld_exports_lock);

	trace_pld_export_release(export);
	pld_window_put(export->window);
	kfree(export);
}

static const struct dma_buf_ops export_ops = {
	.attach = export_attach,
	.detach = export_detach,
	.map_dma_buf = export_map,
	.unmap_dma_buf = export_unmap,
	.begin_cpu_access = export_begin_cpu_access,
	.end_cpu_access = export_end_cpu_access,
	.mmap = export_mmap,
	.vmap = export_vmap,
	.vunmap = export_vunmap,
	.release = export_release,
};

static struct dma_buf *create_dmabuf(struct pld_export *export, u32 flags)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	info.exp_name = KBUILD_MODNAME;
	info.owner = THIS_MODULE;
	info.ops = &export_ops;
	info.size = (size_t)export->nr_pages << PAGE_SHIFT;
	info.flags = flags & PLD_EXPORT_READ_ONLY ? O_RDONLY : O_RDWR;
	info.priv = export;
	return dma_buf_export(&info);
}

/* Takes over the caller's reference of the window when it succeeds. */
static struct dma_buf *export_memory(struct pld_window *window,
				     const struct pld_call *call)
{
	const struct pld_sim_window_export *args = &call->args.window_export;
	struct pld_export *export;
	struct dma_buf *dmabuf;

	export = kzalloc(sizeof(*export), PLD_GFP);
	if (!export)
		return ERR_PTR(-ENOMEM);
	export->window = window;
	export->rank = array_index_nospec(args->rank, window->nr_ranks);
	export->memory = &window->memory[export->rank];
	export->domain = call->domain->id;
	export->first = PHYS_PFN(args->offset);
	export->nr_pages = PHYS_PFN(args->length);
	mutex_init(&export->lock);
	INIT_LIST_HEAD(&export->mappings);

	dmabuf = create_dmabuf(export, args->flags);
	if (IS_ERR(dmabuf)) {
		kfree(export);
		return dmabuf;
	}
	mutex_lock(&pld_exports_lock);
	list_add_tail(&export->node, &pld_exports);
	mutex_unlock(&pld_exports_lock);
	trace_pld_window_export(export);
	return dmabuf;
}

/* The dma-buf that was imported, all of which is the rank's memory. */
static struct dma_buf *pass_on(struct pld_window *window,
			       const struct pld_memory *memory,
			       const struct pld_sim_window_export *args)
{
	struct dma_buf *dmabuf = memory->import->dmabuf;

	if (args->offset || args->length != pld_memory_size(memory) ||
	    args->flags)
		return ERR_PTR(-EINVAL);
	get_dma_buf(dmabuf);
	pld_window_put(window);
	return dmabuf;
}

static int check_range(const struct pld_memory *memory,
		       struct pld_sim_window_export *args)
{
	u64 size = pld_memory_size(memory);

	if (!PAGE_ALIGNED(args->offset) || !PAGE_ALIGNED(args->length))
		return -EINVAL;
	if (args->offset >= size || args->length > size - args->offset)
		return -ERANGE;
	if (!args->length)
		args->length = size - args->offset;
	return 0;
}

static struct dma_buf *export_window(struct pld_window *window,
				     struct pld_call *call)
{
	struct pld_sim_window_export *args = &call->args.window_export;
	struct pld_memory *memory;
	int ret;

	if (args->rank >= window->nr_ranks)
		return ERR_PTR(-ERANGE);
	memory = &window->memory[array_index_nospec(args->rank,
						    window->nr_ranks)];
	ret = check_range(memory, args);
	if (ret)
		return ERR_PTR(ret);
	if (memory->import)
		return pass_on(window, memory, args);
	return export_memory(window, call);
}

int pld_ioctl_window_export(struct pld_call *call)
{
	struct pld_sim_window_export *args = &call->args.window_export;
	struct pld_window *window;
	struct dma_buf *dmabuf;
	int fd;

	if (args->__reserved)
		return -EINVAL;
	window = pld_window_find(call->domain, args->window);
	if (!window)
		return -ENOENT;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0) {
		pld_window_put(window);
		return fd;
	}
	dmabuf = export_window(window, call);
	if (IS_ERR(dmabuf)) {
		put_unused_fd(fd);
		pld_window_put(window);
		return PTR_ERR(dmabuf);
	}
	args->out_fd = fd;
	call->new_file = dmabuf->file;
	return 0;
}

void pld_finish_window_export(struct pld_call *call, bool copied)
{
	pld_call_publish(call, call->args.window_export.out_fd, copied);
}
