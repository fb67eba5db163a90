/* SPDX-License-Identifier: GPL-2.0-only */
/* The library calls that a thread is in: which return belongs to which, and which of two says the same. */
#ifndef INFERSPAN_FRAMES_H
#define INFERSPAN_FRAMES_H

#include "emit.h"

/* Frames at or below the new call's stack pointer were left without a return, by a jump or an exception. */
static __always_inline void drop_dead_frames(struct ispan_thread *thread, u64 sp)
{
	for (int i = 0; i < ISPAN_FRAMES; i++) {
		u32 top = thread->depth - 1;

		if (top >= ISPAN_FRAMES || thread->frames[top].sp > sp)
			return;
		thread->depth = top;
		count(ISPAN_COUNT_CALL_UNMATCHED);
	}
}

static __always_inline bool is_copy(u16 kind)
{
	return kind >= ISPAN_KIND_CUDA_MEMCPY_H2D && kind <= ISPAN_KIND_CUDA_MEMCPY;
}

/* A driver call inside a runtime call that does the same thing: one of the two is enough, and the driver's is truer. */
static __always_inline void cover_runtime(struct ispan_thread *thread, u32 depth, struct ispan_record *record)
{
	struct ispan_frame *outer;

	if (!depth || depth > ISPAN_FRAMES)
		return;
	outer = &thread->frames[depth - 1];
	if (!(outer->call.flags & ISPAN_CALL_RUNTIME))
		return;
	if (outer->call.kind != record->kind && !(is_copy(outer->call.kind) && is_copy(record->kind)))
		return;
	thread->covered |= 1 << (depth - 1);
	if (record->kind == ISPAN_KIND_CUDA_MEMCPY)
		record->kind = outer->call.kind; /* the runtime's caller said which way it goes */
}

/* The frame that this return belongs to, by its stack pointer: a return takes the address off the stack. */
static __always_inline struct ispan_frame *frame_of_return(struct ispan_thread *thread, u64 sp)
{
	for (int i = 0; i < ISPAN_FRAMES; i++) {
		u32 top = thread->depth - 1;

		if (top >= ISPAN_FRAMES || thread->frames[top].sp + 8 > sp)
			return NULL;
		thread->depth = top;
		if (thread->frames[top].sp + 8 == sp)
			return &thread->frames[top];
		count(ISPAN_COUNT_CALL_UNMATCHED);
	}
	return NULL;
}

#endif
