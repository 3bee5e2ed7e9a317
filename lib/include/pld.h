/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * libpld: ranks with symmetric windows, signals, one-sided operations and
 * collectives, after PyPTO's distributed language (pld). A name here is the
 * original's with underscores: pld.tile.remote_load is pld_tile_remote_load.
 *
 * The host side creates a domain, allocates window buffers and launches a
 * kernel; the kernel runs once per rank, in a process of its own, and makes
 * typed views of the buffers.
 *
 * Every call returns 0 (or the value that it is asked for) or a negative errno;
 * pld_last_error() then has the sentence. No call prints or exits. Common to
 * all calls:
 *
 *	-EINVAL	    NULL, a wrong kind, dtype, shape or number of dimensions, an
 *		    unknown enum value
 *	-ERANGE	    a peer outside the domain, offsets outside the tensor
 *	-EFAULT	    a view that points outside its memory or its own window
 *	-ENOTCONN   a rank's call on the host side
 *	-EPERM	    a host's call in a rank, or in a fork of the host; a rank's
 *		    call in a child that the rank forked
 *	-EOWNERDEAD, -ETIMEDOUT, -ECANCELED
 *		    the domain is broken: a rank died or failed, was late in a
 *		    collective, aborted
 * Shapes and offsets count elements; sizes named bytes count bytes.
 *
 * All rank side calls may be made by several threads of a rank at once, as long
 * as no two of them use the same tile, waiter or bytes of a tensor. On the host
 * side one thread at a time uses a domain and its sub-domains.
 */
#ifndef PLD_H
#define PLD_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PLD_API __attribute__((visibility("default")))
#else
#define PLD_API
#endif

/** Most dimensions of a tensor. */
#define PLD_MAX_DIMS 5
/** Most ranks of a domain. */
#define PLD_MAX_RANKS 256
/** Most cells of one wait. */
#define PLD_MAX_CONDITIONS 64
/** Bytes of a message with its terminating zero. */
#define PLD_MESSAGE_BYTES 512

typedef enum pld_dtype {
	PLD_FP64,
	PLD_FP32,
	PLD_FP16,
	PLD_BF16,
	PLD_INT64,
	PLD_INT32,
	PLD_INT16,
	PLD_INT8,
	PLD_UINT64,
	PLD_UINT32,
	PLD_UINT16,
	PLD_UINT8,
} pld_dtype;

/** How a transfer changes what it writes to. */
typedef enum pld_atomic_type {
	PLD_NONE = 0, /* stores */
	PLD_ADD = 1, /* adds, every element atomically between ranks */
} pld_atomic_type;

/** How notify changes the peer's cell. */
typedef enum pld_notify_op {
	PLD_ATOMIC_ADD = 0,
	PLD_SET = 1,
} pld_notify_op;

/** How wait compares the own cell with what is expected; both are signed. */
typedef enum pld_cmp {
	PLD_EQ = 0,
	PLD_GE = 1,
} pld_cmp;

/** What a view is of. */
typedef enum pld_kind {
	PLD_TENSOR = 1, /* plain memory of one rank */
	PLD_DISTRIBUTED_TENSOR = 2, /* a window buffer, the same in every rank */
	PLD_TILE = 3, /* on-core scratch memory of one rank */
} pld_kind;

/** A shape, or the offsets of an element. */
typedef struct pld_dims {
	int ndim;
	int64_t n[PLD_MAX_DIMS];
} pld_dims;

#define PLD_COUNT_(a, b, c, d, e, count, ...) count
#define PLD_COUNT(...) PLD_COUNT_(__VA_ARGS__, 5, 4, 3, 2, 1, 0)
#ifdef __cplusplus
#define PLD_DIMS(...) (pld_dims{ PLD_COUNT(__VA_ARGS__), { __VA_ARGS__ } })
#else
#define PLD_DIMS(...) ((pld_dims){ PLD_COUNT(__VA_ARGS__), { __VA_ARGS__ } })
#endif
/** PLD_SHAPE(rows, columns): one to five extents. */
#define PLD_SHAPE(...) PLD_DIMS(__VA_ARGS__)
/** PLD_AT(row, column): one to five offsets. */
#define PLD_AT(...) PLD_DIMS(__VA_ARGS__)

/** In a function that returns int: pass a failure on to the caller. */
#define PLD_TRY(call)                           \
	do {                                    \
		int pld_try_result_ = (call);   \
		if (pld_try_result_ < 0)        \
			return pld_try_result_; \
	} while (0)

/** An ordered set of devices; rank r is the r-th. */
typedef struct pld_domain pld_domain;
/** Symmetric memory: in every rank the same size, at the same address layout. */
typedef struct pld_window_buffer pld_window_buffer;

/**
 * A typed view of memory. Made by pld_tensor_init, pld_window, pld_tile_alloc and
 * pld_tile_init; the three kinds have names of their own below, and an
 * operation that is given the wrong kind refuses it and says so.
 */
typedef struct pld_view {
	pld_kind kind;
	pld_dtype dtype;
	pld_dims shape;
	int64_t stride[PLD_MAX_DIMS]; /* elements from one index to the next */
	void *data; /* the own rank's first element */
	size_t bytes; /* of memory behind data */
	pld_window_buffer *buffer; /* of a DistributedTensor, else NULL */
	pld_dims valid_shape; /* of a Tile: how much of shape holds data */
	void *allocated; /* by pld_tile_alloc, else NULL */
	const char *name; /* in a trace; the caller may set it */
} pld_view;

typedef pld_view pld_tensor;
typedef pld_view pld_distributed_tensor;
typedef pld_view pld_tile;

/* ---- the library ---- */

/** "MAJOR.MINOR.PATCH" of the library. */
PLD_API const char *pld_version(void);

/**
 * The sentence of the calling thread's last failure; "" before the first one.
 * Valid until the thread's next failure.
 */
PLD_API const char *pld_last_error(void);

/**
 * How many devices the platform of that name has (see pld_domain_options), with
 * ids from 0; or why it cannot be used here, as pld_domain_create() would say.
 */
PLD_API int pld_platform_devices(const char *name);

/** Bytes of one element, or -EINVAL. */
PLD_API int pld_dtype_size(pld_dtype dtype);
/** "fp32" and so on, or NULL. */
PLD_API const char *pld_dtype_name(pld_dtype dtype);
/** The dtype of that name, or -EINVAL. */
PLD_API int pld_dtype_parse(const char *name);

/* ---- host side: the domain ---- */

typedef struct pld_domain_options {
	/**
	 * "kmod" (the module pld_sim), "memfd" (needs nothing), "auto" (kmod
	 * when it can be used, else memfd) or "a2a3sim", another name of auto.
	 * NULL: the environment's PLD_PLATFORM, else auto.
	 */
	const char *platform;
	/** How long a wait lasts at most, in ns; 0: 30 s. */
	int64_t timeout_ns;
	/**
	 * Bytes of the own staging tile of each thread of a rank, 8 to 2^30; 0:
	 * 64 KiB. A thread has it from its first put or get in chunks without a
	 * stage until its end. Reductions work in pieces of as many bytes.
	 */
	size_t tile_bytes;
	/** Not 0: each launch counts and traces what its ranks do. */
	int observe;
} pld_domain_options;

/**
 * Creates a domain of nranks devices, whose ids are all different. options may
 * be NULL. -EINVAL: nranks out of 1 to PLD_MAX_RANKS, a device named twice,
 * unknown platform. -ENOENT: no such device. -ENODEV, -EACCES, -EPROTO: the
 * module is absent, closed to this user, or of another version.
 */
PLD_API int pld_domain_create(const int *devices, int nranks,
			      const pld_domain_options *options,
			      pld_domain **domain);

/**
 * Makes a sub-domain of nranks of the parent's ranks, each named once, in their
 * order: rank r of it is rank ranks[r] of the parent. It has window buffers of
 * its own, made with pld_alloc_*. A launch of the parent makes each of those
 * ranks a rank of the sub-domain too, to which its views belong; for the others
 * its calls are -ENOTCONN. A failure in the parent or in one of its sub-domains
 * breaks them all, and sentences say whose numbers they use. It is launched and
 * reset with its parent only, and ends with it at the latest. -EINVAL: parent
 * is a sub-domain, nranks out of 1 to the parent's, a rank named twice.
 * -ERANGE: no such rank.
 */
PLD_API int pld_subdomain_create(pld_domain *parent, const int *ranks,
				 int nranks, pld_domain **subdomain);

/**
 * Ends the domain, its sub-domains and window buffers. NULL is allowed.
 */
PLD_API void pld_domain_destroy(pld_domain *domain);

/**
 * Makes a broken domain and its sub-domains usable again: signals zeroed, epoch
 * advanced; data windows keep their bytes.
 */
PLD_API int pld_domain_reset(pld_domain *domain);

/** "kmod" or "memfd". */
PLD_API const char *pld_domain_platform(const pld_domain *domain);
/** Why that platform was taken. */
PLD_API const char *pld_domain_platform_reason(const pld_domain *domain);
/** Number of ranks (pld.world_size). */
PLD_API int pld_world_size(const pld_domain *domain);

/**
 * Allocates a window buffer of bytes per rank, zeroed; at least 4 KiB per rank
 * are used. -EINVAL: 0 bytes. -EOVERFLOW: more than addresses can count.
 * -ENOMEM: the message has asked and available bytes.
 */
PLD_API int pld_alloc_window_buffer(pld_domain *domain, size_t bytes,
				    pld_window_buffer **buffer);
/** The same for a shape and a dtype. -EINVAL: a dimension below 1. */
PLD_API int pld_alloc_window_buffer_shaped(pld_domain *domain, pld_dims shape,
					   pld_dtype dtype,
					   pld_window_buffer **buffer);
/**
 * Allocates a signal of that many INT32 cells, all zero, each on 128 bytes of
 * its own. View it with pld_window and PLD_INT32.
 */
PLD_API int pld_alloc_signal(pld_domain *domain, pld_dims shape,
			     pld_window_buffer **buffer);
/** Frees a buffer before its domain ends. NULL is allowed. */
PLD_API void pld_free_window_buffer(pld_window_buffer *buffer);

/**
 * A kernel: what every rank runs. A negative return value ends the launch with
 * that error.
 */
typedef int pld_kernel(pld_domain *domain, void *arg);

/** How a rank ended. */
typedef struct pld_rank_report {
	int error; /* 0 or a negative errno */
	char message[PLD_MESSAGE_BYTES]; /* "" with 0 */
} pld_rank_report;

/**
 * Runs kernel(domain, arg) in one new process per rank and waits for all of
 * them. Each launch starts with zeroed signals; data windows keep their bytes.
 * reports is NULL or has room for every rank, and is filled when ranks ran: not
 * when the domain was broken before. Returns 0 when every rank did, else the error of the first rank
 * that failed: -EOWNERDEAD for a rank that died, -ECANCELED after pld_abort.
 * The other ranks' operations then fail too; those that go on for 2 s after the
 * last rank's end (200 ms after pld_abort) are killed, and the domain is
 * broken until pld_domain_reset.
 */
PLD_API int pld_launch(pld_domain *domain, pld_kernel *kernel, void *arg,
		       pld_rank_report *reports);

/**
 * The code of the pld_abort that ended the last launch; 0 when none did, and
 * again after pld_domain_reset.
 */
PLD_API int pld_abort_code(const pld_domain *domain);

/* ---- rank side: who am I ---- */

/** The domain of a DistributedTensor (pld.get_comm_ctx). */
PLD_API int pld_get_comm_ctx(const pld_distributed_tensor *tensor,
			     pld_domain **domain);
/**
 * The own rank (pld.rank); -ENOTCONN on the host side, and for a sub-domain that
 * this rank is not in.
 */
PLD_API int pld_rank(const pld_domain *domain);
/** Number of ranks (pld.nranks). */
PLD_API int pld_nranks(const pld_domain *domain);

/**
 * Ends every rank of the domain: their operations return -ECANCELED, and the
 * launch ends with the given code within a second. Returns -ECANCELED. May be
 * called from a signal handler.
 */
PLD_API int pld_abort(pld_domain *domain, int code);

/* ---- views ---- */

/**
 * A typed view of a window buffer from its start (pld.window). -EINVAL: shape
 * and dtype do not fit the buffer. A view of a signal is dense to the eye; its
 * cells lie 128 bytes apart.
 */
PLD_API int pld_window(pld_window_buffer *buffer, pld_dims shape,
		       pld_dtype dtype, pld_distributed_tensor *tensor);

/** A dense view of memory that the caller owns. */
PLD_API int pld_tensor_init(pld_tensor *tensor, void *data, pld_dims shape,
			    pld_dtype dtype);

/**
 * The part of a view from offsets on, with its strides. Shares its memory; part
 * may be view. -ERANGE: outside the view.
 */
PLD_API int pld_slice(const pld_view *view, pld_dims offsets, pld_dims shape,
		      pld_view *part);
/**
 * Sets how many elements lie from one index to the next, one number per
 * dimension, 0 or more. -EFAULT: the shape would not lie in the view's memory,
 * or not in its window; the view is unchanged then.
 */
PLD_API int pld_set_strides(pld_view *view, pld_dims strides);

/** A tile of that many bytes; what it holds is set by the load into it. */
PLD_API int pld_tile_alloc(pld_tile *tile, size_t bytes);
/** Frees what pld_tile_alloc made; the memory under pld_tile_init's is left alone. */
PLD_API void pld_tile_free(pld_tile *tile);

/**
 * A tile over memory that the caller owns, and that it holds as that shape of
 * dtype: a store writes from there, a load or remote_load reads straight to there,
 * where a device's tile would take another copy. As with every tile, what is loaded
 * lies there one element after another from data on. What a tile is loaded from,
 * stored to or staged for must not overlap it. -EINVAL: data is not a multiple of
 * the dtype's size.
 */
PLD_API int pld_tile_init(pld_tile *tile, void *data, pld_dims shape,
			  pld_dtype dtype);

/* ---- local data movement ---- */

/**
 * Reads shape elements at offsets of the own tensor into a tile (pl.load).
 * -ERANGE: outside the tensor. -ENOSPC: more than the tile holds.
 */
PLD_API int pld_load(const pld_view *tensor, pld_dims offsets, pld_dims shape,
		     pld_tile *tile);
/**
 * The same where only valid_shape of shape lies in the tensor, such as at its
 * edge: the rest of the tile is zero, and pld_store() leaves it out.
 */
PLD_API int pld_load_valid(const pld_view *tensor, pld_dims offsets,
			   pld_dims shape, pld_dims valid_shape, pld_tile *tile);
/** Writes a tile into the own tensor at offsets (pl.store). */
PLD_API int pld_store(const pld_tile *tile, pld_dims offsets,
		      const pld_view *tensor);

/** Reads the own tensor's element at offsets into value (pl.read). */
PLD_API int pld_read(const pld_view *tensor, pld_dims offsets, void *value);
/** Writes value, of the tensor's dtype, to the element at offsets (pl.write). */
PLD_API int pld_write(const pld_view *tensor, pld_dims offsets,
		      const void *value);

/* ---- arithmetic on tiles ---- */

/**
 * out = a + b, element by element (pl.add), and so on. a and b are dense Tiles
 * of one dtype, shape and valid_shape; out is any Tile with room for them, a or
 * b too, and takes all three. Integers wrap modulo 2^n; fp16 and bf16 are
 * computed in fp32 and rounded once. Maximum and minimum are those of IEEE
 * 754-2019: -0 is less than +0, and a NaN propagates. Every NaN result is the
 * quiet one without a payload. -ENOSPC: out is too small.
 */
PLD_API int pld_add(const pld_tile *a, const pld_tile *b, pld_tile *out);
PLD_API int pld_mul(const pld_tile *a, const pld_tile *b, pld_tile *out);
PLD_API int pld_maximum(const pld_tile *a, const pld_tile *b, pld_tile *out);
PLD_API int pld_minimum(const pld_tile *a, const pld_tile *b, pld_tile *out);

/**
 * out = in as dtype (pl.cast); out may be in. To a float type: rounded once, to
 * nearest, ties to even. From a float type to integers: towards zero, what is
 * too large or too small becomes the greatest or least integer, a NaN 0.
 * Between integers: modulo 2^n.
 */
PLD_API int pld_cast(const pld_tile *in, pld_dtype dtype, pld_tile *out);

/* ---- one-sided operations ---- */

/**
 * Reads shape elements at offsets of the peer's memory of target into a tile
 * (pld.tile.remote_load). The own rank is a peer like any other.
 */
PLD_API int pld_tile_remote_load(const pld_distributed_tensor *target, int peer,
				 pld_dims offsets, pld_dims shape,
				 pld_tile *tile);

/** The same with a valid_shape, as in pld_load_valid(). */
PLD_API int pld_tile_remote_load_valid(const pld_distributed_tensor *target,
				       int peer, pld_dims offsets,
				       pld_dims shape, pld_dims valid_shape,
				       pld_tile *tile);

/**
 * Writes a tile into the peer's memory of target at offsets
 * (pld.tile.remote_store). PLD_ADD is for fp32, fp16, bf16, int32, int16 and
 * int8; integers wrap.
 */
PLD_API int pld_tile_remote_store(const pld_tile *tile,
				  const pld_distributed_tensor *target, int peer,
				  pld_dims offsets, pld_atomic_type atomic);

/** Zero is the default of every member. */
typedef struct pld_put_options {
	/**
	 * The tile that the data passes through. NULL: none, it goes straight;
	 * with chunk extents, the calling thread's own. -ENOMEM: there is no
	 * memory for that.
	 */
	const pld_tile *stage;
	/** A subregion: all three or none. */
	pld_dims dst_offsets;
	pld_dims src_offsets;
	pld_dims shape;
	/** Not for pld_tensor_get(). */
	pld_atomic_type atomic;
	/**
	 * Elements of the last two dimensions that pass at a time, 0: all of
	 * that dimension. With both 0, as many as a given stage holds. -ENOSPC:
	 * a chunk does not fit the stage.
	 */
	int64_t chunk_rows;
	int64_t chunk_cols;
	/**
	 * Not 0: two chunks in the stage at a time, one being filled while the
	 * other is written. Needs both chunk extents.
	 */
	int pipeline;
} pld_put_options;
typedef pld_put_options pld_get_options;

/**
 * Writes the own src into the peer's memory of dst (pld.tensor.put): straight,
 * or through a staging tile in chunks that fit it, where options have a stage or
 * chunk extents. src is a Tensor or DistributedTensor of dst's dtype and number
 * of dimensions, and without a subregion of its shape. -EINVAL: on the own rank,
 * when source and destination overlap. options may be NULL. Nothing is ordered
 * but by a later notify.
 */
PLD_API int pld_tensor_put(const pld_distributed_tensor *dst, int peer,
			   const pld_view *src, const pld_put_options *options);
/** Reads the peer's memory of src into the own dst (pld.tensor.get). */
PLD_API int pld_tensor_get(const pld_view *dst, int peer,
			   const pld_distributed_tensor *src,
			   const pld_get_options *options);

/* ---- signals ---- */

/**
 * Changes the cell at offsets of the peer's memory of signal
 * (pld.system.notify). Everything that this rank did before is visible to a
 * rank whose wait has seen it.
 */
PLD_API int pld_system_notify(const pld_distributed_tensor *signal, int peer,
			      pld_dims offsets, int32_t value, pld_notify_op op);

/**
 * Blocks until the own cell at offsets satisfies the comparison
 * (pld.system.wait), for as long as the domain's timeout. -ETIMEDOUT: the
 * message names the cell and who should have written it. -EOWNERDEAD: a rank
 * died; the message names it.
 */
PLD_API int pld_system_wait(const pld_distributed_tensor *signal,
			    pld_dims offsets, int32_t expected, pld_cmp cmp);
/** The same with a timeout of its own, in ns; 0 looks once. */
PLD_API int pld_system_wait_timeout(const pld_distributed_tensor *signal,
				    pld_dims offsets, int32_t expected,
				    pld_cmp cmp, int64_t timeout_ns);

/** An own cell, and what is expected of it. */
typedef struct pld_condition {
	const pld_distributed_tensor *signal;
	pld_dims offsets;
	int32_t expected;
	pld_cmp cmp;
} pld_condition;

/**
 * Blocks until all of 1 to PLD_MAX_CONDITIONS conditions hold in one look,
 * which takes the cells one after the other: what stays true once it is, as Ge
 * of a cell that only grows, needs no more. All signals are of one domain; a
 * cell may be named more than once. timeout_ns as above. -ETIMEDOUT: the message
 * names the first condition that does not hold.
 */
PLD_API int pld_system_wait_all(const pld_condition *conditions, int count,
				int64_t timeout_ns);
/**
 * Blocks until one of them holds and returns its index, of several that hold
 * the lowest. -ETIMEDOUT: the message names the first.
 */
PLD_API int pld_system_wait_any(const pld_condition *conditions, int count,
				int64_t timeout_ns);

/** Conditions whose holding is told by a descriptor. */
typedef struct pld_waiter pld_waiter;

/**
 * Makes a waiter without conditions. One thread at a time uses it. It belongs to
 * the rank's process: in a child that the rank forks it can only be destroyed.
 */
PLD_API int pld_waiter_create(pld_domain *domain, pld_waiter **waiter);
/**
 * Adds a condition and returns at once (pld.system.defer_wait). -EINVAL: cmp is
 * not Ge, expected is negative, signal is of another domain. -ENOSPC: the
 * waiter has PLD_MAX_CONDITIONS. -EBUSY: it watches already.
 */
PLD_API int pld_system_defer_wait(pld_waiter *waiter,
				  const pld_distributed_tensor *signal,
				  pld_dims offsets, int32_t expected,
				  pld_cmp cmp);
/**
 * Starts watching, at the first call, and returns the waiter's descriptor
 * (close-on-exec, non-blocking). It polls readable when the wait has ended: all
 * conditions hold, the domain is broken, or its timeout has passed since the
 * first call. It stays readable until its 8 bytes are read, and must not be
 * closed or written to. -EINVAL: no condition. -ENOSPC: as many waiters of the
 * rank watch as the kernel takes, 256.
 */
PLD_API int pld_waiter_fd(pld_waiter *waiter);
/**
 * How the wait ended: 0 when all conditions held in one look, as after
 * pld_system_wait_all, or its error with its sentence. -EAGAIN: it has not
 * ended.
 */
PLD_API int pld_waiter_result(pld_waiter *waiter);
/** Ends the waiter at once, whatever it does. NULL is allowed. */
PLD_API void pld_waiter_destroy(pld_waiter *waiter);

/* ---- collectives ---- */

/*
 * Every rank of the domain makes the same calls in the same order, with the
 * same shapes. No call returns before every rank has begun it, and what it has
 * to bring is there when it returns. A call that fails half-way breaks the
 * domain. All views are of one domain, and a target is not over the signal.
 *
 * A signal is all zero before the first call and left so by all together: the
 * next collective, of any kind, can use the same cells at once. Give all
 * collectives that share a signal views of one buffer, made by pld_window.
 *
 * Which memory is the caller's again when a call returns, and which a faster
 * rank may already write to in its next call, is said with each; doc/
 * collectives.md has it in one table.
 */

/** What a reduction does with two elements. */
typedef enum pld_reduce_op {
	PLD_SUM = 0,
	PLD_MAX = 1,
	PLD_MIN = 2,
	PLD_PROD = 3,
} pld_reduce_op;

/** How an allreduce goes about it. */
typedef enum pld_allreduce_mode {
	PLD_MESH = 0,
	PLD_TWO_PHASE = 1,
	PLD_RING = 2,
} pld_allreduce_mode;

/**
 * No rank returns before every rank has called (pld.tensor.barrier), and sees
 * all that the others did before.
 *
 *	signal	    DistributedTensor INT32 [nranks, 1]
 */
PLD_API int pld_tensor_barrier(const pld_distributed_tensor *signal);

/**
 * Every rank ends with root's target in its own (pld.tensor.broadcast): root
 * puts it to all. -ERANGE: root is no rank.
 *
 *	target	    DistributedTensor, any shape
 *	signal	    DistributedTensor INT32 [nranks, 1]
 *
 * When this returns, a faster root may already write its next call's data: do
 * not broadcast into a target that not every rank has read. The root's own
 * target is free.
 */
PLD_API int pld_tensor_broadcast(const pld_distributed_tensor *target,
				 const pld_distributed_tensor *signal, int root);

/**
 * Every rank ends with rank s's local_data in row s of its target
 * (pld.tensor.allgather), by pushing: nranks puts, then a credit barrier that
 * leaves every cell of signal as it found it.
 *
 *	local_data  Tensor [1, SIZE]
 *	target      DistributedTensor [nranks, SIZE] of the same dtype
 *	signal      DistributedTensor INT32 [nranks, 1], all zero
 *
 * The signal can be used again at once. The target cannot: when this returns, a
 * faster rank may already push its next call's data, so do not give the same
 * target to the next call before every rank has read it, or use
 * PLD_REUSE_TARGET.
 */
PLD_API int pld_tensor_allgather(const pld_tensor *local_data,
				 const pld_distributed_tensor *target,
				 const pld_distributed_tensor *signal);

/**
 * The target is [2 * nranks, SIZE], two slots that the calls on its buffer fill
 * by turns, the first one in each launch. What a call has gathered stays until
 * the own rank begins its next call with this flag on the buffer, so a loop
 * needs no other barrier. A view other than the last call's costs one, which
 * the call makes by itself. One thread of a rank at a time: -EBUSY.
 */
#define PLD_REUSE_TARGET 1u

/**
 * pld_tensor_allgather with flags, 0 or PLD_REUSE_TARGET; *data becomes the
 * view [nranks, SIZE] of what this call has gathered.
 */
PLD_API int pld_tensor_allgather_flags(const pld_tensor *local_data,
				       const pld_distributed_tensor *target,
				       const pld_distributed_tensor *signal,
				       unsigned int flags,
				       pld_distributed_tensor *data);

/**
 * On the host side: launches a kernel in which all ranks gather from the start
 * of the window local_data, [1, size], to that of target, [nranks, size].
 * signal is of at least nranks cells. Fails as pld_launch does.
 */
PLD_API int pld_host_allgather(pld_window_buffer *local_data,
			       pld_window_buffer *target,
			       pld_window_buffer *signal, int64_t size,
			       pld_dtype dtype);

/**
 * Row my_rank of the own target becomes the reduction of all ranks' rows
 * my_rank (pld.tensor.reduce_scatter), in the order of the ranks; see
 * pld_tensor_allreduce for how. The other rows stay as they are.
 *
 *	target	    DistributedTensor [nranks, SIZE]
 *	signal	    DistributedTensor INT32 [nranks, 1]
 *
 * When this returns, the target is the caller's until its next call in which a
 * peer pushes to it. -ENOMEM: no memory for
 * scratch, up to 3 times the domain's tile_bytes.
 */
PLD_API int pld_tensor_reduce_scatter(const pld_distributed_tensor *target,
				      const pld_distributed_tensor *signal,
				      pld_reduce_op op);

/**
 * Every element of every rank's target becomes the reduction of all ranks' ones
 * (pld.tensor.allreduce), in place.
 *
 *	target	    DistributedTensor, any shape, dense
 *	signal	    DistributedTensor INT32, of the mode's shape:
 *	mesh	    [nranks, 1]: each rank reads all ranks' elements
 *	two-phase   [2, nranks]: each rank reduces its part, and puts it to all
 *	ring	    [2 * (nranks - 1), nranks], [1, 1] for one rank: each rank
 *		    talks to its neighbours only, in so many steps
 * With 2 ranks two-phase and ring have signals of the same shape, with one rank
 * mesh and ring.
 *
 * The result has the same bits in all ranks and all runs: it is what pld_add,
 * pld_mul and so on make of the elements in a fixed order, but fp16 and bf16
 * are rounded once, at the end. Mesh and two-phase go through the ranks from 0
 * to nranks - 1. The ring cuts blocks of nranks * (tile_bytes / B) elements, B
 * an element's bytes or 4 for fp16 and bf16, each into nranks chunks, the first
 * ones longer by one where it does not divide, and reduces chunk c from rank c
 * on, round to c - 1.
 *
 * When this returns, the target is the caller's until its next call in which a
 * peer pushes to it. -ENOMEM: as in
 * pld_tensor_reduce_scatter.
 */
PLD_API int pld_tensor_allreduce(const pld_distributed_tensor *target,
				 const pld_distributed_tensor *signal,
				 pld_reduce_op op, pld_allreduce_mode mode);

/**
 * Row d of rank s's input lands in row s of rank d's target
 * (pld.tensor.all_to_all).
 *
 *	input	    Tensor or DistributedTensor [nranks, SIZE]
 *	target	    DistributedTensor [nranks, SIZE], not over input
 *	signal	    DistributedTensor INT32 [nranks, 1]
 *
 * When this returns, the input is the caller's again; the target is as after
 * pld_tensor_allgather.
 */
PLD_API int pld_tensor_all_to_all(const pld_view *input,
				  const pld_distributed_tensor *target,
				  const pld_distributed_tensor *signal);

/**
 * The same with blocks of up to MAX rows (pld.tensor.all_to_all_v): the first
 * send_counts[d] rows of block d of rank s's input land in block s of rank d's
 * target; its other rows stay as they are.
 *
 *	input	     Tensor or DistributedTensor [nranks * MAX, SIZE]
 *	target	     DistributedTensor [nranks * MAX, SIZE], not over input
 *	signal	     DistributedTensor INT32 [nranks, 1]
 *	send_counts  nranks numbers from 0 to MAX, else -ERANGE
 *	recv_counts  what the others send: recv_counts[s] of rank d is
 *		     send_counts[d] of rank s, which nobody checks but of the
 *		     own rank
 */
PLD_API int pld_tensor_all_to_all_v(const pld_view *input,
				    const pld_distributed_tensor *target,
				    const pld_distributed_tensor *signal,
				    const int32_t *send_counts,
				    const int32_t *recv_counts);
/* ---- host side: what the ranks did ---- */

/**
 * What one rank moved in the last launch. Of what goes from one rank to another
 * only: a rank's transfers from and to itself are not counted.
 */
typedef struct pld_cost {
	/* by its own puts and by its peers' gets; a remote_store is a put */
	uint64_t bytes_sent;
	uint64_t messages_sent;
	/* by its own gets and by its peers' puts; a remote_load is a get */
	uint64_t bytes_received;
	uint64_t messages_received;
	uint64_t notifies; /* to peers */
	uint64_t own_notifies; /* to its own cells */
	uint64_t waits;
} pld_cost;

/**
 * Counts of a rank of the last launch on a domain that observes, with what it
 * did in sub-domains. A wait for several cells counts as one for each of them.
 * -ENODATA: it does not, or nothing was launched.
 */
PLD_API int pld_launch_cost(const pld_domain *domain, int rank, pld_cost *cost);

typedef enum pld_trace_op {
	PLD_TRACE_LOAD = 1,
	PLD_TRACE_STORE,
	PLD_TRACE_REMOTE_LOAD,
	PLD_TRACE_REMOTE_STORE,
	PLD_TRACE_PUT,
	PLD_TRACE_GET,
	PLD_TRACE_NOTIFY,
	PLD_TRACE_WAIT,
	PLD_TRACE_READ,
	PLD_TRACE_WRITE,
	PLD_TRACE_ADD,
	PLD_TRACE_MUL,
	PLD_TRACE_MAXIMUM,
	PLD_TRACE_MINIMUM,
	PLD_TRACE_CAST,
} pld_trace_op;

/** Bytes of a view's name in a trace, with its terminating zero. */
#define PLD_NAME_BYTES 24
/** Bytes of a record's text with its terminating zero. */
#define PLD_TRACE_TEXT_BYTES 768
/** The latest records of each rank that are kept. */
#define PLD_TRACE_RECORDS 16384

/** One operation that was done. */
typedef struct pld_trace_record {
	pld_trace_op op;
	int peer; /* -1: the operation has none */
	int error; /* 0, or the negative errno that a wait returned */
	int mode; /* of a transfer's atomic, a notify's op, a wait's cmp, a cast's dtype */
	int32_t value; /* what was notified or expected */
	int32_t seen; /* the cell before the notify; what the wait saw */
	int pipeline;
	int64_t chunk_rows;
	int64_t chunk_cols;
	uint64_t bytes; /* moved */
	pld_dims dst_offsets; /* or the one offset that the operation has */
	pld_dims src_offsets;
	pld_dims shape;
	char dst[PLD_NAME_BYTES]; /* names of the views; a signal's in dst */
	char src[PLD_NAME_BYTES];
	char stage[PLD_NAME_BYTES]; /* of arithmetic, the second operand */
} pld_trace_record;

/**
 * Number of records of a rank of the last launch, in *records; *lost, if not
 * NULL, is that of earlier ones that were overwritten. -ENODATA as above.
 */
PLD_API int pld_trace_length(const pld_domain *domain, int rank,
			     uint64_t *records, uint64_t *lost);
/** The index-th record that was kept. -ERANGE: there is none. */
PLD_API int pld_trace_get(const pld_domain *domain, int rank, uint64_t index,
			  pld_trace_record *record);
/** The record as a line of the original's IR. */
PLD_API int pld_trace_text(const pld_trace_record *record,
			   char text[PLD_TRACE_TEXT_BYTES]);

#ifdef __cplusplus
}
#endif

#endif /* PLD_H */
