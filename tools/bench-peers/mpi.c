// SPDX-License-Identifier: GPL-2.0
/*
 * MPI_Allgather from private memory to private memory.
 */
#include <mpi.h>

#include "peer.h"

#define PAGE 4096

static void peer_call(struct peer *peer)
{
	MPI_Allgather(peer->slice, (int)peer->bytes, MPI_BYTE, peer->gathered,
		      (int)peer->bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void peer_barrier(struct peer *peer)
{
	(void)peer;
	MPI_Barrier(MPI_COMM_WORLD);
}

static double peer_sum(struct peer *peer, double value)
{
	double sum;

	(void)peer;
	MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return sum;
}

int main(int argc, char **argv)
{
	struct peer peer = { 0 };
	void *slice = NULL, *gathered = NULL;

	MPI_Init(&argc, &argv);
	peer.most = peer_most(argc, argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &peer.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &peer.nranks);
	if (posix_memalign(&slice, PAGE, peer.most) ||
	    posix_memalign(&gathered, PAGE, peer.most * (size_t)peer.nranks))
		MPI_Abort(MPI_COMM_WORLD, 1);
	peer.slice = slice;
	peer.gathered = gathered;
	memset(peer.slice, 1, peer.most);
	memset(peer.gathered, 0, peer.most * (size_t)peer.nranks);
	peer_run(&peer, argv);
	free(slice);
	free(gathered);
	MPI_Finalize();
	return 0;
}
