/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vadd [TRACEPARENT [wait]]: adds two vectors with NVIDIA's CUDA runtime, in a request. Without a device, it makes the same calls,
 * which fail. With wait, it prints "ready" and begins after a line of input.
 */
#include <cstdio>
#include <cstdlib>

#include "../ckp/inferspan_ckp.h"

__global__ void add(const float *a, const float *b, float *c, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
	const int count = 1 << 20;
	float *a = nullptr, *b = nullptr, *c = nullptr;

	if (argc > 2) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	inferspan_ckp_request_begin(argc > 1 ? argv[1] : nullptr);
	cudaError_t allocated = cudaMalloc(&a, count * sizeof(float));
	cudaMalloc(&b, count * sizeof(float));
	cudaMalloc(&c, count * sizeof(float));
	add<<<count / 256, 256>>>(a, b, c, count);
	cudaError_t launched = cudaGetLastError();
	cudaError_t done = cudaDeviceSynchronize();
	inferspan_ckp_request_end();
	printf("malloc %d launch %d synchronize %d\n", allocated, launched, done);
	return 0;
}
