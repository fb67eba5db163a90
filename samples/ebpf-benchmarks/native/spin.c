/* SPDX-License-Identifier: Apache-2.0 */
/* Computes in a loop at a stack depth of 30 functions. For each line of input, prints the number of iterations so far. */
#include <pthread.h>
#include <stdio.h>

#define DEPTH 30
#define STEP 20000

static volatile unsigned long steps;

__attribute__((noinline)) static unsigned long work(int depth, unsigned long sum)
{
	if (depth)
		return work(depth - 1, sum) + 1;
	for (int i = 0; i < STEP; i++)
		sum = sum * 31 + i;
	return sum;
}

static void *spin(void *sum)
{
	for (;;) {
		*(volatile unsigned long *)sum += work(DEPTH, *(unsigned long *)sum);
		steps++;
	}
	return NULL;
}

int main(void)
{
	static unsigned long sum;
	pthread_t thread;
	char line[16];

	if (pthread_create(&thread, NULL, spin, &sum))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		printf("%lu\n", steps);
		fflush(stdout);
	}
	return 0;
}
