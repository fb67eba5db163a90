/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The settings that the reader gives to all programs, and the level of detail of each event class; a part of wire.h. */
#ifndef INFERSPAN_SETTINGS_H
#define INFERSPAN_SETTINGS_H

#include <linux/types.h>

#define ISPAN_SCOPE_TARGETS 0    /* requests to processes in the map targets */
#define ISPAN_SCOPE_EVERYTHING 1 /* all requests with a traceparent */

/* ispan_settings.flags: enabled event families, then options. */
#define ISPAN_EMIT_CUDA 0x0001
#define ISPAN_EMIT_NCCL 0x0002
#define ISPAN_EMIT_SYSCALLS 0x0004
#define ISPAN_EMIT_SCHED 0x0008
#define ISPAN_EMIT_TCP 0x0010
#define ISPAN_EMIT_CKP 0x0020
#define ISPAN_EMIT_PROCESSES 0x0040 /* kinds 400 to 402 */
#define ISPAN_READ_OTEL 0x0100
#define ISPAN_PUBLISH_OTEL 0x0200
#define ISPAN_READ_UNIX_SOCKETS 0x0400 /* requests on Unix sockets are traced, too */

/* Event classes whose level of detail the reader can lower: one byte each in ispan_settings.levels. */
enum ispan_class {
	ISPAN_CLASS_SCHED = 0,
	ISPAN_CLASS_SYSCALLS = 1,
	ISPAN_CLASS_CALLS = 2,    /* of CUDA and NCCL, other than launches */
	ISPAN_CLASS_LAUNCHES = 3, /* of kernels and graphs */
	ISPAN_CLASS_REQUESTS = 4, /* recognition of requests: either on, or detached */
	ISPAN_CLASSES = 8,
};

enum ispan_class_level {
	ISPAN_LEVEL_FULL = 0,
	ISPAN_LEVEL_SAMPLED = 1, /* one event in ISPAN_SAMPLED_OF is written, the others are folded */
	ISPAN_LEVEL_FOLDED = 2,  /* events are added to the sums of their owner and kind */
	ISPAN_LEVEL_COUNTED = 3, /* events are counted by owner and kind */
	ISPAN_LEVEL_DETACHED = 4, /* the class's flags are off, too; events in progress are counted */
};

#define ISPAN_SAMPLED_OF 16

/* Programs whose runs are measured together. */
enum ispan_measured {
	ISPAN_MEASURED_CONTEXT = 0,
	ISPAN_MEASURED_CALLS = 1, /* at their entry */
	ISPAN_MEASURED_CKP = 2,
	ISPAN_MEASURED_SCHED = 3, /* with connections */
	ISPAN_MEASURED_RETURNS = 4, /* of calls */
};

/* The state of the ring's reader, which the reader sets. */
enum ispan_reader {
	ISPAN_READER_LOOKS = 0,  /* polls every few milliseconds and needs no wake-up */
	ISPAN_READER_WAITS = 1,  /* waits to be woken at wakeup_bytes */
	ISPAN_READER_SLEEPS = 2, /* sleeps until the first record */
};

struct ispan_settings {
	__u32 version; /* ISPAN_WIRE_VERSION; anything else switches every program off */
	__u32 scope;
	__u32 self_tgid; /* in the initial PID namespace, from the program who_am_i */
	__u32 flags;
	__u64 min_nanos;    /* shorter system calls and scheduler delays are not reported */
	__u64 cgroup;       /* id of a cgroup v2 directory whose processes are in scope; 0 = any */
	__u32 wakeup_bytes; /* a waiting reader is woken when this many bytes are unread */
	__u32 cgroup_level; /* depth of that directory, root = 0 */
	__u32 reader;       /* an ispan_reader */
	__u32 asleep;       /* 1: the programs that only serve requests are detached; informs observers of the bridge */
	__u64 attached_ns;  /* when the programs for calls were attached; the ends of earlier calls may have been missed */
	__u32 most_requests; /* maximum number of requests that begin per second and process; 0: no limit */
	__u16 policy_floor;  /* one in this many calls of a kind is kept without asking the policy; 0: no policy is loaded */
	__u16 policy_generation; /* the last generation that was assigned */
	__u8 levels[ISPAN_CLASSES]; /* the ispan_class_level of each ispan_class, written atomically */
	__u64 sched_ns;             /* when the programs for the scheduler and for TCP were attached */
	__u32 policy_now;           /* generation of the current policy; 0: none */
	__u32 measured;             /* 1: programs count their runs and the time of these in the counters */
};

_Static_assert(sizeof(struct ispan_settings) == 88, "settings");
_Static_assert(__builtin_offsetof(struct ispan_settings, min_nanos) == 16, "min_nanos");
_Static_assert(__builtin_offsetof(struct ispan_settings, wakeup_bytes) == 32, "wakeup_bytes");
_Static_assert(__builtin_offsetof(struct ispan_settings, reader) == 40, "reader");
_Static_assert(__builtin_offsetof(struct ispan_settings, asleep) == 44, "asleep");
_Static_assert(__builtin_offsetof(struct ispan_settings, attached_ns) == 48, "attached_ns");
_Static_assert(__builtin_offsetof(struct ispan_settings, most_requests) == 56, "most_requests");
_Static_assert(__builtin_offsetof(struct ispan_settings, policy_floor) == 60, "policy_floor");
_Static_assert(__builtin_offsetof(struct ispan_settings, levels) == 64, "levels");
_Static_assert(__builtin_offsetof(struct ispan_settings, sched_ns) == 72, "sched_ns");
_Static_assert(__builtin_offsetof(struct ispan_settings, policy_now) == 80, "policy_now");

#endif
