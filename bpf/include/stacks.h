/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts stacks: how many samples of a timer found a stack on the CPU, and how long the stack was off the CPU. Maps contain the
 * counts; there is no record per sample. An object that includes this file must define find_trace.
 */
#ifndef INFERSPAN_STACKS_H
#define INFERSPAN_STACKS_H

#include "python.h"
#include <bpf/bpf_tracing.h>

#define FRAMES 127
#define ALL_PROCESSES 0
#define ON_CPU 0
#define OFF_CPU 1
#define CALL 2
#define DEVICE 3
#define STALL 4
#define NO_STACK -1
#define EEXIST 17
#define SKIPS 3 /* maximum number of innermost frames that are left out */
#define LOST_NO_ROOM 0
#define LOST_COLLISION 1
#define LOST_RETURN 2
#define LOSSES 3
#define CODE_WORDS 2
#define CALLERS 6
#define SCANNED_WORDS 64
#define WORDS_OF_A_LEAF 2
#define STOP_HERE 1 /* result of a session's entry: skip the return probe */
#define COUNTED 1
#define DEVICE_TOO 2 /* flag of a target: the device's work is counted, too */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct mm_struct {
	unsigned long exec_vm;
	unsigned long start_stack;
};

struct thread_struct {
	unsigned long fsbase;
};

struct task_struct___stacks {
	struct mm_struct *mm;
	struct thread_struct thread;
};

#pragma clang attribute pop

/* A trace id in network byte order; zero: none. */
struct ispan_trace {
	u64 first;
	u64 second;
};

/* Fills in the trace that this thread works for, if any; returns false if the thread's stacks are not counted. */
static __always_inline bool find_trace(struct ispan_trace *trace);

/*
 * The key of the frames in the map of stacks (negative: none), and the innermost frames that were skipped to avoid a hash
 * collision.
 */
struct ispan_frames {
	s32 number;
	u32 skipped;
	u64 first[SKIPS];
};

/*
 * Data with which the reader checks, by the file's unwind table, whether the chain of frame pointers skipped callers. code has the
 * eight bytes before the innermost instruction, and eight bytes from that instruction on. callers has possible return addresses near
 * the top of the stack. The bits above each 48-bit address are the index of its word on the stack.
 */
struct ispan_innermost {
	u64 code[CODE_WORDS];
	u64 callers[CALLERS];
};

struct ispan_stack {
	u32 tgid;
	u16 kind;
	u16 called;   /* index in the reader's table of functions */
	u64 image;    /* see ispan_image */
	u64 function; /* of a launch: the launched function */
	struct ispan_trace trace;
	struct ispan_frames kernel;
	struct ispan_frames user;
	struct ispan_innermost innermost;
	u64 python; /* key of the stack of Python functions; 0: none */
};

/*
 * The program that a process runs, identified by the start of its stack (as in /proc/PID/stat), which changes with each exec.
 */
struct ispan_image {
	u64 tgid;
	u64 stack;
	u64 pages; /* number of executable pages */
};

struct ispan_sum {
	u64 count;
	u64 nanos;
	u64 bytes;
};

struct ispan_wait {
	u64 since_ns;
	struct ispan_stack stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(u32));
	__uint(value_size, FRAMES * sizeof(u64));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct ispan_stack);
	__type(value, struct ispan_sum);
} stack_counts SEC(".maps");

/* By process: its last known image. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct ispan_image);
} stack_images SEC(".maps");

/* New images, and images that have mapped more code. The reader takes them from the queue and records their mappings. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4096);
	__uint(value_size, sizeof(struct ispan_image));
} new_images SEC(".maps");

/* By thread. A thread that ends while it waits leaves its entry, which is evicted when the map is full. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct ispan_wait);
} stack_waits SEC(".maps");

/* The processes whose stacks are counted. The key is a process id or ALL_PROCESSES, the value is flags. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, u32);
} stack_targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOSSES);
	__type(key, u32);
	__type(value, u64);
} stack_losses SEC(".maps");

static __always_inline bool is_target(u32 tgid)
{
	u32 all = ALL_PROCESSES;

	return bpf_map_lookup_elem(&stack_targets, &tgid) || bpf_map_lookup_elem(&stack_targets, &all);
}

static __always_inline void count_lost(u32 reason)
{
	u64 *lost = bpf_map_lookup_elem(&stack_losses, &reason);

	if (lost)
		(*lost)++;
}

/* Returns the image of the current process, or 0 for a kernel thread. If the queue is full, the next stack tries again. */
static __always_inline u64 image_of_this(u32 tgid)
{
	struct mm_struct *mm = ((struct task_struct___stacks *)bpf_get_current_task_btf())->mm;
	struct ispan_image *before, now = {.tgid = tgid};

	if (!mm)
		return 0;
	now.stack = mm->start_stack;
	now.pages = mm->exec_vm;
	before = bpf_map_lookup_elem(&stack_images, &tgid);
	if ((!before || before->stack != now.stack || before->pages != now.pages) && !bpf_map_push_elem(&new_images, &now, 0))
		bpf_map_update_elem(&stack_images, &tgid, &now, BPF_ANY);
	return now.stack;
}

/* Stores the frames. If another stack occupies the slot of the hash, leaves out an innermost frame, which changes the hash. */
static __always_inline bool find_frames(void *ctx, u64 flags, struct ispan_frames *frames)
{
#pragma unroll
	for (u32 skip = 0; skip <= SKIPS; skip++) {
		frames->number = bpf_get_stackid(ctx, &stacks, flags | skip);
		if (frames->number == -EEXIST) /* another stack occupies the slot */
			continue;
		frames->skipped = skip;
		return !skip || bpf_get_stack(ctx, frames->first, skip * sizeof(u64), flags) > 0;
	}
	return false;
}

#ifdef STACK_POINTER
struct ispan_scan {
	u64 sp;
	u64 found;
	u64 callers[CALLERS];
};

/* Returns whether a call instruction ends at the address: e8 and four bytes, or ff /2 with up to six bytes. */
static __always_inline bool follows_call(u64 address)
{
	union {
		u64 word;
		u8 bytes[8];
	} code = {.word = word_at(address - 8)};

#define IS_CALL(bytes_long) (code.bytes[8 - (bytes_long)] == 0xff && (code.bytes[9 - (bytes_long)] & 0x38) == 0x10)
	return code.bytes[3] == 0xe8 || IS_CALL(2) || IS_CALL(3) || IS_CALL(4) || IS_CALL(6) || IS_CALL(7);
#undef IS_CALL
}

static long scan_word(u32 index, struct ispan_scan *scan)
{
	u64 word = word_at(scan->sp + index * sizeof(word));
	u64 found = scan->found;

	if (word < 4096 || word >> 47 || !follows_call(word))
		return 0;
	if (found >= CALLERS)
		return 1;
	scan->callers[found] = (u64)index << 48 | word;
	scan->found = found + 1;
	return 0;
}

/*
 * Reads the code around the innermost instruction, and possible return addresses. More words of the stack are read for a thread
 * in a system call, because the functions of the C library call each other there without frame pointers.
 */
static __always_inline void read_innermost(struct pt_regs *regs, bool is_leaf, struct ispan_innermost *innermost)
{
	struct ispan_scan scan = {.sp = STACK_POINTER(regs)};

	bpf_probe_read_user(innermost->code, sizeof(innermost->code), (void *)(INSTRUCTION(regs) - 8));
	bpf_loop(is_leaf ? WORDS_OF_A_LEAF : SCANNED_WORDS, scan_word, &scan, 0);
	__builtin_memcpy(innermost->callers, scan.callers, sizeof(scan.callers));
}

/* Reads the Python functions on the stack. Python identifies a thread by its thread pointer, like the C library. */
static __always_inline void read_python(struct ispan_stack *stack)
{
	u64 self = ((struct task_struct___stacks *)bpf_get_current_task_btf())->thread.fsbase;

	stack->python = python_stack(stack->tgid, stack->image, self);
}
#else
static __always_inline void read_python(struct ispan_stack *stack)
{
}

static __always_inline void read_innermost(struct pt_regs *regs, bool is_leaf, struct ispan_innermost *innermost)
{
}
#endif

/* Reads the stack of the current thread; returns false if it works for another trace, or its stack cannot be stored. */
static __always_inline bool stack_of_this(void *ctx, u32 tgid, u16 kind, struct ispan_stack *stack)
{
	if (!find_trace(&stack->trace))
		return false;
	stack->tgid = tgid;
	stack->kind = kind;
	stack->image = image_of_this(tgid);
	stack->kernel.number = NO_STACK;
	if ((kind != CALL && !find_frames(ctx, 0, &stack->kernel)) || !find_frames(ctx, BPF_F_USER_STACK, &stack->user)) {
		count_lost(LOST_COLLISION);
		return false;
	}
	if (!stack->image)
		return true;
	read_python(stack);
	if (kind == CALL)
		read_innermost(ctx, false, &stack->innermost);
	else
		read_innermost((struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf()), stack->kernel.number < 0, &stack->innermost);
	return true;
}

static __always_inline void add(const struct ispan_stack *stack, u64 count, u64 nanos, u64 bytes)
{
	struct ispan_sum none = {};
	struct ispan_sum *sum = bpf_map_lookup_elem(&stack_counts, stack);

	if (!sum) {
		bpf_map_update_elem(&stack_counts, stack, &none, BPF_NOEXIST);
		sum = bpf_map_lookup_elem(&stack_counts, stack);
	}
	if (!sum) {
		count_lost(LOST_NO_ROOM);
		return;
	}
	__sync_fetch_and_add(&sum->count, count);
	__sync_fetch_and_add(&sum->nanos, nanos);
	__sync_fetch_and_add(&sum->bytes, bytes);
}

SEC("perf_event")
int stack_sample(void *ctx)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct ispan_stack stack = {};

	if (tgid && is_target(tgid) && stack_of_this(ctx, tgid, ON_CPU, &stack))
		add(&stack, 1, 0, 0);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(stack_switch, bool preempt, struct task_struct *previous, struct task_struct *next)
{
	u32 leaving = previous->pid, entering = next->pid;
	u64 now = bpf_ktime_get_ns();
	struct ispan_wait *waited, wait = {};

	if (leaving && is_target(previous->tgid) && stack_of_this(ctx, previous->tgid, OFF_CPU, &wait.stack)) {
		wait.since_ns = now;
		if (bpf_map_update_elem(&stack_waits, &leaving, &wait, BPF_NOEXIST) == -EEXIST) {
			/* The thread has run since its last wait, but the kernel did not report that switch. Some kernels omit switches. */
			count_lost(LOST_RETURN);
			bpf_map_update_elem(&stack_waits, &leaving, &wait, BPF_ANY);
		}
	}
	waited = entering ? bpf_map_lookup_elem(&stack_waits, &entering) : NULL;
	if (!waited)
		return 0;
	wait = *waited;
	bpf_map_delete_elem(&stack_waits, &entering);
	/* The thread id may have been reused. */
	if (wait.stack.tgid == next->tgid && now > wait.since_ns)
		add(&wait.stack, 1, now - wait.since_ns, 0);
	return 0;
}

#endif
