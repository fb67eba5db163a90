/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for libcudart.so: exports functions of the CUDA runtime, which call those of the driver's stand-in, as in CUDA. */
#include "fake.h"

#include <stddef.h>
#include <string.h>

typedef int cudaError_t;
typedef unsigned long long CUdeviceptr;

struct dim3 {
	unsigned x, y, z;
};

struct launch {
	struct dim3 grid;
	struct dim3 block;
	size_t shared;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};

struct driver_launch {
	unsigned grid[3];
	unsigned block[3];
	unsigned shared;
	void *stream;
	void *attributes;
	unsigned attribute_count;
};

extern int cuMemAlloc_v2(CUdeviceptr *, size_t);
extern int cuMemFree_v2(CUdeviceptr);
extern int cuMemcpyHtoD_v2(CUdeviceptr, const void *, size_t);
extern int cuMemcpyDtoH_v2(void *, CUdeviceptr, size_t);
extern int cuMemcpyDtoD_v2(CUdeviceptr, CUdeviceptr, size_t);
extern int cuMemcpy(CUdeviceptr, CUdeviceptr, size_t);
extern int cuMemcpyAsync(CUdeviceptr, CUdeviceptr, size_t, void *);
extern int cuMemsetD8_v2(CUdeviceptr, unsigned char, size_t);
extern int cuMemHostRegister_v2(void *, size_t, unsigned);
extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
			  void **);
extern int cuLaunchKernelEx(const struct driver_launch *, void *, void **, void **);
extern int cuGraphLaunch(void *, void *);
extern int cuStreamSynchronize(void *);
extern int cuEventRecord(void *, void *);
extern int cuEventSynchronize(void *);
extern int cuCtxSynchronize(void);
extern int cuMemHostAlloc(void **, size_t, unsigned);
extern int cuMemFreeHost(void *);
extern int cuStreamBeginCapture_v2(void *, int);
extern int cuStreamEndCapture(void *, void **);
extern int cuGraphInstantiateWithFlags(void **, void *, uint64_t);
extern int cuEventQuery(void *);
extern int cuStreamQuery(void *);

static _Thread_local int current_device;

EXPORT cudaError_t cudaSetDevice(int device) { ENTER(0, device); current_device = device; LEAVE; }
EXPORT cudaError_t cudaGetDevice(int *device) { ENTER(0, 0); *device = current_device; LEAVE; }
EXPORT cudaError_t cudaGetDeviceProperties(char *properties, int device)
{
	ENTER(0, device);
	strcpy(properties, "Fake Device");
	LEAVE;
}
EXPORT cudaError_t cudaMalloc(void **address, size_t bytes)
{
	ENTER(bytes, 0);
	call.result = cuMemAlloc_v2((CUdeviceptr *)address, bytes);
	LEAVE;
}
EXPORT cudaError_t cudaFree(void *address)
{
	ENTER(0, address);
	call.result = cuMemFree_v2((CUdeviceptr)address);
	LEAVE;
}
EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int direction)
{
	ENTER(bytes, 0);
	if (direction == 1)
		call.result = cuMemcpyHtoD_v2((CUdeviceptr)to, from, bytes);
	else if (direction == 2)
		call.result = cuMemcpyDtoH_v2(to, (CUdeviceptr)from, bytes);
	else if (direction == 3)
		call.result = cuMemcpyDtoD_v2((CUdeviceptr)to, (CUdeviceptr)from, bytes);
	else
		call.result = cuMemcpy((CUdeviceptr)to, (CUdeviceptr)from, bytes);
	LEAVE;
}
EXPORT cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int direction, void *stream)
{
	/* The driver derives the direction from the addresses. */
	ENTER(bytes, stream);
	call.result = cuMemcpyAsync((CUdeviceptr)to, (CUdeviceptr)from, bytes, stream);
	LEAVE;
}
EXPORT cudaError_t cudaMallocHost(void **address, size_t bytes)
{
	ENTER(bytes, 0);
	call.result = cuMemHostAlloc(address, bytes, 0);
	LEAVE;
}
EXPORT cudaError_t cudaFreeHost(void *address) { ENTER(0, address); call.result = cuMemFreeHost(address); LEAVE; }
EXPORT cudaError_t cudaMemset(void *address, int value, size_t bytes)
{
	ENTER(bytes, 0);
	call.result = cuMemsetD8_v2((CUdeviceptr)address, (unsigned char)value, bytes);
	LEAVE;
}
EXPORT cudaError_t cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
	ENTER(bytes, address);
	call.result = cuMemHostRegister_v2(address, bytes, flags);
	LEAVE;
}
EXPORT cudaError_t cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments,
				    size_t shared, void *stream)
{
	ENTER((uint64_t)grid.x * grid.y * grid.z, stream);
	call.result = cuLaunchKernel((void *)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
				     (unsigned)shared, stream, arguments, NULL);
	LEAVE;
}
EXPORT cudaError_t cudaLaunchKernelExC(const struct launch *launch, const void *kernel, void **arguments)
{
	struct driver_launch driver = {
		.grid = {launch->grid.x, launch->grid.y, launch->grid.z},
		.block = {launch->block.x, launch->block.y, launch->block.z},
		.shared = (unsigned)launch->shared,
		.stream = launch->stream,
	};
	ENTER((uint64_t)launch->grid.x * launch->grid.y * launch->grid.z, launch->stream);
	call.result = cuLaunchKernelEx(&driver, (void *)kernel, arguments, NULL);
	LEAVE;
}
EXPORT cudaError_t cudaGraphLaunch(void *graph, void *stream)
{
	ENTER(0, stream);
	call.result = cuGraphLaunch(graph, stream);
	LEAVE;
}
EXPORT cudaError_t cudaStreamBeginCapture(void *stream, int mode)
{
	ENTER(0, stream);
	call.result = cuStreamBeginCapture_v2(stream, mode);
	LEAVE;
}
EXPORT cudaError_t cudaStreamEndCapture(void *stream, void **graph)
{
	ENTER(0, stream);
	call.result = cuStreamEndCapture(stream, graph);
	LEAVE;
}
EXPORT cudaError_t cudaGraphInstantiate(void **executable, void *graph, uint64_t flags)
{
	ENTER(0, graph);
	call.result = cuGraphInstantiateWithFlags(executable, graph, flags);
	LEAVE;
}
EXPORT cudaError_t cudaEventQuery(void *event) { ENTER(0, event); call.result = cuEventQuery(event); LEAVE; }
EXPORT cudaError_t cudaStreamQuery(void *stream) { ENTER(0, stream); call.result = cuStreamQuery(stream); LEAVE; }
EXPORT cudaError_t cudaStreamSynchronize(void *stream)
{
	ENTER(0, stream);
	call.result = cuStreamSynchronize(stream);
	LEAVE;
}
EXPORT cudaError_t cudaEventRecord(void *event, void *stream)
{
	ENTER(0, stream);
	call.result = cuEventRecord(event, stream);
	LEAVE;
}
EXPORT cudaError_t cudaEventSynchronize(void *event)
{
	ENTER(0, event);
	call.result = cuEventSynchronize(event);
	LEAVE;
}
EXPORT cudaError_t cudaDeviceSynchronize(void) { ENTER(0, 0); call.result = cuCtxSynchronize(); LEAVE; }
