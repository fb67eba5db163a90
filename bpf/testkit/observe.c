/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * observe OBJECTS OUTPUT [OPTION=VALUE …] [pair]: a reader of the BPF programs' records, for tests and comparisons. It loads and attaches
 * the objects in the directory OBJECTS, prints "ready", and writes every record to OUTPUT. On SIGTERM, it prints the nonzero counters,
 * and how many instructions of each program the verifier processed.
 *
 * library=PATH   attaches to the CUDA and NCCL functions of a file; ckp=PATH to those of inferspan_ckp.h
 * pair           uses two programs per library function instead of a session program (the default before Linux 6.13)
 * target=PID     observes only this process, instead of all that receive a traceparent; may be repeated
 * own=READS      makes this many empty reads with a published context, and as many without one
 * otel=PID       adds the main thread of a process to the OpenTelemetry context map
 * adopt=PID      makes a process the owner of its calls. The contexts of own, otel and adopt have the trace id 5555…
 * requests=N     limits the number of open requests; flags=HEX, min=NANOS and cgroup=LEVEL:PATH are written to the settings
 * canary=N       prints at the end how many map values contain the four bytes of the number N
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../include/wire.h"
#include "attach.h"

static const char *const names[] = {"context", "process", "sched", "tcp", "calls", "ckp", "adopt"};
#define OBJECTS ((int)(sizeof(names) / sizeof(names[0])))

static struct bpf_object *objects[OBJECTS];
static const char *directory;
static FILE *output;
static int by_pair;
static __u32 most_requests;
static volatile sig_atomic_t stopped;

static int quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	/* Suppress the verifier's log; bpftool -d can print it. */
	return level == LIBBPF_WARN && !strstr(format, "LOG") ? vfprintf(stderr, format, arguments) : 0;
}

static struct bpf_map *shared_map(const char *name, int before)
{
	for (int i = 0; i < before; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(objects[i], name);

		if (map)
			return map;
	}
	return NULL;
}

/* Returns whether this kernel lacks what a program needs: session probes (Linux 6.13), or the tracepoint sock_send_length (6.3). */
static int is_too_new(const char *program)
{
	return (!strcmp(program, "call_session") && !kernel_is_from(6, 13)) ||
	       (!strcmp(program, "tcp_sent") && !kernel_is_from(6, 3));
}

static void load(int at)
{
	char path[4096];
	struct bpf_map *map;
	struct bpf_program *program;

	snprintf(path, sizeof(path), "%s/%s.bpf.o", directory, names[at]);
	objects[at] = bpf_object__open_file(path, NULL);
	if (!objects[at])
		die("open", path);
	bpf_object__for_each_map(map, objects[at]) {
		if (most_requests && !strcmp(bpf_map__name(map), "requests"))
			bpf_map__set_max_entries(map, most_requests);
		struct bpf_map *first = shared_map(bpf_map__name(map), at);

		if (first && bpf_map__reuse_fd(map, bpf_map__fd(first)))
			die("share", bpf_map__name(map));
	}
	bpf_object__for_each_program(program, objects[at]) {
		const char *name = bpf_program__name(program);

		/* All programs that use a program array must have the same attach type. */
		if (is_too_new(name) || (!strcmp(name, "call_session") && by_pair) ||
		    (!by_pair && (!strcmp(name, "call_enter") || !strcmp(name, "call_return"))))
			bpf_program__set_autoload(program, false);
		else if (!strcmp(name, "call_session") || (!strcmp(name, "call_judged") && !by_pair))
			bpf_program__set_expected_attach_type(program, UPROBE_SESSION);
		else if (bpf_program__type(program) == BPF_PROG_TYPE_KPROBE && kernel_is_from(6, 6))
			bpf_program__set_expected_attach_type(program, UPROBE_MULTI);
	}
	if (bpf_object__load(objects[at]))
		die("load", path);
	bpf_object__for_each_program(program, objects[at])
		if (bpf_program__type(program) == BPF_PROG_TYPE_TRACING && bpf_program__autoload(program) &&
		    !bpf_program__attach(program))
			die("attach", bpf_program__name(program));
}

struct bpf_program *program_named(const char *name)
{
	for (int i = 0; i < OBJECTS; i++) {
		struct bpf_program *program = bpf_object__find_program_by_name(objects[i], name);

		if (program)
			return program;
	}
	return NULL;
}

static void watch_library(const char *path)
{
	char table[4096];

	snprintf(table, sizeof(table), "%s/calls.tsv", directory);
	attach_library(table, path, by_pair);
}

static void add_target(const char *pid)
{
	__u32 tgid = (__u32)atoi(pid), value = 1;

	if (bpf_map_update_elem(bpf_map__fd(shared_map("targets", 1)), &tgid, &value, BPF_ANY))
		die("add the target", pid);
}

/* Publishes a context for its own thread as the bridge does: gets the thread id, adds it to own_threads, and stores the context. */
static void read_with_own_context(int reads)
{
	struct ispan_identity identity = {};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &identity, .ctx_size_in = sizeof(identity));
	struct bpf_map *map = shared_map("own_contexts", 1);
	int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct bpf_object *object;
	struct ispan_own *own;
	char path[4096];
	__u32 slot = 3;

	snprintf(path, sizeof(path), "%s/identity.bpf.o", directory);
	object = bpf_object__open_file(path, NULL);
	if (!object || bpf_object__load(object) ||
	    bpf_prog_test_run_opts(bpf_program__fd(bpf_object__next_program(object, NULL)), &run))
		die("run", path);
	if (identity.tgid != (__u32)getpid() || identity.tid != (__u32)gettid())
		refuse("the program who_am_i returned other ids than", "getpid and gettid");
	bpf_object__close(object);
	own = mmap(NULL, 4096 * sizeof(*own), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (own == MAP_FAILED || bpf_map_update_elem(bpf_map__fd(shared_map("own_threads", 1)), &identity.tid, &slot, BPF_ANY))
		die("publish a context in", "own_contexts");
	own += slot - 1;
	memset(own->ids.trace_id, 0x55, sizeof(own->ids.trace_id));
	memset(own->ids.span_id, 0x66, sizeof(own->ids.span_id));
	for (int valid = 1; valid >= 0; valid--) {
		__u64 owner = ispan_span_owner(0x5555555555555555ull, 0x5555555555555555ull, 0x6666666666666666ull);

		__atomic_store_n(&own->owner, valid ? owner : 0, __ATOMIC_RELEASE);
		for (int i = 0; i < reads; i++)
			if (read(nothing, path, 1))
				die("read", "/dev/null");
	}
}

static void enter_in_context_map(const char *pid)
{
	__u64 key = (__u64)atoi(pid) << 32 | (__u64)atoi(pid);
	struct ispan_otel_context context;

	memset(context.trace_id, 0x55, sizeof(context.trace_id));
	memset(context.span_id, 0x66, sizeof(context.span_id));
	if (bpf_map_update_elem(bpf_map__fd(shared_map("otel_contexts", 1)), &key, &context, BPF_ANY))
		die("write the context map for process", pid);
}

static void adopt_process(const char *pid)
{
	struct ispan_adoption adoption = {.tgid = (__u32)atoi(pid)};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = &adoption, .ctx_size_in = sizeof(adoption));

	memset(adoption.ids.trace_id, 0x55, sizeof(adoption.ids.trace_id));
	memset(adoption.ids.span_id, 0x66, sizeof(adoption.ids.span_id));
	if (bpf_prog_test_run_opts(bpf_program__fd(program_named("process_adopt")), &run))
		die("adopt process", pid);
	if (!adoption.owner)
		refuse("the program process_adopt did not adopt process", pid);
}

static void choose_cgroup(struct ispan_settings *settings, char *level_and_path)
{
	struct stat status;
	char *path = strchr(level_and_path, ':');

	if (!path)
		refuse("the cgroup must be LEVEL:PATH, not", level_and_path);
	if (stat(path + 1, &status))
		die("find the cgroup", path + 1);
	settings->cgroup = status.st_ino;
	settings->cgroup_level = (__u32)atoi(level_and_path);
}

static int context_entries(void)
{
	int fd = bpf_map__fd(shared_map("otel_contexts", 1)), entries = 0;
	__u64 key, next;

	for (__u64 *from = NULL; !bpf_map_get_next_key(fd, from, &next); from = &key, key = next)
		entries++;
	return entries;
}

/* Returns the number of open requests: the first word of the only entry in `activity`. */
static __u64 open_requests(void)
{
	__u64 activity[16] = {};
	__u32 zero = 0;

	bpf_map_lookup_elem(bpf_map__fd(shared_map("activity", 1)), &zero, activity);
	return activity[0];
}

static int keep(void *unused, void *record, size_t bytes)
{
	__u32 length = (__u32)bytes;

	(void)unused;
	fwrite(&length, sizeof(length), 1, output);
	fwrite(record, bytes, 1, output);
	return 0;
}

static void print_counters(void)
{
	int fd = bpf_map__fd(shared_map("counters", 1));
	int cpus = libbpf_num_possible_cpus();
	__u64 *values = calloc((size_t)cpus, sizeof(*values));

	for (__u32 i = 0; i < ISPAN_COUNTERS; i++) {
		__u64 sum = 0;

		bpf_map_lookup_elem(fd, &i, values);
		for (int cpu = 0; cpu < cpus; cpu++)
			sum += values[cpu];
		if (sum)
			printf("counter %u %llu\n", i, sum);
	}
}

/* Prints the number of instructions that the verifier processed, which determines the load time. */
static void print_verified(void)
{
	struct bpf_program *program;

	for (int i = 0; i < OBJECTS; i++)
		bpf_object__for_each_program(program, objects[i]) {
			struct bpf_prog_info info = {};
			__u32 length = sizeof(info);

			if (bpf_program__autoload(program) &&
			    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length))
				printf("verified %s %u\n", bpf_program__name(program), info.verified_insns);
		}
}

/* Returns the number of map values that contain these four bytes, in either byte order. */
static int maps_with(__u32 canary)
{
	__u32 swapped = __builtin_bswap32(canary);
	struct bpf_map *map;
	int found = 0;

	bpf_object__for_each_map(map, objects[0]) {
		enum bpf_map_type type = bpf_map__type(map);
		size_t size = bpf_map__value_size(map);
		char key[256], next[256], *value;

		if (type == BPF_MAP_TYPE_RINGBUF || type == BPF_MAP_TYPE_TASK_STORAGE || bpf_map__key_size(map) > sizeof(key))
			continue;
		if (type == BPF_MAP_TYPE_PERCPU_ARRAY)
			size = (size + 7) / 8 * 8 * (size_t)libbpf_num_possible_cpus();
		value = calloc(1, size);
		for (void *from = NULL; !bpf_map_get_next_key(bpf_map__fd(map), from, next); from = memcpy(key, next, sizeof(key)))
			if (!bpf_map_lookup_elem(bpf_map__fd(map), next, value))
				found += memmem(value, size, &canary, sizeof(canary)) || memmem(value, size, &swapped, sizeof(swapped));
		free(value);
	}
	return found;
}

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

int main(int count, char **arguments)
{
	struct ispan_settings settings = {
		.version = ISPAN_WIRE_VERSION,
		.scope = ISPAN_SCOPE_EVERYTHING,
		.flags = 0xff | ISPAN_READ_UNIX_SOCKETS,
		.wakeup_bytes = 65536,
	};
	struct ring_buffer *ring;
	__u32 zero = 0;
	__u64 records = 0;
	const char *process = NULL;
	__u32 canary = 0;
	int own_reads = 0;

	if (count < 3) {
		fprintf(stderr, "usage: observe OBJECTS OUTPUT [option=value …]\n");
		return 2;
	}
	directory = arguments[1];
	output = fopen(arguments[2], "w");
	if (!output)
		die("write", arguments[2]);
	libbpf_set_print(quiet);
	by_pair = !kernel_is_from(6, 13);
	for (int i = 3; i < count; i++) {
		if (!strcmp(arguments[i], "pair"))
			by_pair = 1;
		else if (!strncmp(arguments[i], "requests=", 9))
			most_requests = (__u32)atoi(arguments[i] + 9);
	}
	for (int i = 0; i < OBJECTS; i++)
		load(i);
	for (int i = 3; i < count; i++) {
		char *value = strchr(arguments[i], '=');

		if (!value)
			continue;
		value++;
		if (!strncmp(arguments[i], "library=", 8))
			watch_library(value);
		else if (!strncmp(arguments[i], "ckp=", 4))
			attach_ckp(value);
		else if (!strncmp(arguments[i], "own=", 4))
			own_reads = atoi(value);
		else if (!strncmp(arguments[i], "adopt=", 6))
			process = value;
		else if (!strncmp(arguments[i], "canary=", 7))
			canary = (__u32)strtoul(value, NULL, 0);
		else if (!strncmp(arguments[i], "otel=", 5))
			enter_in_context_map(value);
		else if (!strncmp(arguments[i], "cgroup=", 7))
			choose_cgroup(&settings, value);
		else if (!strncmp(arguments[i], "min=", 4))
			settings.min_nanos = strtoull(value, NULL, 0);
		else if (!strncmp(arguments[i], "flags=", 6))
			settings.flags = (__u32)strtoul(value, NULL, 16) | ISPAN_READ_UNIX_SOCKETS;
		else if (!strncmp(arguments[i], "target=", 7)) {
			settings.scope = ISPAN_SCOPE_TARGETS;
			add_target(value);
		}
	}
	settings.self_tgid = (__u32)getpid();
	if (bpf_map_update_elem(bpf_map__fd(shared_map("settings", 1)), &zero, &settings, BPF_ANY))
		die("write the map of", "settings");
	ring = ring_buffer__new(bpf_map__fd(shared_map("events", 1)), keep, NULL, NULL);
	if (!ring)
		die("open the ring", "events");
	if (process)
		adopt_process(process);
	if (own_reads)
		read_with_own_context(own_reads);
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	printf("ready\n");
	fflush(stdout);
	while (!stopped) {
		int got = ring_buffer__poll(ring, 2);
		int rest = ring_buffer__consume(ring);

		records += (got > 0 ? (__u64)got : 0) + (rest > 0 ? (__u64)rest : 0);
	}
	settings.version = 0; /* stops all programs, so that the counters are final */
	bpf_map_update_elem(bpf_map__fd(shared_map("settings", 1)), &zero, &settings, BPF_ANY);
	usleep(20000);
	while (stopped) {
		int rest = ring_buffer__consume(ring);

		if (rest <= 0)
			break;
		records += (__u64)rest;
	}
	fclose(output);
	printf("records %llu\ncontexts %d\nopen %llu\n", records, context_entries(), open_requests());
	if (canary)
		printf("canaries %d\n", maps_with(canary));
	print_counters();
	print_verified();
	return 0;
}
