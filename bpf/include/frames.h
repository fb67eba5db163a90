/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps a stack of the library calls that a thread has not returned from, one frame per call. It matches returns with calls, and
 * finds calls of the CUDA runtime that call the driver for the same operation.
 */
#ifndef INFERSPAN_FRAMES_H
#define INFERSPAN_FRAMES_H

#include "maps.h"
#include "registers.h"

/*
 * Drops frames that will not return. Frames at or below the new call's stack pointer were left by a jump or an exception. Frames that
 * began before the probes were last attached may have returned unobserved. The frame of a call that creates a communicator is kept,
 * because the probes on these functions stay attached.
 */
static __always_inline void drop_dead_frames(const struct ispan_settings *settings, struct ispan_thread *thread, u64 sp)
{
	for (int i = 0; i < ISPAN_FRAMES; i++) {
		u32 top = thread->depth - 1;

		if (top >= ISPAN_FRAMES)
			return;
		if (thread->frames[top].sp > sp && (thread->frames[top].start_ns >= settings->attached_ns ||
						    thread->frames[top].call.kind == ISPAN_KIND_NCCL_COMM_INIT))
			return;
		thread->depth = top;
	}
}

static __always_inline bool is_copy(u16 kind)
{
	return kind >= ISPAN_KIND_CUDA_MEMCPY_H2D && kind <= ISPAN_KIND_CUDA_MEMCPY;
}

/*
 * Marks the runtime call that made a driver call for the same operation. Only the driver call is written, because it is more exact.
 * Returns the kind of the driver call, with the direction of a copy from the runtime call if the driver call does not have it.
 */
static __always_inline u16 cover_runtime(struct ispan_thread *thread, u32 depth, u16 kind)
{
	struct ispan_frame *outer;
	u32 top = depth - 1;

	barrier_var(top); /* older verifiers lose the bound if the checked value is not the one that is used */
	if (top >= ISPAN_FRAMES)
		return kind;
	outer = &thread->frames[top];
	if (!(outer->call.flags & ISPAN_CALL_RUNTIME))
		return kind;
	if (outer->call.kind != kind && !(is_copy(outer->call.kind) && is_copy(kind)))
		return kind;
	thread->covered |= 1 << top;
	return kind == ISPAN_KIND_CUDA_MEMCPY ? outer->call.kind : kind;
}

/* Finds the frame of a return by its stack pointer. */
static __always_inline struct ispan_frame *frame_of_return(struct ispan_thread *thread, u64 sp)
{
	for (int i = 0; i < ISPAN_FRAMES; i++) {
		u32 top = thread->depth - 1;

		if (top >= ISPAN_FRAMES || thread->frames[top].sp + RETURN_BYTES > sp)
			return NULL;
		thread->depth = top;
		if (thread->frames[top].sp + RETURN_BYTES == sp)
			return &thread->frames[top];
	}
	return NULL;
}

#endif
