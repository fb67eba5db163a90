/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the reader sets for all programs, and how much detail each class of events has; a part of wire.h. */
#ifndef INFERSPAN_SETTINGS_H
#define INFERSPAN_SETTINGS_H

#include <linux/types.h>

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
#define ISPAN_READ_OTEL 0x0100
#define ISPAN_PUBLISH_OTEL 0x0200
#define ISPAN_READ_UNIX_SOCKETS 0x0400 /* heads that come on Unix sockets begin requests, too */

/* Classes of events whose detail the reader lowers, and how far: a byte each in ispan_settings.levels. */
enum ispan_class {
	ISPAN_CLASS_SCHED = 0,
	ISPAN_CLASS_SYSCALLS = 1,
	ISPAN_CLASS_CALLS = 2,    /* of CUDA and NCCL, other than launches */
	ISPAN_CLASS_LAUNCHES = 3, /* of kernels and graphs */
	ISPAN_CLASS_REQUESTS = 4, /* their recognition: in full, or its programs are detached */
	ISPAN_CLASSES = 8,
};

enum ispan_class_level {
	ISPAN_LEVEL_FULL = 0,
	ISPAN_LEVEL_SAMPLED = 1, /* one event in ISPAN_SAMPLED_OF is written, the others are folded */
	ISPAN_LEVEL_FOLDED = 2,  /* into the sums of their owner and kind */
	ISPAN_LEVEL_COUNTED = 3, /* by owner and kind */
	ISPAN_LEVEL_DETACHED = 4, /* the class's flags are off, too; what is under way is counted */
};

#define ISPAN_SAMPLED_OF 16

/* What the ring's reader does, as it says itself. */
enum ispan_reader {
	ISPAN_READER_LOOKS = 0,  /* every few milliseconds: to be called would only cost the caller */
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
	__u64 attached_ns;  /* since when the programs of calls are attached: what one noted before, others may have missed the end of */
	__u32 most_requests; /* that may begin in one second in one process; 0: any number */
	__u16 policy_floor;  /* one call of a kind in so many is kept without asking the policy; 0: none is loaded */
	__u16 policy_generation; /* the last one that was given */
	__u8 levels[ISPAN_CLASSES]; /* an ispan_class_level of each ispan_class, written at once */
	__u64 sched_ns;             /* since when the programs of the scheduler and of connections are attached */
	__u32 policy_now;           /* generation of the policy that is asked; 0: none is */
	__u32 reserved;
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
