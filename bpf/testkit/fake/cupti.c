/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libcupti.so.13, with the functions, results and records of NVIDIA's headers. It records the kernels of the libcuda
 * stand-in. It also contains a profiler, which reads the records every 50 ms on a thread of its own. Therefore it must be preloaded
 * into the profiled program. If the environment variable FAKE_CUPTI_DROP is N, every Nth kernel has no record.
 */
#include "fake.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SUCCESS = 0, MAX_LIMIT_REACHED = 12, CONCURRENT_KERNEL = 10, QUEUE = 1 << 15, BUFFER = 128 * 1024, PERIOD_NANOS = 50000000 };

/* CUpti_ActivityKernel10, with the fields that this file sets. */
struct record {
	uint32_t kind;
	uint32_t settings[3];
	uint64_t start;
	uint64_t end;
	uint64_t completed;
	uint32_t device[3];
	uint32_t launched[9];
	uint32_t local_memory;
	uint32_t correlation;
	uint64_t rest[15];
};

_Static_assert(sizeof(struct record) == 216, "size");
_Static_assert(offsetof(struct record, start) == 16, "start");
_Static_assert(offsetof(struct record, correlation) == 92, "correlation");

typedef void (*requested)(uint8_t **buffer, size_t *size, size_t *records);
typedef void (*completed)(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

extern void (*fake_on_kernel)(uint64_t start, uint64_t end, unsigned kernels);

static struct record queue[QUEUE];
static unsigned queued, taken;
static uint64_t offset;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static requested request;
static completed complete;

/* Returns the offset of the wall clock from the monotonic clock: the most exact of many measurements. */
static uint64_t wall_offset(void)
{
	uint64_t narrowest = UINT64_MAX, offset = 0;

	for (int i = 0; i < 10000; i++) {
		uint64_t before = fake_now(), width;
		struct timespec wall;

		clock_gettime(CLOCK_REALTIME, &wall);
		width = fake_now() - before;
		if (width < narrowest) {
			narrowest = width;
			offset = (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec - before - width / 2;
		}
	}
	return offset;
}

/* Adds 3 to the correlation id, because the ids of launches are not consecutive: other calls have ids, too. */
static void on_kernel(uint64_t start, uint64_t end, unsigned kernels)
{
	static uint32_t correlation, seen;
	const char *drop = getenv("FAKE_CUPTI_DROP");

	pthread_mutex_lock(&mutex);
	correlation += 3;
	for (; kernels; kernels--)
		if (!drop || ++seen % (unsigned)atoi(drop))
			queue[queued++ % QUEUE] = (struct record){.kind = CONCURRENT_KERNEL, .start = start + offset,
								  .end = end + offset, .correlation = correlation};
	pthread_mutex_unlock(&mutex);
}

EXPORT int cuptiActivityRegisterCallbacks(requested buffer, completed done)
{
	request = buffer;
	complete = done;
	return SUCCESS;
}

EXPORT int cuptiActivityEnable(uint32_t kind)
{
	fake_on_kernel = kind == CONCURRENT_KERNEL ? on_kernel : NULL;
	return SUCCESS;
}

EXPORT int cuptiActivityFlushAll(uint32_t flag)
{
	while (taken != queued) {
		size_t size, most, used = 0;
		uint8_t *buffer;

		request(&buffer, &size, &most);
		pthread_mutex_lock(&mutex);
		for (; taken != queued && used + sizeof(*queue) <= size; used += sizeof(*queue))
			memcpy(buffer + used, &queue[taken++ % QUEUE], sizeof(*queue));
		pthread_mutex_unlock(&mutex);
		complete(NULL, 0, buffer, size, used);
	}
	return SUCCESS;
}

EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, struct record **record)
{
	struct record *next = *record ? *record + 1 : (struct record *)buffer;

	if ((uint8_t *)next >= buffer + valid)
		return MAX_LIMIT_REACHED;
	*record = next;
	return SUCCESS;
}

static void provide_buffer(uint8_t **buffer, size_t *size, size_t *records)
{
	*buffer = malloc(BUFFER);
	*size = BUFFER;
	*records = 0;
}

static void consume_buffer(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct record *record = NULL;

	while (cuptiActivityGetNextRecord(buffer, valid, &record) == SUCCESS)
		;
	free(buffer);
}

static void *profile(void *unused)
{
	struct timespec period = {.tv_nsec = PERIOD_NANOS};

	for (;;) {
		nanosleep(&period, NULL);
		cuptiActivityFlushAll(0);
	}
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	offset = wall_offset();
	cuptiActivityRegisterCallbacks(provide_buffer, consume_buffer);
	cuptiActivityEnable(CONCURRENT_KERNEL);
	if (!pthread_create(&thread, NULL, profile, NULL))
		pthread_detach(thread);
}
