/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports to Inferspan which request and operation a thread works for. A program only includes this header, and links nothing.
 *
 *   #include "inferspan_ckp.h"
 *   inferspan_ckp_request_begin("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
 *   inferspan_ckp_operation_begin(17, "decode step");
 *   ...
 *   inferspan_ckp_operation_end(17);
 *   inferspan_ckp_request_end();
 *
 * The functions do nothing; an agent on the node attaches probes to them. Without an agent, a call costs a few nanoseconds.
 * Rules:
 * - A request belongs to the thread that began it, and to threads and processes that the thread starts, until its end.
 *   It also ends when the thread begins another request. An event loop begins and ends the request around each piece of work.
 * - After a request with an unsampled traceparent, or NULL, has begun, the thread's work belongs to no request.
 * - An operation has an id that is unique among the running operations of the process. It may end on another thread. Only the first
 *   64 characters of its name are exported; the name must not contain secrets.
 * - An ioctl of the thread within a millisecond after the start of an operation is reported as a part of the operation, to observe
 *   accelerators whose driver cannot be probed.
 *
 * The symbols must stay visible: link executables with -rdynamic, or do not strip them. Shared objects need nothing.
 */
#ifndef INFERSPAN_CKP_H
#define INFERSPAN_CKP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Probes need a single copy of each function per program, which is not inlined and gets its arguments. A nop is cheap to probe. */
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
 * For engines that run several requests in one step. A slot is a number that identifies a request in the process; bind assigns a
 * request to a slot. request_id is the client's x-request-id; it is empty if two open requests have the same one, and NULL if it is
 * unknown. traceparent may be NULL.
 */
INFERSPAN_CKP void inferspan_ckp_bind(uint64_t slot, const char *request_id, const char *traceparent)
{
	__asm__ volatile("nop" : : "r"(slot), "r"(request_id), "r"(traceparent) : "memory");
}

/*
 * The members of a step are the requests in it. A change of the members is one word: the slot in bits 0-31, and the number of
 * tokens that the step computes for it in bits 32-55 (0: the request has left the step).
 */
#define INFERSPAN_CKP_TOKENS_SHIFT 32
#define INFERSPAN_CKP_PREFILL (1ull << 56)  /* the step computes a part of the request's prompt */
#define INFERSPAN_CKP_FINISHED (1ull << 57) /* the slot is not used again */
#define INFERSPAN_CKP_FULL 1u		    /* flag: the changes list all members, so that a reader recovers from a loss */

/*
 * Begins a step on the calling thread, whose launches belong to the step until its end. Steps are numbered from 1 without gaps, and
 * a step has the same number on all ranks. If a step has more than 4096 changes, its members are unknown.
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
