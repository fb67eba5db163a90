/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load SECONDS THREADS [TRACEPARENT [PER_SECOND [launch|read|LIBRARY [PER_STEP]]]]: makes calls in a request that it reports with
 * inferspan_ckp.h (CKP). It makes PER_SECOND calls per second, or as many as possible if PER_SECOND is 0. Between calls, it reads the
 * clock in a loop, so the number of clock readings shows how much CPU time was left for other work. Prints the calls, the seconds, the
 * calls per second, the CPU time per call, and the clock readings.
 *
 * launch    launches kernels (the default)
 * read      makes empty reads, the cheapest events, which reach the highest rate
 * LIBRARY   a copy of the CUDA stand-in under a name that is not probed. The probed library and the copy launch in turns of 10 ms.
 *           Also prints the cost of the probes as a share of a core. The cost shows in the clock readings per CPU time, of which
 *           there are fewer in the turns of the probed library than in the turns of the copy
 * PER_STEP  with LIBRARY: number of launches in a step, as in an engine. Each step is reported by CKP, and ends with a wait for
 *           the stream
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../ckp/inferspan_ckp.h"

#define TURN_NANOS 10000000u

typedef int launch_function(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);

extern int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
			  void **);
extern int cuStreamSynchronize(void *);

/* The functions that a step calls: probed ones, or copies without probes. */
struct calls {
	launch_function *launch;
	int (*wait)(void *);
	void (*begin)(uint64_t, const uint64_t *, uint32_t, uint32_t);
	void (*end)(uint64_t);
};

static __attribute__((noinline)) void plain_begin(uint64_t step, const uint64_t *changes, uint32_t count, uint32_t flags)
{
	__asm__ volatile("nop" : : "r"(step), "r"(changes), "r"(count), "r"(flags) : "memory");
}

static __attribute__((noinline)) void plain_end(uint64_t step)
{
	__asm__ volatile("nop" : : "r"(step) : "memory");
}

static const struct calls watched = {cuLaunchKernel, cuStreamSynchronize, inferspan_ckp_step_begin, inferspan_ckp_step_end};
static struct calls unwatched = {.begin = plain_begin, .end = plain_end};
static uint64_t per_step;
static double seconds;
static double pause_nanos;
static const char *traceparent;
static uint64_t clock_readings;
static int nothing = -1; /* the descriptor for empty reads */

/* The clock readings and the CPU time of all turns of each library. */
static uint64_t turn_readings[2], turn_nanos[2];

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t now(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* Returns the index of the library whose turn it is. At the end of a turn, adds its clock readings and CPU time. */
static unsigned turn(uint64_t at, uint64_t waited)
{
	static uint64_t last, readings_before, cpu_before;
	uint64_t cpu;

	if (at == last)
		return at % 2;
	cpu = read_clock(CLOCK_THREAD_CPUTIME_ID);
	if (cpu_before) {
		turn_readings[last % 2] += waited - readings_before;
		turn_nanos[last % 2] += cpu - cpu_before;
	}
	last = at;
	readings_before = waited;
	cpu_before = cpu;
	return at % 2;
}

static void launch(uint64_t number, launch_function *function)
{
	function(NULL, (unsigned)(number & 0xffff) + 1, 1, 1, 32, 1, 1, 0, (void *)0x5100, NULL, NULL);
}

/* Ends the last step and begins the next one with the library whose turn it is. */
static const struct calls *next_step(uint64_t made, const struct calls *last, unsigned turn)
{
	static const uint64_t member = 1ull << INFERSPAN_CKP_TOKENS_SHIFT | 1;
	const struct calls *next = turn ? &unwatched : &watched;

	if (!per_step)
		return next;
	if (last) {
		last->wait((void *)0x5100);
		last->end(made / per_step);
	}
	next->begin(made / per_step + 1, &member, 1, INFERSPAN_CKP_FULL);
	return next;
}

static void *run(void *calls)
{
	uint64_t begin, end, made = 0, waited = 0;
	const struct calls *side = NULL;

	if (traceparent)
		inferspan_ckp_request_begin(traceparent);
	begin = now();
	end = begin + (uint64_t)(seconds * 1e9);
	while (now() < end)
		for (int i = 0; i < 64; i++) {
			while (pause_nanos && (double)(now() - begin) < (double)made * pause_nanos)
				waited++;
			if (unwatched.launch) {
				if (!per_step || made % per_step == 0)
					side = next_step(made, side, turn((now() - begin) / TURN_NANOS, waited));
				launch(made, side->launch);
			} else if (nothing < 0)
				launch(made, cuLaunchKernel);
			else
				made -= read(nothing, NULL, 0) != 0;
			made++;
		}
	inferspan_ckp_request_end();
	*(uint64_t *)calls = made;
	__atomic_fetch_add(&clock_readings, waited, __ATOMIC_RELAXED);
	return NULL;
}

int main(int count, char **arguments)
{
	int threads = count > 2 ? atoi(arguments[2]) : 0;
	pthread_t thread[64];
	uint64_t calls[64] = {0}, all = 0, begin;
	void *copy = NULL;

	if (threads < 1 || threads > 64) {
		fprintf(stderr, "usage: load SECONDS THREADS(1..64) [TRACEPARENT [PER_SECOND [launch|read|LIBRARY [PER_STEP]]]]\n");
		return 2;
	}
	seconds = atof(arguments[1]);
	traceparent = count > 3 && *arguments[3] ? arguments[3] : NULL;
	pause_nanos = count > 4 && atof(arguments[4]) > 0 ? 1e9 * threads / atof(arguments[4]) : 0;
	if (count > 5 && !strcmp(arguments[5], "read")) {
		nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} else if (count > 5 && strcmp(arguments[5], "launch")) {
		copy = dlopen(arguments[5], RTLD_NOW | RTLD_LOCAL);
		if (!copy) {
			fprintf(stderr, "load: %s\n", dlerror());
			return 1;
		}
		unwatched.launch = (launch_function *)dlsym(copy, "cuLaunchKernel");
		unwatched.wait = (int (*)(void *))dlsym(copy, "cuStreamSynchronize");
		per_step = count > 6 ? strtoull(arguments[6], NULL, 10) : 0;
	}
	begin = now();
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, &calls[i]);
	for (int i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		all += calls[i];
	}
	seconds = (double)(now() - begin) / 1e9;
	printf("%llu calls, %.3f s, %.0f calls/s, %.0f ns of CPU a call, %llu clock readings", (unsigned long long)all, seconds,
	       (double)all / seconds, (double)read_clock(CLOCK_PROCESS_CPUTIME_ID) / (double)all, (unsigned long long)clock_readings);
	if (copy)
		printf(", %.6f", 1 - (double)turn_readings[0] * (double)turn_nanos[1] / (double)turn_readings[1] / (double)turn_nanos[0]);
	printf("\n");
	return 0;
}
