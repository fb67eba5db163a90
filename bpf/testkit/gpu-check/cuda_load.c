/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_load [LIBCUDA]: a load generator for the CUDA driver API, which `gpu-check` runs. It needs no CUDA toolkit. LIBCUDA is
 * libcuda.so.1 by default. It prints "ready VERSION DEVICE", or "failed REASON" and exits. Then it responds to each line of input
 * with result lines and "done", or with "failed REASON":
 *
 *   entries NAME…                         offsets of functions in the library
 *     -> entry NAME DLSYM TABLE, the offset by dlsym and the one by cuGetProcAddress
 *   counts TRACEPARENT N                  makes known calls in a request: N launches, and fewer of each other kind
 *     -> did KIND COUNT NANOS, the duration of COUNT calls
 *   copies TRACEPARENT DIRECTION BYTES N  makes N copies in a request
 *     -> copied HOST_NANOS DEVICE_NANOS; DEVICE_NANOS is -1 if the driver lacks cuEventElapsedTime
 *   rate SECONDS SHARE                    launches at full speed, in requests of 64 launches, SHARE percent of them sampled
 *     -> launches COUNT NANOS
 *
 * cuda_load LIBCUDA cost CALLS NAME… instead prints "cost NAME NANOS" for each function: the CPU time of a call before the driver
 * is initialised; -1 if the call ended the process.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../ckp/inferspan_ckp.h"

/* An empty kernel, which the driver compiles for the device. */
static const char PTX[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry nothing() { ret; }\n";

typedef uint64_t (*call)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			 uintptr_t, uintptr_t);

static void *driver;
static uintptr_t stream, kernel, device_memory, host_memory, events[2];
static char reason[256];

static uint64_t read_clock(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	if (!*reason)
		vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	return 0;
}

/* Returns the driver's result, or -1 if the library does not export the function. */
static int result_of(const char *name, const uintptr_t *a)
{
	call function = (call)dlsym(driver, name);

	return function ? (int)function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10]) : -1;
}

static int has(const char *name)
{
	return dlsym(driver, name) != NULL;
}

#define RESULT(name, ...) result_of(name, (uintptr_t[11]){__VA_ARGS__})
#define TRY(name, ...) (*reason ? 0 : try(name, RESULT(name, __VA_ARGS__)))
#define AT(variable) (uintptr_t) & (variable)

static int try(const char *name, int result)
{
	return result ? fail(result == -1 ? "%s is not exported" : "%s returned error %d", name, result) : 1;
}

#define MOST_BYTES (256u << 20)

/* Opens the device; returns 0 and sets the reason if there is none. */
static int start(const char *path)
{
	uintptr_t context = 0;
	int version = 0, device = 0;
	char name[128] = "?";

	driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!driver)
		return fail("%s", dlerror());
	TRY("cuInit", 0);
	TRY("cuDriverGetVersion", AT(version));
	TRY("cuDeviceGet", AT(device), 0);
	TRY("cuDeviceGetName", (uintptr_t)name, sizeof(name), (uintptr_t)device);
	TRY("cuCtxCreate_v2", AT(context), 0, (uintptr_t)device);
	TRY("cuStreamCreate", AT(stream), 1);
	TRY("cuEventCreate", AT(events[0]), 0);
	TRY("cuEventCreate", AT(events[1]), 0);
	TRY("cuMemAlloc_v2", AT(device_memory), MOST_BYTES);
	TRY("cuMemHostAlloc", AT(host_memory), MOST_BYTES, 0);
	if (!*reason)
		printf("ready %d %s\n", version, name);
	return !*reason;
}

/* Loads the kernel once, for the commands that launch: a driver may lack its compiler. */
static int has_kernel(void)
{
	uintptr_t module = 0;

	if (!kernel) {
		TRY("cuModuleLoadData", AT(module), (uintptr_t)PTX);
		TRY("cuModuleGetFunction", AT(kernel), module, (uintptr_t) "nothing");
	}
	return kernel != 0;
}

static long offset_of(const void *address)
{
	Dl_info place;

	if (!address || !dladdr(address, &place))
		return -1;
	return (const char *)address - (const char *)place.dli_fbase;
}

static void entries(char **names)
{
	int version = 0, status = 0;

	TRY("cuDriverGetVersion", AT(version));
	for (; *names; names++) {
		void *table = NULL;
		char base[96];
		size_t length = strcspn(*names, "_");
		int per_thread = strstr(*names, "_pt") != NULL;

		/* For cuGetProcAddress, the version and the per-thread default stream are arguments, not suffixes of the name. */
		snprintf(base, sizeof(base), "%.*s", (int)length, *names);
		RESULT("cuGetProcAddress_v2", (uintptr_t)base, AT(table), (uintptr_t)version, per_thread ? 2 : 1, AT(status));
		printf("entry %s %ld %ld\n", *names, offset_of(dlsym(driver, *names)), offset_of(table));
	}
}

/*
 * Measures calls of a function, and writes the nanoseconds to out. Before cuInit, a function returns an error at once. In case it
 * reads its arguments, they point to valid memory.
 */
static void cost_of(const char *name, int calls, int out)
{
	static uintptr_t scratch[512];
	uintptr_t arguments[11];
	uint64_t began, nanos;

	for (int i = 0; i < 11; i++)
		arguments[i] = strstr(name, "Free") ? 0 : (uintptr_t)scratch;
	alarm(2); /* in case a function blocks forever */
	result_of(name, arguments);
	began = read_clock(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < calls; i++)
		result_of(name, arguments);
	nanos = read_clock(CLOCK_THREAD_CPUTIME_ID) - began;
	_exit(write(out, &nanos, sizeof(nanos)) != sizeof(nanos));
}

/* Measures each function in its own process, so that a crash affects only one figure. */
static int costs(const char *path, int calls, char **names)
{
	driver = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	if (!driver)
		return printf("failed %s\n", dlerror());
	for (; *names; names++) {
		int ends[2], status = 0;
		uint64_t nanos = 0;
		pid_t child;

		fflush(stdout);
		if (pipe(ends) || (child = fork()) < 0)
			return printf("failed cannot start a process for %s\n", *names);
		if (!child)
			cost_of(*names, calls, ends[1]);
		close(ends[1]);
		if (read(ends[0], &nanos, sizeof(nanos)) == sizeof(nanos))
			printf("cost %s %.1f\n", *names, (double)nanos / calls);
		else
			printf("cost %s -1\n", *names);
		close(ends[0]);
		waitpid(child, &status, 0);
	}
	return printf("done\n");
}

static void launch(void)
{
	TRY("cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0);
}

/* Calls a function count times; prints this number and the duration of all calls. */
static void repeat(const char *kind, int count, const char *name, const uintptr_t *arguments)
{
	uint64_t began = read_clock(CLOCK_MONOTONIC);

	for (int i = 0; i < count && !*reason; i++)
		try(name, result_of(name, arguments));
	printf("did %s %d %llu\n", kind, count, (unsigned long long)(read_clock(CLOCK_MONOTONIC) - began));
}

#define REPEAT(kind, count, name, ...) repeat("cuda." kind, count, name, (uintptr_t[11]){__VA_ARGS__})

static void counts(const char *traceparent, int n)
{
	uintptr_t graph = 0, executable = 0, address[1] = {0};

	inferspan_ckp_request_begin(traceparent);
	REPEAT("launch", n, "cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0);
	REPEAT("memcpy_h2d", n / 10, "cuMemcpyHtoDAsync_v2", device_memory, host_memory, 4096, stream);
	REPEAT("memcpy_d2h", n / 20, "cuMemcpyDtoHAsync_v2", host_memory, device_memory, 4096, stream);
	REPEAT("memset", n / 25, "cuMemsetD8Async", device_memory, 1, 4096, stream);
	REPEAT("event_record", n / 50, "cuEventRecord", events[0], stream);
	REPEAT("event_sync", n / 50, "cuEventSynchronize", events[0]);
	REPEAT("event_query", n / 40, "cuEventQuery", events[0]);
	REPEAT("stream_sync", n / 100, "cuStreamSynchronize", stream);
	REPEAT("device_sync", n / 200, "cuCtxSynchronize", 0);
	for (int i = 0; i < n / 200; i++) {
		REPEAT("alloc", 1, "cuMemAlloc_v2", AT(address[0]), 1 << 20);
		REPEAT("free", 1, "cuMemFree_v2", address[0]);
	}
	REPEAT("capture_begin", 1, "cuStreamBeginCapture_v2", stream, 2);
	REPEAT("launch", 10, "cuLaunchKernel", kernel, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0);
	REPEAT("capture_end", 1, "cuStreamEndCapture", stream, AT(graph));
	REPEAT("graph_instantiate", 1, "cuGraphInstantiateWithFlags", AT(executable), graph, 0);
	REPEAT("graph_launch", n / 10, "cuGraphLaunch", executable, stream);
	REPEAT("stream_sync", 1, "cuStreamSynchronize", stream);
	inferspan_ckp_request_end();
	if (has("cuGraphExecDestroy") && has("cuGraphDestroy")) {
		TRY("cuGraphExecDestroy", executable);
		TRY("cuGraphDestroy", graph);
	}
}

static void copies(const char *traceparent, const char *direction, size_t bytes, int n)
{
	int to_device = !strcmp(direction, "h2d");
	uintptr_t to = to_device ? device_memory : host_memory, from = to_device ? host_memory : device_memory;
	uint64_t began, host = 0;
	float millis = 0, device = 0;

	inferspan_ckp_request_begin(traceparent);
	for (int i = 0; i < n && bytes <= MOST_BYTES; i++) {
		TRY("cuEventRecord", events[0], stream);
		began = read_clock(CLOCK_MONOTONIC);
		TRY(to_device ? "cuMemcpyHtoDAsync_v2" : "cuMemcpyDtoHAsync_v2", to, from, bytes, stream);
		TRY("cuEventRecord", events[1], stream);
		TRY("cuStreamSynchronize", stream);
		host += read_clock(CLOCK_MONOTONIC) - began;
		if (has("cuEventElapsedTime"))
			TRY("cuEventElapsedTime", AT(millis), events[0], events[1]);
		device += millis;
	}
	inferspan_ckp_request_end();
	printf("copied %llu %.0f\n", (unsigned long long)host / (unsigned)n, device ? device * 1e6 / n : -1);
}

/* Launches in requests for some seconds. Of 100 consecutive requests, share are sampled. */
static void rate(double seconds, int share)
{
	uint64_t began = read_clock(CLOCK_MONOTONIC), end = began + (uint64_t)(seconds * 1e9), made = 0;
	char traceparent[64];

	for (uint64_t request = 1; read_clock(CLOCK_MONOTONIC) < end && !*reason; request++) {
		snprintf(traceparent, sizeof(traceparent), "00-%016llx%016llx-%016llx-0%d", (unsigned long long)began,
			 (unsigned long long)request, (unsigned long long)request, (int)(request * 37 % 100) < share);
		inferspan_ckp_request_begin(traceparent);
		for (int i = 0; i < 64; i++, made++)
			launch();
		TRY("cuStreamSynchronize", stream);
		inferspan_ckp_request_end();
	}
	printf("launches %llu %llu\n", (unsigned long long)made, (unsigned long long)(read_clock(CLOCK_MONOTONIC) - began));
}

static void answer(char *line)
{
	char *words[256] = {0}, *word = strtok(line, " \n");
	int count = 0;

	for (; word && count < 255; word = strtok(NULL, " \n"))
		words[count++] = word;
	*reason = 0;
	if (count > 1 && !strcmp(words[0], "entries"))
		entries(words + 1);
	else if (count == 3 && !strcmp(words[0], "counts") && has_kernel())
		counts(words[1], atoi(words[2]));
	else if (count == 5 && !strcmp(words[0], "copies"))
		copies(words[1], words[2], strtoull(words[3], NULL, 10), atoi(words[4]));
	else if (count == 3 && !strcmp(words[0], "rate") && has_kernel())
		rate(atof(words[1]), atoi(words[2]));
	else
		fail("unknown command");
	if (*reason)
		printf("failed %s\n", reason);
	else
		printf("done\n");
}

int main(int count, char **arguments)
{
	const char *path = count > 1 ? arguments[1] : "libcuda.so.1";
	static char line[32768];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count > 4 && !strcmp(arguments[2], "cost"))
		return costs(path, atoi(arguments[3]), arguments + 4) < 0;
	if (!start(path)) {
		printf("failed %s\n", reason);
		return 1;
	}
	while (fgets(line, sizeof(line), stdin))
		answer(line);
	return 0;
}
