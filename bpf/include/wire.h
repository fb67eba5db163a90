/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The records that BPF programs send to the reader (the bridge or a test program), and the values in maps that both share. Numbers
 * are little-endian and naturally aligned, without implicit padding. Assertions here, and a Java test that reads the bytes that
 * testkit/golden.c writes, keep both sides in sync. This header compiles in BPF programs and in ordinary C. A slot is the number by
 * which an engine's process identifies a request, and a control event is a record that does not become a span.
 */
#ifndef INFERSPAN_WIRE_H
#define INFERSPAN_WIRE_H

#include <linux/types.h>
#include "settings.h"

#define ISPAN_WIRE_VERSION 2
#define ISPAN_TEXT_BYTES 128
#define ISPAN_REQUEST_ID_BYTES 104
#define ISPAN_REQUEST_ID_MOST 96 /* longer ids are omitted */

/* The kind of an event. Kinds from 400 on are control events, which do not become spans. */
enum ispan_kind {
	ISPAN_KIND_CUDA_LAUNCH = 1,
	ISPAN_KIND_CUDA_GRAPH_LAUNCH = 2,
	ISPAN_KIND_CUDA_MEMCPY_H2D = 3,
	ISPAN_KIND_CUDA_MEMCPY_D2H = 4,
	ISPAN_KIND_CUDA_MEMCPY_D2D = 5,
	ISPAN_KIND_CUDA_MEMCPY = 6,
	ISPAN_KIND_CUDA_MEMSET = 7,
	ISPAN_KIND_CUDA_ALLOC = 8,
	ISPAN_KIND_CUDA_FREE = 9,
	ISPAN_KIND_CUDA_STREAM_SYNC = 10,
	ISPAN_KIND_CUDA_EVENT_SYNC = 11,
	ISPAN_KIND_CUDA_DEVICE_SYNC = 12,
	ISPAN_KIND_CUDA_MODULE_LOAD = 13,
	ISPAN_KIND_CUDA_INIT = 14,
	ISPAN_KIND_CUDA_HOST_REGISTER = 15,
	ISPAN_KIND_CUDA_EVENT_RECORD = 16,
	ISPAN_KIND_CUDA_CAPTURE_BEGIN = 17,
	ISPAN_KIND_CUDA_CAPTURE_END = 18,
	ISPAN_KIND_CUDA_GRAPH_INSTANTIATE = 19,
	ISPAN_KIND_CUDA_GET_FUNCTION = 20,
	ISPAN_KIND_CUDA_MEM_CREATE = 21,
	ISPAN_KIND_CUDA_MEM_RELEASE = 22,
	ISPAN_KIND_CUDA_MEM_MAP = 23,
	ISPAN_KIND_CUDA_MEM_UNMAP = 24,
	ISPAN_KIND_CUDA_HOST_ALLOC = 25,
	ISPAN_KIND_CUDA_HOST_FREE = 26,
	ISPAN_KIND_CUDA_EVENT_QUERY = 27,
	ISPAN_KIND_CUDA_STREAM_QUERY = 28,
	ISPAN_KIND_CUDA_KERNEL = 29, /* a kernel that the device has run, from CUPTI's activity records */
	ISPAN_KIND_NCCL_ALL_REDUCE = 100,
	ISPAN_KIND_NCCL_ALL_GATHER = 101,
	ISPAN_KIND_NCCL_REDUCE_SCATTER = 102,
	ISPAN_KIND_NCCL_BROADCAST = 103,
	ISPAN_KIND_NCCL_REDUCE = 104,
	ISPAN_KIND_NCCL_SEND = 105,
	ISPAN_KIND_NCCL_RECV = 106,
	ISPAN_KIND_NCCL_COMM_INIT = 107,
	ISPAN_KIND_NCCL_GROUP_END = 108,
	ISPAN_KIND_NCCL_COMM_END = 109, /* a communicator is about to be destroyed; never written */
	ISPAN_KIND_READ = 200,
	ISPAN_KIND_WRITE = 201,
	ISPAN_KIND_RECV = 202,
	ISPAN_KIND_SEND = 203,
	ISPAN_KIND_FUTEX = 204,
	ISPAN_KIND_POLL = 205,
	ISPAN_KIND_EPOLL_WAIT = 206,
	ISPAN_KIND_SELECT = 207,
	ISPAN_KIND_OPENAT = 208,
	ISPAN_KIND_MMAP = 209,
	ISPAN_KIND_IOCTL_GPU = 210,
	ISPAN_KIND_CONNECT = 211,
	ISPAN_KIND_ACCEPT = 212,
	ISPAN_KIND_CLOSE = 213,
	ISPAN_KIND_FSYNC = 214,
	ISPAN_KIND_SCHED_RUNQUEUE = 300,
	ISPAN_KIND_SCHED_OFFCPU = 301,
	ISPAN_KIND_TCP_CONNECT = 320,
	ISPAN_KIND_TCP_RETRANSMIT = 321,
	ISPAN_KIND_CKP_OPERATION = 350,
	ISPAN_KIND_CKP_IOCTL = 351,
	ISPAN_KIND_LIBRARY_APPEARED = 400,
	ISPAN_KIND_PROCESS_EXITED = 401,
	ISPAN_KIND_PROCESS_STARTED = 402,
	ISPAN_KIND_OWNER_BEGAN = 403,
	ISPAN_KIND_OWNER_ENDED = 404,
	ISPAN_KIND_SLOT_BOUND = 405,   /* ispan_head_record: assigns a request to a slot of an engine */
	ISPAN_KIND_STEP_CHANGES = 406, /* ispan_changes_record: the requests that join and leave an engine's step */
	ISPAN_KIND_NCCL_COMMUNICATOR = 407, /* a communicator was created */
	ISPAN_KINDS = 512,
};

/*
 * The owner of events. A record has the owner's number; a record of kind 403 announces the owner before its first event. The
 * programs assign the numbers of requests, steps and processes, and announce their ends with a record of kind 404. The number of
 * a span is computed from its ids (ispan_span_owner), so that it is the same on every thread. A span is announced when a thread
 * first has it; its end is not announced.
 */
enum ispan_owner_kind {
	ISPAN_OWNER_REQUEST = 1,
	ISPAN_OWNER_STEP = 2,    /* a step of an engine, for all requests of its batch */
	ISPAN_OWNER_PROCESS = 3, /* a process and its children, for calls that do not belong to a request */
	ISPAN_OWNER_SPAN = 4,    /* a span that a program publishes as current on its thread */
};

#define ISPAN_OWNER_IS_SPAN 0x8000000000000000ull

/* How the owner of an event was determined. */
enum ispan_source {
	ISPAN_SOURCE_NONE = 0,
	ISPAN_SOURCE_OWN = 1,       /* published by a thread of the reader's process */
	ISPAN_SOURCE_HTTP = 2,      /* by the thread that read the request */
	ISPAN_SOURCE_INHERITED = 3, /* by the start of the thread or process */
	ISPAN_SOURCE_CKP = 4,       /* reported with inferspan_ckp.h */
	ISPAN_SOURCE_OTEL = 5,      /* by the OpenTelemetry context map */
	ISPAN_SOURCE_CONNECTION = 6, /* by the descriptor on which the request arrived */
	ISPAN_SOURCE_PROCESS = 7,    /* the process is adopted, and there is no more specific owner */
	ISPAN_SOURCE_FRAMES = 8,     /* by messages between an engine and its API server */
};

/* ispan_record.flags */
#define ISPAN_RECORD_TEXT_CUT 0x02 /* the text was longer than the record */

/* The type of a file descriptor: the low half of ispan_record.detail of descriptor system calls. */
enum ispan_fd_kind {
	ISPAN_FD_UNKNOWN = 0,
	ISPAN_FD_FILE = 1,
	ISPAN_FD_INET = 2,
	ISPAN_FD_UNIX = 3,
	ISPAN_FD_PIPE = 4,
	ISPAN_FD_ANON = 5,
};

/*
 * One operation that has ended. If it has text, ISPAN_TEXT_BYTES bytes follow, NUL-terminated. The record's length in the ring shows
 * whether there is text.
 *
 * The meaning of amount, detail and extra depends on the kind:
 *
 * amount  copies, allocations, mappings     bytes
 *         reads, writes                     bytes; for recvmmsg and sendmmsg, those of the first 64 messages
 *         kernel launches                   blocks of the grid
 *         NCCL collectives and transfers    elements
 *         404                               operations of the process that were not attributed
 * detail  CUDA calls                        stream or event; for alloc, free and register, the address
 *         NCCL calls                        datatype << 32 | operator, root or peer; for a new communicator, the rank
 *         system calls on descriptors       fd << 32 | ispan_fd_kind
 *         futex                             the operation
 *         ioctl                             the command
 *         off-CPU time                      the task state
 *         run-queue time                    1 after preemption, 0 after a wake-up
 *         TCP                               the TCP state
 *         403, 404                          the fd; for 404, with the ISPAN_SHARED flags in the upper half
 * extra   launches                          the function or the executable graph
 *         calls that create an object       the graph, executable graph or function
 *         memory mappings of the GPU        the mapped memory
 *         event records                     the event
 *         NCCL calls                        the communicator, or ISPAN_COLLECTIVE if its creation was observed
 *         futex                             the address
 *         off-CPU and run-queue time        number of the system call during which it occurred, plus one; 0: none
 *         CKP operations                    the id
 * result  the return value of the call; for 403 and 404, an ispan_owner_kind
 *
 * Steps of an engine:
 * 403  amount is the number of changes, detail their flags, and extra the number of the step in its process.
 * 404  amount is the number of launched kernels and graphs, or ISPAN_UNCOUNTED.
 * 405  It has no owner. amount is the slot, result an ispan_binding, and extra the parent process, with the grandparent in the
 *      upper half.
 * 406  amount is the number of changes in earlier records. result is negative if the changes could not be read.
 *
 * A communicator (407) has no owner. amount is the number of its ranks, with the rank of the process in the upper half. detail
 * is the hash by which NCCL identifies it, which is the same on all ranks. extra is its number in the records of its operations.
 *
 * A kernel of an engine (29) has no owner. amount and detail are its start and end, by CUPTI's clock. extra is the correlation id
 * of its launch. start_ns and end_ns are the time when the engine read CUPTI's record.
 *
 * Engines whose messages are read (source 8): the owner of 405 and 406 is that of the engine's calls. 405 has the engine's
 * request id as text, and the number of fields of the request's array in detail. 406 lists requests that got tokens
 * (ISPAN_OUTPUT_*); detail is the number of fields of an output, and result is 0. In the last 406 of a step, start_ns is the
 * time since which calls have been observed, extra the step's time (a double, in seconds), and amount the number of requests
 * that got tokens.
 */
struct ispan_record {
	__u64 start_ns; /* CLOCK_MONOTONIC */
	__u64 end_ns;
	__u64 owner; /* 0 for control events without an owner */
	__u32 tgid;
	__u32 tid;
	__u16 kind;
	__u8 source;
	__u8 flags;
	__s32 result; /* return value, -errno, CUresult, ncclResult */
	__u64 amount;
	__u64 detail;
	__u64 extra;
};

struct ispan_text_record {
	struct ispan_record record;
	char text[ISPAN_TEXT_BYTES];
};

/* A call that was written while a policy was loaded, or while its class had less than full detail. The length identifies the record. */
struct ispan_judged_record {
	struct ispan_record record;
	__u32 generation; /* generation of the policy; 0: none */
	__u32 reserved;
};

/* Announces an owner (403) or its end (404). The ids are those of traceparent. */
struct ispan_owner_record {
	struct ispan_record record;
	__u8 trace_id[16];
	__u8 span_id[8]; /* the parent span */
};

/* Announces a request with its x-request-id: visible ASCII characters, NUL-terminated. */
struct ispan_head_record {
	struct ispan_owner_record owner;
	char request_id[ISPAN_REQUEST_ID_BYTES];
};

#define ISPAN_UNCOUNTED (~0ull)

#define ISPAN_UNIQUE_ID_BYTES 128

/*
 * The number of a communicator, with the sequence number of a collective in it, which begins at 1; a transfer has 0. The highest
 * bit distinguishes this value from an address.
 */
#define ISPAN_COLLECTIVE(number, sequence) \
	(1ull << 63 | ((__u64)(number) & 0x7fffff) << 40 | ((__u64)(sequence) & 0xffffffffff))

/* Whether the request of a slot is known. */
enum ispan_binding {
	ISPAN_BOUND = 0,
	ISPAN_BOUND_AMBIGUOUS = 1, /* two open requests have the same x-request-id */
	ISPAN_BOUND_UNKNOWN = 2,   /* it has no id, or one that is too long */
};

#define ISPAN_CHANGES 16

/* In the upper half of the detail of 406, for an engine whose messages are read. */
#define ISPAN_OUTPUT_LAST 0x01    /* the last record of the step */
#define ISPAN_OUTPUT_ABORTED 0x02 /* aborted requests instead of outputs */
#define ISPAN_OUTPUT_BROKEN 0x04  /* the messages could not be decoded: this step's outputs are unknown */

/* Changes of a step's members, encoded as in inferspan_ckp.h; zero after the last. */
struct ispan_changes_record {
	struct ispan_record record;
	__u64 changes[ISPAN_CHANGES];
};

/* A sampled request, an entry of the map `requests`. Removing it ends the context of every thread that has its number. */
struct ispan_request {
	__u8 trace_id[16];
	__u8 span_id[8];
	__u64 began_ns;
	__u32 tgid;
	__s32 fd; /* -1 if it was reported by CKP */
	__u32 flags;
	__u32 tid; /* the thread that read the headers; its exit ends a request that is bound to it */
	/*
	 * Of a request: unattributed operations of its process when it began. Of an adopted process: number of its processes. Of a
	 * step: its launches.
	 */
	__u64 unattributed;
};

#define ISPAN_REQUEST_RESPONDED 0x01 /* the first bytes of the response were written */
#define ISPAN_REQUEST_STREAMS 0x02   /* more bytes of the response are expected */
#define ISPAN_REQUEST_ANSWERED 0x04  /* the response is complete */
#define ISPAN_REQUEST_BOUND 0x08     /* a thread has its number because it read the headers */
#define ISPAN_REQUEST_KEPT 0x20      /* a thread has its number because it wrote the end of the response and has not waited since */
#define ISPAN_REQUEST_PROCESS 0x40   /* not a request, but an adopted process with its children */
#define ISPAN_REQUEST_STEP 0x80      /* not a request, but a step of an engine */
#define ISPAN_REQUEST_MIXED 0x10     /* its thread also read from other descriptors meanwhile */

/* Why operations of a request may be unattributed: in the upper half of the detail of 404, above the fd. */
#define ISPAN_SHARED_LOOP 0x01    /* its thread, or its process, had other requests open */
#define ISPAN_SHARED_THREADS 0x02 /* threads of its process write responses to requests that other threads read */
#define ISPAN_SHARED_MIXED 0x04   /* its thread received other work than requests */

/* Value of the OpenTelemetry context map traces_ctx_v1, keyed by pid_tgid. */
struct ispan_otel_context {
	__u8 trace_id[16];
	__u8 span_id[8];
};

/*
 * The published context of a thread of the reader's process. Only that thread writes it, in this order: owner = 0, ids, owner =
 * ispan_span_owner(ids).
 */
struct ispan_own {
	__u64 owner;
	struct ispan_otel_context ids;
};

/* Computes the number of a span from its ids, read from memory as little-endian words. */
static inline __u64 ispan_span_owner(__u64 trace_first, __u64 trace_second, __u64 span)
{
	__u64 mixed = (span ^ trace_second * 0x9e3779b97f4a7c15ull ^ (trace_first << 29 | trace_first >> 35)) * 0xbf58476d1ce4e5b9ull;

	return (mixed ^ mixed >> 32) | ISPAN_OWNER_IS_SPAN;
}

/* The context of the program who_am_i, which the asking thread runs. */
struct ispan_identity {
	__u32 tgid; /* in the initial PID namespace, regardless of the caller's */
	__u32 tid;
};

/* The context of the programs process_adopt and process_release. */
struct ispan_adoption {
	__u64 owner; /* the owner that the process joins; 0: creates an owner with these ids, and returns its number here */
	__u32 tgid;
	__u32 reserved;
	struct ispan_otel_context ids;
};

/* Indices of the counters map, one row of u64 per CPU. produced(kind) == written to the ring + dropped, exactly. */
enum ispan_count {
	ISPAN_COUNT_PRODUCED = 0, /* + kind */
	ISPAN_COUNT_DROPPED_RING_FULL = 512,
	ISPAN_COUNT_NO_MEMORY = 521,  /* no memory for a thread's state or a request: its events are not produced */
	ISPAN_COUNT_CALL_TOO_DEEP = 522, /* calls inside too many others: they are not reported */
	ISPAN_COUNT_CALL_TWICE = 524, /* runtime calls omitted because the driver call inside was written */
	ISPAN_COUNT_HTTP_HEADS = 600, /* requests recognised, with or without a traceparent */
	ISPAN_COUNT_HTTP_FOUND = 601, /* valid traceparent, sampled or not */
	ISPAN_COUNT_HTTP_SAMPLED = 602,
	ISPAN_COUNT_HTTP_MALFORMED = 603,   /* traceparent that must be ignored according to W3C Trace Context */
	ISPAN_COUNT_HTTP_CONTINUED = 605,   /* reads that continued incomplete headers */
	ISPAN_COUNT_HTTP_TOO_LONG = 606,    /* headers longer than the window, or in too many buffers */
	ISPAN_COUNT_HTTP_PIPELINED = 607,   /* another response was pending, or another request in the same read: not traced */
	ISPAN_COUNT_HTTP_UNREADABLE = 608,  /* the bytes of a read could not be copied */
	ISPAN_COUNT_HTTP_LIMITED = 609,     /* sampled, but above settings.most_requests */
	ISPAN_COUNT_REQUEST_ID_LEFT_OUT = 610, /* too long, with invalid bytes, or more than one: the id is omitted */
	ISPAN_COUNT_REQUESTS_BEGAN = 620,
	ISPAN_COUNT_REQUESTS_ENDED = 621,
	ISPAN_COUNT_REQUESTS_INHERITED = 622,
	ISPAN_COUNT_THREADS_INTERLEAVED = 623, /* a thread read a request while an earlier one of this thread was open */
	ISPAN_COUNT_CKP_MALFORMED = 624,
	ISPAN_COUNT_UNATTRIBUTED = 625,     /* operations of a thread that has several requests, or an unknown one */
	ISPAN_COUNT_ANSWERED_ELSEWHERE = 626, /* writes of a response by another thread than the one that read the request */
	ISPAN_COUNT_THREADS_MIXED = 627,    /* requests whose thread received other work meanwhile */
	ISPAN_COUNT_FRAMES_UNREADABLE = 630, /* messages of an engine that could not be decoded */
	ISPAN_COUNT_JUDGED = 640, /* + kind, up to 127: calls while a policy is loaded. Those not counted below: kept by settings.policy_floor */
	ISPAN_COUNT_POLICY_FOLDED = 771,
	ISPAN_COUNT_POLICY_DROPPED = 772,
	ISPAN_COUNT_POLICY_KEPT = 773, /* by its decision, or because the call failed or the map of folds was full */
	ISPAN_COUNT_SHED = 780, /* + ispan_class: events folded or counted because of the level of their class */
	ISPAN_COUNT_RUNS = 800,      /* + ispan_measured: runs of programs while they are measured */
	ISPAN_COUNT_RUN_NANOS = 810, /* + ispan_measured: the time of these runs */
	ISPAN_COUNTERS = 1024,
};

_Static_assert(sizeof(struct ispan_record) == 64, "record");
_Static_assert(__builtin_offsetof(struct ispan_record, owner) == 16, "owner");
_Static_assert(__builtin_offsetof(struct ispan_record, tgid) == 24, "tgid");
_Static_assert(__builtin_offsetof(struct ispan_record, kind) == 32, "kind");
_Static_assert(__builtin_offsetof(struct ispan_record, source) == 34, "source");
_Static_assert(__builtin_offsetof(struct ispan_record, flags) == 35, "flags");
_Static_assert(__builtin_offsetof(struct ispan_record, result) == 36, "result");
_Static_assert(__builtin_offsetof(struct ispan_record, amount) == 40, "amount");
_Static_assert(__builtin_offsetof(struct ispan_record, detail) == 48, "detail");
_Static_assert(__builtin_offsetof(struct ispan_record, extra) == 56, "extra");
_Static_assert(__builtin_offsetof(struct ispan_text_record, text) == 64, "text");
_Static_assert(sizeof(struct ispan_text_record) == 192, "text record");
_Static_assert(sizeof(struct ispan_judged_record) == 72, "judged record");
_Static_assert(sizeof(struct ispan_owner_record) == 88, "owner record");
_Static_assert(__builtin_offsetof(struct ispan_owner_record, span_id) == 80, "span_id");
_Static_assert(__builtin_offsetof(struct ispan_head_record, request_id) == 88, "request_id");
_Static_assert(sizeof(struct ispan_head_record) == 192, "head record");
_Static_assert(sizeof(struct ispan_changes_record) == 192, "changes record");
_Static_assert(sizeof(struct ispan_request) == 56, "request");
_Static_assert(sizeof(struct ispan_own) == 32, "own");
_Static_assert(sizeof(struct ispan_otel_context) == 24, "otel context");
_Static_assert(sizeof(struct ispan_identity) == 8, "identity");
_Static_assert(sizeof(struct ispan_adoption) == 40, "adoption");
_Static_assert(__builtin_offsetof(struct ispan_adoption, ids) == 16, "ids of an adoption");

#endif
