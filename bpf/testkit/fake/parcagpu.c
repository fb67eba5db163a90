/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libparcagpucupti.so, which reports the work of a GPU: it has parcagpu's USDT probes, but does not use CUPTI. If it
 * is preloaded, it reports the launches of the libcuda stand-in. A kernel whose name contains the number N runs for N + 1 us and
 * has N + 1 stall samples. N modulo 3 determines the order of the reports:
 *
 *   0   the launch is reported within the driver's call, the kernel later on another thread
 *   1   both are reported within the driver's call if N is less than 50; otherwise as for 0
 *   2   the launch is reported after the driver's call
 *
 * FAKE_UNKNOWN_KERNELS (environment variable, default 1) is the number of kernels that are reported without a launch.
 */
#include "fake.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#define TEXT_(text) #text
#define TEXT(text) TEXT_(text)

/* A USDT probe as in systemtap's sys/sdt.h, which need not be installed. */
#ifdef __clang__
/* On AArch64, a note has the full register of a shorter argument, preceded by the argument's size. */
#pragma clang diagnostic ignored "-Wasm-operand-widths"
#endif

#define POINT(name, format, ...)                                                                                       \
	__asm__ volatile("990: nop\n"                                                                                  \
			 ".pushsection .note.stapsdt, \"\", \"note\"\n"                                                \
			 ".balign 4\n"                                                                                 \
			 ".4byte 992f-991f, 994f-993f, 3\n"                                                            \
			 "991: .asciz \"stapsdt\"\n"                                                                   \
			 "992: .balign 4\n"                                                                            \
			 "993: .8byte 990b\n"                                                                          \
			 ".8byte _.stapsdt.base\n"                                                                     \
			 ".8byte parcagpu_" TEXT(name) "_semaphore\n"                                                  \
			 ".asciz \"parcagpu\"\n"                                                                       \
			 ".asciz \"" TEXT(name) "\"\n"                                                                 \
			 ".asciz \"" format "\"\n"                                                                     \
			 "994: .balign 4\n"                                                                            \
			 ".popsection\n"                                                                               \
			 ".ifndef _.stapsdt.base\n"                                                                    \
			 ".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"                   \
			 ".weak _.stapsdt.base\n"                                                                      \
			 ".hidden _.stapsdt.base\n"                                                                    \
			 "_.stapsdt.base: .space 1\n"                                                                  \
			 ".size _.stapsdt.base, 1\n"                                                                   \
			 ".popsection\n"                                                                               \
			 ".endif\n"                                                                                    \
			 :                                                                                             \
			 : __VA_ARGS__)
#define SEMAPHORE(name) __attribute__((section(".probes"), used)) volatile unsigned short parcagpu_##name##_semaphore

SEMAPHORE(cuda_correlation);
SEMAPHORE(kernel_executed);
SEMAPHORE(pc_sample_batch);
SEMAPHORE(stall_reason_map);

enum { KINDS = 3, IN_THE_CALL = 0, EARLY = 1, AFTER_THE_CALL = 2, FEW = 50, QUEUE = 1 << 16, PAGE = 4096, REASON_BYTES = 64 };

struct reason {
	uint32_t number;
	uint32_t samples;
};

struct pc_data {
	uint64_t size;
	uint64_t module_hash;
	uint64_t offset;
	uint32_t function;
	uint32_t padding;
	const char *name;
	uint64_t reason_count;
	const struct reason *reasons;
	uint32_t correlation;
	uint32_t end;
};

struct kernel {
	uint32_t correlation;
	int number;
	const char *name;
};

extern void (*fake_on_launch)(void *function);
extern const char *fake_name_of(void *function);

static struct kernel queue[QUEUE];
static uint32_t queued, done, last_correlation;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static __thread struct kernel of_runtime;

static void report_launch(const struct kernel *kernel)
{
	if (parcagpu_cuda_correlation_semaphore)
		POINT(cuda_correlation, "4@%0 -4@%1 8@%2", "r"(kernel->correlation), "r"(-307), "r"(kernel->name));
}

static void report_kernel(const struct kernel *kernel)
{
	uint64_t start = 1000000, end = start + 1000 * (uint64_t)(kernel->number + 1), node = 0;
	uint32_t device = 0, stream = 7, graph = 0;

	if (parcagpu_kernel_executed_semaphore)
		POINT(kernel_executed, "8@%0 8@%1 4@%2 4@%3 4@%4 4@%5 8@%6 8@%7", "r"(start), "r"(end), "r"(kernel->correlation),
		      "m"(device), "m"(stream), "m"(graph), "m"(node), "r"(kernel->name));
}

static void report_samples(const struct kernel *kernel)
{
	struct reason reasons[] = {{0, 1}, {2, (uint32_t)kernel->number + 1}, {1, 0}};
	struct pc_data data = {.size = sizeof(data), .module_hash = 0xc0ffee, .offset = 0x40, .function = (uint32_t)kernel->number,
			       .name = kernel->name, .reason_count = 3, .reasons = reasons, .correlation = kernel->correlation};
	const struct pc_data *records[] = {&data};

	if (parcagpu_pc_sample_batch_semaphore)
		POINT(pc_sample_batch, "8@%0 4@%1", "r"(records), "r"(1) : "memory");
}

/* Reports FAKE_UNKNOWN_KERNELS (1) kernels without a launch. */
static void report_unknown(void)
{
	const char *count = getenv("FAKE_UNKNOWN_KERNELS");
	struct kernel unknown = {.correlation = 0xdead0000, .name = "_Z6kernelILi0EEvPf"};

	for (int left = count ? atoi(count) : 1; left > 0; left--) {
		report_kernel(&unknown);
		unknown.correlation++;
	}
}

/*
 * Reports the table of stall reasons, before each kernel (parcagpu does so from time to time). At the first report after an
 * observer has attached, the page is not in memory, so that the names cannot be read.
 */
static void report_reasons(void)
{
	static const char names[PAGE / REASON_BYTES][REASON_BYTES] __attribute__((aligned(PAGE))) = {"selected", "barrier",
												      "long_scoreboard"};
	static unsigned short before;
	unsigned short now = parcagpu_stall_reason_map_semaphore;

	if (now > before) {
		madvise((void *)names, PAGE, MADV_DONTNEED);
		POINT(stall_reason_map, "8@%0 4@%1", "r"(names), "r"(3));
		report_unknown();
	} else if (now && *(volatile const char *)names) {
		POINT(stall_reason_map, "8@%0 4@%1", "r"(names), "r"(3));
	}
	before = now;
}

static void *report_kernels(void *unused)
{
	pthread_mutex_lock(&mutex);
	for (;;) {
		while (done == queued)
			pthread_cond_wait(&more, &mutex);
		while (done < queued) {
			const struct kernel *kernel = &queue[done++ % QUEUE];

			report_reasons();
			report_kernel(kernel);
			report_samples(kernel);
		}
	}
	return NULL;
}

static void enqueue(const struct kernel *kernel)
{
	pthread_mutex_lock(&mutex);
	queue[queued++ % QUEUE] = *kernel;
	pthread_cond_signal(&more);
	pthread_mutex_unlock(&mutex);
}

static void on_launch(void *function)
{
	const char *name = fake_name_of(function);
	struct kernel kernel = {.name = name, .number = atoi(name + sizeof("_Z6kernelILi") - 1),
				.correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED)};

	if (kernel.number % KINDS == AFTER_THE_CALL) {
		of_runtime = kernel;
		return;
	}
	report_launch(&kernel);
	if (kernel.number % KINDS == EARLY && kernel.number < FEW) {
		report_kernel(&kernel);
		report_samples(&kernel);
	} else {
		enqueue(&kernel);
	}
}

EXPORT void fake_runtime_returns(void)
{
	if (!of_runtime.name)
		return;
	report_launch(&of_runtime);
	enqueue(&of_runtime);
	of_runtime.name = NULL;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_t thread;

	fake_on_launch = on_launch;
	if (!pthread_create(&thread, NULL, report_kernels, NULL))
		pthread_detach(thread);
}
