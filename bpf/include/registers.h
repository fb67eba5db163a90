/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments and results in registers, by architecture. To add an architecture, add a block here and in numbers.h. */
#ifndef INFERSPAN_REGISTERS_H
#define INFERSPAN_REGISTERS_H

#include "kernel.h"

#if defined(__TARGET_ARCH_x86)

/* The number and the arguments of a system call. They are the same at its start and at its end. */
#define NUMBER(regs) ((long)(regs)->orig_ax)
#define ARG1(regs) ((u64)(regs)->di)
#define ARG2(regs) ((u64)(regs)->si)
#define ARG3(regs) ((u64)(regs)->dx)
#define ARG4(regs) ((u64)(regs)->r10)
#define ARG5(regs) ((u64)(regs)->r8)
/* 32-bit programs use other system call numbers; they are not traced. */
#define IS_NATIVE(regs) ((regs)->cs != 0x23)

/* The arguments of a function, at its first instruction; the result, at its return. */
#define SLOT1(regs) ((u64)(regs)->di)
#define SLOT2(regs) ((u64)(regs)->si)
#define SLOT3(regs) ((u64)(regs)->dx)
#define SLOT4(regs) ((u64)(regs)->cx)
#define SLOT5(regs) ((u64)(regs)->r8)
#define SLOT6(regs) ((u64)(regs)->r9)
#define REGISTER_SLOTS 6
#define RESULT(regs) ((s32)(regs)->ax)
/* The return address is on the stack, before the arguments that did not fit into registers; a return removes it. */
#define RETURN_BYTES 8
#define STACK_POINTER(regs) ((u64)(regs)->sp)
#define INSTRUCTION(regs) ((u64)(regs)->ip)

#elif defined(__TARGET_ARCH_arm64)

#define NUMBER(regs) ((long)(regs)->syscallno)
#define ARG1(regs) ((regs)->orig_x0)
#define ARG2(regs) ((regs)->regs[1])
#define ARG3(regs) ((regs)->regs[2])
#define ARG4(regs) ((regs)->regs[3])
#define ARG5(regs) ((regs)->regs[4])
#define IS_NATIVE(regs) (!((regs)->pstate & 0x10))

#define SLOT1(regs) ((regs)->regs[0])
#define SLOT2(regs) ((regs)->regs[1])
#define SLOT3(regs) ((regs)->regs[2])
#define SLOT4(regs) ((regs)->regs[3])
#define SLOT5(regs) ((regs)->regs[4])
#define SLOT6(regs) ((regs)->regs[5])
#define SLOT7(regs) ((regs)->regs[6])
#define SLOT8(regs) ((regs)->regs[7])
#define REGISTER_SLOTS 8
#define RESULT(regs) ((s32)(regs)->regs[0])
/* The return address is in a register. */
#define RETURN_BYTES 0

#else
#error "only x86-64 and AArch64 are supported"
#endif

#endif
