/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the Python functions on a thread's stack from the state of a Python 3.11 interpreter, whose layout is the same in all
 * releases of 3.11 on 64-bit machines. The reader registers the processes that run it. To support another version, add a block of
 * offsets.
 */
#ifndef INFERSPAN_PYTHON_H
#define INFERSPAN_PYTHON_H

#include "operands.h"

#define PYTHON_FRAMES 64
#define PYTHON_THREADS 256
#define PYTHON_TEXT 120
#define PYTHON_ENTRY 1 /* flag in the address of a code object: C code called the function */
#define HASH_STEP 0x100000001b3ULL

#define RUNTIME_INTERPRETERS 40
#define INTERPRETER_THREADS 16
#define THREAD_NEXT 8
#define THREAD_FRAMES 56
#define THREAD_NUMBER 152
#define FRAMES_CURRENT 8
#define FRAME_CODE 32
#define CODE_FILE 112
#define CODE_NAME 128 /* the qualified name */
#define TEXT_LENGTH 16
#define TEXT_STATE 32
#define TEXT_ASCII 48
#define TEXT_OTHER 72

struct ispan_python {
	u64 image;
	u64 runtime; /* address of _PyRuntime */
};

/* Code objects, innermost first. */
struct ispan_python_stack {
	u64 codes[PYTHON_FRAMES];
};

struct ispan_python_code {
	u64 tgid;
	u64 code;
};

/* A Python string: its length in characters, the size of a character, and the first bytes. */
struct ispan_python_text {
	u32 length;
	u32 kind; /* bytes per character; 0: ASCII */
	char bytes[PYTHON_TEXT];
};

struct ispan_python_function {
	u64 name_at;
	struct ispan_python_text name;
	struct ispan_python_text file;
};

/* By process; written by the reader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u32);
	__type(value, struct ispan_python);
} pythons SEC(".maps");

/* By a hash of the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, u64);
	__type(value, struct ispan_python_stack);
} python_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct ispan_python_code);
	__type(value, struct ispan_python_function);
} python_functions SEC(".maps");

struct ispan_python_scratch {
	struct ispan_python_stack stack;
	struct ispan_python_function function;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct ispan_python_scratch);
} python_scratch SEC(".maps");

struct ispan_python_walk {
	u64 thread;
	u64 self;
	u64 frame;
	u64 tgid;
	u64 hash;
	struct ispan_python_scratch *scratch;
};

static long find_python_thread(u32 index, struct ispan_python_walk *walk)
{
	if (!walk->thread || word_at(walk->thread + THREAD_NUMBER) == walk->self)
		return 1;
	walk->thread = word_at(walk->thread + THREAD_NEXT);
	return 0;
}

static __always_inline void read_python_text(u64 object, struct ispan_python_text *text)
{
	u32 state = word_at(object + TEXT_STATE);

	text->length = word_at(object + TEXT_LENGTH);
	text->kind = state >> 6 & 1 ? 0 : state >> 2 & 7;
	bpf_probe_read_user(text->bytes, sizeof(text->bytes), (void *)(object + (text->kind ? TEXT_OTHER : TEXT_ASCII)));
}

/* Stores a code object's name and file, unless they are known. Compares the name, because another code object may reuse the address. */
static __always_inline void learn_python_function(u64 code, struct ispan_python_walk *walk)
{
	struct ispan_python_code key = {.tgid = walk->tgid, .code = code};
	struct ispan_python_function *known = bpf_map_lookup_elem(&python_functions, &key);
	struct ispan_python_function *read = &walk->scratch->function;
	u64 name_at = word_at(code + CODE_NAME);

	if (known && known->name_at == name_at)
		return;
	read->name_at = name_at;
	read_python_text(name_at, &read->name);
	read_python_text(word_at(code + CODE_FILE), &read->file);
	bpf_map_update_elem(&python_functions, &key, read, BPF_ANY);
}

static long walk_python_frame(u32 index, struct ispan_python_walk *walk)
{
	struct {
		u64 code, object, previous, instruction;
		u32 stack_top;
		u8 is_entry;
	} frame = {};

	if (!walk->frame || bpf_probe_read_user(&frame, sizeof(frame), (void *)(walk->frame + FRAME_CODE)) || !walk->scratch)
		return 1;
	learn_python_function(frame.code, walk);
	frame.code |= frame.is_entry ? PYTHON_ENTRY : 0;
	walk->scratch->stack.codes[index & (PYTHON_FRAMES - 1)] = frame.code;
	walk->hash = (walk->hash ^ frame.code) * HASH_STEP;
	walk->frame = frame.previous;
	return 0;
}

/* Stores this thread's stack of Python functions; returns its key, or 0 if there are none. */
static __always_inline u64 python_stack(u32 tgid, u64 image, u64 self)
{
	struct ispan_python *python = bpf_map_lookup_elem(&pythons, &tgid);
	struct ispan_python_walk walk = {.tgid = tgid, .self = self};
	u32 zero = 0;

	if (!python || python->image != image)
		return 0;
	walk.scratch = bpf_map_lookup_elem(&python_scratch, &zero);
	if (!walk.scratch)
		return 0;
	walk.thread = word_at(word_at(python->runtime + RUNTIME_INTERPRETERS) + INTERPRETER_THREADS);
	bpf_loop(PYTHON_THREADS, find_python_thread, &walk, 0);
	if (!walk.thread || word_at(walk.thread + THREAD_NUMBER) != self)
		return 0;
	walk.frame = word_at(word_at(walk.thread + THREAD_FRAMES) + FRAMES_CURRENT);
	__builtin_memset(&walk.scratch->stack, 0, sizeof(walk.scratch->stack));
	bpf_loop(PYTHON_FRAMES, walk_python_frame, &walk, 0);
	if (walk.hash)
		bpf_map_update_elem(&python_stacks, &walk.hash, &walk.scratch->stack, BPF_NOEXIST);
	return walk.hash;
}

#endif
