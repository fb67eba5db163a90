/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the stand-ins for CUDA and NCCL, which tests use instead of the vendor's libraries: scripted durations and results of
 * calls, the streams of a simulated GPU, and a log of all calls. Environment variables, with their defaults in parentheses:
 *
 *   FAKE_CUDA_SCRIPT      duration and result of functions, such as "cuLaunchKernel=3us cuMemAlloc_v2=1ms:2 *=0", or
 *                         @FILE with such a text. Other functions take no time and succeed.
 *   FAKE_CUDA_KERNEL      duration of a kernel on its stream (0). Launches return at once; synchronisations wait.
 *                         "grid": one nanosecond per block of the grid; graphs take no time.
 *   FAKE_CUDA_BANDWIDTH   bytes per microsecond of copies (0: copies take no time)
 *   FAKE_CUDA_MEMORY      bytes of device memory (80 GiB); larger allocations return error 2
 *   FAKE_CUDA_LOG         file that gets one struct fake_call per call, shared by all libraries and processes
 */
#ifndef INFERSPAN_FAKE_H
#define INFERSPAN_FAKE_H

#include <stdint.h>

#define FAKE_LOG_MAGIC 0x314b41464e415053ull /* "SPANFAK1" */
#define FAKE_LOG_CAPACITY (1u << 20)

struct fake_log {
	uint64_t magic;
	uint64_t capacity;
	uint64_t next; /* number of calls so far; those beyond the capacity are not stored */
	uint64_t pad[5];
};

struct fake_call {
	uint64_t entry_ns; /* CLOCK_MONOTONIC at the beginning of the function */
	uint64_t exit_ns;  /* at the end of the function */
	uint32_t tgid;
	uint32_t tid;
	int32_t result;
	uint32_t pad;
	uint64_t amount;
	uint64_t detail;
	char function[32];
	uint64_t reserved[2];
};

_Static_assert(sizeof(struct fake_log) == 64, "header");
_Static_assert(sizeof(struct fake_call) == 96, "call");

/* Duration and result of a function, which are read from the script at its first call. */
struct fake_function {
	const char *name;
	int known;
	int result;
	uint64_t nanos;
};

struct fake_call fake_enter(struct fake_function *function, uint64_t amount, uint64_t detail);
int fake_leave(struct fake_function *function, struct fake_call *call);
/* Adds work to a stream; returns the time when it will be done. */
uint64_t fake_enqueue(void *stream, uint64_t nanos);
uint64_t fake_kernel_nanos(uint64_t blocks);
uint64_t fake_copy_nanos(uint64_t bytes);
void fake_wait_stream(void *stream);
void fake_wait_all(void);
void fake_wait_until(uint64_t nanos);
uint64_t fake_stream_done(void *stream);
uint64_t fake_allocate(uint64_t bytes); /* 0: out of memory */
void fake_free(uint64_t address);
uint64_t fake_now(void);

#define EXPORT __attribute__((visibility("default"), noinline))

#define ENTER(amount, detail)                                                                                          \
	static struct fake_function function = {.name = __func__};                                                     \
	struct fake_call call = fake_enter(&function, (uint64_t)(amount), (uint64_t)(detail))
#define LEAVE return fake_leave(&function, &call)

#endif
