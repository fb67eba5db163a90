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

#define ISPAN_WIRE_VERSION 1
#define ISPAN_TEXT_BYTES 128

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
	ISPAN_KIND_REQUEST_BEGAN = 403,
	ISPAN_KIND_REQUEST_ENDED = 404,
	ISPAN_KINDS = 512,
};

/* How the context of an event was known. */
enum ispan_source {
	ISPAN_SOURCE_NONE = 0,
	ISPAN_SOURCE_OWN = 1,
	ISPAN_SOURCE_HTTP = 2,
	ISPAN_SOURCE_INHERITED = 3,
	ISPAN_SOURCE_CKP = 4,
	ISPAN_SOURCE_OTEL = 5,
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
 * extra   function or graph of a launch; event recorded; communicator; address of a futex; system call under way
 *         of scheduler events, plus one, 0 none; operation id of CKP; request number of 403 and 404
 */
struct ispan_record {
	__u64 start_ns; /* CLOCK_MONOTONIC */
	__u64 end_ns;
	__u8 trace_id[16]; /* as in traceparent */
	__u8 span_id[8];   /* the parent span */
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

/* A sampled request, by number. Its absence ends the context of every thread that carries the number. */
struct ispan_request {
	__u8 trace_id[16];
	__u8 span_id[8];
	__u64 began_ns;
	__u32 tgid;
	__s32 fd; /* -1 when it came by CKP */
	__u32 flags;
	__u32 tid; /* the thread whose exit ends it */
};

#define ISPAN_REQUEST_RESPONDED 0x01

/* One thread of the reader's own process. Only that thread writes: valid = 0, ids, valid = 1. */
struct ispan_own {
	__u64 valid;
	__u8 trace_id[16];
	__u8 span_id[8];
};

/* Value of the OpenTelemetry contract map traces_ctx_v1, keyed by pid_tgid. */
struct ispan_otel_context {
	__u8 trace_id[16];
	__u8 span_id[8];
};

#define ISPAN_SCOPE_TARGETS 0    /* requests of chosen processes only */
#define ISPAN_SCOPE_EVERYTHING 1 /* whatever carries a traceparent */

/* ispan_settings.flags: event families that are on, then behaviours. */
#define ISPAN_EMIT_CUDA 0x0001
#define ISPAN_EMIT_NCCL 0x0002
#define ISPAN_EMIT_SYSCALLS 0x0004
#define ISPAN_EMIT_SCHED 0x0008
#define ISPAN_EMIT_TCP 0x0010
#define ISPAN_EMIT_CKP 0x0020
#define ISPAN_EMIT_PROCESSES 0x0040 /* 400 to 402 */
#define ISPAN_EMIT_REQUESTS 0x0080  /* 403 and 404 */
#define ISPAN_READ_OTEL 0x0100
#define ISPAN_PUBLISH_OTEL 0x0200

/* What the ring's reader does, as it says itself. */
enum ispan_reader {
	ISPAN_READER_LOOKS = 0,  /* every millisecond or so: to be called would only cost whoever calls */
	ISPAN_READER_WAITS = 1,  /* to be woken when much has come */
	ISPAN_READER_SLEEPS = 2, /* to be woken by the first record */
};

struct ispan_settings {
	__u32 version; /* ISPAN_WIRE_VERSION; anything else switches every program off */
	__u32 scope;
	__u32 self_tgid; /* in the first PID namespace: ask the program who_am_i */
	__u32 flags;
	__u64 min_nanos;    /* shorter system calls and scheduler delays are not produced */
	__u64 cgroup;       /* id of a cgroup v2 directory whose processes are in scope; 0 = any */
	__u32 wakeup_bytes; /* so much must wait for a reader that waits to be woken */
	__u32 cgroup_level; /* depth of that directory, root = 0 */
	__u32 reader;       /* an ispan_reader */
	__u32 asleep;       /* 1: what serves requests only is taken off; for those who look at a bridge from outside */
	__u64 attached_ns;  /* since when all programs are attached: what one noted before, others may have missed the end of */
	__u64 reserved;
};

/* In and out of the program who_am_i, run by the thread that asks. */
struct ispan_identity {
	__u32 tgid; /* as the kernel numbers them, whatever PID namespace the caller lives in */
	__u32 tid;
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
	ISPAN_COUNT_REQUESTS_BEGAN = 620,
	ISPAN_COUNT_REQUESTS_ENDED = 621,
	ISPAN_COUNT_REQUESTS_INHERITED = 622,
	ISPAN_COUNT_THREADS_INTERLEAVED = 623,
	ISPAN_COUNT_CKP_MALFORMED = 624,
	ISPAN_COUNTERS = 1024,
};

_Static_assert(sizeof(struct ispan_record) == 80, "record");
_Static_assert(__builtin_offsetof(struct ispan_record, trace_id) == 16, "trace_id");
_Static_assert(__builtin_offsetof(struct ispan_record, span_id) == 32, "span_id");
_Static_assert(__builtin_offsetof(struct ispan_record, tgid) == 40, "tgid");
_Static_assert(__builtin_offsetof(struct ispan_record, kind) == 48, "kind");
_Static_assert(__builtin_offsetof(struct ispan_record, source) == 50, "source");
_Static_assert(__builtin_offsetof(struct ispan_record, flags) == 51, "flags");
_Static_assert(__builtin_offsetof(struct ispan_record, result) == 52, "result");
_Static_assert(__builtin_offsetof(struct ispan_record, amount) == 56, "amount");
_Static_assert(__builtin_offsetof(struct ispan_record, detail) == 64, "detail");
_Static_assert(__builtin_offsetof(struct ispan_record, extra) == 72, "extra");
_Static_assert(__builtin_offsetof(struct ispan_text_record, text) == 80, "text");
_Static_assert(sizeof(struct ispan_text_record) == 208, "text record");
_Static_assert(sizeof(struct ispan_request) == 48, "request");
_Static_assert(sizeof(struct ispan_own) == 32, "own");
_Static_assert(sizeof(struct ispan_otel_context) == 24, "otel context");
_Static_assert(sizeof(struct ispan_settings) == 64, "settings");
_Static_assert(__builtin_offsetof(struct ispan_settings, min_nanos) == 16, "min_nanos");
_Static_assert(__builtin_offsetof(struct ispan_settings, wakeup_bytes) == 32, "wakeup_bytes");
_Static_assert(__builtin_offsetof(struct ispan_settings, reader) == 40, "reader");
_Static_assert(__builtin_offsetof(struct ispan_settings, asleep) == 44, "asleep");
_Static_assert(__builtin_offsetof(struct ispan_settings, attached_ns) == 48, "attached_ns");
_Static_assert(sizeof(struct ispan_identity) == 8, "identity");

#endif
