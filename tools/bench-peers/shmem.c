// SPDX-License-Identifier: GPL-2.0
/*
 * shmem_fcollect64 within symmetric memory.
 */
#include <shmem.h>

#include "peer.h"

/* A call must not use the words that the one before may still use. */
static long collect_words[2][SHMEM_COLLECT_SYNC_SIZE];
static long reduce_words[SHMEM_REDUCE_SYNC_SIZE];
static double reduce_room[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static double sum_in, sum_out;

static void peer_call(struct peer *peer)
{
	static int turn;

	turn ^= 1;
	shmem_fcollect64(peer->gathered, peer->slice, peer->bytes / 8, 0, 0,
			 peer->nranks, collect_words[turn]);
}

static void peer_barrier(struct peer *peer)
{
	(void)peer;
	shmem_barrier_all();
}

static double peer_sum(struct peer *peer, double value)
{
	sum_in = value;
	shmem_barrier_all();
	shmem_double_sum_to_all(&sum_out, &sum_in, 1, 0, 0, peer->nranks,
				reduce_room, reduce_words);
	shmem_barrier_all();
	return sum_out;
}

static void set_words(long *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		words[i] = SHMEM_SYNC_VALUE;
}

int main(int argc, char **argv)
{
	struct peer peer = { .most = peer_most(argc, argv) };

	shmem_init();
	peer.rank = shmem_my_pe();
	peer.nranks = shmem_n_pes();
	set_words(collect_words[0], SHMEM_COLLECT_SYNC_SIZE);
	set_words(collect_words[1], SHMEM_COLLECT_SYNC_SIZE);
	set_words(reduce_words, SHMEM_REDUCE_SYNC_SIZE);
	peer.slice = shmem_malloc(peer.most);
	peer.gathered = shmem_malloc(peer.most * (size_t)peer.nranks);
	if (!peer.slice || !peer.gathered)
		shmem_global_exit(1);
	memset(peer.slice, 1, peer.most);
	memset(peer.gathered, 0, peer.most * (size_t)peer.nranks);
	shmem_barrier_all();
	peer_run(&peer, argv);
	shmem_free(peer.gathered);
	shmem_free(peer.slice);
	shmem_finalize();
	return 0;
}
