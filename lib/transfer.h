/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * pld.tensor.put and pld.tensor.get: a region to another one, straight or
 * through a tile.
 */
#ifndef PLD_TRANSFER_H
#define PLD_TRANSFER_H

#include "pld.h"

/* One of the two; the far one is the peer's. */
struct pld_transfer {
	const char *op;
	/* where data goes to and comes from: "dst" and "src" in messages */
	const pld_view *dst;
	const pld_view *src;
	char *dst_data;
	char *src_data;
	pld_domain *domain;
	/* what the caller wants, not NULL */
	const pld_put_options *options;
	/* the region: the options', or all of both views */
	const pld_dims *dst_offsets;
	const pld_dims *src_offsets;
	const pld_dims *shape;
	/* what the data passes through; NULL: it goes straight */
	const pld_tile *stage;
};

/* Of a caller that wants nothing special. */
extern const pld_put_options pld_put_defaults;

/*
 * Checks the subregion, the types, the chunks and the stage, and sets region and
 * stage. The views and the peer have been checked.
 */
int pld_transfer_check(struct pld_transfer *transfer);

/* -EINVAL, and nothing moved, when source and destination overlap. */
int pld_transfer_run(const struct pld_transfer *transfer);

/*
 * A put to every rank in turn, the own one too: of a checked region, with the
 * default options and for the observer. dst_data is set for each.
 */
int pld_transfer_to_all(struct pld_transfer *transfer);

#endif
