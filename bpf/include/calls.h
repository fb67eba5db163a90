/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The attach cookie of a probed library function: the kind of event, and where the function's arguments contain its values. One
 * program serves all functions. functions.h lists the functions. From this list, `build` writes prebuilt/calls.tsv, in which the
 * loader finds the cookie of each function.
 */
#ifndef INFERSPAN_CALLS_H
#define INFERSPAN_CALLS_H

#include "wire.h"

/*
 * How a value is computed. An origin is one of these numbers << 4 | slot. A slot is the number of a machine word of the arguments,
 * beginning at 1. The origin 0 means that there is no value.
 */
enum ispan_from {
	ISPAN_FROM_VALUE = 0,
	ISPAN_FROM_PRODUCT = 1, /* slot * slot+1 * slot+2, 32 bits each */
	ISPAN_FROM_DIM3 = 2,    /* the product of x, y and z: x | y << 32 in slot, z in slot+1 */
	ISPAN_FROM_GRID = 3,    /* slot points to a launch configuration: the product of its grid */
	ISPAN_FROM_STREAM = 4,  /* slot points to a launch configuration: its stream */
	ISPAN_FROM_OUT = 5,     /* slot points to the memory for the function's result, which is read on return */
	ISPAN_FROM_PAIR = 6,    /* slot << 32 | (u32) slot+1 */
	ISPAN_FROM_HIGH = 7,    /* slot << 32 */
	ISPAN_FROM_COPY2D = 8,  /* slot points to a CUDA_MEMCPY2D: its width * its height */
};

#define ISPAN_FROM(how, slot) ((__u8)(ISPAN_FROM_##how << 4 | (slot)))

#define ISPAN_CALL_RUNTIME 0x01   /* it may call the driver for the same operation; then only the driver's call is written */
#define ISPAN_CALL_DIRECTION 0x02 /* slot 4 is a cudaMemcpyKind that decides the kind */

/* The attach cookie: these eight bytes as a little-endian u64. */
struct ispan_call {
	__u16 kind;
	__u8 amount;
	__u8 detail;
	__u8 extra;
	__u8 flags;
	__u8 shift; /* amount << shift */
	__u8 reserved;
};

_Static_assert(sizeof(struct ispan_call) == 8, "cookie");

#endif
