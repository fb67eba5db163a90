/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every map that more than one object or the reader uses. The first object loaded makes them; the loader hands them to
 * the others by name (bpf_map__reuse_fd).
 */
#ifndef INFERSPAN_MAPS_H
#define INFERSPAN_MAPS_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "calls.h"
#include "wire.h"

#define ISPAN_FRAMES 4

/* A library call under way on a thread. The stack pointer tells a live one from one that was left by a jump. */
struct ispan_frame {
	u64 start_ns;
	u64 sp;
	u64 amount;
	u64 detail;
	u64 extra;
	struct ispan_call call;
};

#define ISPAN_THREAD_INTERLEAVED 0x01 /* serves several connections at once: gets no context from bytes it reads */
#define ISPAN_THREAD_WAITING 0x02     /* between a response and the next request: its waits are nobody's */
#define ISPAN_THREAD_LEFT 0x04        /* looked for other work behind the response: what it does is not the request's */
#define ISPAN_THREAD_AWAY (ISPAN_THREAD_WAITING | ISPAN_THREAD_LEFT)

/* What is known of one thread. It lives and dies with the kernel's task, so thread ids may be used again. */
struct ispan_thread {
	u64 request; /* number of the request it serves, 0 none; may have ended */
	u64 known;   /* the request whose ids these are; it had not ended when known_ended requests had */
	u64 known_ended;
	u8 known_trace_id[16];
	u8 known_span_id[8];
	u8 source;
	u8 flags;
	u8 depth; /* of frames */
	u8 covered; /* bit n: the driver was seen to do the work of runtime frame n */
	s32 head_fd; /* connection of an unfinished head, plus one */
	s32 fd;      /* connection of its request, -1 none: most system calls are on others, and need no look-up */
	u32 closed_kind; /* an ispan_fd_kind: what the close under way closes */
	u64 syscall_start_ns;
	u32 syscall;
	u32 off_state; /* task state with which it left the CPU */
	u64 off_start_ns;
	u64 runnable_ns;
	u64 operation_ns; /* last CKP operation begun */
	u64 operation;
	u64 outer_request; /* what it served before it began a request by CKP */
	s32 outer_fd;
	u8 outer_source;
	u8 outer_left; /* whether it had left that */
	u8 outer_pad[2];
	struct ispan_frame frames[ISPAN_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ISPAN_COUNTERS);
	__type(key, u32);
	__type(value, u64);
} counters SEC(".maps");

/* Each is carried by the thread that began it, and ends with it at the latest: so nothing has to be pushed out. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct ispan_request);
} requests SEC(".maps");

/* Of the whole machine: asked first by what runs for everybody, since mostly nobody is served. */
struct ispan_activity {
	u64 requests; /* begun and not ended: never too few */
	u64 since_ns; /* since when there has been one without a pause */
	u64 ended;    /* counted once the map has them no more */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ispan_activity);
} activity SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct ispan_thread);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);   /* tid */
	__type(value, u32); /* slot + 1 */
} own_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct ispan_own);
} own_contexts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct ispan_settings);
} settings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u32);
} targets SEC(".maps");

/* The OpenTelemetry contract map, when the loader finds it pinned; otherwise ours, and nobody else sees it. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct ispan_otel_context);
} otel_contexts SEC(".maps");

/* The last sampled request that came on a connection, ended or not. */
struct ispan_connection {
	u64 request;
	u32 socket; /* its number: the descriptor may be another one by now */
	u32 pad;
};

/* tgid << 32 | fd */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct ispan_connection);
} connections SEC(".maps");

#endif
