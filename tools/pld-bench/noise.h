/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How undisturbed this machine is: what a cache line takes from one CPU to
 * another, which depends on nothing that is measured here.
 */
#ifndef PLD_BENCH_NOISE_H
#define PLD_BENCH_NOISE_H

/* ns one way, the median of some; below 0: there are no two CPUs to run on. */
double noise_measure(void);

#endif
