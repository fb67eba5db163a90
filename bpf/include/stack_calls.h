/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts the stacks from which CUDA functions are called, for each function. In this file, a look-up is a call that returns a device
 * function by its name, such as cuModuleGetFunction. An object that includes this file must define remember_launch.
 */
#ifndef INFERSPAN_STACK_CALLS_H
#define INFERSPAN_STACK_CALLS_H

#include "stacks.h"

#define NAME_BYTES 1024

struct ispan_open_call {
	u64 start_ns;
	u64 sp;
	u64 amount;   /* of a look-up: address of the name */
	u64 function; /* of a look-up: address of the result */
	struct ispan_call call;
	u64 correlation; /* of a launch: CUPTI's correlation id; 0: not known yet */
};

struct ispan_function {
	u64 number;
	u64 tgid;
};

struct ispan_function_name {
	char text[NAME_BYTES];
};

/* Keyed by thread id << 1, plus 1 for a look-up, which may occur within a launch. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, u64);
	__type(value, struct ispan_open_call);
} stack_calls SEC(".maps");

/* Names of device functions. The reader collects them. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct ispan_function);
	__type(value, struct ispan_function_name);
} function_names SEC(".maps");

static const struct ispan_function_name no_name;

static __always_inline struct ispan_call cookie_of(struct pt_regs *regs)
{
	union {
		u64 word;
		struct ispan_call call;
	} cookie = {.word = bpf_get_attach_cookie(regs)};

	return cookie.call;
}

static __always_inline u64 key_of(const struct ispan_call *call)
{
	return (u32)bpf_get_current_pid_tgid() << 1 | (call->kind == ISPAN_KIND_CUDA_GET_FUNCTION);
}

/* Returns whether this driver call is inside a runtime call. Only the runtime call is counted. */
static __always_inline bool is_within(const struct ispan_open_call *open, const struct ispan_call *call, u64 sp)
{
	return open && open->call.flags & ISPAN_CALL_RUNTIME && !(call->flags & ISPAN_CALL_RUNTIME) && open->sp > sp;
}

static __always_inline bool moves_bytes(u16 kind)
{
	return kind >= ISPAN_KIND_CUDA_MEMCPY_H2D && kind <= ISPAN_KIND_CUDA_MEMSET;
}

static __always_inline void read_call(struct pt_regs *regs, struct ispan_open_call *open)
{
	struct ispan_arguments arguments;

	if (open->call.kind == ISPAN_KIND_CUDA_GET_FUNCTION) {
		open->function = SLOT1(regs);
		open->amount = SLOT3(regs);
		return;
	}
	read_arguments(regs, &arguments);
	if (moves_bytes(open->call.kind))
		open->amount = operand_of(&arguments, open->call.amount) << (open->call.shift & 63);
	if (open->call.kind == ISPAN_KIND_CUDA_LAUNCH)
		open->function = operand_of(&arguments, open->call.extra);
}

static __always_inline int call_begins(struct pt_regs *regs)
{
	struct ispan_open_call open = {.sp = regs->sp};
	u64 key;

	if (!is_target(bpf_get_current_pid_tgid() >> 32))
		return STOP_HERE;
	open.call = cookie_of(regs);
	key = key_of(&open.call);
	if (is_within(bpf_map_lookup_elem(&stack_calls, &key), &open.call, regs->sp))
		return STOP_HERE;
	read_call(regs, &open);
	open.start_ns = bpf_ktime_get_ns();
	bpf_map_update_elem(&stack_calls, &key, &open, BPF_ANY);
	return 0;
}

static __always_inline void learn_name(u64 number, u32 tgid, u64 address)
{
	struct ispan_function function = {.number = number, .tgid = tgid};
	struct ispan_function_name *name;

	bpf_map_update_elem(&function_names, &function, &no_name, BPF_ANY);
	name = bpf_map_lookup_elem(&function_names, &function);
	if (name)
		bpf_probe_read_user_str(name->text, sizeof(name->text), (void *)address);
}

static __always_inline void remember_launch(const struct ispan_open_call *open, const struct ispan_stack *stack);

/* Counts the stack at the return, because at a function's first instruction, the chain of frame pointers lacks the caller. */
static __always_inline int call_ends(struct pt_regs *regs)
{
	u64 now = bpf_ktime_get_ns();
	u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct ispan_stack stack = {};
	struct ispan_open_call *begun, open;
	struct ispan_call call = cookie_of(regs);
	u64 key = key_of(&call);

	begun = bpf_map_lookup_elem(&stack_calls, &key);
	if (!begun || begun->sp + RETURN_BYTES != regs->sp)
		return 0;
	open = *begun;
	bpf_map_delete_elem(&stack_calls, &key);
	if (RESULT(regs))
		return 0;
	if (open.call.kind == ISPAN_KIND_CUDA_GET_FUNCTION) {
		learn_name(word_at(open.function), tgid, open.amount);
		return 0;
	}
	stack.called = open.call.reserved;
	stack.function = open.function;
	if (stack_of_this(regs, tgid, CALL, &stack))
		add(&stack, 1, now - open.start_ns, open.amount);
	else
		stack.tgid = 0;
	remember_launch(&open, &stack);
	return 0;
}

extern bool bpf_session_is_return(void) __weak __ksym;

SEC("uprobe")
int call_session(struct pt_regs *regs)
{
	return bpf_session_is_return() ? call_ends(regs) : call_begins(regs);
}

SEC("uprobe")
int call_enter(struct pt_regs *regs)
{
	call_begins(regs);
	return 0;
}

SEC("uretprobe")
int call_return(struct pt_regs *regs)
{
	return call_ends(regs);
}

#endif
