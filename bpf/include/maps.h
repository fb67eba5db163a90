/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that several objects, or an object and the reader, share. The first loaded object creates them; the loader passes them
 * to the other objects by name (bpf_map__reuse_fd). The owner of an event is what the event is attributed to: a request, a step of
 * an engine, a process or a span. CKP stands for the functions of ckp/inferspan_ckp.h.
 */
#ifndef INFERSPAN_MAPS_H
#define INFERSPAN_MAPS_H

#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "calls.h"
#include "wire.h"

#define ISPAN_FRAMES 4
#define ISPAN_TOUCHED 4

/* A library call in progress on a thread. Its stack pointer shows whether the call was left by a jump. */
struct ispan_frame {
	u64 start_ns;
	u64 sp;
	u64 amount;
	u64 detail;
	u64 extra;
	struct ispan_call call;
};

#define ISPAN_THREAD_LOOP 0x01  /* an event loop: may have several requests, and has the context of one only while no other is open */
#define ISPAN_THREAD_WAITING 0x02     /* between a response and the next request: its waits are not attributed */
#define ISPAN_THREAD_LEFT 0x04        /* waited for other work after the response: its calls are not attributed to the request */
#define ISPAN_THREAD_ALONE 0x08  /* has its request's context only while its process has no other open request */
#define ISPAN_THREAD_IN_LOOP 0x10 /* in the wait of its poll or select loop */
#define ISPAN_THREAD_OTHER 0x20 /* its event loop has got other work since its last wait: its calls are not attributed */
#define ISPAN_THREAD_EPOLL 0x40 /* its event loop waits with epoll_wait: its calls of poll and select are not the loop's waits */
#define ISPAN_THREAD_POOL 0x80 /* has once waited for a job: it may take the next one right after a response, without waiting */
#define ISPAN_THREAD_AWAY (ISPAN_THREAD_WAITING | ISPAN_THREAD_LEFT)

/* The state of a thread. It is stored with the kernel's task and removed with it, so thread ids can be reused. */
struct ispan_thread {
	u64 request; /* number of the thread's request, which may have ended; 0: none */
	u64 known;   /* the last request that a look-up found open; it is still open if activity.ended equals known_ended */
	u64 known_ended;
	u64 announced; /* the last span that this thread announced */
	u8 source;
	u8 flags;
	u8 depth; /* of frames */
	u8 covered; /* bit n: a driver call performed the operation of runtime frame n */
	s32 fd;      /* descriptor of the request's connection, which saves a look-up for system calls on others; -1: none */
	u32 closed_kind; /* the ispan_fd_kind of the descriptor that is being closed */
	u64 syscall_start_ns;
	u32 syscall;
	u32 off_state; /* the thread's task state when it left the CPU */
	u64 off_start_ns;
	u64 runnable_ns;
	u64 operation_ns; /* when the last CKP operation began */
	u64 operation;
	u64 outer_request; /* the request that it served before it began one by CKP */
	s32 outer_fd;
	u8 outer_source;
	u8 outer_flags; /* ISPAN_THREAD_LEFT and _ALONE of outer_request */
	u8 drives; /* a call of the runtime on this thread has called the driver for the same operation */
	u8 in_step; /* it reported a step that has not ended; only valid while source is CKP */
	u64 last;        /* the connection of the last request that it read, which may have ended */
	u64 last_number; /* the number of that request */
	u64 mixed;       /* the request during which it received other work */
	u64 syscall_owner; /* owner of the current system call, by its descriptor; 0: use the thread's context */
	s32 touched[ISPAN_TOUCHED]; /* the last descriptors on which it sent data for the request touched_for, plus one */
	u32 touches;
	u32 launches; /* its launches since it reported the start of a step */
	u64 touched_for; /* the number of that request */
	u64 timer_ns; /* when the first timer of its event loop may fire: later work may belong to the timer; 0: none */
	u64 woke_ns;  /* when its loop's last wait returned; 0: not observed */
	u64 wait_sp;  /* stack pointer of its loop's last poll or select; deeper ones may be inside a callback */
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

/*
 * By number: sampled requests, steps and adopted processes. Entries need no eviction, because each ends with its thread or process
 * at the latest.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct ispan_request);
} requests SEC(".maps");

/* Counters of the whole machine. The programs check them first, because usually no request is open. */
struct ispan_activity {
	u64 requests; /* entries in the map of requests; may briefly be too high, never too low */
	u64 since_ns; /* since when at least one request has been open */
	u64 ended;    /* incremented after the request is removed from the map */
	u64 heads;    /* entries in the map of connections */
	u64 processes; /* adopted processes; requests includes them */
	u64 engines;   /* processes that run an engine's steps */
	u64 framed;    /* processes whose messages with their API server are read */
	u64 communicators; /* number of communicators that were created so far */
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

/*
 * The sums of an owner's events of one kind that were folded or counted. The reader removes the entry when it no longer changes.
 */
struct ispan_fold {
	u64 count;
	u64 dropped; /* number of events that were only counted */
	u64 sum_ns;
	u64 least_left; /* bitwise complement of the shortest duration, so that it only grows */
	u64 most_ns;
	u64 amount;
	u64 first_ns;
	u64 last_ns;
	u32 tgid;
	u32 tid;
	u32 source;
	u32 generation; /* generation of the policy that decided last; 0: a level decided */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct ispan_fold_key);
	__type(value, struct ispan_fold);
} folds SEC(".maps");

/* An empty fold to insert; never written. */
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

/* By process that was adopted, or is a child of one: the number of its owner, which may have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, u64);
} adopted SEC(".maps");

/* By process that runs an engine's steps: the number of its last step, which may have ended. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u64);
} engines SEC(".maps");

/* An engine process whose messages with its API server are read, because no plugin reports its steps. */
struct ispan_framed {
	u64 owner; /* the owner number of its calls and its workers' calls */
	u32 slots; /* number of slots that were assigned so far; all requests whose arrival was missed share one */
	u32 flags;
};

#define FRAMED_BY_PLUGIN 0x01 /* a plugin reports its steps: its messages are no longer read */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, u32);
	__type(value, struct ispan_framed);
} framed SEC(".maps");

/* The OpenTelemetry context map (traces_ctx_v1) if the loader finds it pinned; otherwise a private map. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct ispan_otel_context);
} otel_contexts SEC(".maps");

/*
 * A request on a connection, sampled or not, from its headers to the end of its response. Unsampled requests are tracked
 * because they share threads with sampled ones.
 */
struct ispan_connection {
	u64 number; /* number of the connection's request; if it is sampled, its key in the map of requests */
	u64 reader; /* pid_tgid of the thread that read the end of the headers */
	u64 left;   /* bytes of the response that are still to be written */
	u64 body;   /* bytes of the request that are still to be read */
	u32 socket; /* number of the socket, because the descriptor may be reused */
	u32 flags;
};

#define OPEN_SAMPLED 0x01
#define OPEN_NO_BODY 0x02   /* the response has no body, even if its headers contain a length */
#define OPEN_PIPELINED 0x04 /* more than one response is pending */
#define OPEN_RESPONDED 0x08
#define OPEN_COUNTED 0x10 /* left has the number of remaining bytes */
#define OPEN_CHUNKED 0x20
#define OPEN_UNFINISHED 0x100 /* the request's headers are incomplete: no thread works for it yet */
#define OPEN_ANSWERED 0x80 /* the response has ended; the thread keeps the request until it turns to other work */
#define OPEN_HELPED 0x40 /* a thread that was started for the request wrote a part of the response */

/* Keyed by tgid << 32 | fd. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, u64);
	__type(value, struct ispan_connection);
} connections SEC(".maps");

/*
 * A process that serves requests. sole and sole_number are XORs over the keys and numbers of its open requests: if only one is
 * open, they are its key in the map of connections, and its number.
 */
struct ispan_server {
	u64 open;
	u64 sole;
	u64 sole_number;
	u64 shared_ns;    /* when a request last began while another was open */
	u64 abandoned_ns; /* when a connection was last closed before the end of its response */
	u64 unattributed; /* number of operations of its threads that were not attributed */
	u64 timer_ns;     /* when its timerfd may expire; 0: it has never set one; ~0: the timerfd is disarmed */
	u64 second;       /* the current second; begun counts the traced requests that began in it */
	u32 begun;
	u32 flags;
	u32 timer_tid; /* the thread that sets its timerfd */
	u32 timer_fd;  /* the timerfd's descriptor plus one; 0: none is armed */
};

#define SERVER_HANDS_OVER 0x01 /* a thread answered a request that another thread read: only connections identify requests */
#define SERVER_LATE_BODIES 0x04 /* it has answered a request before the end of its body: connections outlast their open requests */
#define SERVER_TIMERS 0x02 /* it has several timerfds, or one that repeats or is set by several threads: timers may always be due */

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, struct ispan_server);
} servers SEC(".maps");

#endif
