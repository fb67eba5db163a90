/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The settings of all programs, with the level of detail of each event class. The reader writes them. */
#ifndef INFERSPAN_SETTINGS_H
#define INFERSPAN_SETTINGS_H

#include <linux/types.h>

#define ISPAN_SCOPE_TARGETS 0    /* requests to the processes in the map `targets` */
#define ISPAN_SCOPE_EVERYTHING 1 /* all requests with a traceparent */

/* ispan_settings.flags: event families that are written (EMIT), and options. */
#define ISPAN_EMIT_CUDA 0x0001
#define ISPAN_EMIT_NCCL 0x0002
#define ISPAN_EMIT_SYSCALLS 0x0004
#define ISPAN_EMIT_SCHED 0x0008
#define ISPAN_EMIT_TCP 0x0010
#define ISPAN_EMIT_CKP 0x0020
#define ISPAN_EMIT_PROCESSES 0x0040 /* kinds 400 to 402 */
#define ISPAN_READ_OTEL 0x0100         /* take contexts from the OpenTelemetry context map */
#define ISPAN_PUBLISH_OTEL 0x0200      /* write contexts to that map */
#define ISPAN_READ_UNIX_SOCKETS 0x0400 /* trace requests on Unix sockets, too */

/* Event classes whose level of detail the reader can lower: one byte each in ispan_settings.levels. */
enum ispan_class {
	ISPAN_CLASS_SCHED = 0,
	ISPAN_CLASS_SYSCALLS = 1,
	ISPAN_CLASS_CALLS = 2,    /* calls of CUDA and NCCL, except launches */
	ISPAN_CLASS_LAUNCHES = 3, /* launches of kernels and graphs */
	ISPAN_CLASS_REQUESTS = 4, /* HTTP requests read from sockets: only FULL or DETACHED */
	ISPAN_CLASSES = 8,
};

enum ispan_class_level {
	ISPAN_LEVEL_FULL = 0,
	ISPAN_LEVEL_SAMPLED = 1, /* one event in ISPAN_SAMPLED_OF is written; the others are folded */
	ISPAN_LEVEL_FOLDED = 2,  /* events are added to the sums by owner and kind */
	ISPAN_LEVEL_COUNTED = 3, /* events are only counted, by owner and kind */
	ISPAN_LEVEL_DETACHED = 4, /* the EMIT flags of the class are cleared; only events already in progress are counted */
};

#define ISPAN_SAMPLED_OF 16

/* Groups of programs. If ispan_settings.measured is set, each group has counters of its runs and their time. */
enum ispan_measured {
	ISPAN_MEASURED_CONTEXT = 0, /* system calls */
	ISPAN_MEASURED_CALLS = 1,   /* entries of library functions */
	ISPAN_MEASURED_CKP = 2,     /* the functions of inferspan_ckp.h */
	ISPAN_MEASURED_SCHED = 3,   /* the scheduler and TCP */
	ISPAN_MEASURED_RETURNS = 4, /* returns of library functions */
};

/* How the reader waits for records in the ring, which determines when a program wakes it. */
enum ispan_reader {
	ISPAN_READER_POLLS = 0,  /* polls every few milliseconds and needs no wake-up */
	ISPAN_READER_WAITS = 1,  /* is woken at wakeup_bytes */
	ISPAN_READER_SLEEPS = 2, /* is woken at the first record */
};

struct ispan_settings {
	__u32 version; /* ISPAN_WIRE_VERSION; with another value, all programs do nothing */
	__u32 scope;   /* an ISPAN_SCOPE */
	__u32 self_tgid; /* the reader's process, in the initial PID namespace (see the program who_am_i) */
	__u32 flags;   /* EMIT, READ and PUBLISH flags */
	__u64 min_nanos;    /* shorter system calls and scheduler delays are not reported */
	__u64 cgroup;       /* id of a cgroup v2 directory whose processes are in scope; 0 = any */
	__u32 wakeup_bytes; /* a waiting reader is woken when this many bytes are unread */
	__u32 cgroup_level; /* depth of that directory, root = 0 */
	__u32 reader;       /* an ispan_reader */
	__u32 asleep;       /* 1: the programs that are needed only during requests are detached. Only tools read this */
	__u64 attached_ns;  /* when the programs for library calls were attached; returns before that time were missed */
	__u32 most_requests; /* maximum number of traced requests per second and process; 0: no limit */
	__u16 policy_floor;  /* one in this many calls of a kind is kept without asking the policy; 0: no policy is loaded */
	__u16 policy_generation; /* the last generation, a number that each load of a policy and each rollback increments */
	__u8 levels[ISPAN_CLASSES]; /* the ispan_class_level of each ispan_class, written atomically */
	__u64 sched_ns;             /* when the programs for the scheduler and for TCP were attached */
	__u32 policy_now;           /* generation of the loaded policy; 0: none */
	__u32 measured;             /* 1: programs count their runs and measure their time; see ispan_measured */
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
