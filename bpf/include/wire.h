/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What crosses from the kernel to the reader, and the values both sides keep in shared maps.
 *
 * Little-endian, natural alignment, no implicit padding. Every offset is asserted here, and golden bytes written by
 * testkit/golden.c are read by a test on the Java side, so neither can move alone. This header compiles in BPF programs
 * and in ordinary C.
 */
#ifndef INFERSPAN_WIRE_H
#define INFERSPAN_WIRE_H

#include <linux/types.h>
#include "settings.h"

#define ISPAN_WIRE_VERSION 2
#define ISPAN_TEXT_BYTES 128
#define ISPAN_REQUEST_ID_BYTES 104
#define ISPAN_REQUEST_ID_MOST 96 /* longer ones are left out */

/* What an event is. 400 and above are control events: they become no span. */
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
	ISPAN_KIND_NCCL_ALL_REDUCE = 100,
	ISPAN_KIND_NCCL_ALL_GATHER = 101,
	ISPAN_KIND_NCCL_REDUCE_SCATTER = 102,
	ISPAN_KIND_NCCL_BROADCAST = 103,
	ISPAN_KIND_NCCL_REDUCE = 104,
	ISPAN_KIND_NCCL_SEND = 105,
	ISPAN_KIND_NCCL_RECV = 106,
	ISPAN_KIND_NCCL_COMM_INIT = 107,
	ISPAN_KIND_NCCL_GROUP_END = 108,
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
	ISPAN_KIND_SLOT_BOUND = 405,   /* ispan_head_record: which request an engine's slot stands for */
	ISPAN_KIND_STEP_CHANGES = 406, /* ispan_changes_record: who joins and leaves the engine's step */
	ISPAN_KINDS = 512,
};

/*
 * Whom events belong to. A record carries the owner's number; a record of kind 403 says once, before the first of them, who that
 * is. Numbers of requests, steps and processes are given out by the programs, and end with a record of kind 404. Those of spans
 * are computed from the ids (ispan_span_owner), so that a span has the same one on every thread; they are announced when a
 * thread is first seen with it, and have no end.
 */
enum ispan_owner_kind {
	ISPAN_OWNER_REQUEST = 1,
	ISPAN_OWNER_STEP = 2,    /* of an engine, for all requests of its batch */
	ISPAN_OWNER_PROCESS = 3, /* with those it starts, for what belongs to none of their requests */
	ISPAN_OWNER_SPAN = 4,    /* that a program says to be current on its thread */
};

#define ISPAN_OWNER_IS_SPAN 0x8000000000000000ull

/* How the owner of an event was known. */
enum ispan_source {
	ISPAN_SOURCE_NONE = 0,
	ISPAN_SOURCE_OWN = 1,
	ISPAN_SOURCE_HTTP = 2,
	ISPAN_SOURCE_INHERITED = 3,
	ISPAN_SOURCE_CKP = 4,
	ISPAN_SOURCE_OTEL = 5,
	ISPAN_SOURCE_CONNECTION = 6, /* by the descriptor: the request came on it */
	ISPAN_SOURCE_PROCESS = 7,    /* the process is adopted, and nothing says more */
	ISPAN_SOURCE_FRAMES = 8,     /* messages between an engine and its API server */
};

/* ispan_record.flags */
#define ISPAN_RECORD_TEXT_CUT 0x02 /* the text was longer than the record */

/* What a file descriptor is: the low half of ispan_record.detail of the descriptor system calls. */
enum ispan_fd_kind {
	ISPAN_FD_UNKNOWN = 0,
	ISPAN_FD_FILE = 1,
	ISPAN_FD_INET = 2,
	ISPAN_FD_UNIX = 3,
	ISPAN_FD_PIPE = 4,
	ISPAN_FD_ANON = 5,
};

/*
 * One operation that has ended. Text, where there is one, follows as ISPAN_TEXT_BYTES bytes, NUL-terminated: the ring's
 * own record length says whether it is there.
 *
 * amount  bytes of copies, reads, writes and mappings, those of the first 64 messages of one call; blocks of a launch's grid; elements of a collective
 * detail  stream or event of CUDA calls; address of alloc, free, register; datatype << 32 | operator, root or peer of
 *         NCCL; rank of a communicator; fd << 32 | ispan_fd_kind of descriptor calls; operation of a futex; command of
 *         an ioctl; task state of off-CPU time, 1 for a preempted and 0 for a woken thread of run-queue time; TCP state
 *         For 403: fd. For 404: fd, and above it ispan_shared; amount is then how many operations on the threads of its process were not attributed.
 * extra   function or executable graph of a launch; graph, executable graph or function that a call has made; memory that
 *         is mapped; event recorded; communicator; address of a futex; system call under way
 *         of scheduler events, plus one, 0 none; operation id of CKP
 * result  of 403 and 404: an ispan_owner_kind
 *
 * Of an engine's step: in 403, amount is the number of its changes, detail their flags and extra the step's number in its process; in
 * 404, amount is the number of kernels and graphs it launched, ISPAN_UNCOUNTED where that is not known. 405 has no owner: amount is
 * the slot, result an ispan_binding, extra the process's parent and, above it, that one's parent. Of 406, amount is how many changes
 * earlier records have, and result is negative where they could not be read.
 *
 * Of an engine whose messages are read (source 8), 405 and 406 have the number that its calls carry. Of 405, the text is the engine's id of
 * the request, detail the fields of its array. 406 has requests that got tokens (ISPAN_OUTPUT_*): detail is the fields of an
 * output; in the last of a step, start_ns is since when calls are looked at without a pause, extra the step's time, a double in
 * seconds, and amount how many got tokens; result is 0.
 */
struct ispan_record {
	__u64 start_ns; /* CLOCK_MONOTONIC */
	__u64 end_ns;
	__u64 owner; /* 0 of control events without an owner */
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

/* A call that a policy kept: the record's length tells it from others. */
struct ispan_judged_record {
	struct ispan_record record;
	__u32 generation; /* of the policy; 0: there is none */
	__u32 reserved;
};

/* Who an owner is: 403 and 404. The ids are those of traceparent. */
struct ispan_owner_record {
	struct ispan_record record;
	__u8 trace_id[16];
	__u8 span_id[8]; /* the parent span */
};

/* The same of a request whose head names it: x-request-id, visible ASCII, NUL-terminated. */
struct ispan_head_record {
	struct ispan_owner_record owner;
	char request_id[ISPAN_REQUEST_ID_BYTES];
};

#define ISPAN_UNCOUNTED (~0ull)

/* How a slot is bound. */
enum ispan_binding {
	ISPAN_BOUND = 0,
	ISPAN_BOUND_AMBIGUOUS = 1, /* two live requests have the same x-request-id */
	ISPAN_BOUND_UNKNOWN = 2,
};

#define ISPAN_CHANGES 16

/* Above the detail of 406, for an engine whose messages are read. */
#define ISPAN_OUTPUT_LAST 0x01    /* of the step */
#define ISPAN_OUTPUT_ABORTED 0x02 /* no outputs: requests that were given up */
#define ISPAN_OUTPUT_BROKEN 0x04  /* the messages could not be read on: this step's outputs are not known */

/* Changes of a step's members as inferspan_ckp.h lays them out, zero behind the last. */
struct ispan_changes_record {
	struct ispan_record record;
	__u64 changes[ISPAN_CHANGES];
};

/* A sampled request, by number. Its absence ends the context of every thread that carries the number. */
struct ispan_request {
	__u8 trace_id[16];
	__u8 span_id[8];
	__u64 began_ns;
	__u32 tgid;
	__s32 fd; /* -1 when it came by CKP */
	__u32 flags;
	__u32 tid; /* the thread that read its head; its exit ends a request that is bound to it */
	__u64 unattributed; /* what its process had not attributed when it began; of an adopted process, how many belong to it; of a step, its launches */
};

#define ISPAN_REQUEST_RESPONDED 0x01 /* the first bytes of the answer were written */
#define ISPAN_REQUEST_STREAMS 0x02   /* and more of them are known to come */
#define ISPAN_REQUEST_ANSWERED 0x04  /* and none are */
#define ISPAN_REQUEST_BOUND 0x08     /* a thread carries its number because it read the head */
#define ISPAN_REQUEST_KEPT 0x20      /* or because it wrote the answer's end, and has not turned to anything else */
#define ISPAN_REQUEST_PROCESS 0x40   /* no request: a process that is an owner, with those it starts */
#define ISPAN_REQUEST_STEP 0x80      /* no request: a step of an engine */
#define ISPAN_REQUEST_MIXED 0x10     /* its thread did work of other protocols meanwhile */

/* Why operations of a request may not have been attributed to it: above the fd in the detail of 404. */
#define ISPAN_SHARED_LOOP 0x01    /* its thread, or its process, had other requests open */
#define ISPAN_SHARED_THREADS 0x02 /* its process answers on other threads than those that read */
#define ISPAN_SHARED_MIXED 0x04   /* its thread read from connections that are no requests' */

/* Value of the OpenTelemetry contract map traces_ctx_v1, keyed by pid_tgid. */
struct ispan_otel_context {
	__u8 trace_id[16];
	__u8 span_id[8];
};

/* One thread of the reader's own process. Only that thread writes: owner = 0, ids, owner = ispan_span_owner of the ids. */
struct ispan_own {
	__u64 owner;
	struct ispan_otel_context ids;
};

/* The number of a span, from its ids as they lie in memory, little-endian. */
static inline __u64 ispan_span_owner(__u64 trace_first, __u64 trace_second, __u64 span)
{
	__u64 mixed = (span ^ trace_second * 0x9e3779b97f4a7c15ull ^ (trace_first << 29 | trace_first >> 35)) * 0xbf58476d1ce4e5b9ull;

	return (mixed ^ mixed >> 32) | ISPAN_OWNER_IS_SPAN;
}

/* In and out of the program who_am_i, run by the thread that asks. */
struct ispan_identity {
	__u32 tgid; /* as the kernel numbers them, whatever PID namespace the caller lives in */
	__u32 tid;
};

/* In and out of the programs process_adopt and process_release. */
struct ispan_adoption {
	__u64 owner; /* that the process joins; 0: it becomes one, with these ids, and the number is written back */
	__u32 tgid;
	__u32 reserved;
	struct ispan_otel_context ids;
};

/* Indices of the counters map, one row of u64 per CPU. produced(kind) == written to the ring + dropped, exactly. */
enum ispan_count {
	ISPAN_COUNT_PRODUCED = 0, /* + kind */
	ISPAN_COUNT_DROPPED_RING_FULL = 512,
	ISPAN_COUNT_NO_MEMORY = 521,  /* no room for a thread's record or a request: what belongs to it is not produced */
	ISPAN_COUNT_CALL_TOO_DEEP = 522,
	ISPAN_COUNT_CALL_TWICE = 524, /* runtime calls left out because the driver call inside was written */
	ISPAN_COUNT_HTTP_HEADS = 600, /* heads recognised, with or without a traceparent */
	ISPAN_COUNT_HTTP_FOUND = 601, /* valid traceparent, sampled or not */
	ISPAN_COUNT_HTTP_SAMPLED = 602,
	ISPAN_COUNT_HTTP_MALFORMED = 603,   /* traceparent that W3C tells to ignore */
	ISPAN_COUNT_HTTP_CONTINUED = 605,   /* reads that went on with an unfinished head */
	ISPAN_COUNT_HTTP_TOO_LONG = 606,    /* head longer than the window, or in more buffers than are looked at */
	ISPAN_COUNT_HTTP_PIPELINED = 607,   /* next request in the same read: no context given */
	ISPAN_COUNT_HTTP_UNREADABLE = 608,  /* the bytes were not in memory */
	ISPAN_COUNT_HTTP_LIMITED = 609,     /* sampled, but above settings.most_requests */
	ISPAN_COUNT_REQUEST_ID_LEFT_OUT = 610, /* too long, odd bytes, or more than one: the request goes without */
	ISPAN_COUNT_REQUESTS_BEGAN = 620,
	ISPAN_COUNT_REQUESTS_ENDED = 621,
	ISPAN_COUNT_REQUESTS_INHERITED = 622,
	ISPAN_COUNT_THREADS_INTERLEAVED = 623,
	ISPAN_COUNT_CKP_MALFORMED = 624,
	ISPAN_COUNT_UNATTRIBUTED = 625,     /* operations of a thread that has several requests, or none that can be told */
	ISPAN_COUNT_ANSWERED_ELSEWHERE = 626, /* answers written by another thread than the one that read the request */
	ISPAN_COUNT_THREADS_MIXED = 627,    /* requests whose thread did other work meanwhile */
	ISPAN_COUNT_FRAMES_UNREADABLE = 630, /* messages of an engine that could not be read to their end */
	ISPAN_COUNT_JUDGED = 640, /* + kind, up to 127: calls while a policy is loaded; the floor kept those that are not counted below */
	ISPAN_COUNT_POLICY_FOLDED = 771,
	ISPAN_COUNT_POLICY_DROPPED = 772,
	ISPAN_COUNT_POLICY_KEPT = 773, /* by its answer, or because the call failed or found no room in the sums */
	ISPAN_COUNT_SHED = 780, /* + ispan_class: events that were folded or counted because of the class's level */
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
