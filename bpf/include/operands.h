/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the values that an attach cookie (see calls.h) describes from a function's arguments. */
#ifndef INFERSPAN_OPERANDS_H
#define INFERSPAN_OPERANDS_H

#include "calls.h"
#include "registers.h"
#include <bpf/bpf_helpers.h>

#define STREAM_OFFSET 32 /* in both CUlaunchConfig and cudaLaunchConfig_t, which begin with the grid */

#define WIDTH_OFFSET 112 /* in CUDA_MEMCPY2D; the height follows */

#define REGISTER_MASK (REGISTER_SLOTS < 8 ? 7 : 15)

/* The argument registers by slot (slot 0 is unused), and the address of further arguments on the stack. */
struct ispan_arguments {
	u64 registers[REGISTER_MASK + 1];
	u64 sp;
};

static __always_inline void read_arguments(struct pt_regs *regs, struct ispan_arguments *arguments)
{
	arguments->registers[0] = 0;
	arguments->registers[1] = SLOT1(regs);
	arguments->registers[2] = SLOT2(regs);
	arguments->registers[3] = SLOT3(regs);
	arguments->registers[4] = SLOT4(regs);
	arguments->registers[5] = SLOT5(regs);
	arguments->registers[6] = SLOT6(regs);
#ifdef SLOT8
	arguments->registers[7] = SLOT7(regs);
	arguments->registers[8] = SLOT8(regs);
	for (int i = REGISTER_SLOTS + 1; i <= REGISTER_MASK; i++)
		arguments->registers[i] = 0;
#else
	arguments->registers[7] = 0;
#endif
	arguments->sp = regs->sp;
}

/* Returns the nth machine word of the arguments, at the function's first instruction. */
static __always_inline u64 slot_of(const struct ispan_arguments *arguments, u32 slot)
{
	u64 value = 0;

	if (slot <= REGISTER_SLOTS)
		return arguments->registers[slot & REGISTER_MASK];
	bpf_probe_read_user(&value, sizeof(value), (void *)(arguments->sp + RETURN_BYTES + 8 * (u64)(slot - REGISTER_SLOTS - 1)));
	return value;
}

static __always_inline u64 grid_at(u64 address)
{
	u32 grid[3] = {};

	bpf_probe_read_user(grid, sizeof(grid), (void *)address);
	return (u64)grid[0] * grid[1] * grid[2];
}

static __always_inline u64 rectangle_at(u64 address)
{
	u64 sides[2] = {};

	bpf_probe_read_user(sides, sizeof(sides), (void *)address);
	return sides[0] * sides[1];
}

static __always_inline u64 word_at(u64 address)
{
	u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/*
 * Computes the value that from (an origin, see calls.h) describes, at the function's entry. If the value is a result in memory,
 * returns its address. Not static, so that the verifier checks it once.
 */
__noinline u64 operand(const struct ispan_arguments *arguments, u32 from)
{
	u32 slot = from & 0xf;
	u64 first;

	if (!arguments)
		return 0;
	first = slot_of(arguments, slot);
	switch (from >> 4) {
	case ISPAN_FROM_PRODUCT:
		return (u64)(u32)first * (u32)slot_of(arguments, slot + 1) * (u32)slot_of(arguments, slot + 2);
	case ISPAN_FROM_DIM3:
		return (u64)(u32)first * (first >> 32) * (u32)slot_of(arguments, slot + 1);
	case ISPAN_FROM_GRID:
		return grid_at(first);
	case ISPAN_FROM_STREAM:
		return word_at(first + STREAM_OFFSET);
	case ISPAN_FROM_PAIR:
		return first << 32 | (u32)slot_of(arguments, slot + 1);
	case ISPAN_FROM_HIGH:
		return first << 32;
	case ISPAN_FROM_COPY2D:
		return rectangle_at(first + WIDTH_OFFSET);
	default:
		return first;
	}
}

/* Returns the same value as operand, but faster if there is no value, or it is in a register. */
static __always_inline u64 operand_of(const struct ispan_arguments *arguments, u8 from)
{
	u64 slot = from;

	/* The compiler knows the bound and would remove the mask, but the verifier needs it. */
	barrier_var(slot);
	if (from <= REGISTER_SLOTS)
		return arguments->registers[slot & REGISTER_MASK];
	return operand(arguments, from);
}

static __always_inline bool is_out(u8 from)
{
	return from >> 4 == ISPAN_FROM_OUT;
}

#endif
