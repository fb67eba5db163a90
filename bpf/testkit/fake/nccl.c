/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libnccl.so.2: each collective launches one kernel, as in NCCL, but exchanges no data with other ranks. */
#include "fake.h"

#include <stddef.h>
#include <sys/random.h>

typedef int ncclResult_t;

struct driver_launch {
	unsigned grid[3];
	unsigned block[3];
	unsigned shared;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};

typedef struct {
	char internal[128];
} ncclUniqueId;

extern int cuLaunchKernelEx(const struct driver_launch *, void *, void **, void **);

static _Thread_local int grouped;

static int launch(void *stream)
{
	struct driver_launch launch = {.grid = {8, 1, 1}, .block = {512, 1, 1}, .stream = stream};

	return grouped ? 0 : cuLaunchKernelEx(&launch, NULL, NULL, NULL);
}

EXPORT ncclResult_t ncclGetUniqueId(ncclUniqueId *id) { ENTER(0, 0); call.result = getrandom(id, sizeof(*id), 0) != sizeof(*id); LEAVE; }
EXPORT ncclResult_t ncclCommInitRank(void **communicator, int ranks, ncclUniqueId id, int rank)
{
	ENTER(ranks, rank);
	*communicator = (void *)(0xcc00 + (uint64_t)rank);
	LEAVE;
}
EXPORT ncclResult_t ncclCommInitRankConfig(void **communicator, int ranks, ncclUniqueId id, int rank, void *config)
{
	ENTER(ranks, rank);
	*communicator = (void *)(0xcc00 + (uint64_t)rank);
	LEAVE;
}
EXPORT ncclResult_t ncclCommDestroy(void *communicator) { ENTER(0, 0); LEAVE; }
EXPORT ncclResult_t ncclGroupStart(void) { ENTER(0, 0); grouped++; LEAVE; }
EXPORT ncclResult_t ncclGroupEnd(void)
{
	ENTER(0, 0);
	if (!--grouped)
		call.result = launch(NULL);
	LEAVE;
}

#define COLLECTIVE(name, detail, ...)                                                                                  \
	EXPORT ncclResult_t name(const void *from, void *to, size_t count, int type, __VA_ARGS__ void *communicator,   \
				 void *stream)                                                                         \
	{                                                                                                              \
		ENTER(count, (uint64_t)type << 32 | (unsigned)(detail));                                               \
		call.result = launch(stream);                                                                          \
		LEAVE;                                                                                                 \
	}
#define TRANSFER(name)                                                                                                 \
	EXPORT ncclResult_t name(const void *buffer, size_t count, int type, int peer, void *communicator,             \
				 void *stream)                                                                         \
	{                                                                                                              \
		ENTER(count, (uint64_t)type << 32 | (unsigned)peer);                                                   \
		call.result = launch(stream);                                                                          \
		LEAVE;                                                                                                 \
	}

COLLECTIVE(ncclAllReduce, operation, int operation, )
COLLECTIVE(ncclAllGather, 0, )
COLLECTIVE(ncclReduceScatter, operation, int operation, )
COLLECTIVE(ncclBroadcast, root, int root, )
COLLECTIVE(ncclReduce, operation, int operation, int root, )
TRANSFER(ncclSend)
TRANSFER(ncclRecv)
