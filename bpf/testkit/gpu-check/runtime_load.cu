/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime_load: makes known calls of the CUDA runtime, to find the driver functions that they call. It prints "ready", and responds
 * to each line "counts TRACEPARENT N" with lines "did KIND COUNT NANOS", then "done" or "failed REASON". It is compiled on the
 * machine with the GPU.
 */
#include <cstdio>
#include <cstdlib>
#include <time.h>

#include "inferspan_ckp.h"

__global__ void nothing() {}

static cudaError_t error;

static void repeat(const char *kind, int count, cudaError_t (*call)(void *), void *memory)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int i = 0; i < count && error == cudaSuccess; i++)
		error = call(memory);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("did cuda.%s %d %lld\n", kind, count, (to.tv_sec - from.tv_sec) * 1000000000ll + to.tv_nsec - from.tv_nsec);
}

static cudaError_t launch(void *)
{
	nothing<<<1, 32>>>();
	return cudaGetLastError();
}

static void counts(const char *traceparent, int n)
{
	static char host[4096];
	void *memory = nullptr;

	error = cudaMalloc(&memory, sizeof(host));
	launch(nullptr);
	inferspan_ckp_request_begin(traceparent);
	repeat("launch", n, launch, memory);
	repeat("memcpy_h2d", n / 10, [](void *to) { return cudaMemcpyAsync(to, host, sizeof(host), cudaMemcpyHostToDevice); }, memory);
	repeat("memcpy_d2h", n / 20, [](void *to) { return cudaMemcpyAsync(host, to, sizeof(host), cudaMemcpyDeviceToHost); }, memory);
	repeat("memset", n / 25, [](void *to) { return cudaMemsetAsync(to, 0, sizeof(host)); }, memory);
	repeat("stream_sync", n / 100, [](void *) { return cudaStreamSynchronize(0); }, memory);
	inferspan_ckp_request_end();
	cudaFree(memory);
}

int main()
{
	char traceparent[64];
	int n;

	setvbuf(stdout, nullptr, _IOLBF, 0);
	error = cudaFree(nullptr);
	if (error)
		printf("failed cudaFree: %s\n", cudaGetErrorString(error));
	else
		puts("ready");
	while (scanf("counts %63s %d ", traceparent, &n) == 2) {
		counts(traceparent, n);
		if (error)
			printf("failed %s\n", cudaGetErrorString(error));
		else
			puts("done");
	}
	return 0;
}
