/* SPDX-License-Identifier: LGPL-2.1-or-later OR MIT */
/*
 * Checks of arguments that collectives share. Each is 0 or a negative errno
 * with the collective's sentence.
 */
#ifndef PLD_COLLECTIVES_CHECK_H
#define PLD_COLLECTIVES_CHECK_H

#include <stdbool.h>

#include "pld.h"

/* Not NULL. */
int pld_check_given(const char *op, const char *argument, const void *value);

/* A DistributedTensor; its domain can be asked for afterwards. */
int pld_check_window_kind(const char *op, const char *argument,
			  const pld_view *view);

/* The same of two dimensions, "[nranks, SIZE]" in the sentence's words. */
int pld_check_table(const char *op, const char *argument, const pld_view *view,
		    const char *shape);

/* As many rows as ranks. */
int pld_check_rows(const char *op, const char *argument, const pld_view *view);

/* A pld_reduce_op. */
int pld_check_reduce_op(const char *op, pld_reduce_op reduce);

/* Do what the two cover, from the first element to the last, overlap? */
bool pld_views_overlap(const pld_view *a, const pld_view *b);

/* A signal of the right kind and shape: aligned cells that are all different. */
int pld_check_cells(const char *op, const pld_view *signal);

/*
 * What is left when kinds and shapes are right: one domain, which this process
 * is a healthy rank of, and a target that lies in its window, with no element
 * on another and not over the signal.
 */
int pld_check_ready(const char *op, const pld_view *target,
		    const pld_view *signal);

#endif
