/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated GPU: for each stream, it only stores when the work of the stream will be done, and for memory, how much is allocated.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STREAMS 1024
#define ALLOCATIONS 65536
#define SPIN_NANOS 80000 /* a sleep may end this late, so the last part of a wait is a busy loop */
#define DEVICE_BASE 0x7f0000000000ull

struct stream {
	void *handle;
	uint64_t done_ns;
	int used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct stream streams[STREAMS];
static uint64_t allocations[ALLOCATIONS];
static uint64_t allocated, memory = 80ull << 30, next_slot;
static uint64_t kernel_nanos, bandwidth;
static int kernel_of_grid;
static char script[8192];
static struct fake_log *fake_log_map;
static struct fake_call *calls;
static _Thread_local uint32_t tid;
static pid_t pid;

uint64_t fake_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t nanos_of(const char *text)
{
	char *unit;
	double value = strtod(text, &unit);

	if (!strncmp(unit, "us", 2))
		return (uint64_t)(value * 1e3);
	if (!strncmp(unit, "ms", 2))
		return (uint64_t)(value * 1e6);
	if (*unit == 's')
		return (uint64_t)(value * 1e9);
	return (uint64_t)value;
}

static void read_script(const char *from)
{
	if (from && *from == '@') {
		FILE *file = fopen(from + 1, "r");

		if (!file) {
			fprintf(stderr, "the script of FAKE_CUDA_SCRIPT=@%s cannot be read: %s\n", from + 1, strerror(errno));
			abort();
		}
		script[fread(script, 1, sizeof(script) - 1, file)] = 0;
		fclose(file);
	} else if (from) {
		snprintf(script, sizeof(script), "%s", from);
	}
}

static void open_log(const char *path)
{
	size_t bytes = sizeof(struct fake_log) + (size_t)FAKE_LOG_CAPACITY * sizeof(struct fake_call);
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	void *map = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, (off_t)bytes))
		map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		fprintf(stderr, "the log FAKE_CUDA_LOG=%s cannot be opened: %s\n", path, strerror(errno));
		abort();
	}
	close(fd);
	fake_log_map = map;
	fake_log_map->magic = FAKE_LOG_MAGIC;
	fake_log_map->capacity = FAKE_LOG_CAPACITY;
	calls = (struct fake_call *)(fake_log_map + 1);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? nanos_of(text) : otherwise;
}

/* Takes the lock before a fork: if another thread held it, it would stay locked in the child, which lacks that thread. */
static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

/* Clears the cached ids, which differ in a child process. */
static void reset_ids(void)
{
	tid = 0;
	pid = getpid();
}

static void after_fork_in_child(void)
{
	after_fork();
	reset_ids();
}

static void start(void)
{
	read_script(getenv("FAKE_CUDA_SCRIPT"));
	kernel_nanos = setting("FAKE_CUDA_KERNEL", 0);
	kernel_of_grid = getenv("FAKE_CUDA_KERNEL") && !strcmp(getenv("FAKE_CUDA_KERNEL"), "grid");
	bandwidth = setting("FAKE_CUDA_BANDWIDTH", 0);
	memory = setting("FAKE_CUDA_MEMORY", memory);
	if (getenv("FAKE_CUDA_LOG"))
		open_log(getenv("FAKE_CUDA_LOG"));
	reset_ids();
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* Reads duration and result of a function from the script, such as "name=3us:2". The entry "*" is for functions without an entry. */
static void look_up(struct fake_function *function)
{
	size_t length = strlen(function->name);

	for (const char *word = script; *word; word += strcspn(word, " \n\t,"), word += strspn(word, " \n\t,")) {
		int named = !strncmp(word, function->name, length) && word[length] == '=';
		int any = word[0] == '*' && word[1] == '=' && !function->known;
		const char *colon;

		if (!named && !any)
			continue;
		function->nanos = nanos_of(strchr(word, '=') + 1);
		colon = word + strcspn(word, ": \n\t,");
		function->result = *colon == ':' ? atoi(colon + 1) : 0;
		function->known = named;
	}
	function->known = 1;
}

struct fake_call fake_enter(struct fake_function *function, uint64_t amount, uint64_t detail)
{
	struct fake_call call = {.entry_ns = fake_now(), .amount = amount, .detail = detail};

	pthread_once(&once, start);
	if (!function->known)
		look_up(function);
	return call;
}

int fake_leave(struct fake_function *function, struct fake_call *call)
{
	int result = call->result ? call->result : function->result;
	uint64_t at;

	if (function->nanos)
		fake_wait_until(call->entry_ns + function->nanos);
	if (!fake_log_map)
		return result;
	if (!tid)
		tid = (uint32_t)syscall(SYS_gettid);
	at = __atomic_fetch_add(&fake_log_map->next, 1, __ATOMIC_RELAXED);
	if (at >= fake_log_map->capacity)
		return result;
	call->tgid = (uint32_t)pid;
	call->tid = tid;
	call->result = result;
	strncpy(call->function, function->name, sizeof(call->function) - 1);
	calls[at] = *call;
	/* Last, after the entry was written: a page fault of the log would take time that only the caller measures. */
	calls[at].exit_ns = fake_now();
	return result;
}

void fake_wait_until(uint64_t nanos)
{
	if (nanos > fake_now() + SPIN_NANOS) {
		uint64_t wake = nanos - SPIN_NANOS;
		struct timespec until = {(time_t)(wake / 1000000000u), (long)(wake % 1000000000u)};

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
			;
	}
	while (fake_now() < nanos)
		;
}

/*
 * Returns the slot of a stream. A stream without pending work needs no slot, and may lose it to another stream, so that programs
 * can create any number of streams without destroying them.
 */
static struct stream *stream_of(void *handle)
{
	struct stream *idle = NULL;
	uint64_t now = fake_now();

	for (uint64_t i = 0; i < STREAMS; i++) {
		struct stream *stream = &streams[((uint64_t)handle / 16 + i) % STREAMS];

		if (stream->used && stream->handle == handle)
			return stream;
		if (!idle && stream->done_ns <= now)
			idle = stream;
		if (!stream->used)
			break;
	}
	if (!idle) {
		fprintf(stderr, "the stand-in for CUDA supports pending work on at most %d streams\n", STREAMS);
		abort();
	}
	idle->used = 1;
	idle->handle = handle;
	return idle;
}

uint64_t fake_enqueue(void *handle, uint64_t nanos)
{
	uint64_t now = fake_now();
	struct stream *stream;
	uint64_t done;

	if (!nanos)
		return now;
	pthread_mutex_lock(&lock);
	stream = stream_of(handle);
	stream->done_ns = (stream->done_ns > now ? stream->done_ns : now) + nanos;
	done = stream->done_ns;
	pthread_mutex_unlock(&lock);
	return done;
}

uint64_t fake_kernel_nanos(uint64_t blocks)
{
	return kernel_of_grid ? blocks : kernel_nanos;
}

uint64_t fake_copy_nanos(uint64_t bytes)
{
	return bandwidth ? bytes * 1000 / bandwidth : 0;
}

uint64_t fake_stream_done(void *handle)
{
	uint64_t done;

	pthread_mutex_lock(&lock);
	done = stream_of(handle)->done_ns;
	pthread_mutex_unlock(&lock);
	return done;
}

void fake_wait_stream(void *handle)
{
	if (kernel_nanos || kernel_of_grid || bandwidth)
		fake_wait_until(fake_stream_done(handle));
}

void fake_wait_all(void)
{
	uint64_t last = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < STREAMS; i++)
		if (streams[i].done_ns > last)
			last = streams[i].done_ns;
	pthread_mutex_unlock(&lock);
	fake_wait_until(last);
}

uint64_t fake_allocate(uint64_t bytes)
{
	uint64_t address = 0;

	pthread_mutex_lock(&lock);
	for (int i = 0; i < ALLOCATIONS && allocated + bytes <= memory; i++) {
		uint64_t slot = next_slot++ % ALLOCATIONS;

		if (!allocations[slot]) {
			allocations[slot] = bytes ? bytes : 1;
			allocated += allocations[slot];
			address = DEVICE_BASE + (slot << 24);
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return address;
}

void fake_free(uint64_t address)
{
	uint64_t slot = (address - DEVICE_BASE) >> 24;

	pthread_mutex_lock(&lock);
	if (slot < ALLOCATIONS) {
		allocated -= allocations[slot];
		allocations[slot] = 0;
	}
	pthread_mutex_unlock(&lock);
}
