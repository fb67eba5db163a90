/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The list of probed library functions. To probe another function, add a line. calls.h explains the columns. */
#ifndef INFERSPAN_FUNCTIONS_H
#define INFERSPAN_FUNCTIONS_H

#include "calls.h"

/*
 * X(library, function, kind, amount, detail, extra, flags, shift)
 * ISPAN_STREAMED also lists the variant of the function for the per-thread default stream, with the suffix _ptsz or _ptds.
 */
#define V(slot) ISPAN_FROM(VALUE, slot)
/*
 * The rank follows an ncclUniqueId, a struct of 128 bytes that is passed by value. On x86-64, the struct is on the stack and takes
 * no slot; on AArch64, a pointer to a copy takes one.
 */
#if defined(__TARGET_ARCH_arm64)
#define ISPAN_RANK V(4)
#else
#define ISPAN_RANK V(3)
#endif
#define ISPAN_STREAMED(X, library, function, suffix, kind, amount, detail, extra, flags, shift)                        \
	X(library, function, kind, amount, detail, extra, flags, shift)                                                \
	X(library, function##suffix, kind, amount, detail, extra, flags, shift)

#define ISPAN_CALLS(X)                                                                                                 \
	X("libcuda", cuInit, CUDA_INIT, 0, V(1), 0, 0, 0)                                                              \
	ISPAN_STREAMED(X, "libcuda", cuLaunchKernel, _ptsz, CUDA_LAUNCH, ISPAN_FROM(PRODUCT, 2), V(9), V(1), 0, 0)       \
	ISPAN_STREAMED(X, "libcuda", cuLaunchKernelEx, _ptsz, CUDA_LAUNCH, ISPAN_FROM(GRID, 1), ISPAN_FROM(STREAM, 1),   \
		       V(2), 0, 0)                                                                                     \
	ISPAN_STREAMED(X, "libcuda", cuLaunchCooperativeKernel, _ptsz, CUDA_LAUNCH, ISPAN_FROM(PRODUCT, 2), V(9), V(1),  \
		       0, 0)                                                                                           \
	ISPAN_STREAMED(X, "libcuda", cuGraphLaunch, _ptsz, CUDA_GRAPH_LAUNCH, 0, V(2), V(1), 0, 0)                       \
	ISPAN_STREAMED(X, "libcuda", cuMemcpyHtoD_v2, _ptds, CUDA_MEMCPY_H2D, V(3), 0, 0, 0, 0)                          \
	ISPAN_STREAMED(X, "libcuda", cuMemcpyDtoH_v2, _ptds, CUDA_MEMCPY_D2H, V(3), 0, 0, 0, 0)                          \
	ISPAN_STREAMED(X, "libcuda", cuMemcpyDtoD_v2, _ptds, CUDA_MEMCPY_D2D, V(3), 0, 0, 0, 0)                          \
	ISPAN_STREAMED(X, "libcuda", cuMemcpyHtoDAsync_v2, _ptsz, CUDA_MEMCPY_H2D, V(3), V(4), 0, 0, 0)                  \
	ISPAN_STREAMED(X, "libcuda", cuMemcpyDtoHAsync_v2, _ptsz, CUDA_MEMCPY_D2H, V(3), V(4), 0, 0, 0)                  \
	ISPAN_STREAMED(X, "libcuda", cuMemcpyDtoDAsync_v2, _ptsz, CUDA_MEMCPY_D2D, V(3), V(4), 0, 0, 0)                  \
	ISPAN_STREAMED(X, "libcuda", cuMemcpy, _ptds, CUDA_MEMCPY, V(3), 0, 0, 0, 0)                                     \
	ISPAN_STREAMED(X, "libcuda", cuMemcpyAsync, _ptsz, CUDA_MEMCPY, V(3), V(4), 0, 0, 0)                             \
	ISPAN_STREAMED(X, "libcuda", cuMemsetD8_v2, _ptds, CUDA_MEMSET, V(3), 0, 0, 0, 0)                                \
	ISPAN_STREAMED(X, "libcuda", cuMemsetD32_v2, _ptds, CUDA_MEMSET, V(3), 0, 0, 0, 2)                               \
	ISPAN_STREAMED(X, "libcuda", cuMemsetD8Async, _ptsz, CUDA_MEMSET, V(3), V(4), 0, 0, 0)                           \
	ISPAN_STREAMED(X, "libcuda", cuMemsetD32Async, _ptsz, CUDA_MEMSET, V(3), V(4), 0, 0, 2)                          \
	X("libcuda", cuMemAlloc_v2, CUDA_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, 0, 0)                                       \
	X("libcuda", cuMemAllocManaged, CUDA_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, 0, 0)                                   \
	ISPAN_STREAMED(X, "libcuda", cuMemAllocAsync, _ptsz, CUDA_ALLOC, V(2), ISPAN_FROM(OUT, 1), V(3), 0, 0)           \
	X("libcuda", cuMemFree_v2, CUDA_FREE, 0, V(1), 0, 0, 0)                                                          \
	ISPAN_STREAMED(X, "libcuda", cuMemFreeAsync, _ptsz, CUDA_FREE, 0, V(1), V(2), 0, 0)                              \
	X("libcuda", cuMemHostRegister_v2, CUDA_HOST_REGISTER, V(2), V(1), 0, 0, 0)                                      \
	ISPAN_STREAMED(X, "libcuda", cuStreamSynchronize, _ptsz, CUDA_STREAM_SYNC, 0, V(1), 0, 0, 0)                     \
	X("libcuda", cuEventSynchronize, CUDA_EVENT_SYNC, 0, V(1), 0, 0, 0)                                              \
	X("libcuda", cuCtxSynchronize, CUDA_DEVICE_SYNC, 0, 0, 0, 0, 0)                                                  \
	ISPAN_STREAMED(X, "libcuda", cuEventRecord, _ptsz, CUDA_EVENT_RECORD, 0, V(2), V(1), 0, 0)                       \
	X("libcuda", cuModuleLoad, CUDA_MODULE_LOAD, 0, 0, ISPAN_FROM(OUT, 1), 0, 0)                                     \
	X("libcuda", cuModuleLoadData, CUDA_MODULE_LOAD, 0, 0, ISPAN_FROM(OUT, 1), 0, 0)                                 \
	X("libcuda", cuModuleLoadDataEx, CUDA_MODULE_LOAD, 0, 0, ISPAN_FROM(OUT, 1), 0, 0)                               \
	X("libcuda", cuModuleLoadFatBinary, CUDA_MODULE_LOAD, 0, 0, ISPAN_FROM(OUT, 1), 0, 0)                            \
	X("libcuda", cuLibraryLoadData, CUDA_MODULE_LOAD, 0, 0, ISPAN_FROM(OUT, 1), 0, 0)                                \
	ISPAN_STREAMED(X, "libcuda", cuMemcpy2D_v2, _ptds, CUDA_MEMCPY, ISPAN_FROM(COPY2D, 1), 0, 0, 0, 0)               \
	ISPAN_STREAMED(X, "libcuda", cuMemcpy2DUnaligned_v2, _ptds, CUDA_MEMCPY, ISPAN_FROM(COPY2D, 1), 0, 0, 0, 0)      \
	ISPAN_STREAMED(X, "libcuda", cuMemcpy2DAsync_v2, _ptsz, CUDA_MEMCPY, ISPAN_FROM(COPY2D, 1), V(2), 0, 0, 0)       \
	X("libcuda", cuMemHostAlloc, CUDA_HOST_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, 0, 0)                                 \
	X("libcuda", cuMemAllocHost_v2, CUDA_HOST_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, 0, 0)                              \
	X("libcuda", cuMemFreeHost, CUDA_HOST_FREE, 0, V(1), 0, 0, 0)                                                    \
	X("libcuda", cuMemCreate, CUDA_MEM_CREATE, V(2), ISPAN_FROM(OUT, 1), 0, 0, 0)                                    \
	X("libcuda", cuMemRelease, CUDA_MEM_RELEASE, 0, V(1), 0, 0, 0)                                                   \
	X("libcuda", cuMemMap, CUDA_MEM_MAP, V(2), V(1), V(4), 0, 0)                                                     \
	X("libcuda", cuMemUnmap, CUDA_MEM_UNMAP, V(2), V(1), 0, 0, 0)                                                    \
	ISPAN_STREAMED(X, "libcuda", cuStreamBeginCapture_v2, _ptsz, CUDA_CAPTURE_BEGIN, 0, V(1), 0, 0, 0)               \
	ISPAN_STREAMED(X, "libcuda", cuStreamBeginCaptureToGraph, _ptsz, CUDA_CAPTURE_BEGIN, 0, V(1), V(2), 0, 0)        \
	ISPAN_STREAMED(X, "libcuda", cuStreamEndCapture, _ptsz, CUDA_CAPTURE_END, 0, V(1), ISPAN_FROM(OUT, 2), 0, 0)     \
	X("libcuda", cuGraphInstantiate_v2, CUDA_GRAPH_INSTANTIATE, 0, V(2), ISPAN_FROM(OUT, 1), 0, 0)                   \
	X("libcuda", cuGraphInstantiateWithFlags, CUDA_GRAPH_INSTANTIATE, 0, V(2), ISPAN_FROM(OUT, 1), 0, 0)             \
	ISPAN_STREAMED(X, "libcuda", cuGraphInstantiateWithParams, _ptsz, CUDA_GRAPH_INSTANTIATE, 0, V(2),               \
		       ISPAN_FROM(OUT, 1), 0, 0)                                                                       \
	X("libcuda", cuModuleGetFunction, CUDA_GET_FUNCTION, 0, V(2), ISPAN_FROM(OUT, 1), 0, 0)                          \
	X("libcuda", cuLibraryGetKernel, CUDA_GET_FUNCTION, 0, V(2), ISPAN_FROM(OUT, 1), 0, 0)                           \
	X("libcuda", cuEventQuery, CUDA_EVENT_QUERY, 0, V(1), 0, 0, 0)                                                   \
	ISPAN_STREAMED(X, "libcuda", cuStreamQuery, _ptsz, CUDA_STREAM_QUERY, 0, V(1), 0, 0, 0)                          \
	ISPAN_STREAMED(X, "libcudart", cudaLaunchKernel, _ptsz, CUDA_LAUNCH, ISPAN_FROM(DIM3, 2), V(8), V(1),            \
		       ISPAN_CALL_RUNTIME, 0)                                                                          \
	ISPAN_STREAMED(X, "libcudart", cudaLaunchKernelExC, _ptsz, CUDA_LAUNCH, ISPAN_FROM(GRID, 1),                     \
		       ISPAN_FROM(STREAM, 1), V(2), ISPAN_CALL_RUNTIME, 0)                                             \
	ISPAN_STREAMED(X, "libcudart", cudaGraphLaunch, _ptsz, CUDA_GRAPH_LAUNCH, 0, V(2), V(1), ISPAN_CALL_RUNTIME, 0)  \
	ISPAN_STREAMED(X, "libcudart", cudaMemcpy, _ptds, CUDA_MEMCPY, V(3), 0, 0,                                       \
		       ISPAN_CALL_RUNTIME | ISPAN_CALL_DIRECTION, 0)                                                   \
	ISPAN_STREAMED(X, "libcudart", cudaMemcpyAsync, _ptsz, CUDA_MEMCPY, V(3), V(5), 0,                               \
		       ISPAN_CALL_RUNTIME | ISPAN_CALL_DIRECTION, 0)                                                   \
	ISPAN_STREAMED(X, "libcudart", cudaMemset, _ptds, CUDA_MEMSET, V(3), 0, 0, ISPAN_CALL_RUNTIME, 0)                \
	ISPAN_STREAMED(X, "libcudart", cudaMemsetAsync, _ptsz, CUDA_MEMSET, V(3), V(4), 0, ISPAN_CALL_RUNTIME, 0)        \
	X("libcudart", cudaMalloc, CUDA_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, ISPAN_CALL_RUNTIME, 0)                       \
	X("libcudart", cudaMallocManaged, CUDA_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, ISPAN_CALL_RUNTIME, 0)                \
	ISPAN_STREAMED(X, "libcudart", cudaMallocAsync, _ptsz, CUDA_ALLOC, V(2), ISPAN_FROM(OUT, 1), V(3),               \
		       ISPAN_CALL_RUNTIME, 0)                                                                          \
	X("libcudart", cudaFree, CUDA_FREE, 0, V(1), 0, ISPAN_CALL_RUNTIME, 0)                                           \
	ISPAN_STREAMED(X, "libcudart", cudaFreeAsync, _ptsz, CUDA_FREE, 0, V(1), V(2), ISPAN_CALL_RUNTIME, 0)            \
	X("libcudart", cudaHostRegister, CUDA_HOST_REGISTER, V(2), V(1), 0, ISPAN_CALL_RUNTIME, 0)                       \
	ISPAN_STREAMED(X, "libcudart", cudaStreamSynchronize, _ptsz, CUDA_STREAM_SYNC, 0, V(1), 0, ISPAN_CALL_RUNTIME,   \
		       0)                                                                                              \
	X("libcudart", cudaEventSynchronize, CUDA_EVENT_SYNC, 0, V(1), 0, ISPAN_CALL_RUNTIME, 0)                         \
	X("libcudart", cudaDeviceSynchronize, CUDA_DEVICE_SYNC, 0, 0, 0, ISPAN_CALL_RUNTIME, 0)                          \
	ISPAN_STREAMED(X, "libcudart", cudaEventRecord, _ptsz, CUDA_EVENT_RECORD, 0, V(2), V(1), ISPAN_CALL_RUNTIME, 0)  \
	X("libcudart", cudaHostAlloc, CUDA_HOST_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, ISPAN_CALL_RUNTIME, 0)               \
	X("libcudart", cudaMallocHost, CUDA_HOST_ALLOC, V(2), ISPAN_FROM(OUT, 1), 0, ISPAN_CALL_RUNTIME, 0)              \
	X("libcudart", cudaFreeHost, CUDA_HOST_FREE, 0, V(1), 0, ISPAN_CALL_RUNTIME, 0)                                  \
	ISPAN_STREAMED(X, "libcudart", cudaStreamBeginCapture, _ptsz, CUDA_CAPTURE_BEGIN, 0, V(1), 0,                    \
		       ISPAN_CALL_RUNTIME, 0)                                                                          \
	ISPAN_STREAMED(X, "libcudart", cudaStreamBeginCaptureToGraph, _ptsz, CUDA_CAPTURE_BEGIN, 0, V(1), V(2),          \
		       ISPAN_CALL_RUNTIME, 0)                                                                          \
	ISPAN_STREAMED(X, "libcudart", cudaStreamEndCapture, _ptsz, CUDA_CAPTURE_END, 0, V(1), ISPAN_FROM(OUT, 2),       \
		       ISPAN_CALL_RUNTIME, 0)                                                                          \
	X("libcudart", cudaGraphInstantiate, CUDA_GRAPH_INSTANTIATE, 0, V(2), ISPAN_FROM(OUT, 1), ISPAN_CALL_RUNTIME, 0) \
	X("libcudart", cudaGraphInstantiateWithFlags, CUDA_GRAPH_INSTANTIATE, 0, V(2), ISPAN_FROM(OUT, 1),               \
	  ISPAN_CALL_RUNTIME, 0)                                                                                       \
	ISPAN_STREAMED(X, "libcudart", cudaGraphInstantiateWithParams, _ptsz, CUDA_GRAPH_INSTANTIATE, 0, V(2),           \
		       ISPAN_FROM(OUT, 1), ISPAN_CALL_RUNTIME, 0)                                                      \
	X("libcudart", cudaEventQuery, CUDA_EVENT_QUERY, 0, V(1), 0, ISPAN_CALL_RUNTIME, 0)                              \
	ISPAN_STREAMED(X, "libcudart", cudaStreamQuery, _ptsz, CUDA_STREAM_QUERY, 0, V(1), 0, ISPAN_CALL_RUNTIME, 0)     \
	X("libnccl", ncclAllReduce, NCCL_ALL_REDUCE, V(3), ISPAN_FROM(PAIR, 4), V(6), 0, 0)                              \
	X("libnccl", ncclAllGather, NCCL_ALL_GATHER, V(3), ISPAN_FROM(HIGH, 4), V(5), 0, 0)                              \
	X("libnccl", ncclReduceScatter, NCCL_REDUCE_SCATTER, V(3), ISPAN_FROM(PAIR, 4), V(6), 0, 0)                      \
	X("libnccl", ncclBroadcast, NCCL_BROADCAST, V(3), ISPAN_FROM(PAIR, 4), V(6), 0, 0)                               \
	X("libnccl", ncclReduce, NCCL_REDUCE, V(3), ISPAN_FROM(PAIR, 4), V(7), 0, 0)                                     \
	X("libnccl", ncclSend, NCCL_SEND, V(2), ISPAN_FROM(PAIR, 3), V(5), 0, 0)                                         \
	X("libnccl", ncclRecv, NCCL_RECV, V(2), ISPAN_FROM(PAIR, 3), V(5), 0, 0)                                         \
	X("libnccl", ncclCommInitRank, NCCL_COMM_INIT, V(2), ISPAN_RANK, ISPAN_FROM(OUT, 1), 0, 0)                             \
	X("libnccl", ncclCommInitRankConfig, NCCL_COMM_INIT, V(2), ISPAN_RANK, ISPAN_FROM(OUT, 1), 0, 0)                       \
	X("libnccl", ncclCommDestroy, NCCL_COMM_END, 0, 0, V(1), 0, 0)                                                   \
	X("libnccl", ncclCommAbort, NCCL_COMM_END, 0, 0, V(1), 0, 0)                                                     \
	X("libnccl", ncclGroupEnd, NCCL_GROUP_END, 0, 0, 0, 0, 0)                                                        \
	X("libcupti", cuptiActivityGetNextRecord, CUDA_KERNEL, 0, 0, ISPAN_FROM(OUT, 3), 0, 0)

#endif
