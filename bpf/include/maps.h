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
#define ISPAN_TOUCHED 4

/* A library call under way on a thread. The stack pointer tells a live one from one that was left by a jump. */
struct ispan_frame {
	u64 start_ns;
	u64 sp;
	u64 amount;
	u64 detail;
	u64 extra;
	struct ispan_call call;
};

#define ISPAN_THREAD_LOOP 0x01  /* may have several requests: has the context of one only while it is the only open one */
#define ISPAN_THREAD_WAITING 0x02     /* between a response and the next request: its waits belong to no request */
#define ISPAN_THREAD_LEFT 0x04        /* looked for other work behind the response: what it does is not the request's */
#define ISPAN_THREAD_ALONE 0x08  /* has its request's context only while its process has no other open */
#define ISPAN_THREAD_AWAY (ISPAN_THREAD_WAITING | ISPAN_THREAD_LEFT)

/* What is known of one thread. It lives and dies with the kernel's task, so thread ids may be used again. */
struct ispan_thread {
	u64 request; /* number of the request it serves, 0 none; may have ended */
	u64 known;   /* a request that had not ended when known_ended requests had */
	u64 known_ended;
	u64 announced; /* the last owner that this thread announced, of those that have no beginning */
	u8 source;
	u8 flags;
	u8 depth; /* of frames */
	u8 covered; /* bit n: the driver was seen to do the work of runtime frame n */
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
	u8 outer_flags; /* ISPAN_THREAD_LEFT and _ALONE of that */
	u8 outer_pad[2];
	u64 last;        /* connection and number of the last head that it read, which may be answered */
	u64 last_number;
	u64 mixed;       /* the request during which it did other work */
	u64 syscall_owner; /* whose the call under way is by its descriptor; 0: the thread's context says */
	s32 touched[ISPAN_TOUCHED]; /* descriptors, plus one, on which it sent something for its request */
	u32 touches;
	u32 launches; /* since its engine's step began */
	u64 timer_ns; /* when the first timer of its loop may be due: what it does from then on may be the timer's; 0: none */
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

/* Of the whole machine: every program asks this first, since mostly no request is open. */
struct ispan_activity {
	u64 requests; /* begun and not ended: never too few */
	u64 since_ns; /* since when there has been one without a pause */
	u64 ended;    /* counted once the map has them no more */
	u64 heads;    /* in the map of connections */
	u64 processes; /* that are adopted; counted among the requests, too */
	u64 engines;   /* processes that run an engine's steps */
	u64 framed;    /* processes whose messages with their API server are read */
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

struct ispan_fold_key {
	u64 owner;
	u64 kind;
};

/* What an owner's events of a kind add up to that were not written. The reader takes it and removes it once it rests. */
struct ispan_fold {
	u64 count;
	u64 dropped; /* counted only */
	u64 sum_ns;
	u64 least_left; /* ~ of the shortest */
	u64 most_ns;
	u64 amount;
	u64 first_ns;
	u64 last_ns;
	u32 tgid;
	u32 tid;
	u32 source;
	u32 generation; /* of the policy that decided last; 0: a level did */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct ispan_fold_key);
	__type(value, struct ispan_fold);
} folds SEC(".maps");

/* Nothing writes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ispan_fold);
} no_fold SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u32);
} targets SEC(".maps");

/* Processes that are adopted, and those they have started: the number of the owner, which may have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, u64);
} adopted SEC(".maps");

/* Processes that run an engine's steps: the number of the last one, which may have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} engines SEC(".maps");

/* A process whose messages with its API server are read, since no plugin says which requests its steps run. */
struct ispan_framed {
	u64 owner; /* number that its calls, and those of its workers, carry */
	u32 slots; /* given to requests so far; requests that may have come unseen count as one */
	u32 flags;
};

#define FRAMED_BY_PLUGIN 0x01 /* which knows more: its messages are not looked at any more */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, struct ispan_framed);
} framed SEC(".maps");

/* The OpenTelemetry contract map, when the loader finds it pinned; otherwise our own map, which no other program sees. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct ispan_otel_context);
} otel_contexts SEC(".maps");

/*
 * A request head that was read on a connection, sampled or not, until its answer has ended: what neighbours a request has is known
 * also when they are not traced, and began before it.
 */
struct ispan_connection {
	u64 number; /* of the head; where it is sampled, the request's */
	u64 reader; /* pid_tgid of the thread that read the head's end */
	u64 left;   /* bytes of the answer that are still to be written */
	u64 body;   /* bytes of the request that are still to be read */
	u32 socket; /* its number: the descriptor may be another one by now */
	u32 flags;
};

#define OPEN_SAMPLED 0x01
#define OPEN_NO_BODY 0x02   /* the answer has none, whatever its head says */
#define OPEN_PIPELINED 0x04 /* more than one answer will come */
#define OPEN_RESPONDED 0x08
#define OPEN_COUNTED 0x10 /* left says how much of the answer is to come */
#define OPEN_CHUNKED 0x20
#define OPEN_UNFINISHED 0x100 /* the head's end has not been read: nothing works for it */
#define OPEN_ANSWERED 0x80 /* open no more; its thread has the request until it turns to something else */
#define OPEN_HELPED 0x40 /* a thread that was started for it wrote a part of the answer */

/* tgid << 32 | fd */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct ispan_connection);
} connections SEC(".maps");

/* A process that has read request heads. While one of them is open, sole and sole_number are that one's; each is the XOR of all. */
struct ispan_server {
	u64 open;
	u64 sole;
	u64 sole_number;
	u64 shared_ns;    /* when there was more than one open last */
	u64 abandoned_ns; /* when a connection was closed last whose answer was not written to its end */
	u64 unattributed; /* operations of its threads */
	u64 second;       /* in which begun requests began */
	u32 begun;
	u32 flags;
};

#define SERVER_HANDS_OVER 0x01 /* a thread answered what another had read: threads say nothing about requests */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, struct ispan_server);
} servers SEC(".maps");

#endif
