/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libcuda.so.1: exports functions of the CUDA driver, which work on the simulated GPU of fake.c. */
#include "fake.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef int CUresult;
typedef unsigned long long CUdeviceptr;

enum { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_FOUND = 500, NOT_READY = 600 };

struct launch {
	unsigned grid[3];
	unsigned block[3];
	unsigned shared;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};

/* CUDA_MEMCPY2D. Its first fields are the source and the destination, of seven words each. */
struct copy2d {
	uint64_t ends[14];
	size_t width;
	size_t height;
};

/* Called before cuLaunchKernel returns, as CUPTI calls its subscribers. */
__attribute__((visibility("default"))) void (*fake_on_launch)(void *function);

/* Called at each launch, with the times at which the device runs its kernels. */
__attribute__((visibility("default"))) void (*fake_on_kernel)(uint64_t start, uint64_t end, unsigned kernels);

static void enqueue_kernels(void *stream, uint64_t nanos, unsigned kernels)
{
	uint64_t done = fake_enqueue(stream, nanos), others = fake_stream_done(stream);

	done = done > others ? done : others;
	if (fake_on_kernel)
		fake_on_kernel(done - nanos, done, kernels);
}

static void launched(void *function)
{
	if (fake_on_launch)
		fake_on_launch(function);
}

static CUresult allocate(CUdeviceptr *address, size_t bytes)
{
	*address = fake_allocate(bytes);
	return *address ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT CUresult cuInit(unsigned flags) { ENTER(0, flags); LEAVE; }
EXPORT CUresult cuDriverGetVersion(int *version) { ENTER(0, 0); *version = 13000; LEAVE; }
EXPORT CUresult cuDeviceGetCount(int *count) { ENTER(0, 0); *count = 1; LEAVE; }
EXPORT CUresult cuDeviceGet(int *device, int ordinal) { ENTER(0, 0); *device = ordinal; LEAVE; }
EXPORT CUresult cuDeviceGetUuid(char *uuid, int device) { ENTER(0, device); memset(uuid, 0x11, 16); LEAVE; }
EXPORT CUresult cuDeviceGetUuid_v2(char *uuid, int device) { ENTER(0, device); memset(uuid, 0x11, 16); LEAVE; }
EXPORT CUresult cuDeviceGetName(char *name, int length, int device)
{
	ENTER(0, device);
	strncpy(name, "Fake Device", (size_t)length);
	LEAVE;
}
EXPORT CUresult cuCtxCreate_v2(void **context, unsigned flags, int device)
{
	ENTER(flags, device);
	*context = (void *)0xc0de;
	LEAVE;
}
EXPORT CUresult cuStreamCreate(void **stream, unsigned flags)
{
	static uint64_t last;
	ENTER(0, flags);
	*stream = (void *)(0x5000 + 0x100 * __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED));
	LEAVE;
}
EXPORT CUresult cuEventCreate(void **event, unsigned flags)
{
	static uint64_t times[4096];
	static uint64_t last;
	ENTER(0, flags);
	*event = &times[__atomic_fetch_add(&last, 1, __ATOMIC_RELAXED) % 4096];
	LEAVE;
}
EXPORT CUresult cuModuleLoadData(void **module, const void *image)
{
	ENTER(0, image);
	*module = (void *)0x1234;
	LEAVE;
}
EXPORT CUresult cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values)
{
	ENTER(count, image);
	*module = (void *)0x1234;
	LEAVE;
}
static char *names[1024];

EXPORT const char *fake_name_of(void *function)
{
	return names[((uintptr_t)function - 0xf000) / 16 % 1024];
}
/* Returns the function of a name, which is the same at each call, for up to 1,023 names. */
static void *function_of(const char *name)
{
	uintptr_t at = 0;

	for (; at < 1023; at++) {
		char *none = NULL, *copy = names[at] ? NULL : strdup(name);

		if (copy && !__atomic_compare_exchange_n(&names[at], &none, copy, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
			free(copy);
		if (!strcmp(names[at], name))
			break;
	}
	return (void *)(0xf000 + 16 * at);
}
EXPORT CUresult cuModuleGetFunction(void **function_out, void *module, const char *name)
{
	ENTER(0, module);
	*function_out = function_of(name);
	LEAVE;
}
EXPORT CUresult cuLibraryGetKernel(void **kernel, void *library, const char *name)
{
	ENTER(0, library);
	*kernel = function_of(name);
	LEAVE;
}

EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
	ENTER(bytes, 0);
	call.result = allocate(address, bytes);
	LEAVE;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr address) { ENTER(0, address); fake_free(address); LEAVE; }
EXPORT CUresult cuMemHostRegister_v2(void *address, size_t bytes, unsigned flags)
{
	ENTER(bytes, address);
	LEAVE;
}

EXPORT CUresult cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
	ENTER(bytes, 0);
	*address = malloc(bytes);
	call.result = *address ? SUCCESS : OUT_OF_MEMORY;
	LEAVE;
}
EXPORT CUresult cuMemFreeHost(void *address) { ENTER(0, address); free(address); LEAVE; }
EXPORT CUresult cuMemCreate(CUdeviceptr *handle, size_t bytes, const void *properties, uint64_t flags)
{
	ENTER(bytes, 0);
	call.result = allocate(handle, bytes);
	LEAVE;
}
EXPORT CUresult cuMemRelease(CUdeviceptr handle) { ENTER(0, handle); fake_free(handle); LEAVE; }
EXPORT CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUdeviceptr handle, uint64_t flags)
{
	ENTER(bytes, address);
	LEAVE;
}
EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) { ENTER(bytes, address); LEAVE; }

/* A synchronous copy waits for the pending work of the default stream, and then for its own bytes. */
#define COPY(name, to, from)                                                                                           \
	EXPORT CUresult name(to target, from source, size_t bytes)                                                     \
	{                                                                                                              \
		ENTER(bytes, 0);                                                                                       \
		fake_wait_until(fake_enqueue(NULL, fake_copy_nanos(bytes)));                                           \
		LEAVE;                                                                                                 \
	}
#define COPY_ASYNC(name, to, from)                                                                                     \
	EXPORT CUresult name(to target, from source, size_t bytes, void *stream)                                       \
	{                                                                                                              \
		ENTER(bytes, stream);                                                                                  \
		fake_enqueue(stream, fake_copy_nanos(bytes));                                                          \
		LEAVE;                                                                                                 \
	}

COPY(cuMemcpyHtoD_v2, CUdeviceptr, const void *)
COPY(cuMemcpyHtoD_v2_ptds, CUdeviceptr, const void *)
COPY(cuMemcpyDtoH_v2, void *, CUdeviceptr)
COPY(cuMemcpyDtoH_v2_ptds, void *, CUdeviceptr)
COPY(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr)
COPY(cuMemcpy, CUdeviceptr, CUdeviceptr)
COPY_ASYNC(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void *)
COPY_ASYNC(cuMemcpyHtoDAsync_v2_ptsz, CUdeviceptr, const void *)
COPY_ASYNC(cuMemcpyDtoHAsync_v2, void *, CUdeviceptr)
COPY_ASYNC(cuMemcpyDtoHAsync_v2_ptsz, void *, CUdeviceptr)
COPY_ASYNC(cuMemcpyAsync, CUdeviceptr, CUdeviceptr)
COPY_ASYNC(cuMemcpyAsync_ptsz, CUdeviceptr, CUdeviceptr)

EXPORT CUresult cuMemcpy2D_v2(const struct copy2d *copy)
{
	ENTER(copy->width * copy->height, 0);
	fake_wait_until(fake_enqueue(NULL, fake_copy_nanos(copy->width * copy->height)));
	LEAVE;
}
EXPORT CUresult cuMemcpy2DAsync_v2(const struct copy2d *copy, void *stream)
{
	ENTER(copy->width * copy->height, stream);
	fake_enqueue(stream, fake_copy_nanos(copy->width * copy->height));
	LEAVE;
}

EXPORT CUresult cuMemsetD8_v2(CUdeviceptr target, unsigned char value, size_t bytes)
{
	ENTER(bytes, target);
	LEAVE;
}
EXPORT CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes, void *stream)
{
	ENTER(bytes, stream);
	fake_enqueue(stream, fake_copy_nanos(bytes));
	LEAVE;
}

#define LAUNCH(name)                                                                                                   \
	EXPORT CUresult name(void *kernel, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz,  \
			     unsigned shared, void *stream, void **parameters, void **extra)                           \
	{                                                                                                              \
		ENTER((uint64_t)x * y * z, stream);                                                                    \
		enqueue_kernels(stream, fake_kernel_nanos(call.amount), 1);                                            \
		launched(kernel);                                                                                      \
		LEAVE;                                                                                                 \
	}
#define LAUNCH_CONFIGURED(name)                                                                                        \
	EXPORT CUresult name(const struct launch *launch, void *kernel, void **parameters, void **extra)               \
	{                                                                                                              \
		ENTER((uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2], launch->stream);                  \
		enqueue_kernels(launch->stream, fake_kernel_nanos(call.amount), 1);                                    \
		LEAVE;                                                                                                 \
	}
#define LAUNCH_GRAPH(name)                                                                                             \
	EXPORT CUresult name(void *graph, void *stream)                                                                \
	{                                                                                                              \
		ENTER(0, stream);                                                                                      \
		enqueue_kernels(stream, fake_kernel_nanos(0), 2);                                                      \
		LEAVE;                                                                                                 \
	}
#define RECORD(name)                                                                                                   \
	EXPORT CUresult name(void *event, void *stream)                                                                \
	{                                                                                                              \
		ENTER(0, stream);                                                                                      \
		*(uint64_t *)event = fake_stream_done(stream);                                                         \
		LEAVE;                                                                                                 \
	}
#define WAIT(name)                                                                                                     \
	EXPORT CUresult name(void *stream)                                                                             \
	{                                                                                                              \
		ENTER(0, stream);                                                                                      \
		fake_wait_stream(stream);                                                                              \
		LEAVE;                                                                                                 \
	}

LAUNCH(cuLaunchKernel)
LAUNCH(cuLaunchKernel_ptsz)
LAUNCH_CONFIGURED(cuLaunchKernelEx)
LAUNCH_CONFIGURED(cuLaunchKernelEx_ptsz)
LAUNCH_GRAPH(cuGraphLaunch)
LAUNCH_GRAPH(cuGraphLaunch_ptsz)
RECORD(cuEventRecord)
RECORD(cuEventRecord_ptsz)
WAIT(cuStreamSynchronize)
WAIT(cuStreamSynchronize_ptsz)

/* Unlike in CUDA, work on a stream that is being captured runs at once: observers see only the calls. */
EXPORT CUresult cuStreamBeginCapture_v2(void *stream, int mode) { ENTER(0, stream); LEAVE; }
EXPORT CUresult cuStreamEndCapture(void *stream, void **graph)
{
	ENTER(0, stream);
	*graph = (void *)0x6000;
	LEAVE;
}
EXPORT CUresult cuGraphInstantiateWithFlags(void **executable, void *graph, uint64_t flags)
{
	ENTER(0, graph);
	*executable = (void *)0x7000;
	LEAVE;
}
EXPORT CUresult cuEventQuery(void *event)
{
	ENTER(0, event);
	call.result = *(uint64_t *)event <= fake_now() ? SUCCESS : NOT_READY;
	LEAVE;
}
EXPORT CUresult cuStreamQuery(void *stream)
{
	ENTER(0, stream);
	call.result = fake_stream_done(stream) <= fake_now() ? SUCCESS : NOT_READY;
	LEAVE;
}

EXPORT CUresult cuEventSynchronize(void *event) { ENTER(0, event); fake_wait_until(*(uint64_t *)event); LEAVE; }
EXPORT CUresult cuCtxSynchronize(void) { ENTER(0, 0); fake_wait_all(); LEAVE; }

/* Returns the address of a function. Callers that look it up in this way do not use the dynamic linker's tables. */
EXPORT CUresult cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags, int *status)
{
	extern void *dlsym(void *, const char *);
	ENTER(0, 0);
	*address = dlsym(NULL, name);
	if (status)
		*status = *address ? 0 : 1;
	call.result = *address ? SUCCESS : NOT_FOUND;
	LEAVE;
}
