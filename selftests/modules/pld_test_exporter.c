// SPDX-License-Identifier: GPL-2.0
/*
 * A driver of dma-bufs that refuse what pld_sim wants of them, and of a device
 * that reads pld_sim's. For tests only.
 *
 * Tables are handed out with their pages' addresses mangled, as the kernel does
 * with CONFIG_DMABUF_DEBUG: an importer that looks at them comes to grief.
 */
#include <linux/atomic.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "pld_test_exporter.h"

#define MANGLE (~0xffUL)
#define BYTES_MAX SZ_4M
/* Two importers' mappings overlap: the memory is handed over by explicit calls. */
#define MAP_ATTRS DMA_ATTR_SKIP_CPU_SYNC

struct buffer {
	void *memory;
	size_t bytes; /* allocated, whole pages */
	u32 flags;
};

static atomic_t buffers, attachments, mappings, views, accesses;
static atomic_t views_made, accesses_made;

static int test_attach(struct dma_buf *dmabuf,
		       struct dma_buf_attachment *attachment)
{
	struct buffer *buffer = dmabuf->priv;

	if (buffer->flags & TEST_ATTACH_FAILS)
		return -EBUSY;
	atomic_inc(&attachments);
	return 0;
}

static void test_detach(struct dma_buf *dmabuf,
			struct dma_buf_attachment *attachment)
{
	atomic_dec(&attachments);
}

static struct sg_table *test_map(struct dma_buf_attachment *attachment,
				 enum dma_data_direction direction)
{
	struct buffer *buffer = attachment->dmabuf->priv;
	struct sg_table *sgt;

	if (buffer->flags & TEST_MAP_FAILS)
		return ERR_PTR(-EINVAL);
	/* As GPU drivers do with memory of theirs that they cannot move. */
	if ((buffer->flags & TEST_PEER2PEER) && !attachment->peer2peer)
		return ERR_PTR(-EOPNOTSUPP);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt || sg_alloc_table(sgt, 1, GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	sg_set_buf(sgt->sgl, buffer->memory, buffer->bytes);
	if (dma_map_sgtable(attachment->dev, sgt, direction, MAP_ATTRS)) {
		sg_free_table(sgt);
		kfree(sgt);
		return ERR_PTR(-EIO);
	}
	dma_sync_sgtable_for_device(attachment->dev, sgt, direction);
	sgt->sgl->page_link ^= MANGLE;
	atomic_inc(&mappings);
	return sgt;
}

static void test_unmap(struct dma_buf_attachment *attachment,
		       struct sg_table *sgt, enum dma_data_direction direction)
{
	sgt->sgl->page_link ^= MANGLE;
	dma_sync_sgtable_for_cpu(attachment->dev, sgt, direction);
	dma_unmap_sgtable(attachment->dev, sgt, direction, MAP_ATTRS);
	sg_free_table(sgt);
	kfree(sgt);
	atomic_dec(&mappings);
}

static int test_begin(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	atomic_inc(&accesses);
	atomic_inc(&accesses_made);
	return 0;
}

static int test_end(struct dma_buf *dmabuf, enum dma_data_direction direction)
{
	struct buffer *buffer = dmabuf->priv;

	atomic_dec(&accesses);
	return buffer->flags & TEST_END_FAILS ? -EINVAL : 0;
}

static int test_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct buffer *buffer = dmabuf->priv;
	unsigned long pfn = PHYS_PFN(virt_to_phys(buffer->memory));

	if (buffer->flags & TEST_MMAP_FAILS)
		return -ENOTTY;
	return remap_pfn_range(vma, vma->vm_start, pfn + vma->vm_pgoff,
			       vma->vm_end - vma->vm_start, vma->vm_page_prot);
}

static int test_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct buffer *buffer = dmabuf->priv;

	atomic_inc(&views);
	atomic_inc(&views_made);
	if (buffer->flags & TEST_VMAP_IOMEM)
		iosys_map_set_vaddr_iomem(map, (void __iomem *)buffer->memory);
	else
		iosys_map_set_vaddr(map, buffer->memory);
	return 0;
}

static void test_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	atomic_dec(&views);
}

static void test_release(struct dma_buf *dmabuf)
{
	struct buffer *buffer = dmabuf->priv;

	free_pages_exact(buffer->memory, buffer->bytes);
	kfree(buffer);
	atomic_dec(&buffers);
}

#define OPS                                                                    \
	.attach = test_attach, .detach = test_detach, .map_dma_buf = test_map, \
	.unmap_dma_buf = test_unmap, .begin_cpu_access = test_begin,           \
	.end_cpu_access = test_end, .release = test_release

static const struct dma_buf_ops ops_all = {
	OPS,
	.mmap = test_mmap,
	.vmap = test_vmap,
	.vunmap = test_vunmap,
};

static const struct dma_buf_ops ops_no_mmap = {
	OPS,
	.vmap = test_vmap,
	.vunmap = test_vunmap,
};

static const struct dma_buf_ops ops_no_vmap = {
	OPS,
	.mmap = test_mmap,
};

static struct dma_buf *export_buffer(struct buffer *buffer, u64 bytes)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	info.ops = &ops_all;
	if (buffer->flags & TEST_NO_MMAP)
		info.ops = &ops_no_mmap;
	else if (buffer->flags & TEST_NO_VMAP)
		info.ops = &ops_no_vmap;
	info.size = bytes;
	info.flags = O_RDWR;
	info.priv = buffer;
	return dma_buf_export(&info);
}

static struct dma_buf *make_buffer(const struct test_exporter_make *args)
{
	struct buffer *buffer;
	struct dma_buf *dmabuf;

	if (!args->bytes || args->bytes > BYTES_MAX)
		return ERR_PTR(-EINVAL);
	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->bytes = PAGE_ALIGN(args->bytes);
	buffer->flags = args->flags;
	buffer->memory =
		alloc_pages_exact(buffer->bytes, GFP_KERNEL | __GFP_ZERO);
	if (!buffer->memory) {
		kfree(buffer);
		return ERR_PTR(-ENOMEM);
	}
	dmabuf = export_buffer(buffer, args->bytes);
	if (IS_ERR(dmabuf)) {
		free_pages_exact(buffer->memory, buffer->bytes);
		kfree(buffer);
		return dmabuf;
	}
	atomic_inc(&buffers);
	return dmabuf;
}

static int make_descriptor(const void __user *arg)
{
	struct test_exporter_make args;
	struct dma_buf *dmabuf;
	int fd;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	dmabuf = make_buffer(&args);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (fd < 0)
		dma_buf_put(dmabuf);
	return fd;
}

static int count_all(void __user *arg)
{
	struct test_exporter_count count = {
		.buffers = atomic_read(&buffers),
		.attachments = atomic_read(&attachments),
		.mappings = atomic_read(&mappings),
		.views = atomic_read(&views),
		.accesses = atomic_read(&accesses),
		.views_made = atomic_read(&views_made),
		.accesses_made = atomic_read(&accesses_made),
	};

	return copy_to_user(arg, &count, sizeof(count)) ? -EFAULT : 0;
}

static struct platform_device *importer;

/*
 * Where no IOMMU is between, a DMA address is a physical one. By pages: a
 * segment may span several allocations, which the kernel does not copy at once.
 */
static int read_segment(struct scatterlist *sg, char __user *to)
{
	unsigned int length = sg_dma_len(sg), at;
	char *from = phys_to_virt(sg_dma_address(sg));

	for (at = 0; at < length; at += PAGE_SIZE)
		if (copy_to_user(to + at, from + at, PAGE_SIZE))
			return -EFAULT;
	return 0;
}

static int read_table(struct sg_table *sgt, struct test_importer_read *args)
{
	char __user *to = u64_to_user_ptr(args->to);
	struct scatterlist *sg;
	u64 left = args->bytes;
	unsigned int i;

	for (i = 0, sg = sgt->sgl; i < sgt->nents; i++, sg = sg_next(sg)) {
		unsigned int length = sg_dma_len(sg);

		if (length > SZ_64K)
			return -EOVERFLOW;
		if (length > left || !PAGE_ALIGNED(length))
			return -EMSGSIZE;
		if (read_segment(sg, to))
			return -EFAULT;
		to += length;
		left -= length;
	}
	args->segments = i;
	return left ? -EMSGSIZE : 0;
}

static int read_twice_mapped(struct dma_buf_attachment *attachment,
			     struct test_importer_read *args)
{
	struct sg_table *first, *second;
	int ret;

	first = dma_buf_map_attachment_unlocked(attachment, DMA_BIDIRECTIONAL);
	if (IS_ERR(first))
		return PTR_ERR(first);
	second = dma_buf_map_attachment_unlocked(attachment, DMA_FROM_DEVICE);
	dma_buf_unmap_attachment_unlocked(attachment, first, DMA_BIDIRECTIONAL);
	if (IS_ERR(second))
		return PTR_ERR(second);
	ret = read_table(second, args);
	dma_buf_unmap_attachment_unlocked(attachment, second, DMA_FROM_DEVICE);
	return ret;
}

static int read_dmabuf(struct test_importer_read *args)
{
	struct dma_buf *dmabuf = dma_buf_get(args->fd);
	struct dma_buf_attachment *attachment;
	int ret;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	attachment = dma_buf_attach(dmabuf, &importer->dev);
	if (IS_ERR(attachment)) {
		ret = PTR_ERR(attachment);
	} else {
		ret = read_twice_mapped(attachment, args);
		dma_buf_detach(dmabuf, attachment);
	}
	dma_buf_put(dmabuf);
	return ret;
}

static int read_descriptor(void __user *arg)
{
	struct test_importer_read args;
	int ret;

	if (copy_from_user(&args, arg, sizeof(args)))
		return -EFAULT;
	ret = read_dmabuf(&args);
	if (ret)
		return ret;
	return copy_to_user(arg, &args, sizeof(args)) ? -EFAULT : 0;
}

static long test_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case TEST_EXPORTER_MAKE:
		return make_descriptor((const void __user *)arg);
	case TEST_EXPORTER_COUNT:
		return count_all((void __user *)arg);
	case TEST_IMPORTER_READ:
		return read_descriptor((void __user *)arg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations test_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = test_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice test_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pld_test_exporter",
	.fops = &test_fops,
};

static int __init test_init(void)
{
	int ret;

	importer = platform_device_register_simple("pld_test_importer", -1,
						   NULL, 0);
	if (IS_ERR(importer))
		return PTR_ERR(importer);
	ret = dma_set_mask_and_coherent(&importer->dev, DMA_BIT_MASK(64));
	if (!ret)
		ret = misc_register(&test_device);
	if (ret)
		platform_device_unregister(importer);
	return ret;
}

static void __exit test_exit(void)
{
	misc_deregister(&test_device);
	platform_device_unregister(importer);
}

module_init(test_init);
module_exit(test_exit);

MODULE_DESCRIPTION("dma-bufs that lack something, for tests of pld_sim");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(DMA_BUF);
