/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telling Inferspan what a thread is doing, from any program, without linking anything.
 *
 *   #include "inferspan_ckp.h"
 *   inferspan_ckp_request_begin("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
 *   inferspan_ckp_operation_begin(17, "decode step");
 *   ...
 *   inferspan_ckp_operation_end(17);
 *   inferspan_ckp_request_end();
 *
 * The functions do nothing. A node agent probes them from outside the program; when none runs, a call
 * costs a few nanoseconds. Rules:
 * - A request belongs to the thread that began it, and to threads and processes started meanwhile, until its end.
 *   Beginning another one ends it. An event loop begins and ends around each piece of work.
 * - A traceparent that is not sampled, or NULL, says that what follows belongs to no request.
 * - An operation has an id that is unique in the process while it runs; it may end on another thread. Its name is cut
 *   at 127 bytes and must hold nothing secret. The ioctl that the thread makes within a millisecond after the begin is
 *   reported with it, so an accelerator whose driver cannot be probed is still seen.
 *
 * The symbols must stay visible: link executables with -rdynamic or do not strip them. Shared objects just work.
 */
#ifndef INFERSPAN_CKP_H
#define INFERSPAN_CKP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One copy a program, never inlined, arguments kept: what a probe needs. The nop is a first instruction it likes. */
#define INFERSPAN_CKP __attribute__((weak, noinline, used, visibility("default")))

INFERSPAN_CKP void inferspan_ckp_request_begin(const char *traceparent)
{
	__asm__ volatile("nop" : : "r"(traceparent) : "memory");
}

INFERSPAN_CKP void inferspan_ckp_request_end(void)
{
	__asm__ volatile("nop" : : : "memory");
}

INFERSPAN_CKP void inferspan_ckp_operation_begin(uint64_t id, const char *name)
{
	__asm__ volatile("nop" : : "r"(id), "r"(name) : "memory");
}

INFERSPAN_CKP void inferspan_ckp_operation_end(uint64_t id)
{
	__asm__ volatile("nop" : : "r"(id) : "memory");
}

/*
 * Engines that run many requests in one step. A slot stands for a request of the process; bind says whose it is: request_id
 * is the client's x-request-id, empty if two live requests share it, NULL if unknown; traceparent may be NULL.
 */
INFERSPAN_CKP void inferspan_ckp_bind(uint64_t slot, const char *request_id, const char *traceparent)
{
	__asm__ volatile("nop" : : "r"(slot), "r"(request_id), "r"(traceparent) : "memory");
}

/* A change of a step's members, in one word: the slot in bits 0-31, its scheduled tokens from bit 32 on, 0 if it left. */
#define INFERSPAN_CKP_TOKENS_SHIFT 32
#define INFERSPAN_CKP_PREFILL (1ull << 56)  /* part of its prompt is computed */
#define INFERSPAN_CKP_FINISHED (1ull << 57) /* the slot is not used again */
#define INFERSPAN_CKP_FULL 1u		    /* flags: the changes are all members, so that a reader who missed some recovers */

/*
 * The calling thread runs a step from here to its end, and what it launches meanwhile is the step's. Numbers count up from
 * 1 without a gap; ranks that run the same step give it the same number. Of a step with more than 4096 changes, the members stay unknown.
 */
INFERSPAN_CKP void inferspan_ckp_step_begin(uint64_t step, const uint64_t *changes, uint32_t count, uint32_t flags)
{
	__asm__ volatile("nop" : : "r"(step), "r"(changes), "r"(count), "r"(flags) : "memory");
}

INFERSPAN_CKP void inferspan_ckp_step_end(uint64_t step)
{
	__asm__ volatile("nop" : : "r"(step) : "memory");
}

#ifdef __cplusplus
}
#endif

#endif
